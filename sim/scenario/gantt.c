/* The picture: jobs as bars over time, nodes as lanes that their pods fill in proportion to what they ask for. */
#include "sim/scenario/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/keep.h"
#include "common/utf8.h"

enum {
	LABEL = 190, /* px left of the plot */
	PLOT = 1000, /* px of time */
	MARGIN = 16,
	HEAD = 54, /* px above the first row: title and axis */
	GAP = 30,  /* between jobs and nodes */
	JOB_ROW = 18,
	NODE_ROW = 48,
	BAR = 12,
	TICKS = 8, /* at least, on the axis */
	SHARE = 1000,
	LEAST = 12, /* thousandths of a lane: what asks for nothing can still be seen */
	LABEL_CHARS = 26,
	GOLDEN_ANGLE = 137, /* degrees: neighbours get different colours, however many there are */
	FIRST_HUE = 60,     /* red and orange are for trouble */
	HUES = 260,
};

struct chart {
	const struct sim_record *r;
	struct kar_buf *out;
	kar_time span; /* ms over PLOT px */
	int nodes_top; /* px */
	int height;
};

static const char *entity(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

/* May the character of @n bytes at @s (0: none that is valid) stand in XML? */
static bool is_allowed(const char *s, size_t n)
{
	bool control = (unsigned char)*s < ' ' && *s != '\t' && *s != '\n';
	bool noncharacter =
		n == 3 && !memcmp(s, "\xef\xbf", 2) && (unsigned char)s[2] >= 0xbe; /* U+FFFE, U+FFFF */

	return n && !control && !noncharacter;
}

static void text(struct kar_buf *out, const char *s)
{
	for (size_t left = strlen(s), step; left; s += step, left -= step) {
		size_t n = kar_utf8_step(s, left);

		step = n ? n : 1;
		if (!is_allowed(s, n))
			kar_buf_puts(out, "\ufffd");
		else if (entity(*s))
			kar_buf_puts(out, entity(*s));
		else
			kar_buf_append(out, s, n);
	}
}

static double x_of(const struct chart *c, kar_time t)
{
	kar_time end = t < c->r->end ? t : c->r->end;

	return LABEL + (double)end * PLOT / (double)c->span;
}

static void colour(size_t job, char out[48])
{
	if (job == SIZE_MAX)
		snprintf(out, 48, "#9aa0a6");
	else
		snprintf(out, 48, "hsl(%zu,55%%,%d%%)", FIRST_HUE + (job + 1) * GOLDEN_ANGLE % HUES,
			job % 2 ? 46 : 56);
}

static void label(const struct chart *c, int y, const char *name)
{
	kar_buf_printf(c->out, "<text class=\"l\" x=\"%d\" y=\"%d\">", LABEL - 8, y);
	if (strlen(name) > LABEL_CHARS) {
		char cut[LABEL_CHARS + 1];

		snprintf(cut, sizeof(cut), "%.*s", LABEL_CHARS - 1, name);
		text(c->out, cut);
		kar_buf_puts(c->out, "\u2026");
	} else {
		text(c->out, name);
	}
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
		double x = LABEL + (double)t * PLOT / (double)c->span;

		kar_buf_printf(c->out, "<line class=\"g\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>", x,
			HEAD - 6, x, c->height - MARGIN);
		kar_buf_printf(c->out, "<text class=\"a\" x=\"%.1f\" y=\"%d\">%s</text>\n", x, HEAD - 12,
			sim_report_time(t, when));
	}
}

/* ---- jobs ---- */

static void phase_colour(const struct sim_stretch *s, size_t job, char out[48])
{
	if (kar_same(s->phase, "Running"))
		colour(job, out);
	else if (kar_same(s->phase, "Starting"))
		snprintf(out, 48, "#f2b632");
	else if (kar_same(s->phase, "Restarting"))
		snprintf(out, 48, "#c8353f");
	else if (kar_same(s->phase, "Suspended"))
		snprintf(out, 48, "#7d8590");
	else
		snprintf(out, 48, "#d0d4da");
}

static void bar(const struct chart *c, size_t job, const struct sim_stretch *s, int y)
{
	double x = x_of(c, s->from), width = x_of(c, s->to) - x;
	char fill[48], from[32], took[32];

	phase_colour(s, job, fill);
	kar_buf_printf(c->out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>",
		x, y, width > 0.5 ? width : 0.5, BAR, fill);
	text(c->out, c->r->jobs[job].name);
	kar_buf_puts(c->out, ": ");
	text(c->out, s->phase);
	kar_buf_printf(c->out, " from %s for %s</title></rect>", sim_report_time(s->from, from),
		sim_report_time((s->to < c->r->end ? s->to : c->r->end) - s->from, took));
}

