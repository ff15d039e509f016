/*
 * Patterns, by PCRE2. RE2, which the API server uses, is a part of its language but for a few spellings; what only PCRE2 has
 * (look-ahead, back references) is not refused.
 */
#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "sim/apiserver/schema_impl.h"

enum { STEPS = 100000, HEAP_KIB = 4096 }; /* of one match; RE2 needs no limit */

int schema_pattern_compile(struct sim_schema *s, struct schema_node *n, const char *pattern,
	struct kar_err *err)
{
	struct schema_regex *r = kar_arena_alloc(&s->arena, 1, sizeof(*r));
	size_t at;
	int why;

	r->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_DOLLAR_ENDONLY,
		&why, &at, NULL);
	if (!r->code) {
		PCRE2_UCHAR text[128];

		pcre2_get_error_message(why, text, sizeof(text));
		return kar_fail(err, KAR_INVALID,
			"must be a valid regular expression, but isn't: error parsing regexp: %s",
			(char *)text);
	}
	SLIST_INSERT_HEAD(&s->regexes, r, link);
	n->pattern = pattern;
	n->regex = r;
	return 0;
}

bool schema_pattern_allows(const struct schema_regex *r, const char *text)
{
	pcre2_match_data *data = pcre2_match_data_create_from_pattern(r->code, NULL);
	pcre2_match_context *limits = pcre2_match_context_create(NULL);

	if (!data || !limits)
		abort();
	pcre2_set_match_limit(limits, STEPS);
	pcre2_set_heap_limit(limits, HEAP_KIB);
	int found = pcre2_match(r->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0, data, limits);

	pcre2_match_context_free(limits);
	pcre2_match_data_free(data);
	return found != PCRE2_ERROR_NOMATCH;
}

void schema_patterns_free(struct sim_schema *s)
{
	struct schema_regex *r;

	SLIST_FOREACH(r, &s->regexes, link)
		pcre2_code_free(r->code);
}
