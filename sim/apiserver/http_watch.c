/* A watch as the body of an answer that does not end. */
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/http_door_impl.h"

struct sim_http_stream {
	struct sim_door *door;
	struct sim_watch *watch;
	struct sim_audit *audit;
};

void sim_door_watch(struct sim_door_call *c)
{
	struct sim_audit *audit = sim_audit_new(c);
	struct sim_response refused = { 0 };
	struct sim_watch *w;

	w = sim_watch_open(c->door->server, &c->route.request, c->notify, c->notify_arg, &refused);
	if (!w) {
		sim_audit_end(c->door, audit, refused.code, NULL);
		sim_door_answer(c, &refused);
		return;
	}
	c->out->code = 200;
	c->out->content_type = "application/json";
	c->out->stream = kar_xcalloc(1, sizeof(*c->out->stream));
	*c->out->stream = (struct sim_http_stream){ c->door, w, audit };
	c->door->streams++;
}

enum sim_watch_state sim_http_stream_read(struct sim_http_stream *s, struct kar_buf *out)
{
	return sim_watch_read(s->watch, out);
}

void sim_http_stream_close(struct sim_http_stream *s)
{
	if (!s)
		return;
	sim_watch_close(s->watch);
	sim_audit_end(s->door, s->audit, 200, NULL);
	s->door->streams--;
	free(s);
}
