#include "sim/apiserver/quantity.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FAST_DIGITS = 18, /* numbers up to this long keep their text if it is canonical enough */
	FINEST = -9,      /* power of ten */
};

/* The text of a JSON string or number; numbers are printed to @room. NULL: neither. */
static const char *text_of(const struct sim_value *v, char room[KAR_QUANTITY_LEN])
{
	if (sim_kind(v) == SIM_INT) {
		snprintf(room, KAR_QUANTITY_LEN, "%lld", (long long)sim_int_of(v, 0));
		return room;
	}
	if (sim_kind(v) != SIM_REAL)
		return sim_text(v);
	double d = sim_number_of(v, 0);

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(room, KAR_QUANTITY_LEN, "%.*g", digits, d);
		if (strtod(room, NULL) == d)
			break;
	}
	return room;
}

int sim_quantity_read(const struct sim_value *v, struct kar_quantity *out, struct kar_err *err)
{
	char room[KAR_QUANTITY_LEN];
	const char *text = text_of(v, room);

	return kar_quantity_parse(text ? text : "", out, err);
}

struct kar_quantity sim_quantity_of(const struct sim_value *v)
{
	struct kar_quantity q = { 0 };

	(void)sim_quantity_read(v, &q, NULL);
	return q;
}

struct sim_value *sim_quantity_string(const struct kar_quantity *q)
{
	char text[KAR_QUANTITY_LEN];

	return sim_string(kar_quantity_text(q, text));
}

/* Zeros at the end of @digits. */
static size_t zeros_of(struct kar_str digits)
{
	size_t n = 0;

	while (n < digits.n && digits.p[digits.n - 1 - n] == '0')
		n++;
	return n;
}

static bool ends_in_thousands(struct kar_str whole, struct kar_str fraction)
{
	size_t zeros = zeros_of(fraction);

	return (zeros == fraction.n ? zeros + zeros_of(whole) : zeros) >= 3;
}

static struct kar_str digits_at(const char **p)
{
	struct kar_str run = { *p, strspn(*p, "0123456789") };

	*p += run.n;
	return run;
}

/* Of a suffix that the parser has accepted: the power of ten, or of two if it ends in "i". */
static int exponent_of(const char *suffix)
{
	static const char large[] = "KMGTPE", small[] = "mun";
	const char *at;

	if (*suffix == '\0')
		return 0;
	if (suffix[1] == 'i')
		return 10 * (int)(strchr(large, *suffix) - large + 1);
	if (suffix[1])
		return (int)kar_clamp(strtol(suffix + 1, NULL, 10), -1000, 1000);
	at = strchr(small, *suffix);
	return at ? -3 * (int)(at - small + 1)
		  : 3 * (int)(strchr(large, toupper((unsigned char)*suffix)) - large + 1);
}

/* Whether the API keeps the text of a quantity as it was written, though it is perhaps not canonical. */
static bool kept_as_written(const char *text)
{
	struct kar_str whole, fraction = { 0 };

	if (strcmp(text, "0") == 0)
		return true;
	text += strspn(text, "+-");
	text += strspn(text, "0");
	whole = digits_at(&text);
	if (*text == '.') {
		text++;
		fraction = digits_at(&text);
	}
	int exponent = exponent_of(text), scale = exponent - (int)fraction.n;

	if (*text && text[1] == 'i') /* few enough digits, and odd enough not to be worth a larger suffix */
		return whole.n > 0 && fraction.n == 0 && 14 - (int)whole.n - exponent * 3 / 10 >= 0 &&
			(strtoull(whole.p, NULL, 10) & 7) != 0;
	return whole.n > 0 && whole.n + fraction.n <= FAST_DIGITS && scale >= FINEST && scale % 3 == 0 &&
		!ends_in_thousands(whole, fraction);
}

struct sim_value *sim_quantity_canonical(const struct sim_value *v)
{
	char room[KAR_QUANTITY_LEN];
	struct kar_quantity q = { 0 };
	const char *text = text_of(v, room);

	if (!text || kar_quantity_parse(text, &q, NULL))
		return sim_ref(v);
	if (!kept_as_written(text))
		return sim_quantity_string(&q);
	return sim_kind(v) == SIM_STRING ? sim_ref(v) : sim_string(text);
}
