/* completion: what a shell may complete. kubectl asks its plug-ins in the same way, by a program kubectl_complete-NAME. */
#include "kubectl-qj/qj.h"

#include <stdio.h>
#include <string.h>

#include "common/base/str.h"

static const struct kar_resource namespaces = { "", "v1", "namespaces", "Namespace", false };

struct named {
	struct kar_wire_meta meta;
};
static const struct kar_field named_fields[] = { KAR_FIELD_SUB(struct named, meta, "metadata", KAR_F_OBJECT,
	&kar_wire_meta_desc) };
static const struct kar_desc named_desc = KAR_DESC("object", struct named, named_fields);

struct completing {
	struct qj *q;
	const char *begin; /* of the word */
};

static bool begins(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

static int offer_names(void *arg, const struct kar_array *items)
{
	const struct named *one = items->items;
	struct completing *c = arg;

	for (size_t i = 0; i < items->n; i++) {
		if (begins(one[i].meta.name, c->begin))
			fprintf(c->q->out, "%s\n", qj_clean(c->q, one[i].meta.name));
	}
	return 0;
}

/* Who may not list them has to write them. */
static void offer_objects(struct completing *c, const struct kar_resource *res)
{
	struct kar_err err;

	if (!c->q->client && qj_open(c->q, &err))
		return;
	(void)qj_list(c->q,
		&(struct qj_query){ res, &named_desc, res->namespaced ? c->q->ns : "", NULL, NULL },
		offer_names, c);
}

/* @words are parted by spaces. */
static void offer_words(const struct completing *c, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, " ");

		if (strncmp(words, c->begin, strlen(c->begin)) == 0 && n >= strlen(c->begin))
			fprintf(c->q->out, "%.*s\n", (int)n, words);
		words += n + strspn(words + n, " ");
	}
}

static void offer_commands(const struct completing *c)
{
	const struct qj_help *h;

	for (size_t i = 0; (h = qj_help_at(i)); i++) {
		if (begins(h->name, c->begin))
			fprintf(c->q->out, "%s\t%s\n", h->name, h->what);
	}
}

/* What a flag takes. False: @flag takes nothing that is known. */
static bool offer_values(struct completing *c, const char *flag)
{
	static const struct {
		const char *flag, *words;
		const struct kar_resource *res;
	} values[] = { { "-n", NULL, &namespaces }, { "--namespace", NULL, &namespaces },
		{ "--queue", NULL, &qj_queues }, { "-o", "wide json yaml name", NULL },
		{ "--output", "wide json yaml name", NULL }, { "--for", "end running", NULL },
		{ "--dry-run", "client server none", NULL } };

	for (size_t i = 0; i < KAR_LEN(values); i++) {
		if (!kar_streq(values[i].flag, flag))
			continue;
		if (values[i].res)
			offer_objects(c, values[i].res);
		else
			offer_words(c, values[i].words);
		return true;
	}
	return false;
}

/* Words of the command itself: not flags, and not what these take. */
static void offer_arguments(struct completing *c, const struct qj_help *h)
{
	if (begins(h->args, "bash"))
		offer_words(c, "bash zsh fish");
	else if (kar_streq(h->args, "[WHAT]"))
		offer_words(c, "queues namespaces jobs");
	else if (begins(h->args, "JOB") && c->q->o.n_args == 0)
		offer_objects(c, &qj_jobs);
	else if (kar_streq(h->args, "JOB QUEUE") && c->q->o.n_args == 1)
		offer_objects(c, &qj_queues);
}

int qj_complete(struct qj *q, char **words, int n)
{
	struct completing c = { .q = q, .begin = n ? words[n - 1] : "" };
	const struct qj_help *h;
	struct kar_err err;
	char **before = kar_arena_alloc(&q->arena, (size_t)n + 2, sizeof(*before));
	const char *last = n > 1 ? words[n - 2] : "";

	before[0] = kar_arena_strndup(&q->arena, "kubectl-qj", strlen("kubectl-qj"));
	for (int i = 0; i + 1 < n; i++)
		before[i + 1] = words[i];
	/* A flag that still wants its value is no mistake here. */
	(void)qj_options_read(&q->o, n > 0 ? n : 1, before, &q->arena, &err);
	h = qj_help_of(q->o.command);
	if (!offer_values(&c, last)) {
		if (!h)
			offer_commands(&c);
		else if (*c.begin == '-')
			offer_words(&c,
				kar_arena_printf(&q->arena, "%s --namespace --context --kubeconfig --help",
					h->flags ? h->flags : ""));
		else
			offer_arguments(&c, h);
	}
	fprintf(q->out, ":4\n"); /* to kubectl: and no files */
	return 0;
}

/* --- scripts ---------------------------------------------------------------------------------------- */

static const char bash[] =
	"_kubectl_qj() {\n"
	"    local IFS=$'\\n'\n"
	"    COMPREPLY=($(kubectl-qj __complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null | grep -v '^:' | cut -f1))\n"
	"}\n"
	"complete -F _kubectl_qj kubectl-qj\n";
static const char zsh[] =
	"#compdef kubectl-qj\n"
	"_kubectl_qj() {\n"
	"    local -a found\n"
	"    found=(${(f)\"$(kubectl-qj __complete \"${(@)words[2,CURRENT]}\" 2>/dev/null | grep -v '^:' | cut -f1)\"})\n"
	"    compadd -a found\n"
	"}\n"
	"compdef _kubectl_qj kubectl-qj\n";
static const char fish[] = "function __kubectl_qj\n"
			   "    set -l words (commandline -opc) (commandline -ct)\n"
			   "    kubectl-qj __complete $words[2..-1] 2>/dev/null | string match -v -r '^:'\n"
			   "end\n"
			   "complete -c kubectl-qj -f -a '(__kubectl_qj)'\n";

int qj_cmd_completion(struct qj *q)
{
	static const struct {
		const char *shell, *script;
	} scripts[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

	for (size_t i = 0; q->o.n_args == 1 && i < KAR_LEN(scripts); i++) {
		if (kar_streq(scripts[i].shell, q->o.args[0])) {
			fputs(scripts[i].script, q->out);
			return 0;
		}
	}
	return qj_misused(q);
}
