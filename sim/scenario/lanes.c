/* The lower part of the picture: queues by what they have of the cpu, nodes as lanes that their pods fill. */
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "sim/scenario/gantt.h"

/* ---- queues ---- */

static void ground(const struct chart *c, double x, double end, int top)
{
	kar_buf_printf(c->out,
		"<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"" GROUND "\" stroke=\"" BORDER
		"\"/>\n",
		x, top, end - x, NODE_ROW - 8);
}

/* The name of a queue or node, and how much of the cpu was used. */
static void lane_label(const struct chart *c, int top, const char *name, int per_cent)
{
	sim_chart_label(c, top + NODE_ROW / 2 - 4, name);
	if (per_cent >= 0)
		kar_buf_printf(c->out,
			"<text x=\"%d\" y=\"%d\" text-anchor=\"end\" font-size=\"10\" fill=\"" FAINT
			"\">cpu %d%%</text>",
			LABEL - 8, top + NODE_ROW / 2 + 10, per_cent);
}

static struct sim_area area_of(const struct chart *c, int top, double *base)
{
	size_t n = c->shares.n_steps;

	memset(base, 0, n * sizeof(*base));
	return (struct sim_area){ .left = c->left,
		.width = (double)c->shares.step * (double)n * PLOT / (double)c->span,
		.bottom = top + NODE_ROW - 8,
		.height = NODE_ROW - 8,
		.n = n,
		.base = base };
}

static size_t n_bands(const struct chart *c)
{
	return c->many || c->shares.n_queues > 1 ? c->shares.n_queues : 0;
}

/* What the queue has, and on top of it what its waiting jobs ask for, as far as there are nodes for it. */
static void queue_band(const struct chart *c, size_t q, int top)
{
	const double *used = c->shares.used + q * c->shares.n_steps;
	double base[STEPS], sum = 0;
	struct sim_area area = area_of(c, top, base);
	char fill[SIM_COLOUR_LEN];

	for (size_t k = 0; k < c->shares.n_steps; k++)
		sum += used[k];
	sim_colour(c->many ? q : SIZE_MAX, fill);
	ground(c, c->left, c->left + PLOT, top);
	lane_label(c, top, c->shares.queues[q], (int)(sum * 100 / (double)c->shares.n_steps + 0.5));
	sim_draw_area(c->out, &area, used, fill);
	sim_draw_area(c->out, &area, c->shares.asked + q * c->shares.n_steps, "#d0d4da");
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
	int *ranks; /* the highest of each job; NULL: there are no racks, so that ranks are of no interest */
};

/* The number that its name ends with. */
static int rank_of(const struct sim_pod_record *pod)
{
	const char *dash = strrchr(pod->name, '-');

	return dash ? (int)strtol(dash + 1, NULL, 10) % 1000000 : 0;
}

static int *find_ranks(const struct sim_record *r)
{
	int *ranks = r->rack_label ? kar_xcalloc(r->n_jobs + 1, sizeof(*ranks)) : NULL;

	for (size_t i = 0; i < r->n_pods && ranks; i++) {
		const struct sim_pod_record *p = &r->pods[i];

		if (p->job != SIZE_MAX && rank_of(p) > ranks[p->job])
			ranks[p->job] = rank_of(p);
	}
	return ranks;
}

/* With racks the first rank of a gang is dark, and the last one light. */
static void pod_colour(const struct lane *l, const struct sim_pod_record *pod, char out[SIM_COLOUR_LEN])
{
	enum { LIGHTEST = 650 };
	int most = l->ranks && pod->job != SIZE_MAX ? l->ranks[pod->job] : 0;

	sim_colour_shade(pod->job, most ? rank_of(pod) * LIGHTEST / most : 0, out);
}

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

static void draw_pod(const struct chart *c, const struct lane *lane, const struct placed *p, int top)
{
	enum { ROOM = NODE_ROW - 8 };
	double x = sim_chart_x(c, p->pod->bound), width = sim_chart_x(c, p->pod->ended) - x;
	double height = (double)p->height * ROOM / SHARE;
	char fill[SIM_COLOUR_LEN], from[32], took[32];
	kar_time end = p->pod->ended < c->r->end ? p->pod->ended : c->r->end;

	pod_colour(lane, p->pod, fill);
	kar_buf_printf(c->out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" %s><title>", x,
		top + ROOM - (double)p->y * ROOM / SHARE - height, width > 0.5 ? width : 0.5, height, fill,
		p->pod->failed ? FAILED_STROKE : "stroke=\"#ffffff\" stroke-width=\".6\"");
	sim_draw_text(c->out, p->pod->name);
	kar_buf_printf(c->out, " from %s for %s%s</title></rect>\n", sim_report_time(p->pod->bound, from),
		sim_report_time(end - p->pod->bound, took), p->pod->failed ? ", failed" : "");
}

