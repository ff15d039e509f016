#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/patch_strategic.h"
#include "sim/apiserver/syntax.h"

enum { INVALID = 422, INTERNAL = 500 };

/* What items are compared by: the value of the merge key, or the item itself. */
static const struct sim_value *identity(const struct sim_value *item, const char *key)
{
	return *key ? sim_member(item, key) : item;
}

/* ---- where in a list an item is, without looking at all of them ---- */

struct index {
	const char *key;
	const struct sim_value **ids; /* borrowed from the items */
	size_t *slots;                /* open addressing: 1 + place of an item; 0: free */
	size_t n, mask;
};

static size_t *slot_of(const struct index *x, const struct sim_value *id)
{
	size_t at = (size_t)sim_hash(id) & x->mask;

	while (x->slots[at] && !sim_equal(x->ids[x->slots[at] - 1], id))
		at = (at + 1) & x->mask;
	return &x->slots[at];
}

/* Adds the next item; of equal ones the first is found. */
static void index_add(struct index *x, const struct sim_value *item)
{
	const struct sim_value *id = identity(item, x->key);
	size_t *slot = slot_of(x, id);

	x->ids[x->n++] = id;
	if (!*slot)
		*slot = x->n;
}

/* Has room for @room items; holds those of @list, which may be NULL. */
static struct index index_new(const struct sim_value *list, const char *key, size_t room)
{
	struct index x = { .key = key, .mask = 7 };

	while (x.mask < 2 * room)
		x.mask = 2 * x.mask + 1;
	x.ids = kar_xcalloc(room + 1, sizeof(*x.ids));
	x.slots = kar_xcalloc(x.mask + 1, sizeof(*x.slots));
	for (size_t i = 0; i < sim_count(list); i++)
		index_add(&x, sim_item(list, i));
	return x;
}

static void index_release(struct index *x)
{
	free(x->ids);
	free(x->slots);
}

/* SIZE_MAX: not there. */
static size_t index_find(const struct index *x, const struct sim_value *item)
{
	return *slot_of(x, identity(item, x->key)) - 1;
}

/* ---- order: what the patch names in the order of the patch, the rest as it was, interleaved as far as both agree ---- */

struct place {
	const struct sim_value *item;
	size_t wanted, before; /* its places in the patch and in the list as it was; SIZE_MAX: none */
	size_t now;
};

static int by_wanted(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->wanted != y->wanted)
		return x->wanted < y->wanted ? -1 : 1;
	return (x->now > y->now) - (x->now < y->now);
}

static int by_before(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	return (x->now > y->now) - (x->now < y->now);
}

/* Both sorted; @named first, unless the other stood before it. New value. */
static struct sim_value *interleave(const struct place *others, size_t n_others, const struct place *named,
	size_t n_named)
{
	struct sim_value *out = sim_array();
	size_t i = 0, j = 0;

	while (i < n_others || j < n_named) {
		bool other = j >= n_named ||
			(i < n_others && others[i].before < named[j].before && named[j].before != SIZE_MAX);

		sim_append(&out, sim_ref(other ? others[i++].item : named[j++].item));
	}
	return out;
}

/* Puts *@list in order; its first @n_before items stand as they stood before. */
static void put_in_order(struct sim_value **list, const struct sim_value *order, size_t n_before,
	const char *key)
{
	size_t n = sim_count(*list), n_named = 0, n_others = 0;
	struct index wanted = index_new(order, key, sim_count(order)), was = index_new(NULL, key, n);
	struct place *named = kar_xcalloc(n + 1, sizeof(*named)),
		     *others = kar_xcalloc(n + 1, sizeof(*others));
	struct sim_value *sorted;

	for (size_t i = 0; i < n && i < n_before; i++)
		index_add(&was, sim_item(*list, i));
	for (size_t i = 0; i < n; i++) {
		const struct sim_value *item = sim_item(*list, i);
		struct place p = { item, index_find(&wanted, item), index_find(&was, item), i };

		if (p.wanted == SIZE_MAX)
			others[n_others++] = p;
		else
			named[n_named++] = p;
	}
	qsort(named, n_named, sizeof(*named), by_wanted);
	qsort(others, n_others, sizeof(*others), by_before);
	sorted = interleave(others, n_others, named, n_named);
	free(named);
	free(others);
	index_release(&wanted);
	index_release(&was);
	sim_unref(*list);
	*list = sorted;
}

