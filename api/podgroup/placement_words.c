#include "api/podgroup/placement_words.h"

#include "common/base/str.h"

static const char *const operators[] = {
	[KAR_OP_IN] = "In",
	[KAR_OP_NOT_IN] = "NotIn",
	[KAR_OP_EXISTS] = "Exists",
	[KAR_OP_DOES_NOT_EXIST] = "DoesNotExist",
	[KAR_OP_GT] = "Gt",
	[KAR_OP_LT] = "Lt",
};

static const char *const effects[] = {
	[KAR_NO_SCHEDULE] = "NoSchedule",
	[KAR_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
	[KAR_NO_EXECUTE] = "NoExecute",
};

bool kar_operator_read(const char *name, enum kar_operator *out)
{
	for (size_t i = 0; i < KAR_LEN(operators); i++) {
		if (kar_streq(name, operators[i])) {
			*out = (enum kar_operator)i;
			return true;
		}
	}
	return false;
}

const char *kar_operator_name(enum kar_operator op)
{
	return operators[op];
}

bool kar_effect_read(const char *name, enum kar_effect *out)
{
	for (size_t i = 0; i < KAR_LEN(effects); i++) {
		if (kar_streq(kar_has_text(name) ? name : NULL, effects[i])) {
			*out = (enum kar_effect)i;
			return true;
		}
	}
	return false;
}

const char *kar_effect_name(enum kar_effect effect)
{
	return effects[effect];
}