static void job_row(const struct chart *c, size_t i)
{
	const struct sim_job_record *j = &c->r->jobs[i];
	int y = HEAD + (int)i * JOB_ROW;
	bool failed = kar_same(j->phase, "Failed"), other = !kar_same(j->ns, "default");
	char name[SIM_KEY_LEN];

	snprintf(name, sizeof(name), "%s%s%s", other ? j->ns : "", other ? "/" : "", j->name);
	label(c, y + BAR - 1, name);
	for (size_t k = 0; k < j->n_stretches; k++)
		bar(c, i, &j->stretches[k], y);
	if (j->ended != KAR_NEVER)
		kar_buf_printf(c->out, "<text class=\"e\" x=\"%.1f\" y=\"%d\">%s", x_of(c, j->ended) + 3,
			y + BAR - 1, failed ? "failed" : "done");
	if (j->ended != KAR_NEVER && j->restarts)
		kar_buf_printf(c->out, ", %lld restart%s", (long long)j->restarts,
			j->restarts == 1 ? "" : "s");
	kar_buf_puts(c->out, j->ended != KAR_NEVER ? "</text>\n" : "\n");
}

/* ---- nodes ---- */

/* A pod in its lane: from .y, .height high, in thousandths. */
struct placed {
	const struct sim_pod_record *pod;
	int y, height;
};

struct lane {
	struct placed *items; /* those that have not ended at the time looked at */
	size_t n;
};

static void drop_ended(struct lane *l, kar_time t)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (l->items[i].pod->ended > t)
			l->items[kept++] = l->items[i];
	}
	l->n = kept;
}

static bool is_free(const struct lane *l, int y, int height)
{
	for (size_t i = 0; i < l->n; i++) {
		if (y < l->items[i].y + l->items[i].height && l->items[i].y < y + height)
			return false;
	}
	return y + height <= SHARE;
}

/* The lowest free place; at the bottom of a lane that is overfull. */
static int place(const struct lane *l, int height)
{
	int best = SHARE;

	if (is_free(l, 0, height))
		return 0;
	for (size_t i = 0; i < l->n; i++) {
		int y = l->items[i].y + l->items[i].height;

		if (y < best && is_free(l, y, height))
			best = y;
	}
	return best < SHARE ? best : 0;
}

static void draw_pod(const struct chart *c, const struct placed *p, int top)
{
	enum { ROOM = NODE_ROW - 8 };
	double x = x_of(c, p->pod->bound), width = x_of(c, p->pod->ended) - x;
	double height = (double)p->height * ROOM / SHARE;
	char fill[48], from[32], took[32];
	kar_time end = p->pod->ended < c->r->end ? p->pod->ended : c->r->end;

	colour(p->pod->job, fill);
	kar_buf_printf(c->out,
		"<rect class=\"p\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"%s><title>",
		x, top + ROOM - (double)p->y * ROOM / SHARE - height, width > 0.5 ? width : 0.5, height, fill,
		p->pod->failed ? " stroke=\"#c8353f\"" : "");
	text(c->out, p->pod->name);
	kar_buf_printf(c->out, " from %s for %s%s</title></rect>\n", sim_report_time(p->pod->bound, from),
		sim_report_time(end - p->pod->bound, took), p->pod->failed ? ", failed" : "");
}

