/* What is read of the objects that the ledger is about. */
#include "test/sim/ledger.h"

#include <string.h>

bool ledger_is_manager(const char *user)
{
	return strncmp(user, LEDGER_MANAGER, strlen(LEDGER_MANAGER)) == 0;
}

const char *ledger_owner(const struct sim_value *object)
{
	const struct sim_value *owners = sim_get(object, "metadata", "ownerReferences");

	for (size_t i = 0; i < sim_count(owners); i++) {
		const struct sim_value *o = sim_item(owners, i);

		if (sim_bool_of(sim_member(o, "controller"), false) &&
			strcmp(sim_text_or(sim_member(o, "kind"), ""), "QueueJob") == 0)
			return sim_text(sim_member(o, "uid"));
	}
	return NULL;
}

bool ledger_has_finalizer(const struct sim_value *object, const char *name)
{
	const struct sim_value *list = sim_get(object, "metadata", "finalizers");

	for (size_t i = 0; i < sim_count(list); i++) {
		if (strcmp(sim_text_or(sim_item(list, i), ""), name) == 0)
			return true;
	}
	return false;
}

enum kar_qj_phase ledger_phase(const struct sim_value *job)
{
	const char *text = sim_text_or(sim_get(job, "status", "phase"), "");

	for (int p = KAR_QJ_PHASE_PENDING; p <= KAR_QJ_PHASE_FAILED; p++) {
		if (strcmp(text, kar_qj_phase_name((enum kar_qj_phase)p)) == 0)
			return (enum kar_qj_phase)p;
	}
	return KAR_QJ_PHASE_NONE;
}

bool ledger_is_admitted(const struct sim_value *group)
{
	const struct sim_value *list = sim_get(group, "status", "conditions");

	for (size_t i = 0; i < sim_count(list); i++) {
		const struct sim_value *c = sim_item(list, i);

		if (strcmp(sim_text_or(sim_member(c, "type"), ""), "Admitted") == 0)
			return strcmp(sim_text_or(sim_member(c, "status"), ""), "True") == 0;
	}
	return false;
}

int ledger_queue(const char *name)
{
	return strcmp(name, "q1") == 0 ? 1 : strcmp(name, "q2") == 0 ? 2 : 0;
}
