#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/nodes/nodes.h"

#define USER "other-user"

struct own_pod {
	char name[32];
	kar_time delete_at; /* mono; KAR_NEVER: it may end */
};

struct sim_other_user {
	struct sim_apiserver *server;
	struct sim_other_user_options options;
	struct sim_timeline *timeline;
	struct sim_random random;
	struct sim_alarm *alarm;
	struct own_pod *pods;
	size_t n;
	uint64_t number;
};

static const char *namespace_of(const struct sim_other_user *u)
{
	return u->options.ns ? u->options.ns : "default";
}

static struct sim_value *container_of(struct sim_other_user *u)
{
	int64_t cpu = sim_random_between(&u->random, u->options.cpu_low, u->options.cpu_high);
	struct sim_value *v = sim_object();

	sim_set_text(&v, "main", "name");
	sim_set_text(&v, "other", "image");
	sim_set(&v, sim_printf("%lldm", (long long)cpu), "resources", "requests", "cpu");
	return v;
}

static struct sim_value *pod_of(struct sim_other_user *u, const char *name)
{
	kar_time run = sim_random_between(&u->random, u->options.run.low, u->options.run.high);
	struct sim_value *v = sim_object(), *containers = sim_array();

	sim_set_text(&v, "v1", "apiVersion");
	sim_set_text(&v, "Pod", "kind");
	sim_set_text(&v, name, "metadata", "name");
	sim_set_text(&v, "succeed", "metadata", "annotations", "test.kube-arbitrator.io/outcome");
	sim_set(&v, sim_printf("%lldms", (long long)run), "metadata", "annotations",
		"test.kube-arbitrator.io/after");
	sim_set_text(&v, "Never", "spec", "restartPolicy");
	if (u->options.priority_class)
		sim_set_text(&v, u->options.priority_class, "spec", "priorityClassName");
	sim_append(&containers, container_of(u));
	sim_set(&v, containers, "spec", "containers");
	return v;
}

static int call(struct sim_other_user *u, enum kar_verb verb, const char *name,
	const struct sim_value *object)
{
	struct sim_response out;
	int code;

	sim_apiserver_call(u->server,
		&(struct sim_request){
			.verb = verb,
			.group = "",
			.version = "v1",
			.resource = "pods",
			.ns = namespace_of(u),
			.name = name,
			.object = object,
			.user = USER,
		},
		&out);
	code = out.code;
	sim_response_release(&out);
	return code;
}

static void create(struct sim_other_user *u)
{
	struct own_pod *p = &u->pods[u->n];
	kar_time now = sim_timeline_mono(u->timeline);
	struct sim_value *pod;

	snprintf(p->name, sizeof(p->name), "other-%llu", (unsigned long long)++u->number);
	pod = pod_of(u, p->name);
	p->delete_at = KAR_NEVER;
	if (sim_random_chance(&u->random, u->options.delete_per_mille))
		p->delete_at = now + sim_random_between(&u->random, 0, u->options.run.high);
	if (call(u, KAR_CREATE, NULL, pod) / 100 == 2) /* a quota may refuse it: then the next one */
		u->n++;
	sim_unref(pod);
}

/* True if the pod is gone. */
static bool look_after(struct sim_other_user *u, const struct own_pod *p)
{
	const struct sim_value *pod = sim_apiserver_peek(u->server, "", "pods", namespace_of(u), p->name);
	const char *phase = sim_text_or(sim_get(pod, "status", "phase"), "");
	bool ended = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;

	if (!pod)
		return true;
	if (!sim_get(pod, "metadata", "deletionTimestamp") &&
		(ended || p->delete_at <= sim_timeline_mono(u->timeline)))
		call(u, KAR_DELETE, p->name, NULL);
	return false;
}

static void rest(struct sim_other_user *u)
{
	kar_time pause = sim_random_between(&u->random, u->options.pause.low, u->options.pause.high);

	sim_alarm_start(u->alarm, pause > 0 ? pause : 1);
}

static void act(void *arg)
{
	struct sim_other_user *u = arg;
	size_t kept = 0;

	for (size_t i = 0; i < u->n; i++) {
		if (!look_after(u, &u->pods[i]))
			u->pods[kept++] = u->pods[i];
	}
	u->n = kept;
	if (u->n < u->options.most)
		create(u);
	rest(u);
}

struct sim_other_user *sim_other_user_new(struct sim_apiserver *s, const struct sim_other_user_options *o)
{
	struct sim_other_user *u = kar_xcalloc(1, sizeof(*u));

	u->server = s;
	u->options = *o;
	u->timeline = sim_apiserver_timeline(s);
	u->random = sim_random_of(o->seed, "other user");
	u->pods = kar_xcalloc(o->most + 1, sizeof(*u->pods));
	u->alarm = sim_alarm_new(u->timeline, act, u);
	rest(u);
	return u;
}

void sim_other_user_free(struct sim_other_user *u)
{
	if (!u)
		return;
	sim_alarm_free(u->alarm);
	free(u->pods);
	free(u);
}
