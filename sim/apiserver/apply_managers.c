#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/apply_impl.h"
#include "sim/apiserver/syntax.h"

/* ---- what makes a manager ---- */

static void add_text(struct sim_value **object, const char *key, const char *text)
{
	if (*text)
		sim_set_text(object, text, key);
}

/* The version counts for updates only: who applies is the same in every version. The caller frees it. */
static char *id_of(const char *name, bool applies, const char *version, const char *subresource)
{
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *id = sim_object();
	struct kar_buf out = { 0 };

	add_text(&id, "manager", name);
	sim_set_text(&id, applies ? "Apply" : "Update", "operation");
	add_text(&id, "apiVersion", applies ? "" : version);
	add_text(&id, "subresource", subresource);
	sim_print(id, &out);
	return kar_buf_detach(&out);
}

static struct apply_manager *find(struct apply_managers *m, const char *id)
{
	for (size_t i = 0; i < m->n; i++) {
		if (!strcmp(m->items[i].id, id))
			return &m->items[i];
	}
	return NULL;
}

static struct apply_manager *get(struct apply_managers *m, const char *name, bool applies,
	const char *version, const char *subresource)
{
	char *id = id_of(name, applies, version, subresource);
	struct apply_manager *one = find(m, id);

	if (one) {
		free(id);
		return one;
	}
	m->items = kar_xrealloc(m->items, m->n + 1, sizeof(*m->items));
	one = &m->items[m->n++];
	*one = (struct apply_manager){ .name = kar_xstrdup(name),
		.version = kar_xstrdup(version),
		.subresource = kar_xstrdup(subresource),
		.id = id,
		.applies = applies };
	return one;
}

struct apply_manager *apply_managers_own(struct apply_managers *m, const struct sim_apply *a,
	const char *name, bool applies)
{
	return get(m, *name ? name : "unknown", applies, a->api_version,
		a->subresource ? a->subresource : "");
}

static void release_one(struct apply_manager *one)
{
	free(one->name);
	free(one->version);
	free(one->subresource);
	free(one->id);
	sim_unref(one->time);
	sim_unref(one->set);
}

void apply_managers_release(struct apply_managers *m)
{
	for (size_t i = 0; i < m->n; i++)
		release_one(&m->items[i]);
	free(m->items);
	*m = (struct apply_managers){ 0 };
}

static void drop(struct apply_managers *m, size_t i)
{
	release_one(&m->items[i]);
	m->items[i] = m->items[--m->n];
}

void apply_manager_print(const struct apply_manager *m, struct kar_buf *out)
{
	sim_quote(m->name, out);
	if (*m->subresource) {
		kar_buf_puts(out, " with subresource ");
		sim_quote(m->subresource, out);
	}
	if (!m->applies)
		kar_buf_printf(out, " using %s", m->version);
}

/* ---- reading ---- */

static bool is_element(const char *key)
{
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *v = NULL;

	if (!strcmp(key, "."))
		return true;
	if (!key[0] || !strchr("fkvi", key[0]) || key[1] != ':')
		return false;
	if (key[0] == 'k' || key[0] == 'v')
		v = sim_parse(key + 2, strlen(key + 2), NULL);
	return key[0] == 'f' || key[0] == 'i' ||
		(key[0] == 'v' ? sim_kind(v) != SIM_ABSENT : sim_kind(v) == SIM_OBJECT);
}

static bool is_set(const struct sim_value *v)
{
	if (sim_kind(v) != SIM_OBJECT)
		return false;
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		if (!is_element(m.key) || !is_set(m.value))
			return false;
	}
	return true;
}

static void read_entry(struct apply_managers *m, const struct sim_value *entry)
{
	const char *operation = sim_text_or(sim_member(entry, "operation"), "");
	const char *version = sim_text_or(sim_member(entry, "apiVersion"), "");
	const struct sim_value *fields = sim_member(entry, "fieldsV1"), *time = sim_member(entry, "time");
	bool applies = !strcmp(operation, "Apply");
	struct apply_manager *one;

	if ((!applies && strcmp(operation, "Update") != 0) || !*version || !is_set(fields) ||
		sim_count(fields) == 0)
		return;
	one = get(m, sim_text_or(sim_member(entry, "manager"), ""), applies, version,
		sim_text_or(sim_member(entry, "subresource"), ""));
	sim_unref(one->set);
	sim_unref(one->time);
	one->set = sim_ref(fields);
	one->time = sim_text(time) ? sim_ref(time) : NULL;
}

