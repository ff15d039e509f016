/*
 * The picture: jobs as bars over time, nodes as lanes that their pods fill in proportion to what they ask for. It has no style
 * sheet, and colours are #rrggbb: not every program that shows SVG knows more.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/status/reasons.h"
#include "common/base/str.h"
#include "sim/scenario/gantt.h"

double sim_chart_x(const struct chart *c, kar_time t)
{
	kar_time end = t < c->r->end ? t : c->r->end;

	return c->left + (double)end * PLOT / (double)c->span;
}

static size_t number_of_queue(const struct chart *c, const char *name)
{
	size_t i = 0;

	while (i < c->shares.n_queues && !kar_streq(c->shares.queues[i], name))
		i++;
	return i;
}

/* What its colour is chosen by. */
size_t sim_chart_hue(const struct chart *c, size_t job)
{
	return c->many ? number_of_queue(c, c->r->jobs[job].queue) : job;
}

/* Names are ASCII. */
static void shortened(struct kar_buf *out, const char *name, size_t most)
{
	char cut[64];

	snprintf(cut, sizeof(cut), "%.*s", (int)most - 1, name);
	sim_draw_text(out, strlen(name) > most ? cut : name);
	if (strlen(name) > most)
		kar_buf_puts(out, "\u2026");
}

void sim_chart_label(const struct chart *c, int y, const char *name)
{
	kar_buf_printf(c->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LABEL - 8, y);
	shortened(c->out, name, LABEL_CHARS);
	kar_buf_puts(c->out, "</text>\n");
}

/* ---- axis ---- */

/* A round step of which at least TICKS fit. */
static kar_time step_of(kar_time span)
{
	static const int minutes[] = { 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 7200, 14400 };
	kar_time step = KAR_SECOND;

	if (span < TICKS * KAR_MINUTE)
		return span / TICKS > step ? (span / TICKS) / KAR_SECOND * KAR_SECOND : step;
	for (size_t i = 0; i < KAR_LEN(minutes) && minutes[i] * KAR_MINUTE * TICKS <= span; i++)
		step = minutes[i] * KAR_MINUTE;
	return step;
}

static void axis(const struct chart *c)
{
	kar_time step = step_of(c->span);
	char when[32];

	for (kar_time t = 0; t <= c->span; t += step) {
		double x = c->left + (double)t * PLOT / (double)c->span;

		kar_buf_printf(c->out,
			"<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#eaeef2\"/>", x, HEAD - 6,
			x, c->height - MARGIN);
		kar_buf_printf(c->out,
			"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"" FAINT "\">%s</text>\n", x,
			HEAD - 12, sim_report_time(t, when));
	}
}

/* ---- jobs ---- */

static void phase_colour(const struct sim_stretch *s, size_t job, char out[SIM_COLOUR_LEN])
{
	if (kar_streq(s->phase, "Running"))
		sim_colour(job, out);
	else if (sim_stretch_releases(s))
		snprintf(out, SIM_COLOUR_LEN, "#f7dc4a");
	else if (kar_streq(s->phase, "Starting"))
		snprintf(out, SIM_COLOUR_LEN, "#f0a030");
	else if (kar_streq(s->phase, "Restarting"))
		snprintf(out, SIM_COLOUR_LEN, TROUBLE);
	else if (kar_streq(s->phase, "Suspended"))
		snprintf(out, SIM_COLOUR_LEN, "#7d8590");
	else
		snprintf(out, SIM_COLOUR_LEN, "#d0d4da");
}

static void bar(const struct chart *c, size_t job, const struct sim_stretch *s, int y)
{
	double x = sim_chart_x(c, s->from), width = sim_chart_x(c, s->to) - x;
	char fill[SIM_COLOUR_LEN], from[32], took[32];

	phase_colour(s, sim_chart_hue(c, job), fill);
	kar_buf_printf(c->out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>",
		x, y, width > 0.5 ? width : 0.5, BAR, fill);
	sim_draw_text(c->out, c->r->jobs[job].name);
	kar_buf_puts(c->out, ": ");
	sim_draw_text(c->out, sim_stretch_releases(s) ? "Releasing" : s->phase);
	kar_buf_printf(c->out, " from %s for %s</title></rect>", sim_report_time(s->from, from),
		sim_report_time((s->to < c->r->end ? s->to : c->r->end) - s->from, took));
}

