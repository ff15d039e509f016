/* The part of the JSON writer that needs no yajl: shorthands. */
#include "common/codec/json.h"

#include <string.h>

#include "common/base/timefmt.h"

void kar_jw_key(struct kar_json_writer *w, const char *key)
{
	kar_jw_string(w, key);
}

void kar_jw_string(struct kar_json_writer *w, const char *s)
{
	kar_jw_string_n(w, s, strlen(s));
}

void kar_jw_time(struct kar_json_writer *w, kar_time wall)
{
	char text[KAR_TIME_LEN];

	kar_jw_string(w, kar_time_format(wall, text));
}

void kar_jw_kv_string(struct kar_json_writer *w, const char *key, const char *value)
{
	kar_jw_key(w, key);
	kar_jw_string(w, value);
}

void kar_jw_kv_int(struct kar_json_writer *w, const char *key, int64_t value)
{
	kar_jw_key(w, key);
	kar_jw_int(w, value);
}

void kar_jw_kv_bool(struct kar_json_writer *w, const char *key, bool value)
{
	kar_jw_key(w, key);
	kar_jw_bool(w, value);
}

void kar_jw_kv_time(struct kar_json_writer *w, const char *key, kar_time wall)
{
	kar_jw_key(w, key);
	kar_jw_time(w, wall);
}
