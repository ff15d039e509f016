/*
 * A wish is "required preferred name slices size": labels of levels, the name of the Topology, and how many pods a slice has; each may be empty. One that cannot be acted upon is '?' and why.
 */
#include "api/core/topology_wish.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "common/base/str.h"
#include "common/base/text.h"

enum { LABEL_PART = 63, LABEL_PREFIX = 253 }; /* bytes */

/* Letters, digits, and those of @more between them, at most @most. */
static bool is_word(const char *text, size_t n, size_t most, const char *more)
{
	for (size_t i = 0; i < n; i++) {
		bool alnum = isalnum((unsigned char)text[i]) != 0;

		if (!alnum && (i == 0 || i == n - 1 || !strchr(more, text[i])))
			return false;
	}
	return n > 0 && n <= most;
}

static bool is_label(const char *text)
{
	const char *slash = strchr(text, '/');
	const char *name = slash ? slash + 1 : text;

	return (!slash || is_word(text, (size_t)(slash - text), LABEL_PREFIX, "-.")) &&
		is_word(name, strlen(name), LABEL_PART, "-_.");
}

static bool is_name(const char *text)
{
	return is_word(text, strlen(text), LABEL_PREFIX, "-.");
}

/* One of the values that are asked for. */
struct value {
	const char *key;  /* of the annotation */
	const char *text; /* "": there is none */
};

static struct value value_of(const struct kar_array *annotations, const char *kueue, const char *kai)
{
	const char *value = kar_pairs_get(annotations, kueue);

	if (kar_has_text(value))
		return (struct value){ kueue, value };
	value = kar_pairs_get(annotations, kai);
	return (struct value){ kai, value ? value : "" };
}

static bool read_size(const struct kar_array *annotations, int32_t *out)
{
	const char *text = kar_pairs_get(annotations, KAR_ANNOTATION_TOPOLOGY_SLICE_SIZE), *problem = NULL;

	*out = (int32_t)strtonum(text ? text : "", 1, INT32_MAX, &problem);
	return !problem;
}

static const char *refuse(const char *key, const char *why, char out[KAR_TOPOLOGY_WISH_BYTES])
{
	kar_text_printf(out, KAR_TOPOLOGY_WISH_BYTES, "?annotation %s is ignored: %s", key, why);
	return out;
}

const char *kar_topology_wish_read(const struct kar_array *annotations, char out[KAR_TOPOLOGY_WISH_BYTES])
{
	const struct value required = value_of(annotations, KAR_ANNOTATION_TOPOLOGY_REQUIRED,
				   KAR_ANNOTATION_TOPOLOGY_REQUIRED_KAI),
			   preferred = value_of(annotations, KAR_ANNOTATION_TOPOLOGY_PREFERRED,
				   KAR_ANNOTATION_TOPOLOGY_PREFERRED_KAI);
	const struct value slices =
		value_of(annotations, KAR_ANNOTATION_TOPOLOGY_SLICES, KAR_ANNOTATION_TOPOLOGY_SLICES);
	const struct value *const labels[] = { &required, &preferred, &slices };
	const char *of = kar_pairs_get(annotations, KAR_ANNOTATION_TOPOLOGY_KAI), *key = NULL;
	int32_t size = 0;

	for (size_t i = KAR_LEN(labels); i-- > 0;)
		key = labels[i]->text[0] ? labels[i]->key : key;
	if (!key)
		return NULL;
	if (kar_streq(kar_pairs_get(annotations, KAR_ANNOTATION_TOPOLOGY_NONE), "true"))
		return refuse(key, "another one asks for no topology", out);
	for (size_t i = 0; i < KAR_LEN(labels); i++) {
		if (labels[i]->text[0] && !is_label(labels[i]->text))
			return refuse(labels[i]->key, "want a label of nodes", out);
	}
	if (slices.text[0] && !read_size(annotations, &size))
		return refuse(slices.key, "want a number of pods in " KAR_ANNOTATION_TOPOLOGY_SLICE_SIZE,
			out);
	if (kar_has_text(of) && !is_name(of))
		return refuse(KAR_ANNOTATION_TOPOLOGY_KAI, "want the name of a Topology", out);
	kar_text_printf(out, KAR_TOPOLOGY_WISH_BYTES, "%s %s %s %s %.0d", required.text, preferred.text,
		of ? of : "", slices.text, (int)size);
	return out;
}

/* --- of several pods -------------------------------------------------------------------------------- */

void kar_topology_wishes_add(struct kar_topology_wishes *w, const char *wish)
{
	const char *text = wish ? wish : "";

	if (!w->first || (text != w->first && strcmp(text, w->first) < 0))
		w->first = text;
	if (!w->last || (text != w->last && strcmp(text, w->last) > 0))
		w->last = text;
}

static bool differ(const struct kar_topology_wishes *w)
{
	return w->first && w->first != w->last && strcmp(w->first, w->last) != 0;
}

/* NULL if it is empty. */
static const char *part(const char **rest, struct kar_arena *a)
{
	size_t n = strcspn(*rest, " ");
	const char *text = n ? kar_arena_strndup(a, *rest, n) : NULL;

	*rest += n + ((*rest)[n] == ' ');
	return text;
}

static struct kar_topology_ask parse(const char *wish, struct kar_arena *a)
{
	struct kar_topology_ask ask = { .required = part(&wish, a) };
	struct kar_topology_slice slices;

	ask.preferred = part(&wish, a);
	ask.name = part(&wish, a);
	slices.required = part(&wish, a);
	if (!slices.required)
		return ask;
	slices.size = (int32_t)strtol(wish, NULL, 10);
	ask.slices.items = kar_arena_alloc(a, 1, sizeof(slices));
	*(struct kar_topology_slice *)ask.slices.items = slices;
	ask.slices.n = 1;
	return ask;
}

static const char *describe(const char *wish, struct kar_arena *a)
{
	const struct kar_topology_ask ask = parse(wish, a);

	const struct kar_topology_slice *slices = kar_topology_slices(&ask);
	const char *each = "";

	if (!kar_topology_asks(&ask))
		return "none";
	if (slices)
		each = kar_arena_printf(a, "%seach %d in one %s",
			ask.required || ask.preferred ? " and " : "", (int)slices->size, slices->required);
	return kar_arena_printf(a, "%s%s%s%s%s%s%s%s", ask.required ? "required " : "",
		ask.required ? ask.required : "", ask.required && ask.preferred ? " and " : "",
		ask.preferred ? "preferred " : "", ask.preferred ? ask.preferred : "", each,
		ask.name ? " of Topology " : "", ask.name ? ask.name : "");
}

const char *kar_topology_wishes_invalid(const struct kar_topology_wishes *w, struct kar_arena *a)
{
	if (!w->first)
		return NULL;
	if (w->first[0] == '?' || w->last[0] == '?')
		return kar_arena_printf(a, "%s", (w->first[0] == '?' ? w->first : w->last) + 1);
	if (!differ(w))
		return NULL;
	return kar_arena_printf(a, "annotations of pods are ignored: some ask for topology %s, others for %s",
		describe(w->first, a), describe(w->last, a));
}

struct kar_topology_ask kar_topology_wishes_ask(const struct kar_topology_wishes *w, struct kar_arena *a)
{
	if (!w->first || w->first[0] == '?' || differ(w))
		return (struct kar_topology_ask){ 0 };
	return parse(w->first, a);
}
