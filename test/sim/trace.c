/* A run as a readable story: time, actor, verb, object, what changed. */
#include <stdarg.h>
#include <string.h>

#include "common/base/buf.h"
#include "test/sim/world.h"

enum {
	DIFFERENCES = 8, /* shown per write */
	VALUE = 60,      /* bytes shown of a value */
};

static void put_time(const struct world *w)
{
	kar_time t = world_time(w);
	kar_time hours = t / (60 * KAR_MINUTE);

	fprintf(w->trace, "%lld:%02lld:%02lld.%03lld ", (long long)hours, (long long)(t / KAR_MINUTE % 60),
		(long long)(t / KAR_SECOND % 60), (long long)(t % KAR_SECOND));
}

void trace_tell(const struct world *w, const char *actor, const char *fmt, ...)
{
	va_list ap;

	if (!w->trace)
		return;
	put_time(w);
	fprintf(w->trace, "%-22s ", actor);
	va_start(ap, fmt);
	vfprintf(w->trace, fmt, ap);
	va_end(ap);
	fputc('\n', w->trace);
}

/* --- differences --------------------------------------------------------------------------------------- */

struct difference {
	struct kar_buf path, out;
	int n;
};

static void put_short(const struct sim_value *v, struct kar_buf *out)
{
	struct kar_buf text = { 0 };

	if (!v) {
		kar_buf_puts(out, "-");
		return;
	}
	sim_print(v, &text);
	kar_buf_append(out, text.p, text.n < VALUE ? text.n : VALUE);
	if (text.n >= VALUE)
		kar_buf_puts(out, "...");
	kar_buf_release(&text);
}

static void put_difference(struct difference *d, const struct sim_value *old, const struct sim_value *new)
{
	if (d->n++ >= DIFFERENCES)
		return;
	kar_buf_printf(&d->out, "%s%s: ", d->n > 1 ? "; " : " ", d->path.n ? kar_buf_cstr(&d->path) : "");
	if (old) {
		put_short(old, &d->out);
		kar_buf_puts(&d->out, " -> ");
	}
	put_short(new, &d->out);
}

static bool is_noise(const char *key)
{
	return strcmp(key, "managedFields") == 0 || strcmp(key, "resourceVersion") == 0;
}

static void compare(struct difference *d, const struct sim_value *old, const struct sim_value *new);

static void compare_member(struct difference *d, const char *key, const struct sim_value *old,
	const struct sim_value *new)
{
	size_t n = d->path.n;

	if (is_noise(key))
		return;
	kar_buf_printf(&d->path, "%s%s", n ? "." : "", key);
	compare(d, old, new);
	d->path.n = n;
}

static void compare_arrays(struct difference *d, const struct sim_value *old, const struct sim_value *new)
{
	size_t n = sim_count(old) > sim_count(new) ? sim_count(old) : sim_count(new), at = d->path.n;

	for (size_t i = 0; i < n; i++) {
		const struct sim_value *x = sim_item(old, i), *y = sim_item(new, i);
		const char *name = sim_text_or(sim_member(y ? y : x, "type"),
			sim_text_or(sim_member(y ? y : x, "name"), NULL));

		if (name)
			kar_buf_printf(&d->path, "[%s]", name);
		else
			kar_buf_printf(&d->path, "[%zu]", i);
		compare(d, x, y);
		d->path.n = at;
	}
}

static void compare(struct difference *d, const struct sim_value *old, const struct sim_value *new)
{
	if (old == new || sim_equal(old, new))
		return;
	if (sim_kind(old) == SIM_ARRAY && sim_kind(new) == SIM_ARRAY) {
		compare_arrays(d, old, new);
		return;
	}
	if (sim_kind(old) != SIM_OBJECT || sim_kind(new) != SIM_OBJECT) {
		put_difference(d, old, new);
		return;
	}
	for (struct sim_member m = sim_first(new); m.value; m = sim_next(m))
		compare_member(d, m.key, sim_member(old, m.key), m.value);
	for (struct sim_member m = sim_first(old); m.value; m = sim_next(m)) {
		if (!sim_member(new, m.key))
			compare_member(d, m.key, m.value, NULL);
	}
}

static const char *what_happened(const struct sim_change *c)
{
	if (!c->old)
		return "creates";
	if (!c->new)
		return "removes";
	return c->verb == KAR_DELETE || c->verb == KAR_DELETECOLLECTION ? "deletes" : "changes";
}

void trace_change(const struct world *w, const struct sim_change *c)
{
	struct difference d = { .n = 0 };

	if (!w->trace)
		return;
	if (c->old && c->new)
		compare(&d, c->old, c->new);
	else if (c->new &&strcmp(c->resource, "events") == 0)
		kar_buf_printf(&d.out, " %s: %s", sim_text_or(sim_member(c->new, "reason"), ""),
			sim_text_or(sim_member(c->new, "note"), ""));
	if (d.n > DIFFERENCES)
		kar_buf_printf(&d.out, "; and %d more", d.n - DIFFERENCES);
	trace_tell(w, c->user ? c->user : "kubernetes-admin", "%s %s%s%s %s%s%s%s", what_happened(c),
		c->resource, c->subresource ? "/" : "", c->subresource ? c->subresource : "",
		c->ns ? c->ns : "", c->ns ? "/" : "", c->name, d.out.n ? kar_buf_cstr(&d.out) : "");
	kar_buf_release(&d.path);
	kar_buf_release(&d.out);
}

void trace_log(const struct world *w, const char *line, size_t n)
{
	const char *text = memchr(line, ']', n);

	if (!w->trace || !text)
		return;
	text += 2;
	trace_tell(w, "log", "%c %.*s", line[0], (int)(line + n - text) - 1, text);
}
