#include "api/pod/what_if.h"

#include <string.h>

#include "api/copy.h"
#include "api/status/status_fields.h"

static const char *const answer_names[] = { "", "FitsNow", "Waits", "Never", "Refused", NULL };

#define EVICTS struct kar_what_if_eviction
static const struct kar_field eviction_rows[] = {
	KAR_STATUS_TEXT(EVICTS, queue, "queue", KAR_COPY_NAME, KAR_SF_STORY, NULL),
	KAR_STATUS(INT32, EVICTS, pods, "pods", KAR_SF_STORY, NULL),
};
static const struct kar_desc eviction_table = KAR_DESC("WhatIfEviction", EVICTS, eviction_rows);

#define WIRE struct kar_what_if_wire
static const struct kar_field rows[] = {
	KAR_STATUS_ENUM(WIRE, answer, s.answer, "answer", answer_names, KAR_SF_STORY, NULL),
	KAR_STATUS(TIME, WIRE, s.time, "time", KAR_SF_STORY, NULL),
	KAR_STATUS_TEXT(WIRE, s.reason, "reason", KAR_COPY_REASON, KAR_SF_STORY, NULL),
	KAR_STATUS_TEXT(WIRE, s.message, "message", KAR_MAX_MESSAGE_BYTES, KAR_SF_STORY, NULL),
	KAR_STATUS(INT32, WIRE, s.position, "position", KAR_SF_STORY | KAR_SF_OMIT_ZERO, NULL),
	KAR_STATUS_STRUCTS(WIRE, evicts, s.evicts, s.n_evicts, EVICTS, "evicts", &eviction_table,
		KAR_SF_STORY | KAR_SF_OMIT_ZERO, NULL),
	KAR_STATUS(TIME, WIRE, s.expected, "expected", KAR_SF_STORY, NULL),
	KAR_STATUS_TEXT(WIRE, s.basis, "basis", KAR_COPY_REASON, KAR_SF_STORY, NULL),
};
const struct kar_desc kar_what_if_table = KAR_DESC("WhatIf", WIRE, rows);

const char *kar_what_if_name(enum kar_what_if_answer a)
{
	return answer_names[a];
}

struct kar_what_if kar_what_if_copy(const struct kar_what_if *from, struct kar_arena *a)
{
	struct kar_what_if out = *from;

	out.reason = kar_copy_text(a, from->reason);
	out.message = kar_copy_text(a, from->message);
	out.basis = kar_copy_text(a, from->basis);
	out.evicts = kar_arena_alloc(a, from->n_evicts + 1, sizeof(*out.evicts));
	for (size_t i = 0; i < from->n_evicts; i++)
		out.evicts[i] = (struct kar_what_if_eviction){ kar_copy_text(a, from->evicts[i].queue),
			from->evicts[i].pods };
	return out;
}
