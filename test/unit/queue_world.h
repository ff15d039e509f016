/*
 * queue_world - clusters, queues and groups as short texts, for the tests of common/queue. A world is plain arrays of the input of the
 * pass, so that a test may also build or change it by hand.
 *
 *   "node n cpu=20; queue a under=t w=2 n=cpu:4 g=cpu:1 cap=cpu:10 jobs=3 strict; group j a 1..9 cpu=1 p=10 t=5 run=3"
 *
 *   flavor NAME ~TAINT        a flavor, with what pods there tolerate; flavors come first, by name. "@:flavor=NAME" is a word of its nodes
 *   node NAME words           as in sched_words.h; nodes come first; "3*node n" makes n1 .. n3
 *   queue NAME ...            under=PARENT w=WEIGHT n= g= cap=RES:N,RES:N jobs=N had=N, flags strict preempt provisions closed drain keep by-history
 *                             deleting in-order; of=FLAVOR, and then n= and cap= are of it; usual=SECONDS (median run time of five jobs); was=PARENT (in force so far; "root": top)
 *   quota NS QUOTA RES=N ...  pods, requests.cpu ...; foreign=N is of all rows of it; quotas come before groups
 *   allows NS QUEUE RES=N ... pods, cpu ...: the queue allows the namespace so much; before groups
 *   reservation QUEUE GROUP since=T until=T pods=N gathered=PERCENT   status.reservation (groups come before)
 *   budget NAME=N             a PodDisruptionBudget of which N pods may be disrupted
 *   foreign RES=N on=NODE     a pod that no group owns; without "on" it is pending; p=PRIORITY: it may be evicted
 *   expect RES=N p=PRIORITY t=CREATED count=N on=NODE   pods of no group that are about to be bound; "on": the only node; "for=NODE": nominated
 *   group NAME QUEUE MIN..MAX needs ...  (NS/NAME; "default" if no ns; "3*group" makes NAME1 .. NAME3) of equal pods; needs as in sched_words.h
 *        p=BASE t=CREATED waited=SECONDS run=D (admitted, D pods bound; on=NODE:N,NODE:N or the first node) bare=D (admitted, no pod bound)
 *        claim (reserving), formed=T admitted=T scaled=T started=T ends=T stops=N (that many of its pods are still leaving the first node)
 *        budget=NAME:N (it protects N of its pods), fixed (not elastic), ineligible=REASON, unit=NAME,NAME, timeout=SECONDS, keep (not evictable), replaces, direct (created_bound), raised=D (runs D < MIN), yields, empty (yields to groups with members), bound-for-good (not_returnable), evictions=N
 *        flavor=NAME (that it has); only=LABEL=VALUE (of nodes); required=LABEL (all its pods are in one domain of this label)
 *        edit=N:RES:AMOUNT (its templates were edited: a minimum of N such pods) edited=... (a pass has let that in)
 *   flags runtime= window= starve= age= (seconds) load= (thousandths) history=1 (top queues go by what they have had)
 *   now SECONDS
 *
 * Times are seconds; the world begins at now = 10000, and a group that runs is long past all windows unless it says otherwise.
 */
#ifndef KAR_TEST_QUEUE_WORLD_H
#define KAR_TEST_QUEUE_WORLD_H

#include "common/queue/queue.h"
#include "test/unit/sched_words.h"

enum { WORLD_QUEUES = 64, WORLD_ROWS = 16, WORLD_AMOUNTS = 16, WORLD_LONG_AGO = 1000 };

struct world_amounts {
	struct kar_sched_amount items[WORLD_AMOUNTS];
	uint32_t n;
};

struct world {
	struct kar_arena a;
	struct kar_sched *sched;
	struct kar_queue_snapshot s;
	struct kar_queue_in queues[WORLD_QUEUES];
	struct kar_queue_quota_row rows[WORLD_ROWS];
	struct kar_queue_group *groups;
	const char *budget_names[WORLD_AMOUNTS];
	int32_t budgets[WORLD_AMOUNTS];
	struct world_amounts alloc, foreign;
	struct kar_queue_flavor flavors[WORLD_AMOUNTS];
	struct world_amounts of_flavors[WORLD_AMOUNTS], taken[WORLD_AMOUNTS];
	struct world_flavored {
		const char *node;
		struct world_amounts *list; /* that it offers */
		uint32_t flavor;
	} flavored[WORLD_AMOUNTS];
	uint32_t n_flavored;
	struct kar_queue_expected expected[WORLD_AMOUNTS];
	struct kar_queue_preemptible preemptible[WORLD_AMOUNTS];
	kar_class classes[1024];
	uint32_t n_classes;
	const char *node; /* the first */
	kar_time now;
	struct kar_queue_result r; /* of the last world_plan() */
};

