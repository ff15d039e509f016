/* Copy on write. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/tree_impl.h"

enum { FIRST_ITEMS = 4 };

static struct sim_list *copy_list(const struct sim_list *list, size_t room)
{
	struct sim_list *copy = sim_list_new(room);

	copy->n = list->n;
	for (size_t i = 0; i < list->n; i++)
		copy->items[i] = sim_ref(list->items[i]);
	return copy;
}

/* A container that nobody else holds: the value itself, or a copy of its first level. */
static void own(struct sim_value **v)
{
	struct sim_value *shared = *v;

	assert(shared && shared->kind >= SIM_ARRAY);
	if (shared->refs == 1)
		return;
	*v = shared->kind == SIM_OBJECT ? sim_map_copy(sim_map_of(shared))
					: &copy_list(sim_list_of(shared), sim_list_of(shared)->n + 1)->head;
	sim_unref(shared);
}

static void own_object(struct sim_value **v)
{
	if (sim_kind(*v) == SIM_OBJECT) {
		own(v);
		return;
	}
	sim_unref(*v);
	*v = sim_object();
}

struct sim_value *sim_take(struct sim_value **object, const char *key)
{
	struct sim_pair *p;
	struct sim_value *taken;

	if (!sim_member(*object, key))
		return NULL;
	own(object);
	p = sim_map_find(sim_map_of(*object), key);
	taken = p->value;
	p->value = sim_null();
	return taken;
}

struct sim_value *sim_take_item(struct sim_value **array, size_t i)
{
	struct sim_value *taken = sim_ref(sim_item(*array, i));

	if (taken)
		sim_replace(array, i, sim_null());
	return taken;
}

void sim_set_path(struct sim_value **v, struct sim_value *consumed, const char *const *path)
{
	own_object(v);
	if (!path[1]) {
		sim_map_put(v, path[0], consumed);
		return;
	}

	struct sim_value *inner = sim_take(v, path[0]);

	if (!inner)
		inner = sim_object();
	sim_set_path(&inner, consumed, path + 1);
	sim_map_put(v, path[0], inner);
}

bool sim_remove_path(struct sim_value **v, const char *const *path)
{
	struct sim_value *inner;

	if (sim_kind(*v) != SIM_OBJECT || !sim_get_path(*v, path))
		return false;
	own(v);
	if (!path[1]) {
		sim_map_remove(sim_map_of(*v), sim_map_find(sim_map_of(*v), path[0]));
		return true;
	}
	inner = sim_take(v, path[0]);
	sim_remove_path(&inner, path + 1);
	sim_map_put(v, path[0], inner);
	return true;
}

/* An array of our own with room for one more. */
static struct sim_list *roomy(struct sim_value **array)
{
	struct sim_list *list;

	assert(sim_kind(*array) == SIM_ARRAY);
	own(array);
	list = sim_list_of(*array);
	if (list->n < list->room)
		return list;
	list->room = list->room < FIRST_ITEMS ? FIRST_ITEMS : 2 * list->room;
	list = kar_xrealloc(list, 1, sizeof(*list) + list->room * sizeof(list->items[0]));
	*array = &list->head;
	return list;
}

void sim_append(struct sim_value **array, struct sim_value *consumed)
{
	struct sim_list *list = roomy(array);

	list->items[list->n++] = consumed;
}

void sim_insert(struct sim_value **array, size_t i, struct sim_value *consumed)
{
	struct sim_list *list = roomy(array);

	assert(i <= list->n);
	memmove(&list->items[i + 1], &list->items[i], (list->n - i) * sizeof(list->items[0]));
	list->items[i] = consumed;
	list->n++;
}

void sim_replace(struct sim_value **array, size_t i, struct sim_value *consumed)
{
	struct sim_value *before;

	assert(sim_kind(*array) == SIM_ARRAY && i < sim_count(*array));
	own(array);
	before = sim_list_of(*array)->items[i];
	sim_list_of(*array)->items[i] = consumed;
	sim_unref(before);
}

void sim_drop(struct sim_value **array, size_t i)
{
	struct sim_list *list;

	assert(sim_kind(*array) == SIM_ARRAY && i < sim_count(*array));
	own(array);
	list = sim_list_of(*array);
	sim_unref(list->items[i]);
	list->n--;
	memmove(&list->items[i], &list->items[i + 1], (list->n - i) * sizeof(list->items[0]));
}
