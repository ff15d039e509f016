#include "controllers/cluster/templates.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <bsd/sys/tree.h>

#include "common/base/intern.h"
#include "common/base/mem.h"
#include "common/sched/needs.h"

enum { SWEEP_FROM = 256 }; /* entries, at least, between two sweeps */

struct entry {
	RB_ENTRY(entry) link;
	uint64_t key;
	uint64_t like; /* the key of the entry for all templates that ask for the same; 0: it is that */
	kar_time used; /* it was looked at then */
	struct kar_template of;
};
RB_HEAD(entries, entry);

struct kar_templates {
	struct entries entries;
	size_t n, sweep_at;
	void (*wanted)(void *arg, const struct kar_queuejob *job);
	void *wanted_arg;
	void (*answered)(void *arg);
	void *answered_arg;
};

static int compare(const struct entry *a, const struct entry *b)
{
	return (a->key > b->key) - (a->key < b->key);
}

RB_GENERATE_INTERNAL(entries, entry, link, compare, KAR_UNUSED static)

struct kar_templates *kar_templates_new(void)
{
	struct kar_templates *t = kar_xcalloc(1, sizeof(*t));

	RB_INIT(&t->entries);
	t->sweep_at = SWEEP_FROM;
	return t;
}

static void drop(struct kar_templates *t, struct entry *e)
{
	RB_REMOVE(entries, &t->entries, e);
	t->n--;
	free(e->of.message);
	free(e->of.gate);
	free(e->of.needs);
	free(e);
}

void kar_templates_free(struct kar_templates *t)
{
	struct entry *e;

	while (t && (e = RB_ROOT(&t->entries)))
		drop(t, e);
	free(t);
}

/* What the job gives to the pods of all its tasks. */
static uint64_t hash_job(const struct kar_queuejob *job)
{
	const char *class = job->spec.sched.priority_class_name;
	const struct kar_pair *selector = job->spec.sched.node_selector.items;
	uint64_t h = kar_hash_str(kar_hash_str(1, job->o.ns ? job->o.ns : ""), class ? class : "");

	for (size_t i = 0; i < job->spec.sched.node_selector.n; i++)
		h = kar_hash_str(kar_hash_str(h, selector[i].key), selector[i].value);
	return h;
}

/* All that makes the pods of one task differ from those of another, but for the name of the job. */
static uint64_t key_of(const struct kar_queuejob *job, size_t task)
{
	return kar_hash(kar_hash_str(hash_job(job), job->spec_template_hash), &task, sizeof(task));
}

/*
 * What the pods ask for and what admission looks at. Arguments and variables, which differ between the jobs of a pipeline, have no part in
 * it.
 */
static uint64_t like_of(const struct kar_queuejob *job, size_t task)
{
	const struct kar_taskspec *t = &job->spec.tasks[task];
	uint64_t h = kar_hash(kar_hash_str(hash_job(job), "like"), &t->admission, sizeof(t->admission));

	return t->needs ? kar_shape_hash(&kar_needs_shape, h, t->needs)
			: kar_hash_str(h, job->spec_template_hash);
}

static struct entry *find(struct kar_templates *t, uint64_t key, kar_time mono)
{
	const struct entry wanted = { .key = key };
	struct entry *e = RB_FIND(entries, &t->entries, (struct entry *)(uintptr_t)&wanted);

	if (e)
		e->used = mono;
	return e;
}

static void sweep(struct kar_templates *t, kar_time mono)
{
	struct entry *next;

	for (struct entry *e = RB_MIN(entries, &t->entries); e; e = next) {
		next = RB_NEXT(entries, &t->entries, e);
		if (mono - e->used > KAR_TEMPLATES_STAY)
			drop(t, e);
	}
	t->sweep_at = 2 * t->n > SWEEP_FROM ? 2 * t->n : SWEEP_FROM;
}

struct kar_template *kar_templates_find(struct kar_templates *t, const struct kar_queuejob *job, size_t task,
	kar_time mono)
{
	struct entry *e = find(t, key_of(job, task), mono);

	return e ? &e->of : NULL;
}