static inline void world_sum(struct world_amounts *to, const char *resource, int64_t amount)
{
	uint32_t i = 0;

	while (i < to->n && strcmp(to->items[i].resource, resource) != 0)
		i++;
	assert(i < WORLD_AMOUNTS);
	if (i == to->n)
		to->items[to->n++] = (struct kar_sched_amount){ .resource = resource };
	to->items[i].amount += amount;
}

static inline struct kar_queue_amounts world_list(const struct world_amounts *l)
{
	return (struct kar_queue_amounts){ l->items, l->n };
}

/* "cpu:4,gpu:2" */
static inline struct kar_queue_amounts world_amounts(struct world *w, const char *text)
{
	struct world_amounts *l = kar_arena_alloc(&w->a, 1, sizeof(*l));

	while (*text) {
		const char *resource = words_resource(words_part(&w->a, &text, ":"));

		world_sum(l, resource, words_amount(resource, words_part(&w->a, &text, ",")));
	}
	return world_list(l);
}

static inline kar_class world_class(struct world *w, const char *needs)
{
	int32_t want = 0;
	kar_class c = words_class(w->sched, &w->a, needs, &want);

	assert(w->n_classes < KAR_LEN(w->classes));
	w->classes[w->n_classes++] = c;
	return c;
}

/* 1 + the number of the flavor in "@:flavor=NAME ..." (NULL: none), 0: of none. */
static inline uint32_t world_flavor_of(struct world *w, const char *word)
{
	const char *rest = word ? strchr(word, '=') + 1 : "";
	const char *name = words_part(&w->a, &rest, " ");

	for (uint32_t i = 0; i < w->s.n_flavors; i++) {
		if (strcmp(w->flavors[i].name, name) == 0)
			return i + 1;
	}
	return 0;
}

/* The node of @text offers this. */
static inline void world_offer(struct world *w, uint32_t flavor, const char *text, const char *resource,
	int64_t amount)
{
	const char *name = words_part(&w->a, &text, " ");
	struct world_flavored *last = w->n_flavored ? &w->flavored[w->n_flavored - 1] : NULL;

	if (!flavor)
		return;
	if (!last || strcmp(last->node, name) != 0) {
		assert(w->n_flavored < KAR_LEN(w->flavored));
		last = &w->flavored[w->n_flavored++];
		*last = (struct world_flavored){ .node = name,
			.list = kar_arena_alloc(&w->a, 1, sizeof(*last->list)),
			.flavor = flavor };
	}
	world_sum(last->list, resource, amount);
	world_sum(&w->of_flavors[flavor - 1], resource, amount);
}

static inline void world_flavor(struct world *w, const char *text)
{
	struct kar_queue_flavor *f = &w->flavors[w->s.n_flavors++];
	struct kar_toleration *t = kar_arena_alloc(&w->a, 1, sizeof(*t));

	*f = (struct kar_queue_flavor){ .name = words_part(&w->a, &text, " "), .tolerations = t };
	if (*text == '~') {
		*t = (struct kar_toleration){ .key = text + 1, .value = "", .exists = true };
		f->n_tolerations = 1;
	}
}

/* What the pods that are bound have of each flavor. */
static inline void world_count_flavors(struct world *w)
{
	for (uint32_t i = 0; i < w->s.n_flavors; i++)
		w->taken[i].n = 0;
	for (uint32_t i = 0; i < w->n_flavored; i++) {
		const struct world_flavored *n = &w->flavored[i];

		for (uint32_t k = 0; k < n->list->n; k++)
			world_sum(&w->taken[n->flavor - 1], n->list->items[k].resource,
				n->list->items[k].amount -
					kar_sched_node_free(w->sched, n->node, n->list->items[k].resource));
	}
	for (uint32_t i = 0; i < w->s.n_flavors; i++) {
		w->flavors[i].alloc = world_list(&w->of_flavors[i]);
		w->flavors[i].taken = world_list(&w->taken[i]);
	}
	w->s.flavors = w->flavors;
}

static inline void world_node(struct world *w, const char *text)
{
	const char *words = text, *all = text;
	bool pods = strstr(text, " cordoned") || strstr(text, " notready"); /* it is in no sum */
	bool usable = !pods;
	uint32_t flavor = world_flavor_of(w, strstr(text, "@:flavor="));

	w->node = w->node ? w->node : words_part(&w->a, &words, " ");
	words = all;
	words_part(&w->a, &words, " ");
	while (*words) {
		char *word = words_part(&w->a, &words, " "), *value = words_value(word);

		if (!usable || !*value || word[0] == '@' || word[0] == '!')
			continue;
		world_sum(&w->alloc, words_resource(word), words_amount(word, value));
		world_offer(w, flavor, text, words_resource(word), words_amount(word, value));
		pods |= strcmp(word, "pods") == 0;
	}
	if (!pods)
		world_sum(&w->alloc, "pods", 110);
	words_node(w->sched, &w->a, text);
}

