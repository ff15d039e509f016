/* What is not ours alone: bindings that users made of our roles, and a CRD that another project has installed. */
#include "kubectl-qj/uninstall/uninstall_impl.h"

#include <string.h>

#include "common/base/str.h"

#define PODGROUPS "podgroups.scheduling.x-k8s.io"

static const struct kar_resource roles[] = {
	{ "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false },
	{ "rbac.authorization.k8s.io", "v1", "roles", "Role", true },
};
static const struct kar_resource bindings[] = {
	{ "rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", false },
	{ "rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true },
};

/* --- managers -------------------------------------------------------------------------------------------- */

static void note_account(struct uninstall *u, const struct uninstall_subject *s)
{
	const char **names;
	char key[KAR_KEY_LEN];

	if (!kar_streq(s->kind, "ServiceAccount") || !s->name)
		return;
	names = kar_arena_grow(&u->kept, u->accounts.items, u->accounts.n, sizeof(*names));
	names[u->accounts.n++] = kar_arena_printf(&u->kept, "%s", kar_key(s->ns, s->name, key));
	u->accounts.items = names;
}

int uninstall_note_accounts(struct uninstall *u)
{
	struct kar_array found;
	const struct uninstall_item *items;

	if (uninstall_list(u, &bindings[0], KAR_OURS, &found))
		return -1;
	items = found.items;
	for (size_t i = 0; i < found.n; i++) {
		const struct uninstall_subject *subjects = items[i].subjects.items;

		for (size_t k = 0; k < items[i].subjects.n; k++)
			note_account(u, &subjects[k]);
	}
	return 0;
}

static bool is_manager(const struct uninstall *u, const struct uninstall_item *item)
{
	const char *of_template = item->spec.template.spec.account;
	const char *account = of_template ? of_template : item->spec.account;
	const char *const *names = u->accounts.items;
	char key[KAR_KEY_LEN];

	kar_key(item->meta.ns, account ? account : "default", key);
	for (size_t i = 0; i < u->accounts.n; i++) {
		if (!strcmp(names[i], key))
			return true;
	}
	return false;
}

void uninstall_leave_managers(const struct uninstall *u, struct kar_array *items)
{
	struct uninstall_item *all = items->items;
	size_t n = 0;

	for (size_t i = 0; u->accounts.n && i < items->n; i++) {
		if (is_manager(u, &all[i]))
			all[n++] = all[i];
	}
	items->n = u->accounts.n ? n : items->n;
}

/* --- bindings -------------------------------------------------------------------------------------------- */

/* "ClusterRole kar-edit", "Role team-a/kar-controllers" */
struct names {
	struct kar_arena arena;
	const char **items;
	size_t n;
};

static int collect_roles(struct uninstall *u, struct names *out)
{
	char name[KAR_UNINSTALL_NAME];

	for (size_t i = 0; i < KAR_LEN(roles); i++) {
		struct kar_array found;
		const struct uninstall_item *items;

		if (uninstall_list(u, &roles[i], KAR_OURS, &found))
			return -1;
		items = found.items;
		for (size_t k = 0; k < found.n; k++) {
			out->items = kar_arena_grow(&out->arena, out->items, out->n, sizeof(*out->items));
			out->items[out->n++] = kar_arena_printf(&out->arena, "%s",
				uninstall_name(&roles[i], &items[k], name));
		}
	}
	return 0;
}

static bool has_label(const struct uninstall_item *item)
{
	const struct kar_pair *labels = item->meta.labels.items;

	for (size_t i = 0; i < item->meta.labels.n; i++) {
		if (kar_streq(labels[i].key, KAR_OURS_LABEL) && kar_streq(labels[i].value, "kar-controllers"))
			return true;
	}
	return false;
}

static bool binds_ours(const struct uninstall_item *binding, const struct names *ours)
{
	const struct kar_resource *res = kar_streq(binding->role.kind, "Role") ? &roles[1] : &roles[0];
	const struct uninstall_item role = { .meta = { .name = binding->role.name,
						     .ns = res->namespaced ? binding->meta.ns : NULL } };
	char name[KAR_UNINSTALL_NAME];

	if (!binding->role.name)
		return false;
	uninstall_name(res, &role, name);
	for (size_t i = 0; i < ours->n; i++) {
		if (!strcmp(ours->items[i], name))
			return true;
	}
	return false;
}

static int delete_bindings(struct uninstall *u, const struct kar_resource *res, const struct names *ours)
{
	struct kar_array found;
	const struct uninstall_item *items;

	if (uninstall_list(u, res, NULL, &found))
		return -1;
	items = found.items;
	for (size_t i = 0; i < found.n; i++) {
		if (!has_label(&items[i]) && binds_ours(&items[i], ours) &&
			uninstall_delete(u, res, &items[i]))
			return -1;
	}
	return 0;
}

int uninstall_bindings_of_users(struct uninstall *u)
{
	struct names ours = { 0 };
	int failed = collect_roles(u, &ours);

	for (size_t i = 0; !failed && ours.n && i < KAR_LEN(bindings); i++)
		failed = delete_bindings(u, &bindings[i], &ours);
	kar_arena_release(&ours.arena);
	return failed;
}

/* --- the CRD of PodGroups -------------------------------------------------------------------------------- */

/* Projects that generate their CRDs, as that of PodGroups does, leave these; we write none, and to apply ours leaves theirs alone. */
bool uninstall_is_shared(const struct uninstall_item *crd)
{
	static const char *const signs[] = { "api-approved.kubernetes.io",
		"controller-gen.kubebuilder.io/version" };
	const struct kar_pair *annotations = crd->meta.annotations.items;

	for (size_t i = 0; i < crd->meta.annotations.n; i++) {
		for (size_t k = 0; k < KAR_LEN(signs); k++) {
			if (kar_streq(annotations[i].key, signs[k]))
				return true;
		}
	}
	return false;
}

int uninstall_leave(struct uninstall *u, const struct uninstall_item *crd)
{
	static const char body[] = "{\"metadata\":{\"labels\":{\"" KAR_OURS_LABEL "\":null}}}";
	char name[KAR_UNINSTALL_NAME], what[KAR_UNINSTALL_NAME + 32];

	if (crd->meta.deletion)
		return 0;
	uninstall_name(&uninstall_crds, crd, name);
	switch (uninstall_ask(u,
		kar_client_patch(&uninstall_crds, NULL, crd->meta.name, KAR_PATCH_MERGE,
			(struct kar_str){ body, sizeof(body) - 1 }))) {
	case KAR_OK:
		fprintf(u->o->out,
			"Took our label off %s: another project had installed it before; apply its own manifest again\n",
			name);
		return 0;
	case KAR_NOTFOUND:
		return 0;
	default:
		snprintf(what, sizeof(what), "cannot label %s", name);
		return uninstall_give_up(u, what);
	}
}

int uninstall_report_podgroups(struct uninstall *u)
{
	switch (uninstall_ask(u, kar_client_get(&uninstall_crds, NULL, PODGROUPS))) {
	case KAR_OK:
		fprintf(u->o->out, "Left CustomResourceDefinition " PODGROUPS ": it is not ours\n");
		return 0;
	case KAR_NOTFOUND:
		return 0;
	default:
		return uninstall_give_up(u, "cannot get CustomResourceDefinition " PODGROUPS);
	}
}
