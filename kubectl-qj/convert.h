/*
 * convert - objects of other tools as ours. What convert.c, which reads and reports, convert_fields.c and the files for each tool share. Internal to this folder.
 *
 * A field that is understood is taken; all that nobody has taken is named on stderr when the object is done.
 */
#ifndef KAR_KUBECTL_QJ_CONVERT_H
#define KAR_KUBECTL_QJ_CONVERT_H

#include "kubectl-qj/doc.h"
#include "kubectl-qj/qj.h"

struct qj_conv {
	struct qj *q;
	struct kar_arena *a;
	struct qj_doc *from, *to;    /* a whole object, or a part of it */
	const char *from_at, *to_at; /* where that is: "", or "spec.tasks[0]." */
	const struct qj_doc *all;    /* a list of all objects of the file */
};

/* The value at @path, which is taken; NULL: there is none. */
struct qj_doc *qj_take(const struct qj_conv *c, const char *path) KAR_NONNULL;
const char *qj_take_text(const struct qj_conv *c, const char *path) KAR_NONNULL;
/* An integer; @otherwise if there is none. */
int64_t qj_take_number(const struct qj_conv *c, const char *path, int64_t otherwise) KAR_NONNULL;
/* Takes @path; if it is there, it is put at @to as it is, and that is said. */
bool qj_move(const struct qj_conv *c, const char *path, const char *to) KAR_NONNULL;
/* Puts a value at @to and says from where it comes. */
void qj_put(const struct qj_conv *c, const char *path, const char *to,
	const struct qj_doc *value) KAR_NONNULL;
/* Says something about @path. */
void qj_note(const struct qj_conv *c, const char *path, const char *fmt, ...) KAR_NONNULL KAR_PRINTF(3, 4);
/* Of item @i of the list at @path, which becomes item @k of the list at @to. */
struct qj_conv qj_conv_item(const struct qj_conv *c, struct qj_doc *item, const char *path, size_t i,
	const char *to, size_t k) KAR_NONNULL;
/* The template of pods at @path as it is at "template", without what the cluster has added to it. */
void qj_move_template(const struct qj_conv *c, const char *path) KAR_NONNULL;
/* Takes out of a map, or of NULL, the labels that controllers give to their objects. */
void qj_drop_labels(struct qj_doc *labels);
/* The queue that the labels of Kueue name. */
void qj_move_queue_label(const struct qj_conv *c) KAR_NONNULL;

/* For each kind: from .from into .to, which has its name already. */
typedef void qj_convert_fn(const struct qj_conv *c);
void qj_convert_volcano(const struct qj_conv *c) KAR_NONNULL;
void qj_convert_batch(const struct qj_conv *c) KAR_NONNULL;
void qj_convert_jobset(const struct qj_conv *c) KAR_NONNULL;
void qj_convert_mpi(const struct qj_conv *c) KAR_NONNULL;
void qj_convert_cluster_queue(const struct qj_conv *c) KAR_NONNULL;
void qj_convert_local_queue(const struct qj_conv *c) KAR_NONNULL;

#endif
