/* The shell of the TrainingJob reconciler. */
#include "controllers/trainingjob/trainingjob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "api/status/reasons.h"
#include "api/trainingjob/trainingjob_queuejob.h"
#include "common/base/intern.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "controllers/cluster/caches.h"
#include "controllers/cluster/status_patch.h"
#include "controllers/controllers.h"
#include "controllers/kar_metrics.h"

enum { CACHE_WAIT = 100 }; /* ms between two checks whether the cache has our own write */
static const kar_time INVALID_AGAIN = 600 * KAR_SECOND, DENIED_AGAIN = 30 * KAR_SECOND;

/* What was said when its QueueJob was written; valid for one digest. */
struct memory {
	uint64_t of;    /* hash of uid, spec and labels of the TrainingJob; 0: nothing was refused */
	kar_time until; /* mono; it is tried again then */
	const char *reason;
	char said[512];
};

static void on_trainingjob(void *arg, const struct kar_object *old KAR_UNUSED, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	char key[KAR_KEY_LEN];

	if (new)
		kar_enqueue(c, c->stores->trainingjobs, kar_object_key(new, key));
}

static void on_queuejob(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct kar_object *o = new ? new : old;
	char key[KAR_KEY_LEN];

	if (kar_store_get(c->stores->trainingjobs, o->ns, o->name))
		kar_enqueue(c, c->stores->queuejobs, kar_object_key(o, key));
}

static void start(struct kar_controller *c)
{
	kar_store_listen(c->stores->trainingjobs, on_trainingjob, c);
	kar_store_listen(c->stores->queuejobs, on_queuejob, c);
}

/* The last number of "0-57,59", plus one. */
static int32_t end_of_indexes(const char *text)
{
	const char *last = text;

	if (!kar_has_text(text))
		return 0;
	for (const char *p = text; *p; p++)
		last = *p == ',' || *p == '-' ? p + 1 : last;
	return (int32_t)kar_clamp(strtol(last, NULL, 10), 0, KAR_QJ_MAX_PODS) + 1;
}

static int32_t used_indexes(const struct kar_stores *stores, const struct kar_queuejob *job)
{
	size_t trainer = kar_queuejob_find_task(&job->spec, KAR_TRAINING_TRAINER), task;
	const struct kar_object *o;
	int32_t n = 0, index;

	for (size_t i = 0; i < job->status.n_tasks; i++) {
		if (kar_streq(job->status.tasks[i].name, KAR_TRAINING_TRAINER))
			n = end_of_indexes(job->status.tasks[i].succeeded_indexes);
	}
	for (struct kar_iter it = kar_store_by_index(stores->pods, KAR_POD_BY_OWNER, job->o.uid);
		kar_iter_next(&it, &o);) {
		if (kar_queuejob_pod_index(job, o->name, &task, &index) && task == trainer && index >= n)
			n = index + 1;
	}
	return n;
}

static uint64_t hash_of(const struct kar_trainingjob *t)
{
	uint64_t h = kar_hash(kar_hash_str(1, t->o.uid), &t->generation, sizeof(t->generation));

	h = kar_hash_str(h, t->queue ? t->queue : "");
	h = kar_hash_str(h, t->priority_level ? t->priority_level : "");
	return kar_hash(h, &t->freezing_window, sizeof(t->freezing_window)) | 1;
}

/* What was refused is tried again after an edit, and now and then. */
static void remember_refusal(struct kar_sync *s, struct trainingjob_view *v)
{
	struct memory *m = s->state->memory;

	if (m->of != hash_of(v->t))
		return;
	v->again = m->until <= s->mono;
	if (!v->again)
		kar_plan_requeue(&s->plan, m->until - s->mono);
	v->refused = kar_copy(&s->arena, m->said);
	v->refused_for = m->reason;
}

static bool sync_job(struct kar_controller *c, struct kar_sync *s)
{
	const struct kar_stores *stores = c->stores;
	struct trainingjob_view v = { 0 };
	const struct kar_object *o, *job;
	const char *ns, *name;
	char buf[KAR_KEY_LEN];

	kar_key_split(s->key, buf, &ns, &name);
	o = kar_store_get(stores->trainingjobs, ns, name);
	if (!o)
		return false;
	if (!kar_barrier_passed(c->barrier, s->key, stores->trainingjobs) ||
		!kar_barrier_passed(c->barrier, s->key, stores->queuejobs)) {
		kar_plan_requeue(&s->plan, CACHE_WAIT);
		return false;
	}
	s->object = kar_object_ref(o);
	s->generation = kar_as_trainingjob(o)->generation;
	s->objects = 1;
	job = kar_store_get(stores->queuejobs, ns, name);
	v.t = kar_as_trainingjob(o);
	v.job = job ? kar_as_queuejob(job) : NULL;
	v.used = job ? used_indexes(stores, v.job) : 0;
	remember_refusal(s, &v);
	trainingjob_decide(&v, s->now, &s->plan);
	return true;
}

static int encode(const struct kar_sync *s KAR_UNUSED, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err KAR_UNUSED)
{
	return trainingjob_encode(a, out);
}

static const char *encode_status(const struct kar_sync *s, struct kar_buf *out)
{
	kar_write_status_patch(out, s->object, &kar_trainingjob_status_table, s->plan.status, KAR_SF_ALL);
	return "status";
}

static void refused(const struct kar_sync *s, const struct kar_action *a KAR_UNUSED,
	const struct kar_err *err)
{
	struct memory *m = s->state->memory;

	if (!s->object || (err->what != KAR_INVALID && err->what != KAR_DENIED))
		return; /* the executor tries it again */
	m->of = hash_of(kar_as_trainingjob(s->object));
	m->until = s->mono + (err->what == KAR_INVALID ? INVALID_AGAIN : DENIED_AGAIN);
	m->reason = err->what == KAR_INVALID ? kar_reason_InvalidObject : kar_reason_Forbidden;
	snprintf(m->said, sizeof(m->said), "%.*s", (int)sizeof(m->said) - 1, err->msg);
	m->said[kar_utf8_clean(m->said, strlen(m->said))] = '\0';
	kar_workqueue_add(s->controller->queue, s->key);
}

static void wrote(const struct kar_sync *s, const struct kar_action *a,
	const struct kar_answer *answer KAR_UNUSED)
{
	struct memory *m = s->state->memory;

	kar_count_write(s, a);
	if (a)
		m->of = 0;
}

void kar_trainingjob_controller(struct kar_controller *c)
{
	c->name = "trainingjob";
	c->start = start;
	c->sync = sync_job;
	c->encode = encode;
	c->encode_status = encode_status;
	c->refused = refused;
	c->wrote = wrote;
	c->memory_size = sizeof(struct memory);
}
