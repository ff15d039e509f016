#include "common/kube/reflector_impl.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "common/base/mem.h"

enum { PAGE = 500 }; /* objects; client-go's page size */

static int on_item(void *arg, const void *elem, struct kar_err *err)
{
	struct kar_reflector *r = arg;
	struct kar_object *o = kar_reflector_make(r, elem, err);

	if (!o)
		return -1;
	kar_store_replace_add(r->store, o);
	return 0;
}

/* All pages are one snapshot, whose version is that of the first. */
static int on_page(void *arg, const void *elem, struct kar_err *err)
{
	struct kar_reflector *r = arg;
	const struct kar_list_root *root = elem;
	const char *token = root->meta.continue_token;

	if (r->attempt.complete)
		return kar_fail(err, KAR_INVALID, "a second document after the list");
	if (kar_list_check(root, err))
		return -1;
	if (!r->list_version[0] &&
		kar_reflector_keep_version(r->list_version, root->meta.resource_version, err))
		return -1;
	if (token && r->next_page && strcmp(token, r->next_page) == 0)
		return kar_fail(err, KAR_INVALID, "the list continues where it began");
	if (token && token[0])
		r->attempt.continue_token = kar_xstrdup(token);
	r->attempt.complete = true;
	return 0;
}

void kar_reflector_forget_list(struct kar_reflector *r)
{
	free(r->next_page);
	r->next_page = NULL;
	r->list_version[0] = '\0';
}

static void list_failed(struct kar_reflector *r, const struct kar_err *err)
{
	struct kar_err why = *err;
	struct kar_list_end end = { .from = r->plan.from, .err = &why, .continued = r->next_page != NULL };

	kar_store_replace_abort(r->store);
	kar_reflector_forget_list(r);
	r->list_trouble = true;
	kar_reflector_follow(r, kar_reflector_after_list(&r->policy, &end), &why);
}

static void list_complete(struct kar_reflector *r)
{
	struct kar_list_end end = { .from = r->plan.from };

	strlcpy(r->position, r->list_version, sizeof(r->position));
	kar_reflector_forget_list(r);
	kar_store_replace_commit(r->store, kar_rv_parse(r->position));
	kar_reflector_answered(r);
	if (r->list_trouble)
		kar_reflector_leave_trouble(r);
	kar_reflector_follow(r, kar_reflector_after_list(&r->policy, &end), NULL);
	if (r->synced)
		return;
	r->synced = true;
	if (r->options.on_synced)
		r->options.on_synced(r->options.arg);
}

static void list_next_page(struct kar_reflector *r)
{
	free(r->next_page);
	r->next_page = r->attempt.continue_token;
	r->attempt.continue_token = NULL;
	kar_reflector_end_attempt(r);
	r->phase = WAITING;
	kar_timer_start(r->timer, 0);
}

static void list_done(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct kar_reflector *r = arg;
	static const struct kar_err empty = { .what = KAR_RETRY, .msg = "the answer to a list is empty" };

	r->call = NULL;
	if (answer)
		kar_reflector_finish_stream(r);
	err = kar_reflector_reason(r, err);
	if (!err && !r->attempt.complete)
		err = &empty;
	if (err)
		list_failed(r, err);
	else if (r->attempt.continue_token)
		list_next_page(r);
	else
		list_complete(r);
}

void kar_reflector_list(struct kar_reflector *r)
{
	const struct kar_type *type = kar_store_type(r->store);
	struct kar_request q = kar_reflector_request(r, kar_client_list(&type->res, r->ns));

	q.lane = KAR_LANE_LISTS; /* a large list must not hold up writes */
	q.timeout = r->times->list;
	q.continue_token = r->next_page;
	if (r->plan.from == KAR_LIST_LATEST_PAGED)
		q.limit = PAGE;
	if (r->plan.from == KAR_LIST_POSITION && !r->next_page) { /* with a token both must be absent */
		q.resource_version = r->position;
		q.resource_version_match = "NotOlderThan";
	}
	q.on_data = kar_reflector_on_data;
	q.on_done = list_done;
	q.arg = r;
	if (!r->next_page) {
		r->stats.lists++;
		kar_store_replace_begin(r->store);
	}
	r->phase = LISTING;
	r->stream = kar_reflector_stream_list(&r->tables, on_item, on_page, r);
	r->call = kar_client_start(r->client, &q);
}