/* ---- checks ---- */

/* All items of both lists have one type: objects if there is a key, else neither those nor lists. */
static int check_items(const struct sim_value *is, const struct sim_value *patch, const char *key,
	struct kar_err *err)
{
	const struct sim_value *const lists[] = { is, patch };
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };
	enum sim_kind kind = sim_kind(sim_count(is) ? sim_item(is, 0) : sim_item(patch, 0));

	if (kind == SIM_ARRAY)
		return smp_fail(err, INVALID,
			"the server rejected our request due to an error in our request");
	for (size_t l = 0; l < KAR_LEN(lists); l++) {
		for (size_t i = 0; i < sim_count(lists[l]); i++) {
			if (sim_kind(sim_item(lists[l], i)) == kind)
				continue;
			sim_print_go(is, &text);
			kar_buf_puts(&text, " ");
			sim_print_go(patch, &text);
			return smp_fail(err, INTERNAL, "list element types are not identical: [%s]",
				kar_buf_cstr(&text));
		}
	}
	if (!*key && kind == SIM_OBJECT)
		return smp_fail(err, INTERNAL, "cannot merge lists without merge key for struct");
	if (*key && kind != SIM_OBJECT)
		return smp_fail(err, INTERNAL, "expected a map[string]interface {}, but received a %s",
			smp_go_type(sim_count(is) ? sim_item(is, 0) : sim_item(patch, 0)));
	return 0;
}

static int check_keys(const struct sim_value *list, const char *key, struct kar_err *err)
{
	for (size_t i = 0; *key && i < sim_count(list); i++) {
		if (!sim_member(sim_item(list, i), key))
			return smp_fail_key(err, sim_item(list, i), key);
	}
	return 0;
}

int smp_check_order(const struct smp_list *l, struct kar_err *err)
{
	size_t i = 0, j = 0, n = sim_count(l->patch);
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf patch = { 0 }, order = { 0 };

	if (n == 0 || sim_count(l->order) == 0)
		return 0;
	while (i < n && j < sim_count(l->order)) {
		const struct sim_value *item = sim_item(l->patch, i), *wanted = sim_item(l->order, j);

		if (sim_member(item, "$patch")) {
			i++;
			continue;
		}
		if (!identity(item, l->key) || !identity(wanted, l->key))
			return smp_fail_key(err, identity(item, l->key) ? wanted : item, l->key);
		i += sim_equal(identity(item, l->key), identity(wanted, l->key));
		j++;
	}
	while (i < n && sim_member(sim_item(l->patch, i), "$patch"))
		i++;
	if (i == n)
		return 0;
	sim_print_go(l->patch, &patch);
	sim_print_go(l->order, &order);
	return smp_fail(err, INTERNAL,
		"The order in patch list:\n%s\n doesn't match $setElementOrder list:\n%s\n",
		kar_buf_cstr(&patch), kar_buf_cstr(&order));
}

/* ---- merging ---- */

/* @list without the items that @unwanted has. New value. */
static struct sim_value *without(const struct sim_value *list, const struct sim_value *unwanted,
	const char *key)
{
	struct index x = index_new(unwanted, key, sim_count(unwanted));
	struct sim_value *out = sim_array();

	for (size_t i = 0; i < sim_count(list); i++) {
		if (index_find(&x, sim_item(list, i)) == SIZE_MAX)
			sim_append(&out, sim_ref(sim_item(list, i)));
	}
	index_release(&x);
	return out;
}

void smp_remove_items(struct sim_value **target, const struct sim_value *unwanted)
{
	struct sim_value *rest = without(*target, unwanted, "");

	sim_unref(*target);
	*target = rest;
}

/* The items of the patch by what they want. */
struct sorted_patch {
	struct sim_value *items, *deleted; /* new lists */
	bool replace;
};

