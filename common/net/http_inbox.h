/*
 * http_inbox - what has arrived for a request, until its user is told; for http.c.
 *
 * libcurl's callbacks only put things in here; kar_inboxes_deliver() calls the users after libcurl has
 * returned. So users may start, cancel and free anything from their callbacks, and libcurl is never entered
 * twice.
 */
#ifndef KAR_HTTP_INBOX_H
#define KAR_HTTP_INBOX_H

#include <bsd/sys/queue.h>

#include "common/base/buf.h"
#include "common/net/http.h"
#include "common/net/http_text.h"

/* Embedded in a request; init with kar_inbox_init(). */
struct kar_inbox {
	struct kar_inboxes *owner;
	TAILQ_ENTRY(kar_inbox) link; /* kar_inboxes::ready */
	bool is_ready;
	struct kar_head_text head;
	bool head_given;
	struct kar_buf bytes;
	bool ended;
	bool (*may_send)(void *arg); /* NULL: always */
	kar_time heard;              /* mono: the last sign of life, at first the start */
	void (*on_head)(void *arg, const struct kar_http_head *head);
	int (*on_data)(void *arg, const char *bytes, size_t n);
	void *arg;
};

/* All inboxes of a pool. */
struct kar_inboxes {
	const struct kar_loop *loop; /* for its clock */
	TAILQ_HEAD(, kar_inbox) ready;
	struct kar_inbox *current; /* whose user is being told; NULL once it is forgotten */
	bool *gone;                /* set by kar_inboxes_release() while users are told */
	/* The user's on_data returned -1: end the transfer and kar_inbox_end(). */
	void (*refused)(struct kar_inbox *in);
	/* Everything has been told but the end: tell that, and free the request with its inbox. */
	void (*complete)(struct kar_inbox *in);
};

void kar_inboxes_init(struct kar_inboxes *all, const struct kar_loop *loop) KAR_NONNULL;
/* Allowed inside a user's callback: nothing of @all is touched afterwards. */
void kar_inboxes_release(struct kar_inboxes *all) KAR_NONNULL;
/* Tells the users of all ready inboxes. @all may have been released when it returns. */
void kar_inboxes_deliver(struct kar_inboxes *all) KAR_NONNULL;

void kar_inbox_init(struct kar_inbox *in, struct kar_inboxes *all,
	const struct kar_http_call *call) KAR_NONNULL;
/* Asks the user whether the request may be sent now. */
bool kar_inbox_may_send(const struct kar_inbox *in) KAR_NONNULL;
/* Frees its memory; its user hears nothing more. */
void kar_inbox_release(struct kar_inbox *in) KAR_NONNULL;
void kar_inbox_head_line(struct kar_inbox *in, const char *line, size_t n, kar_time wall) KAR_NONNULL;
/* False if more has come than one turn may bring: a decompression bomb. */
bool kar_inbox_bytes(struct kar_inbox *in, const char *bytes, size_t n) KAR_NONNULL;
void kar_inbox_end(struct kar_inbox *in) KAR_NONNULL;

#endif