/* NAME1, NAME2 ... */
static inline void world_nodes(struct world *w, const char *text, int n)
{
	const char *rest = text;
	const char *name = words_part(&w->a, &rest, " ");

	for (int i = 1; i <= n; i++)
		world_node(w, kar_arena_printf(&w->a, "%s%d %s", name, i, rest));
}

static inline void world_queue(struct world *w, const char *text)
{
	struct kar_queue_in *q = &w->queues[w->s.n_queues++];
	struct kar_queue_flavor_right *rights = kar_arena_alloc(&w->a, WORLD_AMOUNTS, sizeof(*rights)),
				      *of = NULL;

	assert(w->s.n_queues <= WORLD_QUEUES);
	*q = (struct kar_queue_in){ .name = words_part(&w->a, &text, " "),
		.weight = 1,
		.reserved_for = KAR_QUEUE_NONE };
	while (*text) {
		char *word = words_part(&w->a, &text, " "), *value = words_value(word);

		if (strcmp(word, "under") == 0)
			q->parent = value;
		else if (strcmp(word, "was") == 0)
			q->parent_in_force = value;
		else if (strcmp(word, "w") == 0)
			q->weight = atoi(value);
		else if (strcmp(word, "usual") == 0) {
			q->n_run_times = 5;
			q->median_seconds = strtoll(value, NULL, 10);
		} else if (strcmp(word, "of") == 0) {
			of = &rights[q->n_flavors++];
			of->flavor = world_flavor_of(w, kar_arena_printf(&w->a, "=%s", value)) - 1;
			q->flavors = rights;
		} else if (strcmp(word, "n") == 0)
			*(of ? &of->deserved : &q->deserved) = world_amounts(w, value);
		else if (strcmp(word, "g") == 0)
			q->guarantee = world_amounts(w, value);
		else if (strcmp(word, "cap") == 0)
			*(of ? &of->capability : &q->capability) = world_amounts(w, value);
		else if (strcmp(word, "jobs") == 0)
			q->max_jobs = atoi(value);
		else if (strcmp(word, "had") == 0)
			q->history = atoi(value);
		q->by_history |= strcmp(word, "by-history") == 0;
		q->flavors_in_order |= strcmp(word, "in-order") == 0;
		q->strict |= strcmp(word, "strict") == 0;
		q->preempts |= strcmp(word, "preempt") == 0;
		q->provisions |= strcmp(word, "provisions") == 0;
		q->closed |= strcmp(word, "closed") == 0 || strcmp(word, "drain") == 0;
		q->drain |= strcmp(word, "drain") == 0;
		q->not_reclaimable |= strcmp(word, "keep") == 0;
		q->deleting |= strcmp(word, "deleting") == 0;
	}
}

static inline uint32_t world_find_queue(const struct world *w, const char *name)
{
	for (uint32_t i = 0; i < w->s.n_queues; i++) {
		if (strcmp(w->queues[i].name, name) == 0)
			return i;
	}
	return KAR_QUEUE_NONE;
}

static inline uint32_t world_find(const struct world *w, const char *name)
{
	for (uint32_t i = 0; i < w->s.n_groups; i++) {
		if (strcmp(w->groups[i].name, name) == 0)
			return i;
	}
	return KAR_QUEUE_NONE;
}

/* @of_queue: not a ResourceQuota, but what the queue of this name allows the namespace. */
static inline void world_quota(struct world *w, const char *text, bool of_queue)
{
	const char *ns = words_part(&w->a, &text, " "), *quota = words_part(&w->a, &text, " ");
	uint32_t first = w->s.n_rows;

	while (*text) {
		char *word = words_part(&w->a, &text, " "), *value = words_value(word);
		int64_t n = strtoll(value, NULL, 10);

		if (strcmp(word, "foreign") == 0) {
			for (uint32_t i = first; i < w->s.n_rows; i++)
				w->rows[i].foreign = n;
			continue;
		}
		assert(w->s.n_rows < WORLD_ROWS);
		n = strstr(word, "cpu") ? 1000 * n : n;
		w->rows[w->s.n_rows++] = (struct kar_queue_quota_row){ .ns = ns,
			.quota = quota,
			.of_queue = of_queue,
			.resource = word,
			.limit = n,
			.hard = n };
	}
}

