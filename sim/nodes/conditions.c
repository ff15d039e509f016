#include <string.h>

#include "sim/nodes/internal.h"

static bool same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static size_t place_of(const struct sim_value *conditions, const char *type)
{
	size_t i = 0;

	while (i < sim_count(conditions) &&
		!same(sim_text(sim_member(sim_item(conditions, i), "type")), type))
		i++;
	return i;
}

const struct sim_value *sim_find_condition(const struct sim_value *object, const char *type)
{
	const struct sim_value *conditions = sim_get(object, "status", "conditions");

	return sim_item(conditions, place_of(conditions, type));
}

bool sim_has_condition(const struct sim_value *object, const char *type, const char *status)
{
	return same(sim_get_text(sim_find_condition(object, type), "status"), status);
}

static void set_if(struct sim_nodes *n, struct sim_value **v, const char *key, const char *text)
{
	if (text)
		sim_set(v, sim_word(n, text), key);
}

static struct sim_value *with_status(struct sim_nodes *n, const struct sim_value *old,
	const struct sim_condition *c)
{
	struct sim_value *v = sim_object();
	const struct sim_value *since = sim_member(old, "lastTransitionTime");
	bool keep = since && same(sim_get_text(old, "status"), c->status);

	sim_set(&v, sim_word(n, c->type), "type");
	sim_set(&v, sim_word(n, c->status), "status");
	sim_set(&v, keep ? sim_ref(since) : sim_now(n), "lastTransitionTime");
	set_if(n, &v, "reason", c->reason);
	set_if(n, &v, "message", c->message);
	return v;
}

static void put(struct sim_value **conditions, size_t i, struct sim_value *consumed)
{
	if (!*conditions)
		*conditions = sim_array();
	if (i < sim_count(*conditions))
		sim_replace(conditions, i, consumed);
	else
		sim_append(conditions, consumed);
}

/* The condition as it is to be, new; NULL: it is so already. *@i: its place. */
static struct sim_value *changed(struct sim_nodes *n, const struct sim_value *conditions,
	const struct sim_condition *c, size_t *i)
{
	const struct sim_value *old;

	*i = place_of(conditions, c->type);
	old = sim_item(conditions, *i);
	if (old && same(sim_get_text(old, "status"), c->status) &&
		same(sim_get_text(old, "reason"), c->reason) &&
		same(sim_get_text(old, "message"), c->message))
		return NULL;
	return with_status(n, old, c);
}

bool sim_set_condition(struct sim_nodes *n, struct sim_value **conditions, const struct sim_condition *c,
	int64_t generation)
{
	size_t i;
	struct sim_value *v = changed(n, *conditions, c, &i);

	if (!v)
		return false;
	if (generation)
		sim_set(&v, sim_int(generation), "observedGeneration");
	sim_set(&v, sim_null(), "lastProbeTime"); /* nobody probes */
	put(conditions, i, v);
	return true;
}

bool sim_set_node_condition(struct sim_nodes *n, struct sim_value **conditions, const struct sim_condition *c)
{
	size_t i;
	struct sim_value *v = changed(n, *conditions, c, &i);

	if (!v)
		return false;
	sim_set(&v, sim_now(n), "lastHeartbeatTime");
	put(conditions, i, v);
	return true;
}

bool sim_set_plain_condition(struct sim_nodes *n, struct sim_value **conditions,
	const struct sim_condition *c, int64_t generation)
{
	size_t i;
	struct sim_value *v = changed(n, *conditions, c, &i);

	if (!v)
		return false;
	sim_set(&v, sim_int(generation), "observedGeneration");
	put(conditions, i, v);
	return true;
}

/* ---- taints ---- */

const struct sim_value *sim_taint_find(const struct sim_value *node, const char *key, const char *effect)
{
	const struct sim_value *taints = sim_get(node, "spec", "taints");

	for (size_t i = 0; i < sim_count(taints); i++) {
		const struct sim_value *t = sim_item(taints, i);

		if (same(sim_get_text(t, "key"), key) && same(sim_get_text(t, "effect"), effect))
			return t;
	}
	return NULL;
}

bool sim_tolerates(const struct sim_value *toleration, const struct sim_value *taint)
{
	const char *key = sim_text_or(sim_member(toleration, "key"), "");
	const char *effect = sim_text_or(sim_member(toleration, "effect"), "");
	const char *operator= sim_text_or(sim_member(toleration, "operator"), "");

	if (effect[0] && !same(effect, sim_get_text(taint, "effect")))
		return false;
	if (key[0] && !same(key, sim_get_text(taint, "key")))
		return false;
	if (strcmp(operator, "Exists") == 0)
		return true;
	return (!operator[0] || strcmp(operator, "Equal") == 0) &&
		same(sim_get_text(toleration, "value"), sim_get_text(taint, "value"));
}

const struct sim_value *sim_toleration_of(const struct sim_value *pod, const struct sim_value *taint)
{
	const struct sim_value *tolerations = sim_get(pod, "spec", "tolerations");

	for (size_t i = 0; i < sim_count(tolerations); i++) {
		if (sim_tolerates(sim_item(tolerations, i), taint))
			return sim_item(tolerations, i);
	}
	return NULL;
}
