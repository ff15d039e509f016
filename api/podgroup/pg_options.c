#include "api/podgroup/pg_options.h"

#include <string.h>

#include <bsd/stdlib.h>

#include "api/copy.h"
#include "api/names.h"
#include "common/base/str.h"
#include "common/base/timefmt.h"
#include "common/codec/json.h"

#define KEY(name) KAR_ANNOTATION_GANG name

struct list {
	struct kar_array items; /* const char * */
};
static const struct kar_field list_fields[] = { KAR_FIELD(struct list, items, "groups", KAR_F_ARRAY) };
static const struct kar_desc list_desc = KAR_DESC("groups", struct list, list_fields);

static void refuse(struct kar_pg_options *o, struct kar_arena *a, const char *key, const char *why)
{
	if (!o->invalid)
		o->invalid = kar_arena_printf(a, "annotation %s is ignored: %s", key, why);
}

/* Is it "ns/name", or "name"? */
static bool is_key(const char *text)
{
	const char *slash;

	if (!text || !text[0] || strlen(text) >= KAR_COPY_KEY)
		return false;
	slash = strchr(text, '/');
	return !slash || (slash > text && slash[1] && !strchr(slash + 1, '/'));
}

static const char *ns_of(const char *key, struct kar_arena *a)
{
	return kar_arena_printf(a, "%.*s", (int)strcspn(key, "/"), key);
}

static const char *add_groups(struct kar_pg_options *o, const struct list *read, const char *own,
	struct kar_arena *a)
{
	struct kar_array keys = { 0 };
	const char *const *names = read->items.items;
	const char **out;

	if (read->items.n > KAR_PG_GROUPS_MAX)
		return "it names more than 16 groups";
	for (size_t i = 0; i < read->items.n; i++) {
		if (!is_key(names[i]))
			return "want a JSON list of \"name\" or \"namespace/name\"";
	}
	keys = kar_copy_keys(a, ns_of(own, a), &read->items);
	names = keys.items;
	out = kar_arena_alloc(a, keys.n + 1, sizeof(char *));
	for (size_t i = 0; i < keys.n; i++) {
		if (strcmp(names[i], own) != 0)
			out[o->groups.n++] = names[i];
	}
	o->groups.items = out;
	return NULL;
}

static void read_groups(struct kar_pg_options *o, const char *text, const char *own, struct kar_arena *a)
{
	struct kar_arena scratch = { 0 };
	const char *document = kar_arena_printf(&scratch, "{\"groups\":%s}", text);
	struct list read = { 0 };
	const char *problem = "want a JSON list of \"name\" or \"namespace/name\"";

	if (kar_json_decode(&scratch, &list_desc, NULL, document, strlen(document), &read, NULL) == 0)
		problem = add_groups(o, &read, own, a);
	if (problem)
		refuse(o, a, KEY("groups"), problem);
	kar_arena_release(&scratch);
}

static void read_total(struct kar_pg_options *o, const char *text, struct kar_arena *a)
{
	const char *problem = NULL;

	o->total = (int32_t)strtonum(text, 1, INT32_MAX, &problem);
	if (problem)
		refuse(o, a, KEY("total-number"), problem);
}

static void read_waiting_time(struct kar_pg_options *o, const char *text, struct kar_arena *a)
{
	if (kar_duration_parse(text, &o->waiting_time) == 0 && o->waiting_time > 0)
		return;
	o->waiting_time = 0;
	refuse(o, a, KEY("waiting-time"), "want a duration such as 90s");
}

static void read_mode(struct kar_pg_options *o, const char *text, struct kar_arena *a)
{
	o->non_strict = kar_streq(text, "NonStrict");
	if (!o->non_strict && !kar_streq(text, "Strict"))
		refuse(o, a, KEY("mode"), "want Strict or NonStrict");
}

static void read_policy(struct kar_pg_options *o, const char *text, struct kar_arena *a)
{
	o->and_running = kar_streq(text, "waiting-and-running") || kar_streq(text, "WaitingAndRunning");
	o->only_waiting = kar_streq(text, "only-waiting") || kar_streq(text, "OnlyWaiting");
	if (!o->and_running && !o->only_waiting && !kar_streq(text, "once-satisfied") &&
		!kar_streq(text, "OnceSatisfied"))
		refuse(o, a, KEY("match-policy"), "want once-satisfied, waiting-and-running or only-waiting");
}

struct kar_pg_options kar_pg_options_read(const struct kar_array *annotations, const char *own,
	struct kar_arena *a)
{
	struct kar_pg_options o = { 0 };
	const char *groups = kar_pairs_get(annotations, KEY("groups")),
		   *total = kar_pairs_get(annotations, KEY("total-number")),
		   *time = kar_pairs_get(annotations, KEY("waiting-time")),
		   *mode = kar_pairs_get(annotations, KEY("mode")),
		   *policy = kar_pairs_get(annotations, KEY("match-policy"));

	if (groups)
		read_groups(&o, groups, own, a);
	if (total)
		read_total(&o, total, a);
	if (time)
		read_waiting_time(&o, time, a);
	if (mode)
		read_mode(&o, mode, a);
	if (policy)
		read_policy(&o, policy, a);
	return o;
}

bool kar_pg_options_equal(const struct kar_pg_options *x, const struct kar_pg_options *y)
{
	return x->total == y->total && x->waiting_time == y->waiting_time && x->non_strict == y->non_strict &&
		x->and_running == y->and_running && x->only_waiting == y->only_waiting &&
		kar_streq(x->invalid, y->invalid) && kar_strings_equal(&x->groups, &y->groups);
}