static inline void world_foreign(struct world *w, const char *text)
{
	kar_class c = world_class(w, text);
	const struct kar_pod_needs *needs = kar_sched_needs(w->sched, c);
	const char *on = strstr(text, "on="), *priority = strstr(text, " p=");

	if (!on)
		return;
	for (uint32_t i = 0; i < needs->n_amounts; i++)
		world_sum(&w->foreign, needs->amounts[i].resource, needs->amounts[i].amount);
	world_sum(&w->foreign, "pods", 1);
	on += 3;
	on = words_part(&w->a, &on, " ");
	kar_sched_take(w->sched, on, c, 1);
	if (!priority)
		return;
	assert(w->s.n_preemptible < WORLD_AMOUNTS);
	w->preemptible[w->s.n_preemptible++] = (struct kar_queue_preemptible){ .ns = "o",
		.name = kar_arena_printf(&w->a, "x%u", w->s.n_preemptible),
		.class = c,
		.node = on,
		.priority = atoi(priority + 3) };
	w->s.preemptible = w->preemptible;
}

static inline void world_expect(struct world *w, const char *text)
{
	struct kar_queue_expected *e = &w->expected[w->s.n_expected++];
	struct kar_buf needs = { 0 };

	assert(w->s.n_expected <= WORLD_AMOUNTS);
	*e = (struct kar_queue_expected){ .n = 1, .created = w->now };
	while (*text) {
		const char *all = words_part(&w->a, &text, " ");
		char *word = kar_arena_printf(&w->a, "%s", all), *value = words_value(word);

		if (strcmp(word, "p") == 0)
			e->priority = atoi(value);
		else if (strcmp(word, "t") == 0)
			e->created = strtoll(value, NULL, 10) * KAR_SECOND;
		else if (strcmp(word, "count") == 0)
			e->n = atoi(value);
		else if (strcmp(word, "on") == 0 || strcmp(word, "for") == 0)
			e->node = value;
		else
			kar_buf_printf(&needs, "%s ", all);
		e->nominated |= strcmp(word, "for") == 0;
	}
	e->class = world_class(w, kar_buf_cstr(&needs));
	kar_buf_release(&needs);
}

/* The charges of a pod of these needs on all rows of its namespace. */
static inline void world_charge(struct world *w, const char *ns, struct kar_queue_run *r)
{
	const struct kar_pod_needs *needs = kar_sched_needs(w->sched, r->class);
	struct kar_queue_charge *c = kar_arena_alloc(&w->a, w->s.n_rows + 1, sizeof(*c));

	r->charges = c;
	for (uint32_t i = 0; i < w->s.n_rows; i++) {
		int64_t amount = strcmp(w->rows[i].resource, "pods") == 0;

		if (strcmp(w->rows[i].ns, ns) != 0)
			continue;
		for (uint32_t k = 0; k < needs->n_amounts; k++) {
			const char *dot = strchr(w->rows[i].resource, '.');

			if (strcmp(dot ? dot + 1 : w->rows[i].resource, needs->amounts[k].resource) == 0)
				amount = needs->amounts[k].amount;
		}
		if (amount)
			c[r->n_charges++] = (struct kar_queue_charge){ i, amount };
	}
}

/* @n bound pods of the group, on "a:2,b:1"; "": all on the first node. */
static inline void world_bind(struct world *w, struct kar_queue_group *g, const char *on, int32_t n)
{
	struct kar_queue_run *r = (struct kar_queue_run *)(uintptr_t)g->runs;
	struct kar_queue_seat *seats = kar_arena_alloc(&w->a, 64, sizeof(*seats));

	r->seats = seats;
	if (!*on && n)
		seats[r->n_seats++] = (struct kar_queue_seat){ .node = w->node, .n = n };
	while (*on) {
		const char *node = words_part(&w->a, &on, ":");

		assert(r->n_seats < 64);
		seats[r->n_seats++] =
			(struct kar_queue_seat){ .node = node, .n = atoi(words_part(&w->a, &on, ",")) };
	}
	for (uint32_t i = 0; i < r->n_seats; i++) {
		seats[i].bound = true;
		seats[i].created = g->admitted_at;
		kar_sched_take(w->sched, seats[i].node, r->class, seats[i].n);
	}
}

static inline void world_leave(struct world *w, struct kar_queue_group *g, const char *node, int32_t n)
{
	struct kar_queue_leaving *l =
		kar_arena_grow(&w->a, (void *)(uintptr_t)g->leaving, g->n_leaving, sizeof(*l));

	l[g->n_leaving++] = (struct kar_queue_leaving){ .node = node,
		.class = g->runs->class,
		.n = n,
		.deletion = w->now,
		.charges = g->runs->charges,
		.n_charges = g->runs->n_charges };
	g->leaving = l;
}