static struct entry *find_or_make(struct kar_templates *t, uint64_t key, uint64_t like, kar_time mono)
{
	struct entry *e = find(t, key, mono);

	if (e)
		return e;
	if (t->n >= t->sweep_at)
		sweep(t, mono);
	e = kar_xcalloc(1, sizeof(*e));
	e->key = key;
	e->like = like;
	e->used = mono;
	RB_INSERT(entries, &t->entries, e);
	t->n++;
	return e;
}

struct kar_template *kar_templates_of(struct kar_templates *t, const struct kar_queuejob *job, size_t task,
	kar_time mono)
{
	return &find_or_make(t, key_of(job, task), like_of(job, task), mono)->of;
}

/* Returns true if that is news. */
static bool note_needs(struct kar_template *e, const struct kar_pod_needs *needs, kar_time mono,
	kar_time until)
{
	bool news = !e->stored ||
		(needs && e->needs && kar_shape_compare(&kar_needs_shape, e->needs, needs) != 0);

	if (needs) {
		free(e->needs);
		e->needs = kar_shape_copy(&kar_needs_shape, needs,
			kar_xmalloc(kar_shape_bytes(&kar_needs_shape, needs)));
	}
	e->stored = mono;
	e->stored_until = until > e->stored_until ? until : e->stored_until;
	return news;
}

/* The entry for all templates that ask for the same as the one of @of. */
static struct entry *like_entry(struct kar_templates *t, struct kar_template *of, kar_time mono)
{
	struct entry *e = (struct entry *)(void *)((char *)of - offsetof(struct entry, of));

	return find_or_make(t, e->like, 0, mono);
}

/* Returns true if that is news. @stored NULL: a quota is full, so that no pod can be shown. */
static bool note_stored(struct kar_templates *t, struct kar_template *of, const struct kar_pod_stored *stored,
	kar_time mono)
{
	struct entry *like = like_entry(t, of, mono);
	kar_time until = mono + (stored ? KAR_TEMPLATES_STORED : KAR_TEMPLATES_AGAIN);
	bool news = stored && !kar_streq(of->gate, stored->gate);

	if (stored) {
		free(of->gate);
		of->gate = stored->gate ? kar_xstrdup(stored->gate) : NULL;
	}
	news |= note_needs(&like->of, stored ? stored->needs : NULL, mono, until);
	if (!of->stored) /* of it the same was known */
		of->stored = mono;
	return note_needs(of, stored ? stored->needs : NULL, mono, until) || news;
}

void kar_templates_answer(struct kar_templates *t, struct kar_template *e, enum kar_template_verdict verdict,
	const char *message, const struct kar_pod_stored *stored, kar_time mono)
{
	bool full = stored || verdict != KAR_TEMPLATE_ACCEPTED || message;
	bool news = (full && e->wanted) || (e->verdict && e->verdict != verdict) ||
		verdict > KAR_TEMPLATE_ACCEPTED;

	if (full)
		e->asked = like_entry(t, e, mono)->of.wanted = 0;
	if (verdict == KAR_TEMPLATE_UNKNOWN)
		return;
	if (full && verdict == KAR_TEMPLATE_ACCEPTED)
		news |= note_stored(t, e, stored, mono);
	e->verdict = verdict;
	free(e->message);
	e->message = message && verdict != KAR_TEMPLATE_ACCEPTED ? kar_xstrdup(message) : NULL;
	if (full) {
		e->known = mono;
		e->wanted = 0;
	}
	if (verdict == KAR_TEMPLATE_ACCEPTED) {
		e->tries = 0;
		e->retry_at = 0;
	}
	if (news && t->answered)
		t->answered(t->answered_arg);
}

bool kar_template_wants_pod(struct kar_template *e, kar_time mono)
{
	kar_time seen = e->known > e->shown ? e->known : e->shown;

	if (seen && mono - seen <= KAR_TEMPLATES_PAUSE)
		return false;
	e->shown = mono;
	return true;
}

