/*
 * pod_renderer - a cached JSON text of the pods of one task. They differ only in index, rank and pin, so the second pod makes the
 * text and later ones only fill in these. To make the text takes thirty times as long as to fill it in, because the user's template,
 * a JSON document, is merged with our additions.
 *
 * Invariant: it writes the bytes that kar_queuejob_pod_write() would write. This is checked when the text is made; if it does not
 * hold (the template contains our marks), or the text is too large to be cached, each pod is written in full.
 */
#ifndef KAR_POD_RENDERER_H
#define KAR_POD_RENDERER_H

#include "api/queuejob/queuejob.h"

struct kar_pod_renderer;

/*
 * Appends the pod of @p to @out as kar_queuejob_pod_write() does; -1 as there. *@s caches the text for the next pod of the same job
 * (UID and generation), task, incarnation, template hash, gate and native, if both or none have a pin. *@s is NULL before the first pod; free it with
 * kar_pod_renderer_drop().
 */
int kar_pod_renderer_write(struct kar_pod_renderer **s, const struct kar_pod_params *p, struct kar_buf *out,
	struct kar_err *err) KAR_NONNULL;
/* Frees *@s, which may be NULL, and makes it NULL. */
void kar_pod_renderer_drop(struct kar_pod_renderer **s) KAR_NONNULL;

#endif