static void queue_of(const struct chart *c, const struct sim_job_record *j, int y)
{
	if (c->left == LABEL)
		return;
	kar_buf_printf(c->out, "<text x=\"%d\" y=\"%d\" font-size=\"10\" fill=\"" FAINT "\">", LABEL, y);
	shortened(c->out, j->queue, QUEUE_CHARS);
	kar_buf_puts(c->out, "</text>\n");
}

static void result(const struct chart *c, const struct sim_job_record *j, int y)
{
	bool failed = kar_streq(j->phase, "Failed");

	if (j->ended == KAR_NEVER)
		return;
	kar_buf_printf(c->out, "<text x=\"%.1f\" y=\"%d\" font-size=\"10\">%s", sim_chart_x(c, j->ended) + 3,
		y, failed ? "failed" : "done");
	if (j->restarts)
		kar_buf_printf(c->out, ", %lld restart%s", (long long)j->restarts,
			j->restarts == 1 ? "" : "s");
	kar_buf_puts(c->out, "</text>");
}

static void job_row(const struct chart *c, size_t row)
{
	size_t i = c->shown[row];
	const struct sim_job_record *j = &c->r->jobs[i];
	int y = HEAD + (int)row * JOB_ROW;
	bool other = !kar_streq(j->ns, "default");
	char name[SIM_KEY_LEN];

	snprintf(name, sizeof(name), "%s%s%s", other ? j->ns : "", other ? "/" : "", j->name);
	sim_chart_label(c, y + BAR - 1, name);
	queue_of(c, j, y + BAR - 1);
	for (size_t k = 0; k < j->n_stretches; k++)
		bar(c, i, &j->stretches[k], y);
	result(c, j, y + BAR - 1);
	kar_buf_puts(c->out, "\n");
}

struct sized {
	size_t job;
	int64_t milli_cpu;
};

static int compare_sizes(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	if (x->milli_cpu != y->milli_cpu)
		return (x->milli_cpu < y->milli_cpu) - (x->milli_cpu > y->milli_cpu);
	return (x->job > y->job) - (x->job < y->job);
}