static void draw_down(const struct chart *c, const struct sim_node_record *n, int top)
{
	for (size_t i = 0; i < n->n_down; i++) {
		double x = sim_chart_x(c, n->down[i].from);

		kar_buf_printf(c->out,
			"<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"url(#%s)\"><title>%s</title></rect>\n",
			x, top, sim_chart_x(c, n->down[i].to) - x, NODE_ROW - 8,
			kar_streq(n->down[i].phase, "Cordoned") ? "c" : "d", n->down[i].phase);
	}
}

static void node_areas(const struct chart *c, size_t node, int top)
{
	double base[STEPS];
	struct sim_area area = area_of(c, top, base);
	struct sim_shares shares;
	char fill[SIM_COLOUR_LEN];

	sim_shares_of(c->r, node, c->shares.step, &shares);
	for (size_t q = 0; q < shares.n_queues; q++) {
		sim_colour(q, fill);
		sim_draw_area(c->out, &area, shares.used + q * shares.n_steps, fill);
	}
	sim_shares_release(&shares);
}

static void node_row(const struct chart *c, size_t i, int top, struct lane *lane)
{
	const struct sim_node_record *n = &c->r->nodes[i];
	int use = sim_record_node_use(c->r, i, "cpu");
	double x = sim_chart_x(c, n->added);

	lane_label(c, top, n->name, use < 0 ? use : (use + 5) / 10);
	ground(c, x, sim_chart_x(c, n->removed), top);
	if (c->many)
		node_areas(c, i, top);
	lane->n = 0;
	for (size_t k = 0; k < n->n_pods && !c->many; k++) {
		const struct sim_pod_record *pod = &c->r->pods[n->pods[k]];
		int height = sim_record_pod_share(c->r, pod);

		height = height < LEAST ? LEAST : height > SHARE ? SHARE : height;
		drop_ended(lane, pod->bound);
		lane->items[lane->n] = (struct placed){ pod, place(lane, height), height };
		draw_pod(c, lane, &lane->items[lane->n], top);
		lane->n++;
	}
	draw_down(c, n, top);
}

static const char *rack_of(const struct chart *c, size_t node)
{
	return c->r->rack_label ? sim_get_text(c->r->nodes[node].labels, c->r->rack_label) : NULL;
}

/* A stripe beside the nodes of each rack, from @first to the one before @end, and its name behind them. */
static void rack_band(const struct chart *c, size_t first, size_t end, int top, bool odd)
{
	const char *name = rack_of(c, first);
	int y = top + (int)first * NODE_ROW;

	if (!name)
		return;
	kar_buf_printf(c->out, "<rect x=\"%d\" y=\"%d\" width=\"4\" height=\"%d\" fill=\"%s\"><title>",
		c->left - 6, y - 2, (int)(end - first) * NODE_ROW - 4, odd ? "#9aa4ae" : INK);
	sim_draw_text(c->out, name);
	kar_buf_printf(c->out, "</title></rect><text x=\"%d\" y=\"%d\" fill=\"" FAINT "\">",
		c->left + PLOT + 6, y + NODE_ROW / 2 - 4);
	sim_draw_text(c->out, name);
	kar_buf_puts(c->out, "</text>\n");
}

static void rack_bands(const struct chart *c, int top)
{
	size_t first = 0;
	bool odd = false;

	for (size_t i = 1; i <= c->r->n_nodes && c->r->rack_label; i++) {
		if (i < c->r->n_nodes && kar_streq(rack_of(c, i), rack_of(c, first)))
			continue;
		rack_band(c, first, i, top, odd);
		odd = !odd;
		first = i;
	}
}

static int nodes_top(const struct chart *c, int top)
{
	return top + (int)n_bands(c) * NODE_ROW + (n_bands(c) ? GAP : 0);
}

int sim_chart_lanes_end(const struct chart *c, int top)
{
	return nodes_top(c, top) + (int)c->r->n_nodes * NODE_ROW;
}

void sim_chart_lanes(const struct chart *c, int top)
{
	struct lane lane = { .items = kar_xcalloc(c->r->n_pods + 1, sizeof(struct placed)),
		.ranks = find_ranks(c->r) };

	for (size_t i = 0; i < n_bands(c); i++)
		queue_band(c, i, top + (int)i * NODE_ROW);
	for (size_t i = 0; i < c->r->n_nodes; i++)
		node_row(c, i, nodes_top(c, top) + (int)i * NODE_ROW, &lane);
	rack_bands(c, nodes_top(c, top));
	free(lane.items);
	free(lane.ranks);
}
