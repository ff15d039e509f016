/* Versions of objects and their texts. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/core.h"

struct sim_version *sim_version_new(struct sim_value *consumed, int64_t rv, const struct sim_version *old)
{
	struct sim_version *v = kar_xmalloc(sizeof(*v));

	*v = (struct sim_version){ .refs = 1, .rv = rv, .value = consumed };
	if (old && old->spec_text && sim_member(old->value, "spec") == sim_member(consumed, "spec")) {
		v->spec_text = sim_text_ref(old->spec_text);
		v->spec_at = old->spec_at;
		v->spec_n = old->spec_n;
	}
	return v;
}

struct sim_version *sim_version_ref(struct sim_version *v)
{
	v->refs++;
	return v;
}

void sim_version_unref(struct sim_version *v)
{
	if (!v || --v->refs)
		return;
	sim_unref(v->value);
	sim_text_unref(v->text);
	sim_text_unref(v->spec_text);
	free(v);
}

struct sim_text *sim_text_ref(struct sim_text *t)
{
	t->refs++;
	return t;
}

void sim_text_unref(struct sim_text *t)
{
	if (t && --t->refs == 0)
		free(t);
}

static struct sim_text *text_of(const struct kar_buf *b)
{
	struct sim_text *t = kar_xmalloc(sizeof(*t) + b->n);

	t->refs = 1;
	t->n = b->n;
	memcpy(t->p, b->p, b->n);
	return t;
}

/* As sim_print(), but what an older text has of the same value is copied from there. */
static void print(struct sim_version *v, struct kar_buf *out)
{
	for (struct sim_member m = sim_first(v->value); m.value; m = sim_next(m)) {
		kar_buf_append(out, out->n ? "," : "{", 1);
		sim_print_text(m.key, out);
		kar_buf_append(out, ":", 1);
		if (strcmp(m.key, "spec") != 0) {
			sim_print(m.value, out);
		} else if (v->spec_text) {
			kar_buf_append(out, v->spec_text->p + v->spec_at, v->spec_n);
		} else {
			v->spec_at = out->n;
			sim_print(m.value, out);
			v->spec_n = out->n - v->spec_at;
		}
	}
	kar_buf_append(out, "}", 1);
}

struct sim_text *sim_version_text(struct sim_version *v)
{
	static struct kar_buf scratch = { .cap = SIZE_MAX / 2 }; /* reused: texts are made once per write */

	if (v->text)
		return v->text;
	kar_buf_clear(&scratch);
	print(v, &scratch);
	v->text = text_of(&scratch);
	if (!v->spec_text && v->spec_n)
		v->spec_text = sim_text_ref(v->text);
	return v->text;
}
