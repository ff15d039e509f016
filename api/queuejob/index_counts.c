#include "api/queuejob/index_counts.h"

#include "api/copy.h"
#include "common/base/buf.h"

/* A decimal number without leading zeros; false: there is none at *@at, or it is too large. */
static bool read_number(const char **at, int32_t *out)
{
	const char *c = *at;
	int64_t n = 0;

	if (*c < '0' || *c > '9' || (*c == '0' && c[1] >= '0' && c[1] <= '9'))
		return false;
	for (; *c >= '0' && *c <= '9' && n <= INT32_MAX; c++)
		n = n * 10 + (*c - '0');
	*at = c;
	*out = (int32_t)(n <= INT32_MAX ? n : 0);
	return n <= INT32_MAX;
}

/* "7-9:2" */
static bool read_run(const char **at, int32_t *first, int32_t *last, int32_t *count)
{
	if (!read_number(at, first))
		return false;
	*last = *first;
	if (**at == '-') {
		++*at;
		if (!read_number(at, last) || *last <= *first)
			return false;
	}
	if (*(*at)++ != ':')
		return false;
	return read_number(at, count) && *count > 0;
}

int32_t *kar_index_counts_parse(const char *text, int32_t n, struct kar_arena *arena)
{
	int32_t *counts = kar_arena_alloc(arena, (size_t)n + 1, sizeof(*counts));
	int32_t first, last, count, next = 0;

	while (read_run(&text, &first, &last, &count) && first >= next && (*text == ',' || !*text)) {
		for (int32_t i = first; i <= last && i < n; i++)
			counts[i] = count;
		if (!*text || last == INT32_MAX)
			break;
		next = last + 1;
		text++;
	}
	return counts;
}

const char *kar_index_counts_format(const int32_t *counts, int32_t n, struct kar_arena *arena)
{
	struct kar_buf b = { 0 };
	const char *text;

	for (int32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && counts[end] == counts[i]; end++)
			;
		if (counts[i] < 1)
			continue;
		kar_buf_printf(&b, "%s%d", b.n ? "," : "", (int)i);
		if (end > i + 1)
			kar_buf_printf(&b, "-%d", (int)end - 1);
		kar_buf_printf(&b, ":%d", (int)counts[i]);
	}
	text = kar_copy_text(arena, b.n ? kar_buf_cstr(&b) : "");
	kar_buf_release(&b);
	return text;
}
