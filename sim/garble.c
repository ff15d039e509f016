/* Objects that clients read otherwise than they are stored (SIM_GARBLE in wire.h). */
#include <string.h>

#include "sim/apiserver/patch.h"
#include "sim/client_sim_impl.h"

/* New reference; @object itself if there is nothing to do. */
static struct sim_value *garbled(const struct sim_value *object)
{
	const char *text = sim_get_text(object, "metadata", "annotations", SIM_GARBLE);
	struct sim_value *v = sim_ref(object), *patch;
	struct kar_err err;

	if (!text)
		return v;
	patch = sim_parse(text, strlen(text), &err);
	if (sim_kind(patch) == SIM_OBJECT)
		sim_patch_merge(&v, patch);
	sim_unref(patch);
	return v;
}

static void garble_items(struct sim_value **list)
{
	struct sim_value *items = sim_take(list, "items");

	for (size_t i = 0; i < sim_count(items); i++)
		sim_replace(&items, i, garbled(sim_item(items, i)));
	sim_set(list, items, "items");
}

static struct sim_value *garbled_answer(const struct sim_value *answer)
{
	struct sim_value *v;

	if (!sim_member(answer, "items") && !sim_member(answer, "object"))
		return garbled(answer);
	v = sim_ref(answer);
	if (sim_member(v, "items"))
		garble_items(&v);
	else
		sim_set(&v, garbled(sim_member(v, "object")), "object");
	return v;
}

void sim_garble(struct kar_buf *body, size_t at)
{
	struct sim_value *answer, *v;
	struct kar_err err;
	bool is_line;

	if (body->n == at || !memmem(body->p + at, body->n - at, SIM_GARBLE, strlen(SIM_GARBLE)))
		return;
	answer = sim_parse(body->p + at, body->n - at, &err);
	if (!answer)
		return;
	is_line = body->p[body->n - 1] == '\n';
	v = garbled_answer(answer);
	body->n = at;
	sim_print(v, body);
	if (is_line)
		kar_buf_puts(body, "\n");
	sim_unref(v);
	sim_unref(answer);
}
