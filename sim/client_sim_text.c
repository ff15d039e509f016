/* A call's own copies of what it was asked, which the caller lends for the start only. */
#include <string.h>

#include "common/base/mem.h"
#include "common/kube/request.h"
#include "sim/client_sim_impl.h"

static size_t room_of(const char *s)
{
	return s ? strlen(s) + 1 : 0;
}

static void keep(const char **field, char **at)
{
	size_t n = room_of(*field);

	if (!n)
		return;
	memcpy(*at, *field, n);
	*field = *at;
	*at += n;
}

void sim_call_copy_request(struct kar_call *call, const struct sim_request *rq)
{
	struct sim_request *to = &call->rq;
	const char **fields[] = { &to->ns, &to->name, &to->subresource, &to->resource_version,
		&to->resource_version_match, &to->continue_token, &to->label_selector, &to->field_selector,
		&to->field_manager };
	size_t room = rq->body.n;
	char *at;

	*to = *rq;
	for (size_t i = 0; i < KAR_LEN(fields); i++)
		room += room_of(*fields[i]);
	call->text = room ? kar_xmalloc(room) : NULL;
	at = call->text;
	for (size_t i = 0; i < KAR_LEN(fields); i++)
		keep(fields[i], &at);
	if (!rq->body.n)
		return;
	memcpy(at, rq->body.p, rq->body.n);
	to->body.p = at;
}

char *sim_call_what(const struct kar_call *call)
{
	const struct kar_request r = { .verb = call->rq.verb,
		.res = call->res,
		.ns = call->rq.ns,
		.name = call->rq.name,
		.subresource = call->rq.subresource };

	return kar_request_what(&r);
}