static inline void world_budget(struct world *w, const char *text)
{
	char *word = words_part(&w->a, &text, " "), *value = words_value(word);

	assert(w->s.n_budgets < WORLD_AMOUNTS);
	w->budget_names[w->s.n_budgets] = word;
	w->budgets[w->s.n_budgets++] = atoi(value);
}

/* "NAME:N" */
static inline void world_protect(struct world *w, struct kar_queue_group *g, const char *text)
{
	struct kar_queue_protected *all =
		kar_arena_grow(&w->a, (void *)(uintptr_t)g->budgets, g->n_budgets, sizeof(*all));
	const char *name = words_part(&w->a, &text, ":");
	uint32_t i = 0;

	while (strcmp(w->budget_names[i], name) != 0)
		i++;
	all[g->n_budgets++] = (struct kar_queue_protected){ .budget = i, .pods = atoi(text) };
	g->budgets = all;
}

static inline void world_unit(struct world *w, struct kar_queue_group *g, const char *names)
{
	uint32_t *unit = kar_arena_alloc(&w->a, 8, sizeof(*unit));

	while (*names) {
		const char *name = words_part(&w->a, &names, ",");
		uint32_t i = world_find(w, name);

		if (i == KAR_QUEUE_NONE)
			g->unit_missing = name;
		else
			unit[g->n_unit++] = i;
	}
	g->unit = unit;
}

static inline enum kar_queue_reason world_reason(const char *name)
{
	enum kar_queue_reason r = KAR_QR_ADMITTED;

	while (r + 1 < KAR_N_QUEUE_REASONS && strcmp(kar_queue_reason_name(r), name) != 0)
		r++;
	return r;
}

/* "edit=N:RES:AMOUNT": its templates were edited to so many pods. "edited=": a pass has let that in. */
static inline void world_edit(struct world *w, struct kar_queue_group *g, const char *word, const char *value)
{
	struct kar_queue_run *r = kar_arena_alloc(&w->a, 1, sizeof(*r));
	const char *n = words_part(&w->a, &value, ":"), *resource = words_part(&w->a, &value, ":");

	r->n = atoi(n);
	r->class = world_class(w, kar_arena_printf(&w->a, "%s=%s", resource, value));
	world_charge(w, g->ns, r);
	g->edited = r;
	g->n_edited = 1;
	g->edit = strcmp(word, "edit") == 0 ? KAR_QUEUE_EDIT_WAITS : KAR_QUEUE_EDIT_COMES;
}

/* One word "key=value" that is no need of its pods; false: it is one. */
static inline bool world_group_word(struct world *w, struct kar_queue_group *g, const char *word,
	const char *value)
{
	const struct {
		const char *name;
		kar_time *at;
	} times[] = { { "t", &g->creation }, { "formed", &g->formed_at }, { "admitted", &g->admitted_at },
		{ "scaled", &g->last_scale }, { "grows", &g->grows_at }, { "started", &g->started_at },
		{ "window", &g->freezing_window }, { "ends", &g->ends_at }, { "for", &g->runs_for },
		{ "timeout", &g->schedule_timeout } };

	for (size_t i = 0; i < KAR_LEN(times); i++) {
		if (strcmp(word, times[i].name) == 0) {
			*times[i].at = strtoll(value, NULL, 10) * KAR_SECOND;
			return true;
		}
	}
	if (strcmp(word, "p") == 0)
		g->base = atoi(value);
	else if (strcmp(word, "waited") == 0)
		g->waited_seconds = strtoll(value, NULL, 10);
	else if (strcmp(word, "ineligible") == 0) {
		g->ineligible = world_reason(value);
		g->why = "the caller says so";
	} else if (strcmp(word, "fixed") == 0)
		g->elastic = false;
	else if (strcmp(word, "keep") == 0)
		g->not_evictable = true;
	else if (strcmp(word, "required") == 0) {
		const char **labels = kar_arena_alloc(&w->a, 1, sizeof(*labels));

		labels[0] = value;
		g->topology = (struct kar_topology_wish){ .labels = labels, .n_labels = 1, .required = 1 };
	} else if (strcmp(word, "replaces") == 0)
		g->replaces = true;
	else if (strcmp(word, "direct") == 0)
		g->created_bound = true;
	else if (strcmp(word, "resized") == 0)
		g->resized = true;
	else if (strcmp(word, "asks") == 0)
		g->asks = true;
	else if (strcmp(word, "yields") == 0)
		g->yields = KAR_QUEUE_YIELDS_TO_ALL;
	else if (strcmp(word, "evictions") == 0)
		g->evictions = atoi(value);
	else if (strcmp(word, "bound-for-good") == 0)
		g->not_returnable = "nobody would make p again";
	else if (strcmp(word, "empty") == 0)
		g->yields = KAR_QUEUE_YIELDS_TO_MEMBERS;
	else if (strcmp(word, "hold") == 0) {
		g->hold = world_amounts(w, value);
		g->hold_yields = true;
	} else if (strcmp(word, "lost") == 0)
		g->hold = world_amounts(w, value);
	else if (strcmp(word, "flavor") == 0)
		g->flavor = world_flavor_of(w, kar_arena_printf(&w->a, "=%s", value));
	else if (strcmp(word, "claim") == 0)
		g->standing = KAR_QUEUE_RESERVING;
	else if (strcmp(word, "budget") == 0)
		world_protect(w, g, value);
	else if (strcmp(word, "edit") == 0 || strcmp(word, "edited") == 0)
		world_edit(w, g, word, value);
	else if (strcmp(word, "unit") == 0)
		world_unit(w, g, value);
	else
		return strcmp(word, "run") == 0 || strcmp(word, "raised") == 0 || strcmp(word, "bare") == 0 ||
			strcmp(word, "on") == 0 || strcmp(word, "stops") == 0;
	return true;
}

