#include "common/net/http_inbox.h"

enum {
	/*
	 * An inbox is emptied after every call of libcurl, and one call reads at most about 100 buffers of
	 * its transfer (7.88; fewer in newer versions), so only a decompression bomb reaches this.
	 */
	INBOX_MAX = 32 << 20,
	INBOX_KEEP = 1 << 20, /* memory beyond this is freed at once after delivery */
};

void kar_inboxes_init(struct kar_inboxes *all, const struct kar_loop *loop)
{
	all->loop = loop;
	TAILQ_INIT(&all->ready);
	all->current = NULL;
	all->gone = NULL;
}

void kar_inboxes_release(struct kar_inboxes *all)
{
	if (all->gone)
		*all->gone = true;
	all->gone = NULL;
}

void kar_inbox_init(struct kar_inbox *in, struct kar_inboxes *all, const struct kar_http_call *call)
{
	*in = (struct kar_inbox){
		.owner = all,
		.bytes = { .cap = INBOX_MAX },
		.heard = kar_loop_mono(all->loop),
		.may_send = call->may_send,
		.on_head = call->on_head,
		.on_data = call->on_data,
		.arg = call->arg,
	};
}

bool kar_inbox_may_send(const struct kar_inbox *in)
{
	return !in->may_send || in->may_send(in->arg);
}

void kar_inbox_release(struct kar_inbox *in)
{
	if (in->is_ready)
		TAILQ_REMOVE(&in->owner->ready, in, link);
	if (in->owner->current == in)
		in->owner->current = NULL;
	kar_buf_release(&in->bytes);
}

static void make_ready(struct kar_inbox *in)
{
	if (in->is_ready)
		return;
	in->is_ready = true;
	TAILQ_INSERT_TAIL(&in->owner->ready, in, link);
}

void kar_inbox_head_line(struct kar_inbox *in, const char *line, size_t n, kar_time wall)
{
	in->heard = kar_loop_mono(in->owner->loop);
	kar_head_text_add(&in->head, line, n, wall);
	if (in->head.done)
		make_ready(in);
}

bool kar_inbox_bytes(struct kar_inbox *in, const char *bytes, size_t n)
{
	in->heard = kar_loop_mono(in->owner->loop);
	kar_buf_append(&in->bytes, bytes, n);
	if (in->bytes.overflow)
		return false;
	make_ready(in);
	return true;
}

void kar_inbox_end(struct kar_inbox *in)
{
	in->ended = true;
	make_ready(in);
}

static void deliver_head(struct kar_inbox *in)
{
	struct kar_head_text text = in->head; /* the user may cancel the request and still look at it */
	struct kar_http_head head = {
		.status = text.status,
		.retry_after = text.retry_after,
		.content_type = text.content_type,
		.warning = text.warning,
		.http2 = text.http2,
	};

	in->head_given = true;
	if (in->on_head)
		in->on_head(in->arg, &head);
}

/* Afterwards @in may be gone, and @all too. */
static void deliver_bytes(struct kar_inboxes *all, struct kar_inbox *in, const bool *gone)
{
	struct kar_buf bytes = in->bytes; /* stays valid for the user who cancels in the middle of it */
	int rc = 0;

	in->bytes = (struct kar_buf){ .cap = INBOX_MAX };
	if (in->on_data)
		rc = in->on_data(in->arg, bytes.p, bytes.n);
	if (*gone || all->current != in || bytes.room > INBOX_KEEP) {
		kar_buf_release(&bytes);
	} else {
		kar_buf_clear(&bytes);
		in->bytes = bytes;
	}
	if (rc && !*gone && all->current == in)
		all->refused(in);
}

static void deliver_one(struct kar_inboxes *all, struct kar_inbox *in, const bool *gone)
{
	all->current = in;
	if (in->head.done && !in->head_given)
		deliver_head(in);
	if (*gone || all->current != in)
		return;
	if (in->bytes.n)
		deliver_bytes(all, in, gone);
	if (*gone || all->current != in)
		return;
	if (in->ended)
		all->complete(in);
}

void kar_inboxes_deliver(struct kar_inboxes *all)
{
	bool gone = false;

	all->gone = &gone;
	while (!gone && !TAILQ_EMPTY(&all->ready)) {
		struct kar_inbox *in = TAILQ_FIRST(&all->ready);

		TAILQ_REMOVE(&all->ready, in, link);
		in->is_ready = false;
		deliver_one(all, in, &gone);
	}
	if (gone)
		return;
	all->gone = NULL;
	all->current = NULL;
}