static int compare_numbers(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* All, or of many the largest. */
static void choose_jobs(struct chart *c)
{
	size_t n = c->r->n_jobs;
	struct sized *sized = kar_xcalloc(n + 1, sizeof(*sized));

	c->many = n > MANY;
	c->n_shown = c->many ? LARGEST : n;
	c->shown = kar_xcalloc(n + 1, sizeof(*c->shown));
	for (size_t i = 0; i < n; i++)
		sized[i] = (struct sized){ i, c->r->jobs[i].milli_cpu };
	if (c->many)
		qsort(sized, n, sizeof(*sized), compare_sizes);
	for (size_t i = 0; i < c->n_shown; i++)
		c->shown[i] = sized[i].job;
	qsort(c->shown, c->n_shown, sizeof(*c->shown), compare_numbers);
	free(sized);
}

/* ---- the picture ---- */

/* Each returns where the next begins. */
static int key_box(const struct chart *c, int x, const char *fill, const char *stroke)
{
	kar_buf_printf(c->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"%s%s/>", x, KEY,
		BOX, BOX, fill, stroke[0] ? " " : "", stroke);
	return x + BOX;
}

static int key_text(const struct chart *c, int x, const char *words)
{
	kar_buf_printf(c->out, "<text x=\"%d\" y=\"%d\">%s</text>\n", x + 4, KEY + BOX - 1, words);
	return x + (int)strlen(words) * CHAR + 20;
}

static int key_of_jobs(const struct chart *c, int x)
{
	const struct {
		const char *words;
		struct sim_stretch stretch;
	} keys[] = {
		{ "Pending", { .phase = "Pending", .reason = "" } },
		{ "Starting", { .phase = "Starting", .reason = "" } },
		{ c->many ? "Running: colour of the queue" : "Running: colour of the job",
			{ .phase = "Running", .reason = "" } },
		{ "Restarting", { .phase = "Restarting", .reason = "" } },
		{ "Releasing nodes or quota", { .phase = "Restarting", .reason = kar_reason_RolledBack } },
		{ "Suspended", { .phase = "Suspended", .reason = "" } },
	};
	enum { EXAMPLES = 3 };
	char fill[SIM_COLOUR_LEN];

	for (size_t i = 0; i < KAR_LEN(keys); i++) {
		bool running = kar_streq(keys[i].stretch.phase, "Running");

		for (size_t job = 0; job < (running ? EXAMPLES : 1); job++) {
			phase_colour(&keys[i].stretch, job, fill);
			x = key_box(c, x, fill, "");
		}
		x = key_text(c, x, keys[i].words);
	}
	return x;
}

static void key(const struct chart *c)
{
	static const char border[] = "stroke=\"" BORDER "\"";
	int x = key_of_jobs(c, MARGIN);

	key_box(c, x, GROUND, border);
	x = key_text(c, key_box(c, x, "url(#c)", ""), "Node cordoned");
	key_box(c, x, GROUND, border);
	x = key_text(c, key_box(c, x, "url(#d)", ""), "Node not ready");
	x = key_text(c, key_box(c, x, GROUND, FAILED_STROKE), "Pod failed");
	if (c->r->rack_label)
		key_text(c, x, "ranks: dark to light");
}

/* Stripes. */
static void pattern(const struct chart *c, const char *id, int width, const char *fill, const char *opacity)
{
	kar_buf_printf(c->out,
		"<pattern id=\"%s\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
		"<rect width=\"%d\" height=\"8\" fill=\"%s\" fill-opacity=\"%s\"/></pattern>",
		id, width, fill, opacity);
}

static void head(const struct chart *c, const char *title)
{
	int width = c->left + PLOT + 100;

	kar_buf_printf(c->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n<defs>",
		width, c->height, width, c->height);
	pattern(c, "d", 4, TROUBLE, ".45");
	pattern(c, "c", 3, "#7d8590", ".4");
	kar_buf_printf(c->out,
		"</defs>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n"
		"<g font-family=\"system-ui,sans-serif\" font-size=\"11\" fill=\"" INK
		"\">\n<text x=\"%d\" y=\"20\" font-size=\"15\" font-weight=\"600\">",
		width, c->height, MARGIN);
	sim_draw_text(c->out, title);
	kar_buf_puts(c->out, "</text>\n");
	key(c);
}

/* One queue needs no name in the picture. */
static int left_of(const struct sim_record *r)
{
	for (size_t i = 1; i < r->n_jobs; i++) {
		if (!kar_streq(r->jobs[i].queue, r->jobs[0].queue))
			return LABEL + QUEUE;
	}
	return LABEL;
}

void sim_report_svg(const struct sim_record *r, const char *title, struct kar_buf *out)
{
	struct chart c = { .r = r, .out = out, .span = r->end > 0 ? r->end : 1, .left = left_of(r) };
	int top;

	sim_shares_of(r, SIZE_MAX, r->end / STEPS + 1, &c.shares);
	choose_jobs(&c);
	top = HEAD + (int)c.n_shown * JOB_ROW + GAP;
	c.height = sim_chart_lanes_end(&c, top) + MARGIN;
	head(&c, title);
	axis(&c);
	for (size_t i = 0; i < c.n_shown; i++)
		job_row(&c, i);
	sim_chart_lanes(&c, top);
	sim_shares_release(&c.shares);
	free(c.shown);
	kar_buf_puts(out, "</g>\n</svg>\n");
}

void sim_report_html(const struct sim_record *r, const char *title, struct kar_buf *out)
{
	struct kar_buf table = { .cap = out->cap };

	kar_buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
	sim_draw_text(out, title);
	kar_buf_puts(out,
		"</title><style>body{font:14px system-ui,sans-serif;margin:24px;color:" INK
		";background:#ffffff}"
		"pre{font:12px ui-monospace,monospace;overflow:auto}svg{max-width:100%;height:auto}</style></head>\n<body>\n");
	sim_report_svg(r, title, out);
	sim_report_table(r, &table);
	kar_buf_puts(out, "<pre>");
	sim_draw_text(out, kar_buf_cstr(&table));
	kar_buf_puts(out, "</pre>\n</body></html>\n");
	kar_buf_release(&table);
}