/* What the words say about pods that exist. */
static inline void world_group_pods(struct world *w, struct kar_queue_group *g, const char *text)
{
	const char *on = "";
	int32_t bound = 0, stops = 0;

	while (*text) {
		const char *word = words_part(&w->a, &text, " ");
		const char *value = words_value((char *)(uintptr_t)word);
		bool runs = strcmp(word, "run") == 0 || strcmp(word, "raised") == 0;

		if (runs || strcmp(word, "bare") == 0) {
			g->standing = KAR_QUEUE_ADMITTED;
			g->desired = atoi(value);
			g->phase = runs ? KAR_QUEUE_RUNS : KAR_QUEUE_STARTS;
			g->released = runs;
			bound = runs ? g->desired : 0;
		} else if (strcmp(word, "on") == 0) {
			on = value;
		} else if (strcmp(word, "stops") == 0) {
			stops = atoi(value);
		}
	}
	if (g->standing == KAR_QUEUE_ADMITTED && !g->formed_at && bound)
		g->formed_at = w->now - WORLD_LONG_AGO * KAR_SECOND;
	if (g->standing == KAR_QUEUE_ADMITTED && !g->admitted_at)
		g->admitted_at = g->formed_at ? g->formed_at : w->now;
	world_bind(w, g, on, bound);
	if (!stops)
		return;
	world_leave(w, g, w->node, stops);
	kar_sched_take(w->sched, w->node, g->runs->class, stops);
}

/* "NAME QUEUE MIN..MAX ..."; @number: appended to the name, unless it is 0. */
static inline void world_group(struct world *w, const char *text, int number)
{
	struct kar_queue_group *g;
	struct kar_queue_run *r = kar_arena_alloc(&w->a, 1, sizeof(*r));
	const char *name = words_part(&w->a, &text, " "), *slash = strchr(name, '/'), *range, *words;
	struct kar_buf needs = { 0 };

	w->groups = kar_arena_grow(&w->a, w->groups, w->s.n_groups, sizeof(*g));
	g = &w->groups[w->s.n_groups++];
	*g = (struct kar_queue_group){ .ns = slash ? kar_arena_strndup(&w->a, name, (size_t)(slash - name))
						   : "default",
		.name = slash ? slash + 1 : name,
		.queue_name = words_part(&w->a, &text, " "),
		.also_in = KAR_QUEUE_NONE,
		.evicted_by = KAR_QUEUE_NONE,
		.creation = (1000 + (kar_time)w->s.n_groups) * KAR_SECOND,
		.schedule_timeout = 30 * KAR_SECOND,
		.elastic = true,
		.runs = r,
		.n_runs = 1 };
	if (number)
		g->name = kar_arena_printf(&w->a, "%s%d", g->name, number);
	g->queue = world_find_queue(w, g->queue_name);
	range = words_part(&w->a, &text, " ");
	g->min = atoi(range);
	r->n = strstr(range, "..") ? atoi(strstr(range, "..") + 2) : g->min;
	words = text;
	while (*words) {
		char *word = words_part(&w->a, &words, " ");
		char *both = kar_arena_printf(&w->a, "%s", word), *value = words_value(both);

		if (strcmp(both, "only") == 0)
			kar_buf_printf(&needs, "on=%s ", value);
		else if (!world_group_word(w, g, both, value))
			kar_buf_printf(&needs, "%s ", word);
	}
	r->class = world_class(w, kar_buf_cstr(&needs));
	kar_buf_release(&needs);
	world_charge(w, g->ns, r);
	world_group_pods(w, g, text);
}

