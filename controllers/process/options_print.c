#include "controllers/process/options_impl.h"

#include <string.h>

#include "common/base/buf.h"

enum { COLUMNS = 120, INDENT = 8 };

static const char about[] = "gang-scheduled, queued batch jobs for Kubernetes";
static const char *const synopsis[] = {
	"[--kubeconfig FILE] [flags]",
};
static const struct {
	const char *status, *help;
} ends[] = {
	{ "0", "It was stopped by SIGTERM or SIGINT." },
	{ "1", "The kubeconfig or the cluster cannot be used; one line on stderr says why." },
	{ "2", "A flag, a value or the configuration file is wrong; one line on stderr says what is accepted." },
};

/* --- the help --------------------------------------------------------------------------------------- */

/* Prints the words of @text in lines that begin with @indent spaces. */
static void print_wrapped(FILE *out, const char *text, int indent)
{
	int column = 0;

	while (*text) {
		int n = (int)strcspn(text, " ");

		if (column && column + 1 + n > COLUMNS) {
			fputc('\n', out);
			column = 0;
		}
		column += column ? fprintf(out, " %.*s", n, text)
				 : fprintf(out, "%*s%.*s", indent, "", n, text);
		text += n;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static const char *dashes_of(const struct kar_flag *f)
{
	return strlen(f->name) == 1 ? "-" : "--";
}

static void print_flag(FILE *out, const struct kar_flag *f)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };
	const char *value = kar_flag_metavar(f);

	fprintf(out, "  %s%s%s%s\n", dashes_of(f), f->name, *value ? " " : "", value);
	kar_buf_puts(&text, f->help);
	if (f->value)
		kar_buf_printf(&text, " (default %s)", f->value);
	print_wrapped(out, kar_buf_cstr(&text), INDENT);
}

void kar_options_help(FILE *out)
{
	const struct kar_flag *f;
	const char *group = "";

	fprintf(out, "kar-controllers: %s\n\n", about);
	for (size_t i = 0; i < KAR_LEN(synopsis); i++)
		fprintf(out, "%s kar-controllers %s\n", i ? "      " : "Usage:", synopsis[i]);
	for (size_t i = 0; (f = kar_flag_at(i)) != NULL; i++) {
		if (strcmp(group, f->group))
			fprintf(out, "\n%s:\n", f->group);
		group = f->group;
		print_flag(out, f);
	}
}

/* --- the manual page --------------------------------------------------------------------------------- */

/* Dashes stay dashes, and no line begins with a request. */
static void print_roff(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text; text++) {
		if (*text == '-' || *text == '\\')
			fputs(*text == '-' ? "\\-" : "\\e", out);
		else
			fputc(*text, out);
	}
}

/* ".TP", the term in bold with @value in italics behind it, the text. */
static void print_term(FILE *out, const char *dashes, const char *name, const char *value, const char *text,
	const char *preset)
{
	fputs(".TP\n\\fB", out);
	print_roff(out, dashes);
	print_roff(out, name);
	fputs("\\fR", out);
	if (*value) {
		fputs(" \\fI", out);
		print_roff(out, value);
		fputs("\\fR", out);
	}
	fputc('\n', out);
	print_roff(out, text);
	if (preset) {
		fputs("\n(default ", out);
		print_roff(out, preset);
		fputc(')', out);
	}
	fputc('\n', out);
}

static void print_flags(FILE *out)
{
	const struct kar_flag *f;
	const char *group = "";

	fputs(".SH OPTIONS\n", out);
	for (size_t i = 0; (f = kar_flag_at(i)) != NULL; i++) {
		if (strcmp(group, f->group))
			fprintf(out, ".SS %s\n", f->group);
		group = f->group;
		print_term(out, dashes_of(f), f->name, kar_flag_metavar(f), f->help, f->value);
	}
}

void kar_options_man(FILE *out)
{
	fprintf(out, ".TH KAR\\-CONTROLLERS 8 \"\" \"kar\\-controllers %s\" \"\"\n", KAR_VERSION);
	fputs(".SH NAME\nkar\\-controllers \\- ", out);
	print_roff(out, about);
	fputs("\n.SH SYNOPSIS\n", out);
	for (size_t i = 0; i < KAR_LEN(synopsis); i++) {
		fputs(i ? ".br\n\\fBkar\\-controllers\\fR " : "\\fBkar\\-controllers\\fR ", out);
		print_roff(out, synopsis[i]);
		fputc('\n', out);
	}
	fputs(".SH DESCRIPTION\nIt manages jobs, queues and groups of pods until it is stopped.\n", out);
	print_flags(out);
	fputs(".SH CONFIGURATION FILE\nWith \\fB\\-\\-config\\fR, a YAML file:\n.PP\n.nf\n.RS\napiVersion: " KAR_CONFIG_VERSION
	      "\nkind: " KAR_CONFIG_KIND "\nkubeApiQps: 50\nlogging\\-format: json\n.RE\n.fi\n.PP\n"
	      "Its keys are the flags without dashes in front, or in camel case. What it does not know is an error.\n",
		out);
	fputs(".SH EXIT STATUS\n", out);
	for (size_t i = 0; i < KAR_LEN(ends); i++)
		print_term(out, "", ends[i].status, "", ends[i].help, NULL);
}
