/* Members of built-in kinds that do not exist: a typed server drops them, and names them under fieldValidation. */
#include <string.h>

#include "sim/apiserver/types.h"

/* Where the walk is; printed only when something is removed. */
struct place {
	const struct place *up;
	const char *name; /* NULL: an element */
	size_t index;
};

static void print_place(const struct place *p, struct kar_buf *out)
{
	if (!p)
		return;
	print_place(p->up, out);
	if (!p->name)
		kar_buf_printf(out, "[%zu]", p->index);
	else
		kar_buf_printf(out, "%s%s", out->n ? "." : "", p->name);
}

static void tell(const struct place *p, struct sim_value **removed)
{
	struct kar_buf path KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	print_place(p, &path);
	sim_append(removed, sim_string(kar_buf_cstr(&path)));
}

static void prune(const struct sim_type *t, struct sim_value **v, const struct place *up,
	struct sim_value **removed);

static void prune_list(const struct sim_type *t, struct sim_value **v, const struct place *up,
	struct sim_value **removed)
{
	if (sim_kind(*v) != SIM_ARRAY)
		return;
	for (size_t i = 0; i < sim_count(*v); i++) {
		const struct place at = { .up = up, .index = i };
		struct sim_value *item = sim_ref(sim_item(*v, i)), *before = item;

		prune(t, &item, &at, removed);
		if (item != before)
			sim_replace(v, i, item);
		else
			sim_unref(item);
	}
}

static void prune_member(const struct sim_field *f, struct sim_value **v, const struct place *up,
	struct sim_value **removed)
{
	const struct place at = { .up = up, .name = f->name };
	struct sim_value *inner = sim_ref(sim_member(*v, f->name)), *before = inner;

	if (!inner)
		return;
	if (f->list)
		prune_list(f->type, &inner, &at, removed);
	else
		prune(f->type, &inner, &at, removed);
	if (inner != before)
		sim_set(v, inner, f->name);
	else
		sim_unref(inner);
}

/* In the order of the document, as Go's decoder tells them. */
static void prune(const struct sim_type *t, struct sim_value **v, const struct place *up,
	struct sim_value **removed)
{
	struct sim_value *held KAR_CLEANUP(sim_cleanup_value) = sim_ref(*v); /* keeps the keys alive */

	for (struct sim_member m = sim_first(held); m.value; m = sim_next(m)) {
		const struct sim_field *f = sim_type_field(t, m.key);
		const struct place at = { .up = up, .name = m.key };

		if (f && f->type && !f->map)
			prune_member(f, v, up, removed);
		if (f || (!up && (!strcmp(m.key, "apiVersion") || !strcmp(m.key, "kind"))))
			continue;
		tell(&at, removed);
		sim_remove(v, m.key);
	}
}

void sim_types_prune(const struct sim_type *t, struct sim_value **v, struct sim_value **removed)
{
	prune(t, v, NULL, removed);
}
