/*
 * gantt - what the parts of the picture know of each other. Private to gantt.c and lanes.c.
 */
#ifndef SIM_GANTT_H
#define SIM_GANTT_H

#include "sim/scenario/drawing.h"
#include "sim/scenario/report.h"
#include "sim/scenario/shares.h"

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
	NODE_ROW = 48, /* also of queues */
	STEPS = 250,   /* of areas, at most */
	MANY = 60,     /* jobs: more have no bar each */
	LARGEST = 12,  /* of many: these have one */
	BAR = 12,
	TICKS = 8, /* at least, on the axis */
	SHARE = 1000,
	LEAST = 12, /* thousandths of a lane: what asks for nothing can still be seen */
	LABEL_CHARS = 26,
	QUEUE_CHARS = 13,
};

struct chart {
	const struct sim_record *r;
	struct kar_buf *out;
	kar_time span; /* ms over PLOT px */
	int left;      /* px left of the plot */
	bool many;     /* jobs: what runs has the colour of its queue, and only the largest have bars */
	size_t *shown; /* jobs with bars */
	size_t n_shown;
	struct sim_shares shares;
	int height;
};

/* gantt.c */
double sim_chart_x(const struct chart *c, kar_time t) KAR_NONNULL;
void sim_chart_label(const struct chart *c, int y, const char *name) KAR_NONNULL;
/* What the colour of a job is chosen by. */
size_t sim_chart_hue(const struct chart *c, size_t job) KAR_NONNULL;

/* lanes.c: queues, then nodes, one below the other, from @top on; and where they end, in px */
int sim_chart_lanes_end(const struct chart *c, int top) KAR_NONNULL;
void sim_chart_lanes(const struct chart *c, int top) KAR_NONNULL;

#endif
