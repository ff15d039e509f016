/* PriorityClasses: values are for ever, the system's own names are reserved, only one is the default. */
#include <string.h>

#include "sim/apiserver/strategy.h"

enum { HIGHEST_OF_USERS = 1000000000 };
static const char system_prefix[] = "system-";

static void prepare(struct sim_write *w)
{
	if (!w->old)
		sim_set(w->new, sim_int(1), "metadata", "generation");
}

static void default_(struct sim_write *w)
{
	if (!sim_member(*w->new, "preemptionPolicy"))
		sim_set_text(w->new, "PreemptLowerPriority", "preemptionPolicy");
}

static void consider(void *arg, const struct sim_value *class)
{
	const struct sim_value **found = arg;

	if (sim_bool_of(sim_member(class, "globalDefault"), false) && !*found)
		*found = class;
}

static bool admit(struct sim_write *w, struct sim_response *out)
{
	const char *name = sim_text_or(sim_get(*w->new, "metadata", "name"), "");
	const struct sim_value *other = NULL;

	if (!sim_bool_of(sim_member(*w->new, "globalDefault"), false))
		return true;
	sim_apiserver_each(w->s, "scheduling.k8s.io", "priorityclasses", consider, &other);
	if (!other || (w->old && !strcmp(sim_text_or(sim_get(other, "metadata", "name"), ""), name)))
		return true;
	return sim_refuse_forbidden(out, w->resource, name,
		"PriorityClass %s is already marked as default. Only one default can exist",
		sim_text_or(sim_get(other, "metadata", "name"), ""));
}

static void check_system_class(struct sim_write *w, const char *name)
{
	static const struct {
		const char *name;
		int64_t value;
	} known[] = { { "system-node-critical", 2000001000 }, { "system-cluster-critical", 2000000000 } };
	static const char reserved[] =
		"priority class names with 'system-' prefix are reserved for system use only. error: ";
	const struct sim_at *at = SIM_AT(SIM_AT(NULL, "metadata"), "name");

	for (size_t i = 0; i < KAR_LEN(known); i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		if (sim_get_int(*w->new, 0, "value") != known[i].value)
			sim_cause_forbidden(&w->causes, at, "%svalue of %s PriorityClass must be %lld",
				reserved, name, (long long)known[i].value);
		else if (sim_bool_of(sim_member(*w->new, "globalDefault"), false))
			sim_cause_forbidden(&w->causes, at,
				"%sglobalDefault of %s PriorityClass must be false", reserved, name);
		return;
	}
	sim_cause_forbidden(&w->causes, at, "%s%s is not a known system priority class", reserved, name);
}

static void validate(struct sim_write *w)
{
	static const char *const policies[] = { "PreemptLowerPriority", "Never", NULL };
	const struct sim_value *policy = sim_member(*w->new, "preemptionPolicy");
	const char *name = sim_text_or(sim_get(*w->new, "metadata", "name"), "");
	struct sim_causes *c = &w->causes;

	if (w->old) {
		if (!sim_equal(sim_member(w->old, "value"), sim_member(*w->new, "value")))
			sim_cause_forbidden(c, SIM_AT(NULL, "value"), "may not be changed in an update.");
		if (!sim_equal(sim_member(w->old, "preemptionPolicy"), policy))
			sim_cause_invalid(c, SIM_AT(NULL, "preemptionPolicy"), policy, "field is immutable");
		return;
	}
	if (!strncmp(name, system_prefix, strlen(system_prefix)))
		check_system_class(w, name);
	else if (sim_get_int(*w->new, 0, "value") > HIGHEST_OF_USERS)
		sim_cause_forbidden(c, SIM_AT(NULL, "value"),
			"maximum allowed value of a user defined priority is %d", HIGHEST_OF_USERS);
	sim_check_choice(c, SIM_AT(NULL, "preemptionPolicy"), policy, policies);
}

const struct sim_strategy sim_strategy_priority_class = {
	.prepare = prepare,
	.default_ = default_,
	.admit = admit,
	.validate = validate,
};