static int sort_patch(const struct smp_list *l, struct sorted_patch *out, struct kar_err *err)
{
	for (size_t i = 0; i < sim_count(l->patch); i++) {
		const struct sim_value *item = sim_item(l->patch, i), *what = sim_member(item, "$patch");
		const char *text = sim_text_or(what, "");
		KAR_CLEANUP(kar_cleanup_buf) struct kar_buf shown = { 0 };

		if (!what) {
			sim_append(&out->items, sim_ref(item));
		} else if (!strcmp(text, "delete")) {
			if (!sim_member(item, l->key))
				return smp_fail_key(err, item, l->key);
			sim_append(&out->deleted, sim_ref(item));
		} else if (!strcmp(text, "replace")) {
			out->replace = true;
		} else if (!strcmp(text, "merge")) {
			return smp_fail(err, INTERNAL, "merging lists cannot yet be specified in the patch");
		} else {
			sim_print_go(item, &shown);
			return smp_fail(err, INTERNAL, "unknown patch type: %s in map: %s", text,
				kar_buf_cstr(&shown));
		}
	}
	return 0;
}

/* Merges each item into the one of @list with the same key, or appends it. */
static int merge_items(struct sim_value **list, const struct sim_value *items, const struct smp_list *l,
	struct kar_err *err)
{
	struct index x = index_new(*list, l->key, sim_count(*list) + sim_count(items));
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sim_count(items); i++) {
		const struct sim_value *item = sim_item(items, i);
		size_t at = index_find(&x, item);

		if (at == SIZE_MAX) {
			sim_append(list, sim_ref(item));
			index_add(&x, item);
			continue;
		}

		struct sim_value *merged = sim_take_item(list, at);

		rc = smp_merge_object(&merged, item, l->type, err);
		x.ids[at] = identity(item, l->key); /* what it was may be gone */
		sim_replace(list, at, merged);
	}
	index_release(&x);
	return rc;
}

static int merge_objects(struct sim_value **target, const struct smp_list *l, struct kar_err *err)
{
	struct sorted_patch p = { sim_array(), sim_array(), false };
	struct sim_value *merged = NULL;
	size_t kept = 0;
	int rc = sort_patch(l, &p, err);

	if (rc == 0 && p.replace) {
		merged = sim_ref(p.items);
		rc = check_keys(merged, l->key, err);
	} else if (rc == 0) {
		merged = without(*target, p.deleted, l->key);
		kept = sim_count(merged);
		rc = check_keys(p.items, l->key, err) || merge_items(&merged, p.items, l, err) ||
			check_keys(merged, l->key, err);
	}
	/* With $setElementOrder the server takes what is new in the room of what is deleted for something that stood there. */
	if (rc == 0 && l->order)
		put_in_order(&merged, l->order, sim_count(*target), l->key);
	else if (rc == 0 && !p.replace)
		put_in_order(&merged, p.items, kept, l->key);
	sim_unref(p.items);
	sim_unref(p.deleted);
	if (rc) {
		sim_unref(merged);
		return -1;
	}
	sim_unref(*target);
	*target = merged;
	return 0;
}

static void merge_scalars(struct sim_value **target, const struct smp_list *l)
{
	const struct sim_value *const lists[] = { *target, l->patch };
	size_t kept = 0;
	struct index x = index_new(NULL, "", sim_count(*target) + sim_count(l->patch));
	struct sim_value *merged = sim_array();

	for (size_t i = 0; i < KAR_LEN(lists); i++) {
		for (size_t j = 0; j < sim_count(lists[i]); j++) {
			const struct sim_value *item = sim_item(lists[i], j);

			if (index_find(&x, item) != SIZE_MAX)
				continue;
			index_add(&x, item);
			sim_append(&merged, sim_ref(item));
			kept += i == 0;
		}
	}
	index_release(&x);
	put_in_order(&merged, l->order ? l->order : l->patch, kept, "");
	sim_unref(*target);
	*target = merged;
}

int smp_merge_list(struct sim_value **target, const struct smp_list *l, struct kar_err *err)
{
	if (sim_count(*target) == 0 && sim_count(l->patch) == 0)
		return 0;
	if (check_items(*target, l->patch, l->key, err) || (l->order && check_keys(l->order, l->key, err)))
		return -1;
	if (*l->key)
		return merge_objects(target, l, err);
	merge_scalars(target, l);
	return 0;
}
