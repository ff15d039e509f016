#include "api/core/namespace.h"

#include <stdlib.h>

#include "api/copy.h"
#include "api/names.h"
#include "common/base/str.h"

struct wire_namespace {
	struct kar_wire_object head;
};

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_namespace),
};
static const struct kar_desc desc = KAR_WIRE_DESC("Namespace", struct wire_namespace, fields);

static const char *queue_of(const struct kar_wire_meta *m)
{
	const char *label = kar_pairs_get(&m->labels, KAR_LABEL_QUEUE);

	return kar_has_text(label) ? label : kar_pairs_get(&m->annotations, KAR_LABEL_QUEUE);
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_namespace *w = wire;
	const struct kar_wire_meta *m = &w->head.meta;
	struct kar_namespace *n = kar_xcalloc(1, sizeof(*n));
	const char *queue = queue_of(m);

	kar_object_init(&n->o, &kar_namespace_type, &w->head, kar_copy(&n->mem, m->name),
		kar_copy(&n->mem, m->uid), strings);
	n->labels = kar_copy_pairs(&n->mem, &m->labels);
	n->queue = kar_has_text(queue) ? kar_copy_fit(&n->mem, queue, KAR_COPY_VALUE) : NULL;
	return &n->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_namespace *n = kar_container_of(o, struct kar_namespace, o);

	kar_arena_release(&n->mem);
	free(n);
}

const struct kar_type kar_namespace_type = {
	.res = { .group = "",
		.version = "v1",
		.plural = "namespaces",
		.kind = "Namespace",
		.namespaced = false },
	.wire = &desc,
	.protobuf = true,
	.project = project,
	.destroy = destroy,
};

bool kar_namespace_same(const struct kar_namespace *a, const struct kar_namespace *b)
{
	return kar_object_same(&a->o, &b->o) && kar_streq(a->queue, b->queue) &&
		kar_pairs_equal(&a->labels, &b->labels);
}