static void draw_down(const struct chart *c, const struct sim_node_record *n, int top)
{
	for (size_t i = 0; i < n->n_down; i++) {
		double x = x_of(c, n->down[i].from);

		kar_buf_printf(c->out,
			"<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"url(#%s)\"><title>%s</title></rect>\n",
			x, top, x_of(c, n->down[i].to) - x, NODE_ROW - 8,
			kar_same(n->down[i].phase, "Cordoned") ? "c" : "d", n->down[i].phase);
	}
}

static void node_row(const struct chart *c, size_t i, struct lane *lane)
{
	const struct sim_node_record *n = &c->r->nodes[i];
	int top = c->nodes_top + (int)i * NODE_ROW, use = sim_record_node_use(c->r, i, "cpu");
	double x = x_of(c, n->added);

	label(c, top + NODE_ROW / 2 - 4, n->name);
	if (use >= 0)
		kar_buf_printf(c->out, "<text class=\"u\" x=\"%d\" y=\"%d\">cpu %d%%</text>", LABEL - 8,
			top + NODE_ROW / 2 + 10, (use + 5) / 10);
	kar_buf_printf(c->out, "<rect class=\"n\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", x,
		top, x_of(c, n->removed) - x, NODE_ROW - 8);
	lane->n = 0;
	for (size_t k = 0; k < n->n_pods; k++) {
		const struct sim_pod_record *pod = &c->r->pods[n->pods[k]];
		int height = sim_record_pod_share(c->r, pod);

		height = height < LEAST ? LEAST : height > SHARE ? SHARE : height;
		drop_ended(lane, pod->bound);
		lane->items[lane->n] = (struct placed){ pod, place(lane, height), height };
		draw_pod(c, &lane->items[lane->n++], top);
	}
	draw_down(c, n, top);
}

/* ---- the picture ---- */

static void key(const struct chart *c)
{
	static const struct sim_stretch phases[] = { { .phase = "Pending" }, { .phase = "Starting" },
		{ .phase = "Running" }, { .phase = "Restarting" }, { .phase = "Suspended" } };
	char fill[48];

	for (size_t i = 0; i < KAR_LEN(phases); i++) {
		int x = LABEL + PLOT - (int)(KAR_LEN(phases) - i) * 92;

		phase_colour(&phases[i], 1, fill);
		kar_buf_printf(c->out,
			"<rect x=\"%d\" y=\"10\" width=\"10\" height=\"10\" fill=\"%s\"/><text class=\"k\" x=\"%d\" y=\"19\">%s</text>",
			x, fill, x + 14, phases[i].phase);
	}
	kar_buf_puts(c->out, "\n");
}

static void head(const struct chart *c, const char *title)
{
	int width = LABEL + PLOT + 100;

	kar_buf_printf(c->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n"
		"<style>text{font:11px system-ui,sans-serif;fill:#24292f}.t{font-size:15px;font-weight:600}"
		".l{text-anchor:end}.u{text-anchor:end;fill:#6e7781;font-size:10px}.a{text-anchor:middle;fill:#6e7781}"
		".g{stroke:#eaeef2}.n{fill:#f6f8fa;stroke:#d8dee4}.p{stroke:#fff;stroke-width:.6}.e{font-size:10px}</style>\n"
		"<defs><pattern id=\"d\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
		"<rect width=\"4\" height=\"8\" fill=\"#c8353f\" opacity=\".45\"/></pattern>"
		"<pattern id=\"c\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
		"<rect width=\"3\" height=\"8\" fill=\"#7d8590\" opacity=\".4\"/></pattern></defs>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text class=\"t\" x=\"%d\" y=\"20\">",
		width, c->height, width, c->height, MARGIN);
	text(c->out, title);
	kar_buf_puts(c->out, "</text>\n");
	key(c);
}

void sim_report_svg(const struct sim_record *r, const char *title, struct kar_buf *out)
{
	struct chart c = { .r = r, .out = out, .span = r->end > 0 ? r->end : 1 };
	struct lane lane = { .items = kar_xcalloc(r->n_pods + 1, sizeof(struct placed)) };

	c.nodes_top = HEAD + (int)r->n_jobs * JOB_ROW + GAP;
	c.height = c.nodes_top + (int)r->n_nodes * NODE_ROW + MARGIN;
	head(&c, title);
	axis(&c);
	for (size_t i = 0; i < r->n_jobs; i++)
		job_row(&c, i);
	for (size_t i = 0; i < r->n_nodes; i++)
		node_row(&c, i, &lane);
	kar_buf_puts(out, "</svg>\n");
	free(lane.items);
}

void sim_report_html(const struct sim_record *r, const char *title, struct kar_buf *out)
{
	struct kar_buf table = { .cap = out->cap };

	kar_buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
	text(out, title);
	kar_buf_puts(out,
		"</title><style>body{font:14px system-ui,sans-serif;margin:24px;color:#24292f}"
		"pre{font:12px ui-monospace,monospace;overflow:auto}svg{max-width:100%;height:auto}</style></head>\n<body>\n");
	sim_report_svg(r, title, out);
	sim_report_table(r, &table);
	kar_buf_puts(out, "<pre>");
	text(out, kar_buf_cstr(&table));
	kar_buf_puts(out, "</pre>\n</body></html>\n");
	kar_buf_release(&table);
}
