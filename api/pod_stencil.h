/*
 * pod_stencil - the pods of one task differ from each other only where index and rank stand, so that from the second one on the
 * text is made once and then only filled in. Making it takes thirty times as long, because the template is a JSON document of
 * the user's that is merged with what we add.
 *
 * Invariant: what it writes is what kar_queuejob_pod_write() would write, byte for byte. That is looked at when it is made; where
 * it does not hold (a template that has our marks in it), or the text is too large to be kept, each pod is written anew.
 */
#ifndef KAR_POD_STENCIL_H
#define KAR_POD_STENCIL_H

#include "api/queuejob.h"

struct kar_pod_stencil;

/*
 * Appends the pod of @p to @out as kar_queuejob_pod_write() does; -1 as there. @s keeps what may serve for the next pod: of the
 * same job (UID and generation), task, incarnation, template hash and gate. *@s is NULL before the first; free() is not enough.
 */
int kar_pod_stencil_write(struct kar_pod_stencil **s, const struct kar_pod_params *p, struct kar_buf *out,
	struct kar_err *err) KAR_NONNULL;
/* Gives back what *@s keeps, which may be NULL, and makes it NULL. */
void kar_pod_stencil_drop(struct kar_pod_stencil **s) KAR_NONNULL;

#endif
