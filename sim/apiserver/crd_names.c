/* The names of a CustomResourceDefinition: within its group each may belong to one definition only. */
#include <string.h>

#include "sim/apiserver/crd.h"

/* What has been given out in the group of a definition. Borrowed. */
struct taken {
	const struct sim_value *const *crds;
	size_t n;
	const char *group;
};

static bool contains(const struct sim_value *list, const char *name)
{
	for (size_t i = 0; i < sim_count(list); i++) {
		if (!strcmp(sim_text_or(sim_item(list, i), ""), name))
			return true;
	}
	return false;
}

static bool has_name(const struct sim_value *accepted, const char *name, bool of_kinds)
{
	const char *one = sim_text_or(sim_member(accepted, of_kinds ? "kind" : "plural"), "");
	const char *other = sim_text_or(sim_member(accepted, of_kinds ? "listKind" : "singular"), "");

	return !strcmp(one, name) || !strcmp(other, name) ||
		(!of_kinds && contains(sim_member(accepted, "shortNames"), name));
}

static bool is_taken(const struct taken *t, const char *name, bool of_kinds)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!strcmp(sim_text_or(sim_get(t->crds[i], "spec", "group"), ""), t->group) &&
			has_name(sim_get(t->crds[i], "status", "acceptedNames"), name, of_kinds))
			return true;
	}
	return false;
}

/* What is to be said of a definition: the last conflict found. */
struct finding {
	const char *reason; /* NULL: no conflict */
	struct kar_buf message;
};

static void conflict(struct finding *f, const char *reason, const char *name)
{
	kar_buf_clear(&f->message);
	kar_buf_printf(&f->message, "\"%s\" is already in use", name);
	f->reason = reason;
}

/* Takes over the name in member @key from @wanted, unless somebody else has it. */
static void accept(const struct taken *t, const struct sim_value *wanted, struct sim_value **accepted,
	const char *key, const char *reason, struct finding *f)
{
	const struct sim_value *name = sim_member(wanted, key);
	const char *text = sim_text_or(name, "");
	bool of_kinds = !strcmp(key, "kind") || !strcmp(key, "listKind");

	if (strcmp(text, sim_text_or(sim_member(*accepted, key), "")) != 0 && is_taken(t, text, of_kinds))
		conflict(f, reason, text);
	else if (name)
		sim_set(accepted, sim_ref(name), key);
}

/* Appends the message of each name that somebody else has, as Go joins errors; returns how many. */
static size_t find_short_conflicts(const struct taken *t, const struct sim_value *wanted,
	const struct sim_value *known, struct kar_buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < sim_count(wanted); i++) {
		const char *name = sim_text_or(sim_item(wanted, i), "");

		if (!contains(known, name) && is_taken(t, name, false))
			kar_buf_printf(out, "%s\"%s\" is already in use", n++ ? ", " : "", name);
	}
	return n;
}

static void accept_list(struct sim_value **accepted, const char *key, const struct sim_value *wanted)
{
	if (sim_count(wanted))
		sim_set(accepted, sim_ref(wanted), key);
	else
		sim_remove(accepted, key);
}

static void accept_short(const struct taken *t, const struct sim_value *wanted, struct sim_value **accepted,
	struct finding *f)
{
	struct kar_buf found KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	size_t n = find_short_conflicts(t, wanted, sim_member(*accepted, "shortNames"), &found);

	if (!n) {
		accept_list(accepted, "shortNames", wanted);
		return;
	}
	kar_buf_clear(&f->message);
	kar_buf_printf(&f->message, n > 1 ? "[%s]" : "%s", kar_buf_cstr(&found));
	f->reason = "ShortNamesConflict";
}

bool sim_crd_accept_names(struct sim_value **crd, const struct sim_value *const *crds, size_t n, kar_time now)
{
	const struct sim_value *wanted = sim_get(*crd, "spec", "names");
	const struct taken t = { crds, n, sim_text_or(sim_get(*crd, "spec", "group"), "") };
	struct sim_value *accepted = sim_ref(sim_get(*crd, "status", "acceptedNames"));
	struct finding f = { 0 };

	if (!accepted)
		accepted = sim_object();
	accept(&t, wanted, &accepted, "plural", "PluralConflict", &f);
	accept(&t, wanted, &accepted, "singular", "SingularConflict", &f);
	accept_short(&t, sim_member(wanted, "shortNames"), &accepted, &f);
	accept(&t, wanted, &accepted, "kind", "KindConflict", &f);
	accept(&t, wanted, &accepted, "listKind", "ListKindConflict", &f);
	accept_list(&accepted, "categories", sim_member(wanted, "categories"));
	sim_set(crd, accepted, "status", "acceptedNames");
	sim_crd_condition(crd, "NamesAccepted", f.reason ? "False" : "True",
		f.reason ? f.reason : "NoConflicts",
		f.reason ? kar_buf_cstr(&f.message) : "no conflicts found", now);
	kar_buf_release(&f.message);
	return !f.reason;
}
