/*
 * The picture: jobs as bars over time, nodes as lanes that their pods fill in proportion to what they ask for. It has no style
 * sheet, and colours are #rrggbb: not every program that shows SVG knows more.
 */
#include "sim/scenario/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/reasons.h"
#include "common/str.h"
#include "common/utf8.h"

#define INK "#24292f"
#define FAINT "#6e7781"
#define GROUND "#f6f8fa"
#define BORDER "#d8dee4"
#define TROUBLE "#c8353f"

#define FAILED_STROKE "stroke=\"" TROUBLE "\" stroke-width=\"1.2\""

enum {
	LABEL = 190, /* px left of the plot: names */
	QUEUE = 84,  /* px between the names and the plot, if there is more than one queue */
	PLOT = 1000, /* px of time */
	MARGIN = 16,
	HEAD = 80, /* px above the first row: title, key and axis */
	KEY = 32,  /* px above the key */
	BOX = 10,  /* px: a colour in the key */
	CHAR = 6,  /* px that a character of the key takes, about */
	GAP = 30,  /* between jobs and nodes */
	JOB_ROW = 18,
	NODE_ROW = 48,
	BAR = 12,
	TICKS = 8, /* at least, on the axis */
	SHARE = 1000,
	LEAST = 12, /* thousandths of a lane: what asks for nothing can still be seen */
	LABEL_CHARS = 26,
	QUEUE_CHARS = 13,
	FIRST_HUE = 80, /* red, orange and yellow are for trouble */
	HUES = 240,
	NEXT_HUE =
		91, /* the golden section of HUES: neighbours get different colours, however many there are */
	COLOUR_LEN = 8, /* "#rrggbb" */
};

struct chart {
	const struct sim_record *r;
	struct kar_buf *out;
	kar_time span; /* ms over PLOT px */
	int left;      /* px left of the plot */
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

	return c->left + (double)end * PLOT / (double)c->span;
}

/* One of red (0), green (8) and blue (4) of a colour with @hue in twelfths of the circle and a saturation of 55 %. */
static unsigned channel(double hue, double light, int offset)
{
	double k = offset + hue >= 12 ? offset + hue - 12 : offset + hue;
	double near = k - 3 < 9 - k ? k - 3 : 9 - k, most = near > 1 ? 1 : near < -1 ? -1 : near;

	return (unsigned)((light - 0.55 * (light < 0.5 ? light : 1 - light) * most) * 255 + 0.5);
}

static void colour(size_t job, char out[COLOUR_LEN])
{
	double hue = (double)(FIRST_HUE + (job + 1) * NEXT_HUE % HUES) / 30, light = job % 2 ? 0.46 : 0.56;

	if (job == SIZE_MAX)
		snprintf(out, COLOUR_LEN, "#9aa0a6");
	else
		snprintf(out, COLOUR_LEN, "#%02x%02x%02x", channel(hue, light, 0) & 0xff,
			channel(hue, light, 8) & 0xff, channel(hue, light, 4) & 0xff);
}

/* Names are ASCII. */
static void shortened(struct kar_buf *out, const char *name, size_t most)
{
	char cut[64];

	snprintf(cut, sizeof(cut), "%.*s", (int)most - 1, name);
	text(out, strlen(name) > most ? cut : name);
	if (strlen(name) > most)
		kar_buf_puts(out, "\u2026");
}

static void label(const struct chart *c, int y, const char *name)
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

static void phase_colour(const struct sim_stretch *s, size_t job, char out[COLOUR_LEN])
{
	if (kar_streq(s->phase, "Running"))
		colour(job, out);
	else if (sim_stretch_releases(s))
		snprintf(out, COLOUR_LEN, "#f7dc4a");
	else if (kar_streq(s->phase, "Starting"))
		snprintf(out, COLOUR_LEN, "#f0a030");
	else if (kar_streq(s->phase, "Restarting"))
		snprintf(out, COLOUR_LEN, TROUBLE);
	else if (kar_streq(s->phase, "Suspended"))
		snprintf(out, COLOUR_LEN, "#7d8590");
	else
		snprintf(out, COLOUR_LEN, "#d0d4da");
}

static void bar(const struct chart *c, size_t job, const struct sim_stretch *s, int y)
{
	double x = x_of(c, s->from), width = x_of(c, s->to) - x;
	char fill[COLOUR_LEN], from[32], took[32];

	phase_colour(s, job, fill);
	kar_buf_printf(c->out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>",
		x, y, width > 0.5 ? width : 0.5, BAR, fill);
	text(c->out, c->r->jobs[job].name);
	kar_buf_puts(c->out, ": ");
	text(c->out, sim_stretch_releases(s) ? "Releasing" : s->phase);
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
	kar_buf_printf(c->out, "<text x=\"%.1f\" y=\"%d\" font-size=\"10\">%s", x_of(c, j->ended) + 3, y,
		failed ? "failed" : "done");
	if (j->restarts)
		kar_buf_printf(c->out, ", %lld restart%s", (long long)j->restarts,
			j->restarts == 1 ? "" : "s");
	kar_buf_puts(c->out, "</text>");
}

