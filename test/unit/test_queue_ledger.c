/* The ledger of quotas (controllers/queue/ledger.h), and the count of live pods by charge (controllers/cluster/usage.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/podgroup/podgroup.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "controllers/cluster/usage.h"
#include "controllers/queue/ledger.h"
#include "test/fixture/projection.h"

/* One namespace, its objects, and its account. */
struct world {
	struct kar_arena a;
	struct queue_ledger ledger;
	struct kar_object *objects[16];
	size_t n;
	const struct kar_resourcequota *quotas[8];
	const struct kar_limitrange *ranges[8];
	struct queue_quotas all;
	struct queue_account *account; /* NULL: no quota limits pods */
};

static struct kar_object *add(struct world *w, const struct kar_type *type, const char *json, size_t n)
{
	char *text = strndup(json, n);

	w->objects[w->n] = object_of(type, text);
	free(text);
	return w->objects[w->n++];
}

/* Objects, separated by '\n'. */
static void begin(struct world *w, const char *quotas, const char *ranges)
{
	*w = (struct world){ .all = { .quotas = w->quotas, .ranges = w->ranges } };
	w->ledger.arena = &w->a;
	for (const char *at = quotas; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
		w->quotas[w->all.n_quotas++] =
			kar_as_resourcequota(add(w, &kar_resourcequota_type, at, strcspn(at, "\n")));
	for (const char *at = ranges; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
		w->ranges[w->all.n_ranges++] =
			kar_as_limitrange(add(w, &kar_limitrange_type, at, strcspn(at, "\n")));
	w->account = queue_ledger_open(&w->ledger, "ns", &w->all);
}

static void end(struct world *w)
{
	for (size_t i = 0; i < w->n; i++)
		kar_object_unref(w->objects[i]);
	kar_arena_release(&w->a);
}

#define META(name) "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\",\"uid\":\"" name "\"},"
#define QUOTA(name, spec, hard, used) \
	META(name) "\"spec\":{\"hard\":{" spec "}},\"status\":{\"hard\":{" hard "},\"used\":{" used "}}}"
#define EVEN(name, hard, used) QUOTA(name, hard, hard, used)
#define SCOPED(name, hard, used, scope) \
	META(name) \
	"\"spec\":{\"hard\":{" hard "},\"scopes\":[\"" scope "\"]},\"status\":{\"hard\":{" hard \
	"},\"used\":{" used "}}}"
#define RANGE(name, requests, limits) \
	META(name) \
	"\"spec\":{\"limits\":[{\"type\":\"Container\",\"default\":{" limits \
	"},\"defaultRequest\":{" requests "}}]}}"
#define PODS(n) "\"pods\":\"" n "\""
#define CPU(n) "\"requests.cpu\":\"" n "\""
#define LIMIT(n) "\"limits.cpu\":\"" n "\""

/* --- rows and charges ------------------------------------------------------------------------------------ */

#define ASKS(requests, limits) \
	"{\"containers\":[{\"name\":\"x\",\"resources\":{\"requests\":{" requests "},\"limits\":{" limits \
	"}}}]}"

static const struct charged {
	const char *name, *quotas, *ranges, *template, *class;
	const char *rows;    /* quota, resource, limit, hard; "?": not computed */
	const char *charges; /* row and amount */
	const char *problem;
} charged[] = {
	{ "two_rows", EVEN("c", PODS("5") "," CPU("4"), PODS("0") "," CPU("0")), NULL,
		ASKS("\"cpu\":\"1500m\"", ""), NULL, " c pods 5/5 c requests.cpu 4000/4000", " 0:1 1:1500",
		NULL },
	{ "quotas_by_name", EVEN("b", PODS("5"), PODS("0")) "\n" EVEN("a", PODS("6"), PODS("0")), NULL,
		ASKS("", ""), NULL, " a pods 6/6 b pods 5/5", " 0:1 1:1", NULL },
	{ "the_lower_limit", QUOTA("c", PODS("5"), PODS("3"), PODS("0")), NULL, ASKS("", ""), NULL,
		" c pods 3/5", " 0:1", NULL },
	{ "the_limit_is_being_lowered", QUOTA("c", PODS("3"), PODS("5"), PODS("0")), NULL, ASKS("", ""), NULL,
		" c pods 3/3", " 0:1", NULL },
	{ "a_limit_that_goes_is_enforced_still", QUOTA("c", "", PODS("5"), PODS("0")), NULL, ASKS("", ""),
		NULL, " c pods 5/5", " 0:1", NULL },
	{ "not_computed", QUOTA("c", PODS("5"), "", ""), NULL, ASKS("", ""), NULL, " c pods 5/5?", " 0:1",
		NULL },
	{ "use_is_not_computed", QUOTA("c", PODS("5"), PODS("5"), ""), NULL, ASKS("", ""), NULL,
		" c pods 5/5?", " 0:1", NULL },
	{ "of_other_objects", EVEN("c", "\"services\":\"5\"", "\"services\":\"1\""), NULL, ASKS("", ""), NULL,
		"", "", NULL },
	{ "what_is_not_asked_for_is_not_charged",
		EVEN("c", "\"requests.a.b/gpu\":\"1\"", "\"requests.a.b/gpu\":\"1\""), NULL,
		ASKS("\"cpu\":1", ""), NULL, " c requests.a.b/gpu 1/1", "", NULL },
	{ "scope_does_not_match", SCOPED("c", PODS("5"), PODS("0"), "Terminating"), NULL, ASKS("", ""), NULL,
		" c pods 5/5", "", NULL },
	{ "scope_matches", SCOPED("c", PODS("5"), PODS("0"), "BestEffort"), NULL, ASKS("", ""), NULL,
		" c pods 5/5", " 0:1", NULL },
	{ "another_scope", SCOPED("c", PODS("5"), PODS("0"), "CrossNamespacePodAffinity"), NULL, ASKS("", ""),
		NULL, "", "", NULL },
	{ "class_of_the_job", SCOPED("c", PODS("5"), PODS("0"), "PriorityClass"), NULL, ASKS("", ""), "high",
		" c pods 5/5", " 0:1", NULL },
	{ "no_class", SCOPED("c", PODS("5"), PODS("0"), "PriorityClass"), NULL, ASKS("", ""), NULL,
		" c pods 5/5", "", NULL },
	{ "defaults_count", EVEN("c", LIMIT("9") "," CPU("9"), LIMIT("0") "," CPU("0")),
		RANGE("l", "\"cpu\":\"1\"", "\"cpu\":\"2\""), ASKS("", ""), NULL,
		" c limits.cpu 9000/9000 c requests.cpu 9000/9000", " 0:2000 1:1000", NULL },
	{ "defaults_by_name", EVEN("c", CPU("9"), CPU("0")),
		RANGE("m", "\"cpu\":\"2\"", "") "\n" RANGE("l", "\"cpu\":\"1\"", ""), ASKS("", ""), NULL,
		" c requests.cpu 9000/9000", " 0:1000", NULL },
	{ "defaults_change_the_scope", SCOPED("c", PODS("5"), PODS("0"), "BestEffort"),
		RANGE("l", "\"cpu\":\"1\"", ""), ASKS("", ""), NULL, " c pods 5/5", "", NULL },
	{ "needs_a_limit", EVEN("c", LIMIT("4"), LIMIT("0")), NULL, ASKS("\"cpu\":1", ""), NULL,
		" c limits.cpu 4000/4000", "", "quota c needs limits.cpu, container x of task t sets none" },
	{ "zero_is_set", EVEN("c", LIMIT("4"), LIMIT("0")), NULL, ASKS("", "\"cpu\":0"), NULL,
		" c limits.cpu 4000/4000", "", NULL },
	{ "the_first_that_is_needed",
		EVEN("d", "\"memory\":1", "\"memory\":0") "\n" EVEN("c", CPU("4") "," PODS("1"),
			CPU("0") "," PODS("0")),
		NULL, ASKS("", ""), NULL, " c pods 1/1 c requests.cpu 4000/4000 d memory 1/1", " 0:1",
		"quota c needs requests.cpu, container x of task t sets none" },
	{ "an_init_container_too", EVEN("c", CPU("4"), CPU("0")), NULL,
		"{\"initContainers\":[{\"name\":\"i\"}],\"containers\":[{\"name\":\"x\",\"resources\":{\"requests\":{\"cpu\":1}}}]}",
		NULL, " c requests.cpu 4000/4000", " 0:1000",
		"quota c needs requests.cpu, container i of task t sets none" },
	{ "one_of_many", EVEN("c", CPU("4"), CPU("0")), NULL, "{\"containers\":[{}]}", NULL,
		" c requests.cpu 4000/4000", "",
		"quota c needs requests.cpu, a container of task t sets none" },
	{ "the_pod_as_a_whole_is_enough", EVEN("c", CPU("4"), CPU("0")), NULL,
		"{\"resources\":{\"limits\":{\"memory\":1}},\"containers\":[{\"name\":\"x\"}]}", NULL,
		" c requests.cpu 4000/4000", "", NULL },
	{ "nothing_is_needed_before_it_is_computed", QUOTA("c", LIMIT("4"), "", ""), NULL, ASKS("", ""), NULL,
		" c limits.cpu 4000/4000?", "", NULL },
	{ "storage_and_devices_are_not_needed",
		EVEN("c", "\"ephemeral-storage\":1,\"requests.a.b/gpu\":1",
			"\"ephemeral-storage\":0,\"requests.a.b/gpu\":0"),
		NULL, ASKS("", ""), NULL, " c ephemeral-storage 1/1 c requests.a.b/gpu 1/1", "", NULL },
	{ "the_most_there_is", EVEN("c", "\"memory\":\"8Ei\"", "\"memory\":\"0\""), NULL,
		ASKS("\"memory\":\"9999Ei\"", ""), NULL, " c memory 9223372036854775807/9223372036854775807",
		" 0:9223372036854775807", NULL },
};

static void print_rows(const struct queue_ledger *l, struct kar_buf *out)
{
	for (uint32_t i = 0; i < l->n_rows; i++)
		kar_buf_printf(out, " %s %s %lld/%lld%s", l->rows[i].quota, l->rows[i].resource,
			(long long)l->rows[i].limit, (long long)l->rows[i].hard,
			l->rows[i].unknown ? "?" : "");
}

static bool is(const char *name, const char *got, const char *want)
{
	if (kar_streq(got, want))
		return true;
	print_error("%s: want %s\n%*s got  %s\n", name, want ? want : "NULL", (int)strlen(name), "",
		got ? got : "NULL");
	return false;
}

/* As a template of this PodSpec is counted. */
static const struct kar_pod_counted *counted(struct world *w, const char *spec)
{
	const char *json = kar_arena_printf(&w->a, "{\"spec\":%s}", spec);

	return kar_template_charge((struct kar_str){ json, strlen(json) }, &w->a);
}

static bool is_charged(const struct charged *row)
{
	struct kar_buf rows KAR_CLEANUP(kar_cleanup_buf) = { 0 },
			    charges KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct queue_charges none = { 0 };
	const struct queue_charges *c = &none;
	struct world w;
	bool ok;

	begin(&w, row->quotas, row->ranges);
	print_rows(&w.ledger, &rows);
	if (w.account)
		c = queue_charge_template(w.account, counted(&w, row->template), row->class);
	for (uint32_t i = 0; i < c->n; i++)
		kar_buf_printf(&charges, " %u:%lld", c->items[i].row, (long long)c->items[i].amount);
	ok = is(row->name, kar_buf_cstr(&rows), row->rows) &&
		is(row->name, kar_buf_cstr(&charges), row->charges) &&
		is(row->name, queue_charges_problem(c, "t", &w.a), row->problem);
	end(&w);
	return ok;
}

static void templates_are_charged_by_the_rows_that_match(void **state)
{
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(charged); i++)
		failed += !is_charged(&charged[i]);
	assert_int_equal(failed, 0);
}

/* --- what others use ------------------------------------------------------------------------------------- */

/* Pods of 1 cpu each. */
static const struct {
	const char *name, *used;
	int live, managed, kept, reserved;
	int64_t foreign;
} uses[] = {
	{ "nobody", "0", 0, 0, 0, 0, 0 },
	{ "others", "3", 3, 0, 0, 0, 3 },
	{ "ours_are_not_others", "3", 3, 3, 3, 0, 0 },
	{ "of_both", "5", 5, 2, 2, 0, 3 },
	{ "a_pod_of_others_that_no_status_counts_yet", "2", 3, 0, 0, 0, 3 },
	{ "a_pod_of_others_that_no_cache_shows_yet", "3", 2, 0, 0, 0, 3 },
	{ "a_pod_of_others_is_gone_but_still_counted", "3", 2, 1, 1, 0, 2 },
	{ "ours_is_counted_before_the_cache_shows_it", "3", 2, 2, 3, 0, 0 },
	{ "ours_are_shown_before_they_are_counted", "0", 3, 3, 3, 0, 0 },
	{ "ours_are_still_to_be_created", "2", 2, 0, 4, 0, 2 },
	{ "more_is_used_than_all_of_us_may", "9", 4, 4, 4, 0, 5 },
	{ "reservations_come_on_top", "3", 3, 1, 1, 4, 6 },
	{ "the_most_there_is", "9223372036854775807", 1, 0, 0, 1, INT64_MAX },
};

/* @n pods, as before. */
static void reserve(struct world *w, int64_t n)
{
	struct kar_queue_charge *rest = kar_arena_alloc(&w->a, 1, sizeof(*rest));
	struct queue_reservation *r = kar_arena_alloc(&w->a, 1, sizeof(*r));

	*rest = (struct kar_queue_charge){ .row = 0, .amount = n };
	*r = (struct queue_reservation){ .account = w->account, .rest = rest, .n_rest = n > 0, .held = true };
	queue_reservations_decide(&r, 1);
}

static void foreign_is_what_others_use(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(uses); i++) {
		char quota[256];
		const struct queue_charges *c;
		struct world w;

		snprintf(quota, sizeof(quota), EVEN("c", "\"pods\":\"9\"", "\"pods\":\"%s\""), uses[i].used);
		begin(&w, quota, NULL);
		queue_account_live(w.account, counted(&w, ASKS("", "")), uses[i].live);
		for (int k = 0; k < uses[i].managed; k++)
			queue_account_managed(w.account, counted(&w, ASKS("", "")));
		c = queue_charge_pod(w.account, counted(&w, ASKS("", "")));
		queue_account_kept(w.account, c->items, c->n, uses[i].kept);
		reserve(&w, uses[i].reserved);
		queue_ledger_close(&w.ledger);
		if (w.ledger.rows[0].foreign != uses[i].foreign)
			fail_msg("%s: %lld", uses[i].name, (long long)w.ledger.rows[0].foreign);
		end(&w);
	}
}

