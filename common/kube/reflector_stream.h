/*
 * reflector_stream - the bytes of a list or a watch, whichever encoding the server has chosen, into wire structs.
 *
 * Private to the reflector. Which encoding it is, the first byte says: protobuf begins with "k" of its magic, or with the
 * zero of a frame's length, JSON with neither. Limits are kar_reflector_limits.
 */
#ifndef KAR_REFLECTOR_STREAM_H
#define KAR_REFLECTOR_STREAM_H

#include "common/kube/reflector_wire.h"

struct kar_reflector_stream;

/*
 * @item is called per item, with the type's wire struct, @page once, with the struct kar_list_root. What they get vanishes
 * when they return; -1 with an error stops the stream. @t is borrowed.
 */
struct kar_reflector_stream *kar_reflector_stream_list(const struct kar_reflector_tables *t,
	kar_each_fn *item, kar_each_fn *page, void *arg) KAR_MUSTUSE KAR_RETNN;
/* @event is called per event, with its struct kar_watch_root. */
struct kar_reflector_stream *kar_reflector_stream_watch(const struct kar_reflector_tables *t,
	kar_each_fn *event, void *arg) KAR_MUSTUSE KAR_RETNN;
/* Feeds the next bytes. KAR_INVALID if they make no sense; the stream is dead then. */
int kar_reflector_stream_feed(struct kar_reflector_stream *s, const char *bytes, size_t n,
	struct kar_err *err);
/* No more bytes will come. KAR_INVALID ("truncated") if that is inside a list or an event. */
int kar_reflector_stream_finish(struct kar_reflector_stream *s, struct kar_err *err);
void kar_reflector_stream_free(struct kar_reflector_stream *s); /* accepts NULL */

#endif
