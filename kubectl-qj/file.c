/* The objects of a file, as "kubectl apply -f" reads them. */
#include "kubectl-qj/doc.h"
#include "kubectl-qj/qj.h"

#include <stdio.h>

#include "common/base/str.h"
#include "common/codec/yaml.h"

enum { MOST = 16 << 20 /* bytes of a file */ };

/* Objects of lists, too, as "kubectl get -o yaml" prints them. */
static void add_object(struct kar_arena *a, struct qj_doc *all, const struct qj_doc *d)
{
	const struct qj_doc *items =
		kar_streq(qj_doc_text(d, "kind"), "List") ? qj_doc_get(d, "items") : NULL;

	for (const struct qj_doc *m = items ? items->first : NULL; m; m = m->next)
		qj_doc_append(a, all, m);
	if (!items && d->kind != QJ_DOC_NULL)
		qj_doc_append(a, all, d);
}

static int read_documents(struct qj *q, const char *text, size_t n, struct qj_doc *all)
{
	int found = 1;

	for (size_t i = 0; found > 0; i++) {
		struct kar_buf json = { .cap = 4 * (size_t)MOST };
		struct kar_err err;
		const struct qj_doc *d;

		found = kar_yaml_to_json(text, n, i, &json, &err);
		if (found < 0) {
			fprintf(stderr, "error: %s: document %zu: %s\n", q->o.file, i + 1,
				qj_clean(q, err.msg));
			kar_buf_release(&json);
			return 1;
		}
		d = found ? qj_doc_parse(&q->arena, kar_buf_cstr(&json)) : NULL;
		kar_buf_release(&json);
		if (d)
			add_object(&q->arena, all, d);
	}
	return 0;
}

struct qj_doc *qj_read_objects(struct qj *q)
{
	struct qj_doc *all = qj_doc_new(&q->arena, QJ_DOC_LIST, NULL);
	struct kar_err err;
	const char *text;
	size_t n;

	text = kar_read_file(&q->arena, kar_streq(q->o.file, "-") ? "/dev/stdin" : q->o.file, MOST, false, &n,
		&err);
	if (!text) {
		fprintf(stderr, "error: %s\n", err.msg);
		return NULL;
	}
	if (read_documents(q, text, n, all))
		return NULL;
	if (!all->first) {
		fprintf(stderr, "error: %s has no objects\n", q->o.file);
		return NULL;
	}
	return all;
}
