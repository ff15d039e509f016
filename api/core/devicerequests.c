#include "api/core/devicerequests.h"

#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "common/base/str.h"

enum {
	SELECTORS = 32,         /* of a request, as many as the API allows */
	SELECTOR_BYTES = 1024,  /* of all of a request; each device is compared with them */
	CLAIM_BYTES = 4 * 1024, /* of all requests of a claim */
};

struct wire_cel {
	const char *expression;
};

struct wire_selector {
	struct wire_cel cel;
};

/* Something that is only asked whether it is there. */
struct wire_present {
	char unused;
};

struct wire_exact {
	const char *class, *mode;
	struct kar_array selectors;   /* struct wire_selector */
	struct kar_array tolerations; /* struct wire_present */
	struct kar_array derived;     /* likewise */
	const struct wire_present *capacity;
	int64_t count;
	bool admin;
};

struct wire_request {
	const struct wire_exact *exactly;
	struct kar_array alternatives; /* struct wire_present */
};

static const struct kar_desc present_desc = { .what = "object", .size = sizeof(struct wire_present) };

static const struct kar_field cel_fields[] = {
	KAR_FIELD(struct wire_cel, expression, "expression", KAR_F_STRING),
};
static const struct kar_desc cel_desc = KAR_DESC("CELDeviceSelector", struct wire_cel, cel_fields);

static const struct kar_field selector_fields[] = {
	KAR_FIELD_SUB(struct wire_selector, cel, "cel", KAR_F_OBJECT, &cel_desc),
};
static const struct kar_desc selector_desc =
	KAR_DESC("DeviceSelector", struct wire_selector, selector_fields);

static const struct kar_field exact_fields[] = {
	KAR_FIELD(struct wire_exact, class, "deviceClassName", KAR_F_STRING),
	KAR_FIELD(struct wire_exact, mode, "allocationMode", KAR_F_STRING),
	KAR_FIELD_SUB(struct wire_exact, selectors, "selectors", KAR_F_ARRAY, &selector_desc),
	KAR_FIELD_SUB(struct wire_exact, tolerations, "tolerations", KAR_F_ARRAY, &present_desc),
	KAR_FIELD_SUB(struct wire_exact, derived, "derivedAttributes", KAR_F_ARRAY, &present_desc),
	KAR_FIELD_SUB(struct wire_exact, capacity, "capacity", KAR_F_OBJECT_PTR, &present_desc),
	KAR_FIELD(struct wire_exact, count, "count", KAR_F_INT64),
	KAR_FIELD(struct wire_exact, admin, "adminAccess", KAR_F_BOOL),
};
static const struct kar_desc exact_desc = KAR_DESC("ExactDeviceRequest", struct wire_exact, exact_fields);

static const struct kar_field request_fields[] = {
	KAR_FIELD_SUB(struct wire_request, exactly, "exactly", KAR_F_OBJECT_PTR, &exact_desc),
	KAR_FIELD_SUB(struct wire_request, alternatives, "firstAvailable", KAR_F_ARRAY, &present_desc),
};
static const struct kar_desc request_desc = KAR_DESC("DeviceRequest", struct wire_request, request_fields);

static const struct kar_field fields[] = {
	KAR_FIELD_SUB(struct kar_wire_device_requests, requests, "requests", KAR_F_ARRAY, &request_desc),
	KAR_FIELD_SUB(struct kar_wire_device_requests, constraints, "constraints", KAR_F_ARRAY,
		&present_desc),
};
const struct kar_desc kar_wire_device_requests_desc =
	KAR_DESC("DeviceClaim", struct kar_wire_device_requests, fields);

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Takes them off *@left. False: one is not CEL, or they are too many or too long. */
static bool read_selectors(const struct kar_array *from, struct kar_arena *mem, size_t *left,
	struct kar_array *out)
{
	const struct wire_selector *s = from->items;
	size_t bytes = 0;
	const char **all;

	for (size_t i = 0; i < from->n; i++)
		bytes += s[i].cel.expression ? strlen(s[i].cel.expression) : 0;
	if (from->n > SELECTORS || bytes > SELECTOR_BYTES || bytes > *left)
		return false;
	*left -= bytes;
	all = kar_arena_alloc(mem, from->n + 1, sizeof(*all));
	for (size_t i = 0; i < from->n; i++) {
		if (!kar_has_text(s[i].cel.expression))
			return false;
		all[i] = kar_copy_text(mem, s[i].cel.expression);
	}
	qsort(all, from->n, sizeof(*all), by_text);
	*out = (struct kar_array){ .items = all, .n = from->n };
	return true;
}

/* What of the request is not read; NULL: nothing, and it is in *@out. */
static const char *read_request(const struct wire_request *w, struct kar_arena *mem, size_t *left,
	struct kar_device_request *out)
{
	const struct wire_exact *e = w->exactly;

	if (w->alternatives.n || !e)
		return "alternatives of a device request";
	if (e->admin)
		return "administrator's access to devices";
	if (kar_has_text(e->mode) && strcmp(e->mode, "ExactCount") != 0)
		return "a request for all devices";
	if (e->tolerations.n) /* tainted devices are not counted */
		return "tolerations of a device request";
	if (e->capacity) /* several such requests may have one device */
		return "capacity of a device request";
	if (e->derived.n)
		return "derived attributes of a device request";
	*out = (struct kar_device_request){ .class = kar_copy_fit(mem, e->class ? e->class : "",
						    KAR_COPY_NAME),
		.count = e->count > 0 ? e->count : 1 };
	if (!read_selectors(&e->selectors, mem, left, &out->selectors))
		return "selectors of a device request";
	return NULL;
}

struct kar_device_requests kar_device_requests_read(const struct kar_wire_device_requests *w,
	struct kar_arena *mem)
{
	const struct wire_request *all = w->requests.items;
	struct kar_device_requests out = { 0 };
	size_t left = CLAIM_BYTES;

	out.items = kar_arena_alloc(mem, KAR_DEVICE_REQUESTS, sizeof(*out.items));
	if (w->constraints.n)
		out.unread = "constraints among devices";
	if (w->requests.n > KAR_DEVICE_REQUESTS)
		out.unread = "many device requests";
	for (size_t i = 0; i < w->requests.n && out.n < KAR_DEVICE_REQUESTS; i++) {
		const char *unread = read_request(&all[i], mem, &left, &out.items[out.n]);

		out.n += !unread;
		out.unread = unread ? unread : out.unread;
	}
	return out;
}