/* The status.reservation of a queue; the group "-" has gone. */
static inline void world_reservation(struct world *w, const char *text)
{
	const char *queue = words_part(&w->a, &text, " "), *group = words_part(&w->a, &text, " ");
	struct kar_queue_in *q = NULL;

	for (uint32_t i = 0; i < w->s.n_queues; i++)
		q = strcmp(w->queues[i].name, queue) == 0 ? &w->queues[i] : q;
	assert(q);
	for (uint32_t i = 0; i < w->s.n_groups; i++)
		q->reserved_for = strcmp(w->groups[i].name, group) == 0 ? i : q->reserved_for;
	while (*text) {
		char *word = words_part(&w->a, &text, " ");
		int64_t n = strtoll(words_value(word), NULL, 10);

		if (strcmp(word, "since") == 0)
			q->reserved_since = n * KAR_SECOND;
		else if (strcmp(word, "until") == 0)
			q->reserved_until = n * KAR_SECOND;
		else if (strcmp(word, "pods") == 0)
			q->reserved_pods = (int32_t)n;
		else if (strcmp(word, "start") == 0)
			q->reserved_start = n * KAR_SECOND;
		else if (strcmp(word, "gathered") == 0)
			q->reserved_gathered = (int32_t)n;
	}
}

static inline void world_flags(struct world *w, const char *text)
{
	struct kar_queue_flags *f = &w->s.flags;

	while (*text) {
		char *word = words_part(&w->a, &text, " ");
		kar_time n = strtoll(words_value(word), NULL, 10);

		if (strcmp(word, "load") == 0)
			f->max_load_permille = (int32_t)n;
		else if (strcmp(word, "runtime") == 0)
			f->min_runtime = n * KAR_SECOND;
		else if (strcmp(word, "window") == 0)
			f->freezing_window = n * KAR_SECOND;
		else if (strcmp(word, "starve") == 0)
			f->starvation_timeout = n * KAR_SECOND;
		else if (strcmp(word, "age") == 0)
			f->aging_interval = n * KAR_SECOND;
		else if (strcmp(word, "history") == 0)
			f->by_history = n > 0;
	}
}

/* More statements; a group refers to queues and groups that stand before it. */
static inline void world_say(struct world *w, const char *text)
{
	while (*text) {
		const char *one = words_part(&w->a, &text, ";");
		char *what = words_part(&w->a, &one, " "), *times = strchr(what, '*');
		int n = times ? atoi(what) : 0;

		what = times ? times + 1 : what;
		if (strcmp(what, "node") == 0 && n)
			world_nodes(w, one, n);
		else if (strcmp(what, "node") == 0)
			world_node(w, one);
		else if (strcmp(what, "queue") == 0)
			world_queue(w, one);
		else if (strcmp(what, "flavor") == 0)
			world_flavor(w, one);
		else if (strcmp(what, "quota") == 0 || strcmp(what, "allows") == 0)
			world_quota(w, one, strcmp(what, "allows") == 0);
		else if (strcmp(what, "budget") == 0)
			world_budget(w, one);
		else if (strcmp(what, "foreign") == 0)
			world_foreign(w, one);
		else if (strcmp(what, "expect") == 0)
			world_expect(w, one);
		else if (strcmp(what, "reservation") == 0)
			world_reservation(w, one);
		else if (strcmp(what, "flags") == 0)
			world_flags(w, one);
		else if (strcmp(what, "now") == 0)
			w->now = strtoll(one, NULL, 10) * KAR_SECOND;
		else if (strcmp(what, "group") == 0 && !n)
			world_group(w, one, 0);
		for (int i = 1; i <= n && strcmp(what, "group") == 0; i++)
			world_group(w, one, i);
	}
}

static inline void world_begin(struct world *w, const char *text)
{
	*w = (struct world){ .sched = kar_sched_new(NULL), .now = 10000 * KAR_SECOND };
	world_say(w, text);
}

static inline void world_plan(struct world *w)
{
	w->s.queues = w->queues;
	w->s.groups = w->groups;
	w->s.rows = w->rows;
	w->s.budgets = w->budgets;
	w->s.alloc = world_list(&w->alloc);
	w->s.foreign = world_list(&w->foreign);
	w->s.expected = w->expected;
	w->s.sched = w->sched;
	w->s.recounts = true;
	world_count_flavors(w);
	kar_queue_plan(&w->s, w->now, &w->a, &w->r);
}

static inline void world_end(struct world *w)
{
	for (uint32_t i = 0; i < w->n_classes; i++)
		kar_sched_class_put(w->sched, w->classes[i]);
	kar_sched_free(w->sched);
	kar_arena_release(&w->a);
}

/* --- what the decisions come to ------------------------------------------------------------------------------------------- */

