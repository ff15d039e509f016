#include "common/kube/reflector_stream.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/codec/json.h"
#include "common/codec/protobuf.h"

struct kar_reflector_stream {
	const struct kar_desc *desc;
	enum kar_protobuf_framing framing;
	bool may_be_protobuf;
	kar_each_fn *each, *document;
	void *arg;
	/* From the first byte on, one of the two: */
	struct kar_json_stream *json;
	struct kar_protobuf_stream *protobuf;
};

struct kar_reflector_stream *kar_reflector_stream_list(const struct kar_reflector_tables *t,
	kar_each_fn *item, kar_each_fn *page, void *arg)
{
	struct kar_reflector_stream *s = kar_xmalloc(sizeof(*s));

	*s = (struct kar_reflector_stream){ .desc = &t->list,
		.framing = KAR_PROTOBUF_DOCUMENT,
		.may_be_protobuf = t->protobuf,
		.each = item,
		.document = page,
		.arg = arg };
	return s;
}

struct kar_reflector_stream *kar_reflector_stream_watch(const struct kar_reflector_tables *t,
	kar_each_fn *event, void *arg)
{
	struct kar_reflector_stream *s = kar_xmalloc(sizeof(*s));

	*s = (struct kar_reflector_stream){ .desc = &t->watch,
		.framing = KAR_PROTOBUF_FRAMES,
		.may_be_protobuf = t->protobuf,
		.document = event,
		.arg = arg };
	return s;
}

static void choose(struct kar_reflector_stream *s, char first)
{
	const struct kar_limits *limits = &kar_reflector_limits;

	if (s->may_be_protobuf && (first == 'k' || first == '\0'))
		s->protobuf =
			kar_protobuf_stream_new(s->desc, limits, s->framing, s->each, s->document, s->arg);
	else
		s->json = kar_json_stream_new(s->desc, limits, s->each, s->document, s->arg);
}

int kar_reflector_stream_feed(struct kar_reflector_stream *s, const char *bytes, size_t n,
	struct kar_err *err)
{
	if (n && !s->json && !s->protobuf)
		choose(s, bytes[0]);
	if (s->protobuf)
		return kar_protobuf_stream_feed(s->protobuf, bytes, n, err);
	return s->json ? kar_json_stream_feed(s->json, bytes, n, err) : 0;
}

int kar_reflector_stream_finish(struct kar_reflector_stream *s, struct kar_err *err)
{
	if (s->protobuf)
		return kar_protobuf_stream_finish(s->protobuf, err);
	return s->json ? kar_json_stream_finish(s->json, err) : 0;
}

void kar_reflector_stream_free(struct kar_reflector_stream *s)
{
	if (!s)
		return;
	kar_json_stream_free(s->json);
	kar_protobuf_stream_free(s->protobuf);
	free(s);
}
