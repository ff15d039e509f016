#include <string.h>

#include "api/names.h"
#include "sim/nodes/internal.h"

/* Like the gang schedulers of others, it does not see pods that have ended. */
static int64_t count_members(const struct sim_pod *p, const char *group)
{
	struct sim_pod *other;
	int64_t n = 0;

	RB_FOREACH(other, sim_pods, &p->nodes->pods) {
		const char *its = sim_get_text(other->value, "metadata", "labels", KAR_LABEL_POD_GROUP);

		n += its && strcmp(its, group) == 0 && strcmp(other->ns, p->ns) == 0 && !other->terminal &&
			!other->deleting;
	}
	return n;
}

bool sim_scheduler_gang_waits(const struct sim_pod *p)
{
	const char *group = sim_get_text(p->value, "metadata", "labels", KAR_LABEL_POD_GROUP);
	const struct sim_value *object = group
		? sim_apiserver_peek(p->nodes->server, KAR_PODGROUP_GROUP, "podgroups", p->ns, group)
		: NULL;

	return object && count_members(p, group) < sim_get_int(object, 1, "spec", "minMember");
}
