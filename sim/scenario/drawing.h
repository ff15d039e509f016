/*
 * drawing - what a picture is made of: text, colours, and areas over time.
 */
#ifndef SIM_DRAWING_H
#define SIM_DRAWING_H

#include <stddef.h>

#include "common/base/buf.h"

enum { SIM_COLOUR_LEN = 8 /* "#rrggbb" */ };

/* Any text, as XML. */
void sim_draw_text(struct kar_buf *out, const char *s) KAR_NONNULL;
/* Neighbours get different colours, and none those of trouble. SIZE_MAX: of nobody. */
void sim_colour(size_t job, char out[SIM_COLOUR_LEN]) KAR_NONNULL;

/* The same colour, lighter by so many thousandths of what it lacks of white. */
void sim_colour_shade(size_t job, int lighter, char out[SIM_COLOUR_LEN]) KAR_NONNULL;

struct sim_area {
	double left, width; /* px */
	int bottom, height; /* px; .height is 1 */
	size_t n;           /* steps over the width */
	double *base;       /* per step: how much is below, 0 to 1 */
};
/* Draws @row on top of what is there, in steps, as far as there is room; it is then below what comes next. */
void sim_draw_area(struct kar_buf *out, const struct sim_area *a, const double *row,
	const char *fill) KAR_NONNULL;

#endif
