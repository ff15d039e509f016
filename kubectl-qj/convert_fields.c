/* Fields of an object that is converted: taken, put elsewhere, and spoken about. */
#include "kubectl-qj/convert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"

struct qj_doc *qj_take(const struct qj_conv *c, const char *path)
{
	struct qj_doc *d = qj_doc_get(c->from, path);

	if (d)
		d->used = true;
	return d;
}

const char *qj_take_text(const struct qj_conv *c, const char *path)
{
	const struct qj_doc *d = qj_take(c, path);

	return d ? d->text : NULL;
}

int64_t qj_take_number(const struct qj_conv *c, const char *path, int64_t otherwise)
{
	const char *text = qj_take_text(c, path);
	char *end;
	long n;

	if (!text)
		return otherwise;
	n = strtol(text, &end, 10);
	if (*text && !*end && n >= 0 && n <= INT32_MAX)
		return n;
	qj_note(c, path, "%s is no number of pods: taken as %lld", text, (long long)otherwise);
	return otherwise;
}

void qj_note(const struct qj_conv *c, const char *path, const char *fmt, ...)
{
	char *text;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		abort();
	va_end(args);
	fprintf(stderr, "  %s%s: %s\n", qj_clean(c->q, c->from_at), qj_clean(c->q, path),
		qj_clean(c->q, text));
	free(text);
}

void qj_put(const struct qj_conv *c, const char *path, const char *to, const struct qj_doc *value)
{
	qj_doc_put(c->a, c->to, to, value);
	fprintf(stderr, "  %s%s -> %s%s\n", qj_clean(c->q, c->from_at), qj_clean(c->q, path), c->to_at, to);
}

bool qj_move(const struct qj_conv *c, const char *path, const char *to)
{
	const struct qj_doc *d = qj_take(c, path);

	if (d)
		qj_put(c, path, to, d);
	return d != NULL;
}

struct qj_conv qj_conv_item(const struct qj_conv *c, struct qj_doc *item, const char *path, size_t i,
	const char *to, size_t k)
{
	struct qj_conv one = *c;

	one.from = item;
	one.from_at = kar_arena_printf(c->a, "%s%s[%zu].", c->from_at, path, i);
	one.to_at = kar_arena_printf(c->a, "%s%s[%zu].", c->to_at, to, k);
	one.to = qj_doc_new(c->a, QJ_DOC_MAP, NULL);
	return one;
}

/* Takes members out of a map for which @theirs is true. */
static void drop(struct qj_doc *map, bool (*theirs)(const struct qj_doc *member))
{
	for (struct qj_doc **at = map ? &map->first : NULL; at && *at;) {
		if (theirs(*at))
			*at = (*at)->next;
		else
			at = &(*at)->next;
	}
}

/* Labels that controllers give to a Job when it is made, and to its pods. */
static bool is_label_of_controllers(const struct qj_doc *label)
{
	return strncmp(label->key, "batch.kubernetes.io/", strlen("batch.kubernetes.io/")) == 0 ||
		kar_streq(label->key, "controller-uid") || kar_streq(label->key, "job-name") ||
		kar_streq(label->key, "kueue.x-k8s.io/queue-name");
}

static bool is_scheduler_of_volcano(const struct qj_doc *field)
{
	return kar_streq(field->key, "schedulerName") && kar_streq(field->text, "volcano");
}

void qj_drop_labels(struct qj_doc *labels)
{
	drop(labels, is_label_of_controllers);
}

void qj_move_template(const struct qj_conv *c, const char *path)
{
	struct qj_doc *template = qj_take(c, path);

	if (!template)
		return;
	qj_drop_labels(qj_doc_get(template, "metadata.labels"));
	drop(qj_doc_get(template, "spec"), is_scheduler_of_volcano);
	qj_put(c, path, "template", template);
	if (qj_doc_text(template, "spec.schedulerName"))
		qj_note(c, path, "its schedulerName is %s, which must still run",
			qj_doc_text(template, "spec.schedulerName"));
}

/* Keys of labels have dots. */
static struct qj_doc *label(const struct qj_doc *object, const char *key)
{
	const struct qj_doc *labels = qj_doc_get(object, "metadata.labels");

	for (struct qj_doc *d = labels ? labels->first : NULL; d; d = d->next) {
		if (kar_streq(d->key, key))
			return d;
	}
	return NULL;
}

/* A job of Kueue names a LocalQueue; jobs of ours name what that is of. */
void qj_move_queue_label(const struct qj_conv *c)
{
	const struct qj_doc *name = label(c->from, "kueue.x-k8s.io/queue-name");
	const char *queue = name ? name->text : NULL, *ns = qj_doc_text(c->from, "metadata.namespace");

	if (!kar_has_text(queue))
		return;
	for (const struct qj_doc *d = c->all->first; d; d = d->next) {
		const char *of = qj_doc_text(d, "metadata.namespace");

		if (kar_streq(qj_doc_text(d, "kind"), "LocalQueue") &&
			kar_streq(qj_doc_text(d, "metadata.name"), queue) &&
			(!of || !ns || kar_streq(of, ns)) && qj_doc_text(d, "spec.clusterQueue"))
			queue = qj_doc_text(d, "spec.clusterQueue");
	}
	qj_put(c, "metadata.labels[kueue.x-k8s.io/queue-name]", "spec.queue",
		qj_doc_new(c->a, QJ_DOC_TEXT, queue));
	(void)qj_take(c, "spec.suspend"); /* Kueue sets it while the job waits */
}