/* The answer that the pass waits for is lost. */
static bool is_lost(const struct kar_template *e, kar_time mono)
{
	kar_time awaited = e->wanted ? mono - e->wanted : 0;

	return awaited >= KAR_TEMPLATES_ANSWER && awaited < KAR_TEMPLATES_ANSWER + KAR_TEMPLATES_PAUSE;
}

bool kar_template_is_old(const struct kar_template *e, kar_time mono)
{
	return !e || ((!e->known || mono - e->known > KAR_TEMPLATES_FRESH) && !is_lost(e, mono));
}

struct kar_template_needs kar_templates_needs(struct kar_templates *t, const struct kar_queuejob *job,
	size_t task, kar_time mono)
{
	const struct entry *own = find(t, key_of(job, task), mono), *e = own;
	kar_time wanted = own ? own->of.wanted : 0;

	if (!e || e->of.stored_until <= mono)
		e = find(t, like_of(job, task), mono);
	wanted = wanted ? wanted : e ? e->of.wanted : 0;
	return (struct kar_template_needs){ .stored = e ? e->of.needs : NULL,
		.known = e && (e->of.stored_until > mono || is_lost(&e->of, mono)),
		.awaited = wanted ? mono - wanted : 0 };
}

void kar_templates_forget_stored(struct kar_templates *t)
{
	struct entry *e;

	RB_FOREACH(e, entries, &t->entries) {
		kar_time until = e->of.stored + KAR_TEMPLATES_AGAIN;

		e->of.stored_until = until < e->of.stored_until ? until : e->of.stored_until;
	}
}

/* Returns true if nobody waits for the answer yet. */
static bool begin_to_wait(struct kar_template *e, kar_time mono)
{
	if (e->wanted && mono - e->wanted < KAR_TEMPLATES_ANSWER + KAR_TEMPLATES_PAUSE)
		return false;
	e->wanted = mono;
	return true;
}

void kar_templates_want(struct kar_templates *t, const struct kar_queuejob *job, size_t task, kar_time mono)
{
	struct kar_template *e = kar_templates_of(t, job, task, mono);
	bool under_way = e->asked && mono - e->asked < KAR_TEMPLATES_ANSWER;

	(void)begin_to_wait(e, mono);
	if (!under_way && e->retry_at <= mono && t->wanted)
		t->wanted(t->wanted_arg, job);
}

void kar_templates_want_needs(struct kar_templates *t, const struct kar_queuejob *job, size_t task,
	kar_time mono)
{
	if (begin_to_wait(&find_or_make(t, like_of(job, task), 0, mono)->of, mono))
		kar_templates_want(t, job, task, mono);
}

void kar_templates_listen(struct kar_templates *t, void (*wanted)(void *arg, const struct kar_queuejob *job),
	void (*answered)(void *arg), void *arg)
{
	if (wanted) {
		t->wanted = wanted;
		t->wanted_arg = arg;
	}
	if (answered) {
		t->answered = answered;
		t->answered_arg = arg;
	}
}

const char *kar_template_refusal(const struct kar_template *e, const struct kar_queuejob *job, size_t task,
	struct kar_arena *arena)
{
	const char *message = e->message ? e->message : "refused";
	const char *quote = strchr(message, '"'), *end = quote ? strchr(quote + 1, '"') : NULL;
	bool names_pod = !strncmp(message, "pods \"", 6) || !strncmp(message, "Pod \"", 5);
	char name[KAR_POD_NAME_LEN] = "";
	int32_t index;
	size_t of;

	if (names_pod && end && (size_t)(end - quote) <= sizeof(name))
		strlcpy(name, quote + 1, (size_t)(end - quote));
	if (!name[0] || kar_queuejob_pod_index(job, name, &of, &index))
		return kar_arena_printf(arena, "%s", message);
	kar_queuejob_pod_name(job, job->spec.tasks[task].name, 0, name);
	return kar_arena_printf(arena, "%.*s%s%s", (int)(quote + 1 - message), message, name, end);
}
