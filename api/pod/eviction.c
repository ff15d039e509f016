#include "api/pod/eviction.h"

#include "api/copy.h"
#include "api/status/status_fields.h"

#define EVICTION struct kar_eviction
static const struct kar_field rows[] = {
	KAR_STATUS(TIME, EVICTION, time, "time", KAR_SF_STORY, NULL),
	KAR_STATUS_TEXT(EVICTION, reason, "reason", KAR_COPY_REASON, KAR_SF_STORY, NULL),
	KAR_STATUS_TEXT(EVICTION, by, "by", KAR_COPY_KEY, KAR_SF_STORY, NULL),
	KAR_STATUS_TEXT(EVICTION, queue, "queue", KAR_COPY_NAME, KAR_SF_STORY, NULL),
};
const struct kar_desc kar_eviction_table = KAR_DESC("Eviction", EVICTION, rows);
