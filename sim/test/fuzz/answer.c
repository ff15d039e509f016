#include <string.h>

#include "sim/tree.h"
#include "sim/test/fuzz/cluster_impl.h"
#include "test/fuzz/fuzz.h"

enum { EVENTS = 64 }; /* of a watch that are read */

/* "POST /api/...": for messages. */
static void fail(const struct sim_http_request *rq, const struct kar_buf *body, const char *what)
{
	fuzz_fail("%s %s %.*s: %s: %s", rq->method, rq->target, (int)rq->body.n, rq->body.n ? rq->body.p : "",
		what, kar_buf_cstr(body));
}

static struct sim_value *json_of(const struct sim_http_request *rq, const struct kar_buf *body)
{
	struct kar_err err = { 0 };
	struct sim_value *v = sim_parse(kar_buf_cstr(body), body->n, &err);

	if (!v)
		fail(rq, body, err.msg);
	return v;
}

static void check_status(const struct sim_http_request *rq, const struct sim_http_answer *a)
{
	struct sim_value *v = json_of(rq, &a->body);
	bool status = !strcmp(sim_text_or(sim_member(v, "kind"), ""), "Status");
	const char *outcome = sim_text_or(sim_member(v, "status"), "");

	if (a->code >= 400 && (!status || strcmp(outcome, "Failure") != 0 || !sim_get_text(v, "message")))
		fail(rq, &a->body, "a refusal that is no Status");
	if (a->code >= 400 && sim_get_int(v, 0, "code") != a->code)
		fail(rq, &a->body, "a Status with another code");
	if (a->code < 400 && status && strcmp(outcome, "Success") != 0)
		fail(rq, &a->body, "a failure with a code of success");
	sim_unref(v);
}

/* Each event is one line of JSON. */
static void read_stream(const struct sim_http_request *rq, const struct sim_http_answer *a,
	struct kar_buf *said)
{
	enum sim_watch_state state = SIM_WATCH_EVENT;

	for (int i = 0; i < EVENTS && state == SIM_WATCH_EVENT; i++) {
		struct kar_buf line = { .cap = SIZE_MAX };

		state = sim_http_stream_read(a->stream, &line);
		if (line.n) {
			struct sim_value *v = json_of(rq, &line);

			if (!sim_get_text(v, "type") || !sim_member(v, "object"))
				fail(rq, &line, "no event");
			if (memchr(line.p, '\n', line.n) != line.p + line.n - 1)
				fail(rq, &line, "not one line");
			sim_unref(v);
		}
		kar_buf_append(said, kar_buf_cstr(&line), line.n);
		kar_buf_release(&line);
	}
}

static bool starts_with(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool only_reads(const struct sim_http_request *rq)
{
	return !strcmp(rq->method, "GET") || !strcmp(rq->method, "HEAD");
}

void fuzz_check_answer(const struct sim_http_request *rq, const struct sim_http_answer *a, uint64_t writes,
	struct kar_buf *said)
{
	bool text = a->content_type && starts_with(a->content_type, "text/plain");
	/* Which objects of a collection are deleted before the first refusal is left open. */
	bool refused = a->code >= 400 && strcmp(rq->method, "DELETE") != 0;

	if (a->code < 200 || a->code > 599 || (!a->content_type && !a->stream))
		fail(rq, &a->body, "no answer");
	if (writes && (refused || only_reads(rq)))
		fail(rq, &a->body, "the store has changed");
	kar_buf_printf(said, "%d ", a->code);
	if (a->stream)
		read_stream(rq, a, said);
	else if (!text && a->code != 304)
		check_status(rq, a);
	kar_buf_append(said, kar_buf_cstr(&a->body), a->body.n);
	kar_buf_puts(said, "\n");
}
