/* Why a pod has no node, in the words of the scheduler, and what it asks for. */
#include "api/pod/pod_wire.h"

#include <string.h>

#include "common/base/str.h"
#include "common/base/text.h"

/* --- what it asks for ------------------------------------------------------------------------------ */

/* "cpu 100, memory 32Mi" */
static const char *asks(const struct pod_wire *w, struct kar_intern *strings)
{
	struct kar_amounts all KAR_CLEANUP(kar_amounts_cleanup) = { 0 };
	char text[KAR_POD_ASKS_BYTES] = "", one[KAR_QUANTITY_LEN], longer[KAR_POD_ASKS_BYTES];

	pod_wire_requests(&w->spec, &w->status, &all);
	for (size_t i = 0; i < all.n; i++) {
		kar_text_printf(longer, sizeof(longer), "%s%s%s %s", text, i ? ", " : "", all.items[i].name,
			kar_quantity_text(&all.items[i].q, one));
		memcpy(text, longer, sizeof(text));
	}
	return kar_intern_get(strings, text);
}

/* --- what the scheduler says ----------------------------------------------------------------------- */

/* Without what it says about preemption, which repeats the first sentence, and without its full stop. */
static const char *sentence(const char *message, struct kar_intern *strings)
{
	char text[KAR_POD_SENTENCE_BYTES];
	char *end;

	kar_text_clean(text, sizeof(text), message ? message : "");
	end = strstr(text, "preemption:");
	for (; end && end > text; end--) {
		if (end[0] == '.' && end[1] == ' ')
			break;
	}
	if (end && end > text)
		*end = '\0';
	else if (text[0] && text[strlen(text) - 1] == '.' && !strstr(text, "..."))
		text[strlen(text) - 1] = '\0';
	return kar_intern_get(strings, text);
}

static const struct pod_wire_condition *unschedulable(const struct pod_wire_status *s)
{
	const struct pod_wire_condition *c = s->conditions.items;

	for (size_t i = 0; i < s->conditions.n; i++) {
		if (kar_streq(c[i].type, "PodScheduled") && kar_streq(c[i].status, "False") &&
			kar_streq(c[i].reason, "Unschedulable"))
			return &c[i];
	}
	return NULL;
}

bool pod_unplaced_is(const struct pod_wire *w)
{
	return !kar_has_text(w->spec.node) && unschedulable(&w->status);
}

void pod_unplaced_read(const struct pod_wire *w, struct kar_pod_unplaced *out, struct kar_intern *strings)
{
	const struct pod_wire_condition *c = unschedulable(&w->status);

	out->message = c ? sentence(c->message, strings) : NULL;
	out->since = c ? c->since : 0;
	out->asks = asks(w, strings);
}

/* --- several pods ---------------------------------------------------------------------------------- */

void kar_unplaced_add(struct kar_unplaced *all, const struct kar_pod *pod)
{
	const char *now = pod->unplaced ? pod->unplaced->asks : NULL;

	if (!all->n++) {
		all->first = pod;
		return;
	}
	all->differ |= !kar_streq(now, all->first->unplaced ? all->first->unplaced->asks : NULL);
	if (strcmp(pod->o.name, all->first->o.name) < 0)
		all->first = pod;
}

const char *kar_unplaced_describe(const struct kar_unplaced *all, struct kar_arena *a)
{
	const struct kar_pod *pod = all->first;
	const struct kar_pod_unplaced *u = pod ? pod->unplaced : NULL;
	const char *who, *why;

	if (!u)
		return "";
	who = all->differ ? pod->o.name : all->n == 1 ? "it" : "each";
	why = u->message ? u->message : "the scheduler found none";
	return u->asks ? kar_arena_printf(a, "%s (%s asks for %s)", why, who, u->asks)
		       : kar_arena_printf(a, "%s", why);
}

/* --- pods that no scheduler has looked at ---------------------------------------------------------- */

kar_time kar_pod_unseen_in(const struct kar_pod *p, kar_time from, kar_time now)
{
	bool waits =
		p->phase == KAR_POD_PENDING && !p->deletion && !p->node && !p->gate_ours && !p->gate_foreign;

	if (!waits || p->seen || !p->scheduler)
		return KAR_NEVER;
	return (from > p->creation ? from : p->creation) + KAR_POD_UNSEEN - now;
}

const char *kar_pod_describe_unseen(const struct kar_pod *p, int32_t n, struct kar_arena *a)
{
	return kar_arena_printf(a, "no scheduler has looked at %d pod%s: is \"%s\" running?", (int)n,
		n == 1 ? "" : "s", p->scheduler ? p->scheduler : "default-scheduler");
}