/* A sum beyond 64 bits is the most, and no small number. */
static void sums_do_not_overflow(void **state)
{
	static const char huge[] = ASKS("\"memory\":\"8Ei\"", "");
	struct world w;

	(void)state;
	begin(&w, EVEN("c", "\"memory\":\"1Gi\"", "\"memory\":\"0\""), NULL);
	queue_account_live(w.account, counted(&w, huge), INT32_MAX);
	queue_account_managed(w.account, counted(&w, huge));
	queue_ledger_close(&w.ledger);
	assert_true(w.ledger.rows[0].foreign == INT64_MAX);
	end(&w);
}

/* Each namespace has rows of its own, and one without a quota for pods has no account. */
static void namespaces_are_apart(void **state)
{
	struct world w;
	struct queue_quotas none = { 0 };
	struct queue_account *other;

	(void)state;
	begin(&w, EVEN("c", PODS("5"), PODS("1")), NULL);
	assert_null(queue_ledger_open(&w.ledger, "empty", &none));
	other = queue_ledger_open(&w.ledger, "other", &w.all);
	queue_account_live(other, counted(&w, ASKS("", "")), 4);
	assert_int_equal(queue_charge_pod(other, counted(&w, ASKS("", "")))->items[0].row, 1);
	queue_ledger_close(&w.ledger);
	assert_string_equal(w.ledger.rows[1].ns, "other");
	assert_int_equal(w.ledger.rows[0].foreign, 1);
	assert_int_equal(w.ledger.rows[1].foreign, 4);
	end(&w);
}

