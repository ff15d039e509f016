/*
 * toy - a small resource type for tests of store, barrier and reflector: toys.example.com, with a colour
 * and an owner.
 *
 * Header only: each test program is one file.
 */
#ifndef TEST_UNIT_TOY_H
#define TEST_UNIT_TOY_H

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/kube/object.h"

enum { TOY_BY_NAMESPACE, TOY_BY_COLOUR, TOY_BY_OWNER, TOY_INDEXES };

struct toy {
	struct kar_object head;
	const char *colour, *owner; /* interned */
	char text[];                /* name, uid */
};

struct toy_wire {
	struct kar_wire_object head;
	const char *colour;
};

static int toy_alive; /* objects not yet destroyed */

extern const struct kar_type toy_type;

static const struct kar_field toy_fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct toy_wire),
	KAR_FIELD_PB(struct toy_wire, colour, "colour", 2, KAR_F_STRING),
};
static const struct kar_desc toy_desc = KAR_WIRE_DESC("Toy", struct toy_wire, toy_fields);

static struct kar_object *toy_project(const void *wire, struct kar_intern *strings)
{
	const struct toy_wire *w = wire;
	const struct kar_wire_owner *owner = kar_wire_controller(&w->head.meta);
	size_t n = strlen(w->head.meta.name) + 1, m = strlen(w->head.meta.uid) + 1;

	struct toy *t = kar_xcalloc(1, sizeof(*t) + n + m);

	memcpy(t->text, w->head.meta.name, n);
	memcpy(t->text + n, w->head.meta.uid, m);
	t->colour = kar_intern_get(strings, w->colour);
	t->owner = kar_intern_get(strings, owner ? owner->uid : NULL);
	toy_alive++;
	kar_object_init(&t->head, &toy_type, &w->head, t->text, t->text + n, strings);
	return &t->head;
}

static void toy_destroy(struct kar_object *o, struct kar_intern *strings)
{
	struct toy *t = kar_container_of(o, struct toy, head);

	kar_intern_put(strings, t->colour);
	kar_intern_put(strings, t->owner);
	free(t);
	toy_alive--;
}

static const char *toy_key(const struct kar_object *o, int i)
{
	const struct toy *t = (const struct toy *)(const void *)o;

	return i == TOY_BY_NAMESPACE ? o->ns : i == TOY_BY_COLOUR ? t->colour : t->owner;
}

const struct kar_type toy_type = {
	.res = { .group = "example.com",
		.version = "v1",
		.plural = "toys",
		.kind = "Toy",
		.namespaced = true },
	.wire = &toy_desc,
	.protobuf = true,
	.project = toy_project,
	.destroy = toy_destroy,
	.index_key = toy_key,
	.n_index = TOY_INDEXES,
};

/* One reference, for the caller. @colour and @owner may be NULL. */
static inline struct kar_object *toy_object(struct kar_intern *strings, const char *ns, const char *name,
	const char *uid, const char *rv, const char *colour, const char *owner)
{
	struct kar_wire_owner controller = { .uid = owner, .controller = true };
	struct toy_wire w = {
		.head.meta = { .name = name, .ns = ns, .uid = uid, .resource_version = rv },
		.colour = colour,
	};

	if (owner)
		w.head.meta.owners = (struct kar_array){ .items = &controller, .n = 1 };
	return toy_project(&w, strings);
}

static inline const char *toy_colour(const struct kar_object *o)
{
	const char *colour = ((const struct toy *)(const void *)o)->colour;

	return colour ? colour : "-";
}

#endif
