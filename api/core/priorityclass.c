#include "api/core/priorityclass.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/str.h"

struct wire_priorityclass {
	struct kar_wire_object head;
	int32_t value;
	bool global_default;
	const char *preemption_policy;
};

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_priorityclass),
	KAR_FIELD_PB(struct wire_priorityclass, value, "value", 2, KAR_F_INT32),
	KAR_FIELD_PB(struct wire_priorityclass, global_default, "globalDefault", 3, KAR_F_BOOL),
	KAR_FIELD_PB(struct wire_priorityclass, preemption_policy, "preemptionPolicy", 5, KAR_F_STRING),
};
static const struct kar_desc desc = KAR_WIRE_DESC("PriorityClass", struct wire_priorityclass, fields);

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_priorityclass *w = wire;
	size_t name_size = strlen(w->head.meta.name) + 1, uid_size = strlen(w->head.meta.uid) + 1;
	char *block = kar_xmalloc(sizeof(struct kar_priorityclass) + name_size + uid_size);
	struct kar_priorityclass *c = (void *)block;
	char *name = block + sizeof(*c);

	memcpy(name, w->head.meta.name, name_size);
	memcpy(name + name_size, w->head.meta.uid, uid_size);
	kar_object_init(&c->o, &kar_priorityclass_type, &w->head, name, name + name_size, strings);
	c->value = w->value;
	c->global_default = w->global_default;
	c->never_preempts = kar_streq(w->preemption_policy, "Never");
	return &c->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	free(o);
}

const struct kar_type kar_priorityclass_type = {
	.res = {
		.group = "scheduling.k8s.io",
		.version = "v1",
		.plural = "priorityclasses",
		.kind = "PriorityClass",
		.namespaced = false,
	},
	.wire = &desc,
	.protobuf = true,
	.project = project,
	.destroy = destroy,
};