/* --- reservations ---------------------------------------------------------------------------------------- */

#define MEMBER "{\"containers\":[{\"name\":\"x\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}"

/* What of totals, with as many members of 1 cpu, is still to be kept: row and amount. */
static const struct {
	const char *name, *quotas, *totals; /* of a PodGroup */
	size_t members;
	const char *rest;
} rests[] = {
	{ "requests_by_the_names_of_pods", EVEN("c", CPU("9") "," PODS("9"), CPU("0") "," PODS("0")),
		"\"cpu\":\"3\",\"pods\":3", 0, " 0:3 1:3000" },
	{ "plain_names_too", EVEN("c", "\"cpu\":9,\"count/pods\":9", "\"cpu\":0,\"count/pods\":0"),
		"\"cpu\":\"3\",\"pods\":3", 0, " 0:3 1:3000" },
	{ "no_limits", EVEN("c", LIMIT("9"), LIMIT("0")), "\"cpu\":\"3\",\"limits.cpu\":\"3\"", 0, "" },
	{ "devices", EVEN("c", "\"requests.a.b/gpu\":9", "\"requests.a.b/gpu\":0"), "\"a.b/gpu\":\"3\"", 0,
		" 0:3" },
	{ "less_what_members_have", EVEN("c", CPU("9"), CPU("2")), "\"cpu\":\"3\"", 2, " 0:1000" },
	{ "members_have_more", EVEN("c", CPU("9"), CPU("5")), "\"cpu\":\"3\"", 5, "" },
	{ "rounded_up", EVEN("c", CPU("9"), CPU("0")), "\"cpu\":\"0.0001\"", 0, " 0:1" },
	{ "scopes_are_left_out", SCOPED("c", PODS("5"), PODS("0"), "NotTerminating"), "\"pods\":3", 0, "" },
	{ "the_most_there_is", EVEN("c", "\"memory\":9", "\"memory\":0"), "\"memory\":\"9999Ei\"", 0,
		" 0:9223372036854775807" },
};

