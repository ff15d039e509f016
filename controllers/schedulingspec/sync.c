/* The shell of the SchedulingSpec reconciler. */
#include "controllers/schedulingspec/schedulingspec.h"

#include <string.h>

#include "common/base/str.h"
#include "controllers/cluster/caches.h"
#include "controllers/controllers.h"
#include "controllers/kar_metrics.h"

enum { CACHE_WAIT = 100 }; /* ms between two checks whether the cache has our own write */

static void wake_pods(struct kar_controller *c, const char *owner_uid)
{
	const char *served = kar_settings_served(c->settings);
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	for (struct kar_iter it = kar_store_by_index(c->stores->pods, KAR_POD_BY_OWNER, owner_uid);
		kar_iter_next(&it, &o);) {
		if (schedulingspec_concerns(kar_as_pod(o), served))
			kar_enqueue(c, c->stores->pods, kar_object_key(o, key));
	}
}

static bool concerns(const struct kar_controller *c, const struct kar_object *o)
{
	return o && schedulingspec_concerns(kar_as_pod(o), kar_settings_served(c->settings));
}

/* Then nobody has to speak for it. */
static bool has_group(const struct kar_controller *c, const struct kar_pod *pod)
{
	const char *slash = pod->group ? strchr(pod->group, '/') : NULL;

	return slash && kar_store_get(c->stores->podgroups, pod->o.ns, slash + 1);
}

/* @gone may have been the one that speaks and acts for all: the next by name does it now. */
static void wake_next(struct kar_controller *c, const struct kar_pod *gone)
{
	const struct kar_object *o, *next = NULL;
	char key[KAR_KEY_LEN];

	for (struct kar_iter it = kar_store_by_index(c->stores->pods, KAR_POD_BY_OWNER, gone->owner_uid);
		kar_iter_next(&it, &o);) {
		if (!concerns(c, o) || has_group(c, kar_as_pod(o)))
			continue;
		if (strcmp(o->name, gone->o.name) < 0)
			return;
		if (!next || strcmp(o->name, next->name) < 0)
			next = o;
	}
	if (next)
		kar_enqueue(c, c->stores->pods, kar_object_key(next, key));
}

static void on_pod(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	char key[KAR_KEY_LEN];

	if (concerns(c, new) && !kar_as_pod(new)->group)
		kar_enqueue(c, c->stores->pods, kar_object_key(new, key));
	if (concerns(c, old) && !concerns(c, new) && !has_group(c, kar_as_pod(old)))
		wake_next(c, kar_as_pod(old));
}

static void on_spec(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	const struct kar_schedulingspec *s = kar_as_schedulingspec(new ? new : old);

	if (s->owner_kind)
		wake_pods(arg, s->owner_uid);
}

/* It is there now, so pods may join; or it is gone, and is made again; or somebody has edited its minimum. */
static void on_group(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct kar_object *o = new ? new : old, *spec;

	if (!o ||
		(old &&
			new &&kar_podgroup_spec_equal(&kar_as_podgroup(old)->spec,
				&kar_as_podgroup(new)->spec)))
		return;
	spec = kar_store_get(c->stores->schedulingspecs, o->ns, o->name);
	if (spec)
		on_spec(c, NULL, spec);
}

static void start(struct kar_controller *c)
{
	kar_store_listen(c->stores->pods, on_pod, c);
	kar_store_listen(c->stores->schedulingspecs, on_spec, c);
	kar_store_listen(c->stores->podgroups, on_group, c);
}

static bool is_older(const struct kar_schedulingspec *a, const struct kar_schedulingspec *b)
{
	return a->creation != b->creation ? a->creation < b->creation : strcmp(a->o.name, b->o.name) < 0;
}

static void find_specs(const struct kar_stores *stores, struct schedulingspec_view *v)
{
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_by_index(stores->schedulingspecs, KAR_SCHEDULINGSPEC_BY_OWNER,
		     v->pod->owner_uid);
		kar_iter_next(&it, &o);) {
		const struct kar_schedulingspec *s = kar_as_schedulingspec(o);

		if (!v->spec || is_older(s, v->spec)) {
			v->other = v->spec;
			v->spec = s;
		} else {
			v->other = s;
		}
	}
}

static bool is_first(const struct kar_stores *stores, const struct schedulingspec_view *v, const char *served)
{
	const struct kar_pod *pod = v->pod;
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_by_index(stores->pods, KAR_POD_BY_OWNER, pod->owner_uid);
		kar_iter_next(&it, &o);) {
		if (strcmp(o->name, pod->o.name) < 0 && schedulingspec_concerns(kar_as_pod(o), served) &&
			!schedulingspec_names_another(kar_as_pod(o), v->spec))
			return false;
	}
	return true;
}

/* Each pod gets its label by itself. All else is done once for all of them; only for that it is asked, as it looks at all. */
static bool needs_the_first(const struct schedulingspec_view *v)
{
	return !v->spec || v->other || !v->group || !kar_streq(v->group->owner_uid, v->spec->owner_uid) ||
		schedulingspec_differs(v->spec, v->group);
}

static bool sync_pod(struct kar_controller *c, struct kar_sync *s)
{
	const struct kar_stores *stores = c->stores;
	const char *served = kar_settings_served(c->settings), *ns, *name;
	struct schedulingspec_view v = { 0 };
	const struct kar_object *o;
	char buf[KAR_KEY_LEN];

	kar_key_split(s->key, buf, &ns, &name);
	o = kar_store_get(stores->pods, ns, name);
	if (!o || o->unreadable || !schedulingspec_concerns(kar_as_pod(o), served))
		return false;
	if (!kar_barrier_passed(c->barrier, s->key, stores->pods) ||
		!kar_barrier_passed(c->barrier, s->key, stores->podgroups)) {
		kar_plan_requeue(&s->plan, CACHE_WAIT);
		return false;
	}
	s->object = kar_object_ref(o);
	s->objects = 1;
	v.pod = kar_as_pod(o);
	find_specs(stores, &v);
	if (v.spec) {
		const struct kar_object *group = kar_store_get(stores->podgroups, ns, v.spec->o.name);

		v.group = group ? kar_as_podgroup(group) : NULL;
	}
	v.first = needs_the_first(&v) && is_first(stores, &v, served);
	schedulingspec_decide(&v, s->now, &s->plan);
	return true;
}

static int encode(const struct kar_sync *s KAR_UNUSED, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err KAR_UNUSED)
{
	return schedulingspec_encode(a, out);
}

static void wrote(const struct kar_sync *s, const struct kar_action *a,
	const struct kar_answer *answer KAR_UNUSED)
{
	kar_count_write(s, a);
}

void kar_schedulingspec_controller(struct kar_controller *c)
{
	c->name = "schedulingspec";
	c->start = start;
	c->sync = sync_pod;
	c->encode = encode;
	c->wrote = wrote;
}