static void job_row(const struct chart *c, size_t i)
{
	const struct sim_job_record *j = &c->r->jobs[i];
	int y = HEAD + (int)i * JOB_ROW;
	bool other = !kar_streq(j->ns, "default");
	char name[SIM_KEY_LEN];

	snprintf(name, sizeof(name), "%s%s%s", other ? j->ns : "", other ? "/" : "", j->name);
	label(c, y + BAR - 1, name);
	queue_of(c, j, y + BAR - 1);
	for (size_t k = 0; k < j->n_stretches; k++)
		bar(c, i, &j->stretches[k], y);
	result(c, j, y + BAR - 1);
	kar_buf_puts(c->out, "\n");
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
	char fill[COLOUR_LEN], from[32], took[32];
	kar_time end = p->pod->ended < c->r->end ? p->pod->ended : c->r->end;

	colour(p->pod->job, fill);
	kar_buf_printf(c->out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" %s><title>", x,
		top + ROOM - (double)p->y * ROOM / SHARE - height, width > 0.5 ? width : 0.5, height, fill,
		p->pod->failed ? FAILED_STROKE : "stroke=\"#ffffff\" stroke-width=\".6\"");
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
			kar_streq(n->down[i].phase, "Cordoned") ? "c" : "d", n->down[i].phase);
	}
}

static void node_row(const struct chart *c, size_t i, struct lane *lane)
{
	const struct sim_node_record *n = &c->r->nodes[i];
	int top = c->nodes_top + (int)i * NODE_ROW, use = sim_record_node_use(c->r, i, "cpu");
	double x = x_of(c, n->added);

	label(c, top + NODE_ROW / 2 - 4, n->name);
	if (use >= 0)
		kar_buf_printf(c->out,
			"<text x=\"%d\" y=\"%d\" text-anchor=\"end\" font-size=\"10\" fill=\"" FAINT
			"\">cpu %d%%</text>",
			LABEL - 8, top + NODE_ROW / 2 + 10, (use + 5) / 10);
	kar_buf_printf(c->out,
		"<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"" GROUND "\" stroke=\"" BORDER
		"\"/>\n",
		x, top, x_of(c, n->removed) - x, NODE_ROW - 8);
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
	static const struct {
		const char *words;
		struct sim_stretch stretch;
	} keys[] = {
		{ "Pending", { .phase = "Pending", .reason = "" } },
		{ "Starting", { .phase = "Starting", .reason = "" } },
		{ "Running: colour of the job", { .phase = "Running", .reason = "" } },
		{ "Restarting", { .phase = "Restarting", .reason = "" } },
		{ "Releasing nodes or quota", { .phase = "Restarting", .reason = kar_reason_RolledBack } },
		{ "Suspended", { .phase = "Suspended", .reason = "" } },
	};
	enum { EXAMPLES = 3 };
	char fill[COLOUR_LEN];

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
	key_text(c, key_box(c, x, GROUND, FAILED_STROKE), "Pod failed");
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
	text(c->out, title);
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
	struct lane lane = { .items = kar_xcalloc(r->n_pods + 1, sizeof(struct placed)) };

	c.nodes_top = HEAD + (int)r->n_jobs * JOB_ROW + GAP;
	c.height = c.nodes_top + (int)r->n_nodes * NODE_ROW + MARGIN;
	head(&c, title);
	axis(&c);
	for (size_t i = 0; i < r->n_jobs; i++)
		job_row(&c, i);
	for (size_t i = 0; i < r->n_nodes; i++)
		node_row(&c, i, &lane);
	kar_buf_puts(out, "</g>\n</svg>\n");
	free(lane.items);
}

void sim_report_html(const struct sim_record *r, const char *title, struct kar_buf *out)
{
	struct kar_buf table = { .cap = out->cap };

	kar_buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
	text(out, title);
	kar_buf_puts(out,
		"</title><style>body{font:14px system-ui,sans-serif;margin:24px;color:" INK
		";background:#ffffff}"
		"pre{font:12px ui-monospace,monospace;overflow:auto}svg{max-width:100%;height:auto}</style></head>\n<body>\n");
	sim_report_svg(r, title, out);
	sim_report_table(r, &table);
	kar_buf_puts(out, "<pre>");
	text(out, kar_buf_cstr(&table));
	kar_buf_puts(out, "</pre>\n</body></html>\n");
	kar_buf_release(&table);
}