static void what_members_do_not_have_is_kept(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rests); i++) {
		struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };
		const struct queue_charges *members[8];
		struct queue_reservation r = { 0 };
		const struct kar_podgroup *g;
		struct world w;

		begin(&w, rests[i].quotas, NULL);
		kar_buf_printf(&out, META("g") "\"spec\":{\"minMember\":1,\"totalResources\":{%s}}}",
			rests[i].totals);
		g = kar_as_podgroup(add(&w, &kar_podgroup_type, out.p, out.n));
		r.account = w.account;
		for (size_t k = 0; k < rests[i].members; k++)
			members[k] = queue_charge_pod(w.account, counted(&w, MEMBER));
		queue_reservation_rest(&r, &g->spec.total_resources, members, rests[i].members);
		kar_buf_clear(&out);
		for (uint32_t k = 0; k < r.n_rest; k++)
			kar_buf_printf(&out, " %u:%lld", r.rest[k].row, (long long)r.rest[k].amount);
		if (strcmp(kar_buf_cstr(&out), rests[i].rest) != 0)
			fail_msg("%s:%s", rests[i].name, kar_buf_cstr(&out));
		end(&w);
	}
}

/* Who wants how many pods of a quota of 10, in their order ("+": it had a reservation); who gets them, and what others find used. */
static const struct {
	const char *name, *used, *wishes, *got;
	int64_t foreign;
} wishes[] = {
	{ "the_first_that_fit", "0", "4 5 3 1", "yyny", 10 },
	{ "what_is_used_is_gone", "8", "4 2", "ny", 10 },
	{ "whoever_had_one_goes_before_the_others", "0", "4 +8", "ny", 8 },
	{ "the_last_one_loses_it", "3", "+4 +2 +3", "yyn", 9 },
	{ "and_no_more_than_needed", "6", "+1 +4 +2", "yny", 9 },
	{ "it_is_used_up", "10", "+0 +0", "yy", 10 },
	{ "nothing_left_to_lose", "12", "+0 +3 1", "ynn", 12 },
	{ "what_is_lost_is_free_for_smaller_ones", "7", "2 +4", "yn", 9 },
};

