/* The values of flags: what each kind accepts. */
#include "controllers/process/options_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "common/base/timefmt.h"

enum { LABEL_MAX = 63, NAME_MAX_BYTES = 253, RANGE_LEN = 128 };

const char *kar_flag_metavar(const struct kar_flag *f)
{
	static const char *const metavar[] = {
		[KAR_FLAG_STRING] = "string",
		[KAR_FLAG_NAME] = "name",
		[KAR_FLAG_NAMESPACE] = "name",
		[KAR_FLAG_COUNT] = "int",
		[KAR_FLAG_DECIMAL] = "number",
		[KAR_FLAG_PART] = "number",
		[KAR_FLAG_DURATION] = "duration",
		[KAR_FLAG_PRIORITY] = "int|off",
		[KAR_FLAG_FORMAT] = "text|json",
		[KAR_FLAG_BACKEND] = "Auto|Gates|Native",
		[KAR_FLAG_BOOL] = "",
	};

	return metavar[f->kind];
}

static int set_count(int *out, const char *text, const struct kar_flag *f)
{
	const char *problem;
	int v = (int)strtonum(text, f->min, f->max, &problem);

	if (problem)
		return -1;
	*out = v;
	return 0;
}

static int set_decimal(double *out, const char *text, const struct kar_flag *f)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (errno || end == text || *end || !isfinite(v) || v < (double)f->min || v > (double)f->max)
		return -1;
	*out = v;
	return 0;
}

static int set_part(int32_t *out, const char *text, const struct kar_flag *f)
{
	double v;

	if (set_decimal(&v, text, f) || v < 0.001) /* 0 would be the default */
		return -1;
	*out = (int32_t)(v * 1000 + 1e-6);
	return 0;
}

static int set_duration(kar_time *out, const char *text, const struct kar_flag *f)
{
	kar_time v;

	if (kar_duration_parse(text, &v) || v < f->min || v > f->max)
		return -1;
	*out = v;
	return 0;
}

static int set_priority(struct kar_preemptible_limit *out, const char *text, const struct kar_flag *f)
{
	struct kar_preemptible_limit v = { .on = strcmp(text, "off") != 0 };
	const char *problem = NULL;

	if (v.on)
		v.below = (int32_t)strtonum(text, f->min, f->max, &problem);
	if (problem)
		return -1;
	*out = v;
	return 0;
}

static int set_bool(bool *out, const char *text)
{
	if (strcmp(text, "true") && strcmp(text, "false"))
		return -1;
	*out = text[0] == 't';
	return 0;
}

static int set_format(const char **out, const char *text)
{
	if (strcmp(text, "text") && strcmp(text, "json"))
		return -1;
	*out = text;
	return 0;
}

static int set_backend(enum kar_gang_backend *out, const char *text)
{
	static const char *const names[] = {
		[KAR_GANGS_BY_GATES] = "Gates",
		[KAR_GANGS_BY_NATIVE] = "Native",
		[KAR_GANGS_BY_EITHER] = "Auto",
	};

	for (size_t i = 0; i < KAR_LEN(names); i++) {
		if (!strcmp(text, names[i])) {
			*out = (enum kar_gang_backend)i;
			return 0;
		}
	}
	return -1;
}

/* Lower-case letters, digits and dashes, at most 63 and none of the dashes at an end, as the API server wants of names (RFC 1123). */
static bool is_label(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool inside = i > 0 && i + 1 < n;
		char c = text[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c == '-' && inside)))
			return false;
	}
	return n > 0 && n <= LABEL_MAX;
}

static int set_namespace(const char **out, const char *text)
{
	*out = text;
	return is_label(text, strlen(text)) ? 0 : -1;
}

/* Labels with dots between them. */
static int set_name(const char **out, const char *text)
{
	*out = text;
	if (strlen(text) > NAME_MAX_BYTES)
		return -1;
	for (;; text++) {
		size_t n = strcspn(text, ".");

		if (!is_label(text, n))
			return -1;
		text += n;
		if (!*text)
			return 0;
	}
}

int kar_flag_convert(const struct kar_flag *f, struct kar_options *o, const char *text)
{
	void *at = (char *)o + f->offset;

	switch (f->kind) {
	case KAR_FLAG_STRING:
		*(const char **)at = text;
		return 0;
	case KAR_FLAG_NAME:
		return set_name(at, text);
	case KAR_FLAG_NAMESPACE:
		return set_namespace(at, text);
	case KAR_FLAG_COUNT:
		return set_count(at, text, f);
	case KAR_FLAG_DECIMAL:
		return set_decimal(at, text, f);
	case KAR_FLAG_PART:
		return set_part(at, text, f);
	case KAR_FLAG_DURATION:
		return set_duration(at, text, f);
	case KAR_FLAG_PRIORITY:
		return set_priority(at, text, f);
	case KAR_FLAG_FORMAT:
		return set_format(at, text);
	case KAR_FLAG_BACKEND:
		return set_backend(at, text);
	default:
		return set_bool(at, text);
	}
}

/* As a user would write it. */
static const char *print_duration(kar_time ms, char out[KAR_TIME_LEN])
{
	static const struct {
		const char *unit;
		kar_time ms;
	} units[] = { { "h", 3600 * KAR_SECOND }, { "s", KAR_SECOND }, { "ms", 1 } };
	size_t i = 0;

	while (units[i].ms > 1 && (ms % units[i].ms || (!ms && units[i].ms > KAR_SECOND)))
		i++;
	snprintf(out, KAR_TIME_LEN, "%lld%s", (long long)(ms / units[i].ms), units[i].unit);
	return out;
}

static const char *wanted(const struct kar_flag *f, char out[RANGE_LEN])
{
	static const char *const want[] = {
		[KAR_FLAG_NAME] = "lower-case letters, digits, '-' and '.', such as kar-controllers",
		[KAR_FLAG_NAMESPACE] =
			"the name of a namespace: lower-case letters, digits and '-', at most 63",
		[KAR_FLAG_PRIORITY] = "a priority such as 0 or -10, or off",
		[KAR_FLAG_FORMAT] = "text or json",
		[KAR_FLAG_BACKEND] = "Auto, Gates or Native",
		[KAR_FLAG_BOOL] = "true or false",
	};
	char min[KAR_TIME_LEN], max[KAR_TIME_LEN];

	if (f->kind == KAR_FLAG_DURATION)
		snprintf(out, RANGE_LEN, "a duration from %s to %s such as 90s or 5m",
			print_duration(f->min, min), print_duration(f->max, max));
	else if (f->kind == KAR_FLAG_COUNT || f->kind == KAR_FLAG_DECIMAL || f->kind == KAR_FLAG_PART)
		snprintf(out, RANGE_LEN, "a %snumber from %lld to %lld",
			f->kind == KAR_FLAG_COUNT ? "whole " : "", (long long)f->min, (long long)f->max);
	else
		return want[f->kind];
	return out;
}

int kar_flag_set(struct kar_options *o, const struct kar_flag *f, const char *text, const char *dashes,
	struct kar_err *err)
{
	char range[RANGE_LEN];

	if (kar_flag_convert(f, o, text))
		return kar_fail(err, KAR_FATAL, "%s%s: want %s, got \"%.200s\"", dashes, f->name,
			wanted(f, range), text);
	return 0;
}
