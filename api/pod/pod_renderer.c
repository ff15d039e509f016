#include "api/pod/pod_renderer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "common/base/mem.h"

enum {
	MARK_LEN = 3,
	TEXT_MAX = 64 << 10, /* bytes; one text is cached for each job that is creating pods */
};

_Static_assert(sizeof(KAR_POD_INDEX_MARK) == MARK_LEN + 1 && sizeof(KAR_POD_RANK_MARK) == MARK_LEN + 1 &&
		sizeof(KAR_POD_PIN_MARK) == MARK_LEN + 1,
	"all marks have one length, and differ in their last byte");

struct kar_pod_renderer {
	/* Identify the pods that the text is for: */
	char *uid, *template_hash;
	int64_t generation;
	size_t task;
	int32_t incarnation;
	bool pinned, bound, native;
	char *domain;               /* "label=value,label=value," */
	char *flavor, *tolerations; /* likewise, and as JSON */

	bool tried;          /* the text has been made, or cannot be made */
	struct kar_buf text; /* with the marks; empty: there is none */
	int32_t first_rank;  /* rank of index 0 */
};

void kar_pod_renderer_drop(struct kar_pod_renderer **s)
{
	if (!*s)
		return;
	free((*s)->uid);
	free((*s)->template_hash);
	free((*s)->domain);
	free((*s)->flavor);
	free((*s)->tolerations);
	kar_buf_release(&(*s)->text);
	free(*s);
	*s = NULL;
}

static bool is_in(const char *text, const struct kar_array *domain)
{
	const struct kar_pair *labels = domain->items;

	for (size_t i = 0; i < domain->n; i++) {
		size_t key = strlen(labels[i].key), value = strlen(labels[i].value);

		if (strncmp(text, labels[i].key, key) != 0 || text[key] != '=' ||
			strncmp(text + key + 1, labels[i].value, value) != 0 || text[key + 1 + value] != ',')
			return false;
		text += key + value + 2;
	}
	return !*text;
}

static char *domain_text(const struct kar_array *domain)
{
	const struct kar_pair *labels = domain->items;
	struct kar_buf text = { 0 };
	char *out;

	for (size_t i = 0; i < domain->n; i++)
		kar_buf_printf(&text, "%s=%s,", labels[i].key, labels[i].value);
	out = kar_xstrdup(kar_buf_cstr(&text));
	kar_buf_release(&text);
	return out;
}

static bool is_of(const struct kar_pod_renderer *s, const struct kar_pod_params *p)
{
	return s->generation == p->job->generation && s->task == p->task &&
		s->incarnation == p->incarnation && s->pinned == kar_has_text(p->pin) &&
		s->bound == p->bound && s->native == p->native && kar_streq(s->uid, p->job->o.uid) &&
		kar_streq(s->template_hash, p->template_hash) && is_in(s->domain, &p->domain) &&
		is_in(s->flavor, &p->flavor.labels) &&
		kar_streq(s->tolerations, p->flavor.tolerations ? p->flavor.tolerations : "");
}

static struct kar_pod_renderer *begin(const struct kar_pod_params *p)
{
	struct kar_pod_renderer *s = kar_xcalloc(1, sizeof(*s));

	s->uid = kar_xstrdup(p->job->o.uid);
	s->template_hash = kar_xstrdup(p->template_hash);
	s->domain = domain_text(&p->domain);
	s->flavor = domain_text(&p->flavor.labels);
	s->tolerations = kar_xstrdup(p->flavor.tolerations ? p->flavor.tolerations : "");
	s->generation = p->job->generation;
	s->task = p->task;
	s->incarnation = p->incarnation;
	s->pinned = kar_has_text(p->pin);
	s->bound = p->bound;
	s->native = p->native;
	return s;
}

/* A character that is no mark of ours: such a text is not cached (try_text()). */
static const char *value_of(const char *mark, const char *const values[3])
{
	unsigned n = (unsigned char)mark[MARK_LEN - 1] - (unsigned char)KAR_POD_INDEX_MARK[MARK_LEN - 1];

	return n < 3 && values[n] ? values[n] : "";
}

static void fill(const struct kar_pod_renderer *s, const struct kar_pod_params *p, struct kar_buf *out)
{
	const char *at = s->text.p, *end = s->text.p + s->text.n;
	const char *mark = memmem(at, s->text.n, KAR_POD_INDEX_MARK, MARK_LEN - 1);
	char index[16], rank[16];
	const char *const values[] = { index, rank, p->pin };

	snprintf(index, sizeof(index), "%" PRId32, p->index);
	snprintf(rank, sizeof(rank), "%" PRId32, s->first_rank + p->index);
	while (mark) {
		kar_buf_append(out, at, (size_t)(mark - at));
		kar_buf_puts(out, value_of(mark, values));
		at = mark + MARK_LEN;
		mark = memmem(at, (size_t)(end - at), KAR_POD_INDEX_MARK, MARK_LEN - 1);
	}
	kar_buf_append(out, at, (size_t)(end - at));
}

/* Makes the text. @pod: the pod of @p as written in full, to compare with. */
static void try_text(struct kar_pod_renderer *s, const struct kar_pod_params *p, struct kar_str pod)
{
	struct kar_pod_params marked = *p;
	struct kar_buf filled = { 0 };

	s->tried = true;
	if (pod.n > TEXT_MAX)
		return;
	marked.marked = true;
	s->first_rank = kar_queuejob_pod_rank(p->job, p->task, 0);
	if (kar_queuejob_pod_write(&marked, &s->text, NULL) == 0)
		fill(s, p, &filled);
	if (filled.n != pod.n || memcmp(kar_buf_cstr(&filled), pod.p, pod.n))
		kar_buf_release(&s->text);
	kar_buf_release(&filled);
}

int kar_pod_renderer_write(struct kar_pod_renderer **s, const struct kar_pod_params *p, struct kar_buf *out,
	struct kar_err *err)
{
	size_t before = out->n;
	bool again = *s && is_of(*s, p);

	if (again && (*s)->text.n) {
		fill(*s, p, out);
		return 0;
	}
	if (kar_queuejob_pod_write(p, out, err))
		return -1;
	if (again && !(*s)->tried)
		try_text(*s, p, (struct kar_str){ out->p + before, out->n - before });
	if (!again) { /* the text is made for the second pod: the first may be the only one */
		kar_pod_renderer_drop(s);
		*s = begin(p);
	}
	return 0;
}