static void reservations_are_granted_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(wishes); i++) {
		struct queue_reservation all[8] = { 0 }, *list[8];
		struct kar_queue_charge rest[8];
		char quota[256], got[9] = "";
		size_t n = 0;
		struct world w;

		snprintf(quota, sizeof(quota), EVEN("c", "\"pods\":\"10\"", "\"pods\":\"%s\""),
			wishes[i].used);
		begin(&w, quota, NULL);
		for (const char *at = wishes[i].wishes; *at; at += strcspn(at, " "), at += *at == ' ', n++) {
			rest[n] = (struct kar_queue_charge){ .amount = strtol(at, NULL, 10) };
			all[n] = (struct queue_reservation){ .account = w.account,
				.rest = &rest[n],
				.n_rest = rest[n].amount > 0,
				.held = *at == '+' };
			list[n] = &all[n];
		}
		queue_reservations_decide(list, n);
		queue_ledger_close(&w.ledger);
		for (size_t k = 0; k < n; k++)
			got[k] = all[k].granted ? 'y' : 'n';
		if (strcmp(got, wishes[i].got) != 0 || w.ledger.rows[0].foreign != wishes[i].foreign)
			fail_msg("%s: %s, %lld", wishes[i].name, got, (long long)w.ledger.rows[0].foreign);
		end(&w);
	}
}