struct apply_managers apply_managers_take(struct sim_value **object)
{
	struct apply_managers m = { 0 };
	const struct sim_value *entries = sim_get(*object, "metadata", "managedFields");

	for (size_t i = 0; i < sim_count(entries); i++)
		read_entry(&m, sim_item(entries, i));
	sim_remove(object, "metadata", "managedFields");
	return m;
}

/* ---- writing ---- */

/* By operation, time, name, version, subresource. Times are texts of one form, so that they compare as texts. */
static int by_age(const void *a, const void *b)
{
	const struct apply_manager *x = a, *y = b;
	int order = (int)y->applies - (int)x->applies;

	if (!order)
		order = strcmp(sim_text_or(x->time, ""), sim_text_or(y->time, ""));
	if (!order)
		order = strcmp(x->name, y->name);
	if (!order)
		order = strcmp(x->version, y->version);
	return order ? order : strcmp(x->subresource, y->subresource);
}

static struct sim_value *entry_of(const struct apply_manager *one)
{
	struct sim_value *entry = sim_object();

	add_text(&entry, "manager", one->name);
	sim_set_text(&entry, one->applies ? "Apply" : "Update", "operation");
	sim_set_text(&entry, one->version, "apiVersion");
	if (one->time)
		sim_set(&entry, sim_ref(one->time), "time");
	sim_set_text(&entry, "FieldsV1", "fieldsType");
	sim_set(&entry, sim_ref(one->set), "fieldsV1");
	add_text(&entry, "subresource", one->subresource);
	return entry;
}

void apply_managers_put(struct apply_managers *m, struct sim_value **object)
{
	struct sim_value *entries = sim_array();

	if (m->n > 0)
		qsort(m->items, m->n, sizeof(*m->items), by_age);
	for (size_t i = 0; i < m->n; i++) {
		if (m->items[i].set)
			sim_append(&entries, entry_of(&m->items[i]));
	}
	if (sim_count(entries) > 0) {
		sim_set(object, entries, "metadata", "managedFields");
	} else {
		sim_unref(entries);
		sim_remove(object, "metadata", "managedFields");
	}
	apply_managers_release(m);
}

/* ---- not too many ---- */

static size_t count_updaters(const struct apply_managers *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		n += !m->items[i].applies;
	return n;
}

static const char ancient[] = "ancient-changes";

/* The updater of the version of item @i that it is to be joined with: an older one, best what was joined before. SIZE_MAX: none. */
static size_t older_of_version(const struct apply_managers *m, size_t i)
{
	size_t found = SIZE_MAX;

	for (size_t j = 0; j < m->n; j++) {
		const struct apply_manager *one = &m->items[j];

		if (j == i || one->applies || strcmp(one->version, m->items[i].version) != 0)
			continue;
		if (j < i && found == SIZE_MAX)
			found = j;
		if (found != SIZE_MAX && !strcmp(one->name, ancient) && !*one->subresource)
			found = j;
	}
	return found;
}

/* Item @from goes into item @to, which takes the name that stands for those of old. */
static void join(struct apply_managers *m, size_t to, size_t from)
{
	struct apply_manager *a = &m->items[to], *b = &m->items[from];
	struct sim_value *set = apply_set_union(a->set, b->set), *time = sim_ref(b->time);

	release_one(b);
	m->n--;
	memmove(b, b + 1, (m->n - from) * sizeof(*b));
	a = &m->items[to > from ? to - 1 : to];
	sim_unref(a->set);
	sim_unref(a->time);
	a->set = set;
	a->time = time;
	free(a->name);
	free(a->id);
	free(a->subresource);
	a->name = kar_xstrdup(ancient);
	a->subresource = kar_xstrdup("");
	a->id = id_of(a->name, false, a->version, a->subresource);
}

void apply_managers_cap(struct apply_managers *m)
{
	enum { UPDATERS_MAX = 10 };

	for (size_t i = 0; i < m->n; i++) {
		while (i < m->n && !m->items[i].set)
			drop(m, i);
	}
	if (count_updaters(m) <= UPDATERS_MAX)
		return;
	qsort(m->items, m->n, sizeof(*m->items), by_age);
	for (size_t i = 0; i < m->n && count_updaters(m) > UPDATERS_MAX;) {
		size_t older = m->items[i].applies ? SIZE_MAX : older_of_version(m, i);

		if (older == SIZE_MAX)
			i++;
		else
			join(m, older, i);
	}
}