/* "5" (admitted, d), "claim", or "Reason: text". */
static inline const char *world_answer(struct world *w, uint32_t i)
{
	const struct kar_queue_decision *d = &w->r.groups[i];

	if (d->standing == KAR_QUEUE_ADMITTED)
		return kar_arena_printf(&w->a, "%d", (int)d->desired);
	if (d->standing == KAR_QUEUE_RESERVING)
		return "claim";
	return kar_arena_printf(&w->a, "%s: %s", kar_queue_reason_name(d->reason), d->text ? d->text : "");
}

/* Sum of d of the groups that ask for the queue. */
static inline int32_t world_sum_of_queue(const struct world *w, uint32_t queue)
{
	int32_t n = 0;

	for (uint32_t i = 0; i < w->s.n_groups; i++)
		n += w->groups[i].queue == queue ? w->r.groups[i].desired : 0;
	return n;
}

/* Pods that are beyond the first @d of the run leave. */
static inline void world_cut(struct world *w, struct kar_queue_group *g, int32_t d)
{
	struct kar_queue_run *r = (struct kar_queue_run *)(uintptr_t)g->runs;
	struct kar_queue_seat *seats = (struct kar_queue_seat *)(uintptr_t)r->seats;
	int32_t have = 0;

	for (uint32_t i = 0; i < r->n_seats; i++) {
		int32_t stay = (int32_t)kar_clamp(d - have, 0, seats[i].n);

		if (seats[i].n > stay && seats[i].bound)
			world_leave(w, g, seats[i].node, seats[i].n - stay);
		have += seats[i].n;
		seats[i].n = stay;
	}
}

/* Writes the decisions to the objects: standing, d, times, places of plans. Groups have one run. */
static inline void world_apply(struct world *w)
{
	for (uint32_t i = 0; i < w->s.n_groups; i++) {
		struct kar_queue_group *g = &w->groups[i];
		const struct kar_queue_decision *d = &w->r.groups[i];
		struct kar_queue_run *r = (struct kar_queue_run *)(uintptr_t)g->runs;

		if (d->cause) {
			g->waiting_since = w->now;
			g->evicted_by = d->evicted_for;
			g->ineligible = KAR_QR_PREEMPTED; /* until its pods are gone */
			g->why = "its pods are stopping";
			g->released = false;
			g->formed_at = g->admitted_at = 0;
			for (uint32_t k = 0; k < g->n_budgets; k++)
				w->budgets[g->budgets[k].budget] -= g->budgets[k].pods;
			g->n_budgets = 0;
		}
		if (d->hold_ends_for != KAR_QUEUE_NONE) {
			g->hold.n = 0;
			g->hold_yields = false;
		}
		if (d->standing == KAR_QUEUE_ADMITTED && g->standing != KAR_QUEUE_ADMITTED) {
			g->admitted_at = w->now;
			g->phase = KAR_QUEUE_STARTS;
		}
		g->provisioned = g->provisioned ? d->standing == KAR_QUEUE_ADMITTED : d->provisions != 0;
		g->resized = g->resized && d->desired == g->desired;
		g->last_scale = d->scaled ? w->now : g->last_scale;
		g->standing = d->standing;
		g->flavor = d->flavor;
		g->desired = d->desired;
		world_cut(w, g, d->desired);
		for (uint32_t k = 0; d->places && k < d->places->n_places; k++) {
			assert(r->n_seats < 64);
			((struct kar_queue_seat *)(uintptr_t)r->seats)[r->n_seats++] =
				(struct kar_queue_seat){ .node = d->places->places[k].node,
					.n = d->places->places[k].n,
					.created = w->now };
		}
	}
}

/* Pods that stop are gone, all others run: those of plans on their nodes. */
static inline void world_settle(struct world *w)
{
	for (uint32_t i = 0; i < w->s.n_groups; i++) {
		struct kar_queue_group *g = &w->groups[i];
		struct kar_queue_run *r = (struct kar_queue_run *)(uintptr_t)g->runs;
		struct kar_queue_seat *seats = (struct kar_queue_seat *)(uintptr_t)r->seats;

		for (uint32_t k = 0; k < g->n_leaving; k++)
			kar_sched_take(w->sched, g->leaving[k].node, g->leaving[k].class, -g->leaving[k].n);
		g->n_leaving = 0;
		g->ineligible = g->ineligible == KAR_QR_PREEMPTED ? KAR_QR_ADMITTED : g->ineligible;
		for (uint32_t k = 0; k < r->n_seats; k++) {
			if (!seats[k].bound)
				kar_sched_take(w->sched, seats[k].node, r->class, seats[k].n);
			seats[k].bound = true;
		}
		if (g->standing != KAR_QUEUE_ADMITTED || g->released)
			continue;
		g->released = true;
		g->phase = KAR_QUEUE_RUNS;
		g->formed_at = w->now;
	}
}

#endif