/* --- live pods ------------------------------------------------------------------------------------------- */

static void sum_up(void *arg, const struct kar_pod_counted *charge, int64_t n)
{
	const struct kar_counted_container *c = charge->containers.items;

	kar_buf_printf(arg, " %s x%lld", kar_pairs_get(&c->requests, "cpu") ? "cpu" : "none", (long long)n);
}

static const char *usage_of(const struct kar_usage *u, const char *ns, struct kar_buf *out)
{
	kar_buf_clear(out);
	kar_usage_each(u, ns, sum_up, out);
	return kar_buf_cstr(out);
}

#define POD(ns, meta, cpu, phase) \
	"{\"metadata\":{\"name\":\"p\",\"namespace\":\"" ns "\",\"uid\":\"p\"" meta \
	"},\"spec\":{\"containers\":[{\"resources\":" \
	"{\"requests\":{" cpu "}}}]},\"status\":{\"phase\":\"" phase "\"}}"

static void live_pods_are_counted_by_charge(void **state)
{
	struct kar_usage *u = kar_usage_new();
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	const struct kar_pod *a = pod_of(POD("ns", "", "\"cpu\":1", "Pending")),
			     *runs = pod_of(POD("ns", "", "\"cpu\":1", "Running")),
			     *done = pod_of(POD("ns", "", "\"cpu\":1", "Succeeded")),
			     *stops = pod_of(POD("ns", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"",
				     "\"cpu\":1", "Running")),
			     *other = pod_of(POD("m", "", "\"cpu\":1", "Running")),
			     *small = pod_of(POD("ns", "", "", "Running"));

	(void)state;
	kar_usage_pod(u, NULL, a);
	kar_usage_pod(u, NULL, a);
	kar_usage_pod(u, NULL, other);
	kar_usage_pod(u, NULL, done);
	assert_string_equal(usage_of(u, "ns", &out), " cpu x2");
	assert_string_equal(usage_of(u, "m", &out), " cpu x1");
	assert_string_equal(usage_of(u, "n", &out), "");
	kar_usage_pod(u, a, runs);
	assert_string_equal(usage_of(u, "ns", &out), " cpu x2");
	kar_usage_pod(u, runs, stops);
	assert_string_equal(usage_of(u, "ns", &out), " cpu x1");
	kar_usage_pod(u, stops, NULL);
	kar_usage_pod(u, runs, small);
	assert_string_equal(usage_of(u, "ns", &out), " none x1");
	kar_usage_pod(u, small, NULL);
	assert_string_equal(usage_of(u, "ns", &out), "");
	kar_usage_free(u);
	kar_object_unref(&a->o);
	kar_object_unref(&runs->o);
	kar_object_unref(&done->o);
	kar_object_unref(&stops->o);
	kar_object_unref(&other->o);
	kar_object_unref(&small->o);
}

