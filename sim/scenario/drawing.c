#include "sim/scenario/drawing.h"

#include <stdio.h>
#include <string.h>

#include "common/base/utf8.h"

enum {
	FIRST_HUE = 80, /* red, orange and yellow are for trouble */
	HUES = 240,
	NEXT_HUE =
		91, /* the golden section of HUES: neighbours get different colours, however many there are */
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

void sim_draw_text(struct kar_buf *out, const char *s)
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

/* One of red (0), green (8) and blue (4) of a colour with @hue in twelfths of the circle and a saturation of 55 %. */
static unsigned channel(double hue, double light, int offset)
{
	double k = offset + hue >= 12 ? offset + hue - 12 : offset + hue;
	double near = k - 3 < 9 - k ? k - 3 : 9 - k, most = near > 1 ? 1 : near < -1 ? -1 : near;

	return (unsigned)((light - 0.55 * (light < 0.5 ? light : 1 - light) * most) * 255 + 0.5);
}

void sim_colour(size_t job, char out[SIM_COLOUR_LEN])
{
	sim_colour_shade(job, 0, out);
}

void sim_colour_shade(size_t job, int lighter, char out[SIM_COLOUR_LEN])
{
	double hue = (double)(FIRST_HUE + (job + 1) * NEXT_HUE % HUES) / 30, light = job % 2 ? 0.46 : 0.56;

	light += (1 - light) * lighter / 1000;
	if (job == SIZE_MAX)
		snprintf(out, SIM_COLOUR_LEN, "#9aa0a6");
	else
		snprintf(out, SIM_COLOUR_LEN, "#%02x%02x%02x", channel(hue, light, 0) & 0xff,
			channel(hue, light, 8) & 0xff, channel(hue, light, 4) & 0xff);
}

/* One edge, there or back: only where it turns. */
static void edge(struct kar_buf *out, const struct sim_area *a, const double *row, bool back)
{
	double last = -1;

	for (size_t i = 0; i < a->n; i++) {
		size_t k = back ? a->n - 1 - i : i;
		double level = a->base[k] + (row ? row[k] : 0),
		       y = a->bottom - a->height * (level < 1 ? level : 1);

		if (y < last - 0.05 || y > last + 0.05 || last < 0)
			kar_buf_printf(out, "H%.1fV%.1f",
				a->left + a->width * (double)(back ? k + 1 : k) / (double)a->n, y);
		last = y;
	}
	kar_buf_printf(out, "H%.1f", back ? a->left : a->left + a->width);
}

void sim_draw_area(struct kar_buf *out, const struct sim_area *a, const double *row, const char *fill)
{
	kar_buf_printf(out, "<path fill=\"%s\" d=\"M%.1f %d", fill, a->left, a->bottom);
	edge(out, a, row, false);
	edge(out, a, NULL, true);
	kar_buf_puts(out, "Z\"/>\n");
	for (size_t k = 0; k < a->n; k++)
		a->base[k] += row[k];
}
