#include "api/status/reasons.h"

#include <assert.h>
#include <string.h>

#define DEFINE(name, where, meaning) const char kar_reason_##name[] = #name;
KAR_REASONS(DEFINE)

#define ROW(name, where, meaning) { kar_reason_##name, where, meaning },
static const struct kar_reason all[] = { KAR_REASONS(ROW) };

static const char *const shown[KAR_REASON_SHOWN] = {
	"status",
	"condition Admitted",
	"condition Formed",
	"condition Complete",
	"condition Failed",
	"condition Suspended",
	"condition Invalid",
	"condition Preempted",
	"event (Normal)",
	"event (Warning)",
	"lastRestart",
	"PodGroup",
	"Queue",
	"Topology",
};

const struct kar_reason *kar_reasons(size_t *n)
{
	*n = KAR_LEN(all);
	return all;
}

const struct kar_reason *kar_reason_find(const char *name)
{
	for (size_t i = 0; i < KAR_LEN(all); i++) {
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	}
	return NULL;
}

const char *kar_reason_shown(unsigned bit)
{
	assert(bit < KAR_REASON_SHOWN);
	return shown[bit];
}