/* Passes one after the other: at second, .status.used, what of it seems to be of others -> what counts. */
static const struct {
	const char *name, *passes, *got;
} sayings[] = {
	{ "what_is_said_first_counts", "0:9,4", "4" },
	{ "a_pod_of_ours_is_gone_and_still_counted", "0:9,4 1:9,5 2:8,4", "4 4 4" },
	{ "it_is_counted_for_long", "0:9,4 1:9,5 5:9,5 6:9,5 7:9,5", "4 4 4 5 5" },
	{ "another_one_goes_meanwhile", "0:9,4 1:9,5 4:9,6 6:9,6", "4 4 4 6" },
	{ "ours_go_one_by_one_and_are_counted_late", "0:9,4 1:9,5 3:8,5 5:7,5 7:6,5 11:6,5 12:6,5",
		"4 4 4 4 4 4 5" },
	{ "others_have_come", "0:9,4 1:10,5", "4 5" },
	{ "others_have_gone", "0:9,4 1:8,3 2:8,4", "4 3 3" },
	{ "they_come_when_ours_is_gone", "0:9,4 1:9,5 2:10,6", "4 4 6" },
	{ "it_is_forgotten_with_its_row", "0:9,4 1:- 2:9,5", "4 5" },
};

static void what_quotas_say_of_others_must_last(void **state)
{
	const struct kar_queue_quota_row row = { .ns = "ns", .quota = "q", .resource = "pods" };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(sayings); i++) {
		struct queue_said *s = queue_said_new();
		struct kar_buf got = { 0 };

		for (const char *at = sayings[i].passes; *at; at += strcspn(at, " "), at += *at == ' ') {
			char *end;
			kar_time now = (strtol(at, &end, 10) + 1) * KAR_SECOND, again = KAR_NEVER;

			if (end[1] != '-') {
				long used = strtol(end + 1, &end, 10), others = strtol(end + 1, &end, 10);

				kar_buf_printf(&got, "%s%lld", got.n ? " " : "",
					(long long)queue_said_of(s, &row, used, others, now, &again));
			}
			queue_said_sweep(s, now);
			assert_true(again == KAR_NEVER || (again > 0 && again <= QUEUE_SAID_LASTS));
		}
		assert_non_null(got.p);
		if (!kar_streq(got.p, sayings[i].got))
			fail_msg("%s: %s", sayings[i].name, got.p);
		kar_buf_release(&got);
		queue_said_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(templates_are_charged_by_the_rows_that_match),
		TEST(foreign_is_what_others_use),
		TEST(what_quotas_say_of_others_must_last),
		TEST(sums_do_not_overflow),
		TEST(namespaces_are_apart),
		TEST(what_members_do_not_have_is_kept),
		TEST(reservations_are_granted_in_order),
		TEST(live_pods_are_counted_by_charge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
