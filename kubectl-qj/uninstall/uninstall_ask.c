/* One request of an uninstall at a time: asked, repeated, read. */
#include "kubectl-qj/uninstall/uninstall_impl.h"

enum { TRIES = 5 };

static const struct kar_field pod_spec_fields[] = { KAR_FIELD(struct uninstall_pod_spec, account,
	"serviceAccountName", KAR_F_STRING) };
static const struct kar_desc pod_spec_desc = KAR_DESC("spec", struct uninstall_pod_spec, pod_spec_fields);

static const struct kar_field template_fields[] = { KAR_FIELD_SUB(struct uninstall_template, spec, "spec",
	KAR_F_OBJECT, &pod_spec_desc) };
static const struct kar_desc template_desc = KAR_DESC("template", struct uninstall_template, template_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct uninstall_spec, replicas, "replicas", KAR_F_INT32),
	KAR_FIELD_SUB(struct uninstall_spec, template, "template", KAR_F_OBJECT, &template_desc),
	KAR_FIELD(struct uninstall_spec, account, "serviceAccountName", KAR_F_STRING),
};
static const struct kar_desc spec_desc = KAR_DESC("spec", struct uninstall_spec, spec_fields);

static const struct kar_field status_fields[] = { KAR_FIELD(struct uninstall_status, phase, "phase",
	KAR_F_STRING) };
static const struct kar_desc status_desc = KAR_DESC("status", struct uninstall_status, status_fields);

static const struct kar_field role_fields[] = {
	KAR_FIELD(struct uninstall_role, kind, "kind", KAR_F_STRING),
	KAR_FIELD(struct uninstall_role, name, "name", KAR_F_STRING),
};
static const struct kar_desc role_desc = KAR_DESC("roleRef", struct uninstall_role, role_fields);

static const struct kar_field subject_fields[] = {
	KAR_FIELD(struct uninstall_subject, kind, "kind", KAR_F_STRING),
	KAR_FIELD(struct uninstall_subject, ns, "namespace", KAR_F_STRING),
	KAR_FIELD(struct uninstall_subject, name, "name", KAR_F_STRING),
};
static const struct kar_desc subject_desc = KAR_DESC("subject", struct uninstall_subject, subject_fields);

static const struct kar_field item_fields[] = {
	KAR_FIELD_SUB(struct uninstall_item, meta, "metadata", KAR_F_OBJECT, &kar_wire_meta_desc),
	KAR_FIELD_SUB(struct uninstall_item, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct uninstall_item, status, "status", KAR_F_OBJECT, &status_desc),
	KAR_FIELD_SUB(struct uninstall_item, role, "roleRef", KAR_F_OBJECT, &role_desc),
	KAR_FIELD_SUB(struct uninstall_item, subjects, "subjects", KAR_F_ARRAY, &subject_desc),
};
static const struct kar_desc item_desc = KAR_DESC("object", struct uninstall_item, item_fields);

struct list {
	struct kar_array items; /* struct uninstall_item */
};
static const struct kar_field list_fields[] = { KAR_FIELD_SUB(struct list, items, "items", KAR_F_ARRAY,
	&item_desc) };
static const struct kar_desc list_desc = KAR_DESC("list", struct list, list_fields);

void uninstall_wake(void *arg)
{
	kar_loop_stop(((struct uninstall *)arg)->loop);
}

void uninstall_pause(struct uninstall *u, kar_time ms)
{
	kar_timer_start(u->timer, ms);
	kar_loop_run(u->loop);
}

static int collect(void *arg, const char *bytes, size_t n)
{
	struct uninstall *u = arg;

	kar_buf_append(&u->bytes, bytes, n);
	return u->bytes.overflow ? -1 : 0;
}

static void done(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct uninstall *u = arg;

	(void)answer;
	u->answer = err ? *err : (struct kar_err){ 0 };
	kar_loop_stop(u->loop);
}

/* After so many tries since then: an API server that says that it is busy is waited for longer. */
static bool may_pass(const struct uninstall *u, int tries, kar_time begun)
{
	if (u->answer.what != KAR_RETRY && u->answer.what != KAR_UNKNOWN)
		return false;
	return tries < TRIES ||
		(kar_is_busy(&u->answer) && kar_loop_mono(u->loop) - begun < u->o->times->patience);
}

enum kar_class uninstall_ask(struct uninstall *u, struct kar_request q)
{
	kar_time begun = kar_loop_mono(u->loop);

	q.on_done = done;
	q.on_data = q.verb == KAR_LIST ? collect : NULL;
	q.replayable = true;
	q.arg = u;
	for (int i = 0; i == 0 || may_pass(u, i, begun); i++) {
		if (i)
			uninstall_pause(u, u->o->times->pause);
		kar_buf_clear(&u->bytes);
		kar_client_start(u->client, &q);
		kar_loop_run(u->loop);
	}
	return u->answer.what;
}

int uninstall_give_up(struct uninstall *u, const char *what)
{
	return kar_give_up(u->err, "uninstall", what, &u->answer);
}

int uninstall_list(struct uninstall *u, const struct kar_resource *res, const char *selector,
	struct kar_array *items)
{
	struct kar_request q = kar_client_list(res, NULL);
	struct list found = { 0 };
	char what[96];

	q.lane = KAR_LANE_LISTS;
	q.label_selector = selector;
	*items = (struct kar_array){ 0 };
	snprintf(what, sizeof(what), "cannot list %s", res->plural);
	if (uninstall_ask(u, q) == KAR_NOTFOUND)
		return 0;
	kar_arena_reset(&u->arena);
	if (u->answer.what ||
		kar_document_decode(&u->arena, &list_desc, (struct kar_str){ u->bytes.p, u->bytes.n }, &found,
			&u->answer))
		return uninstall_give_up(u, what);
	*items = found.items;
	return 0;
}

const char *uninstall_name(const struct kar_resource *res, const struct uninstall_item *item,
	char out[KAR_UNINSTALL_NAME])
{
	char key[KAR_KEY_LEN];

	snprintf(out, KAR_UNINSTALL_NAME, "%s %s", res->kind, kar_key(item->meta.ns, item->meta.name, key));
	return out;
}

int uninstall_delete(struct uninstall *u, const struct kar_resource *res, const struct uninstall_item *item)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf options = { 0 };
	char name[KAR_UNINSTALL_NAME], what[KAR_UNINSTALL_NAME + 32];

	if (item->meta.deletion)
		return 0;
	uninstall_name(res, item, name);
	kar_delete_options(&options, item->meta.uid, 0, "Background", -1);
	switch (uninstall_ask(u,
		kar_client_delete(res, item->meta.ns, item->meta.name,
			(struct kar_str){ options.p, options.n }))) {
	case KAR_OK:
		fprintf(u->o->out, "Deleted %s\n", name);
		fflush(u->o->out);
		return 0;
	case KAR_NOTFOUND:
	case KAR_CONFLICT: /* another one has its name now: the next list shows it */
		return 0;
	default:
		snprintf(what, sizeof(what), "cannot delete %s", name);
		return uninstall_give_up(u, what);
	}
}
