/* ConfigMaps and Secrets. */
#include <string.h>

#include "sim/apiserver/strategy.h"

static const char immutable_text[] = "field is immutable when `immutable` is set";

enum { KEY_MAX = 253, DATA_MAX = 1 << 20 /* bytes of all values */ };

static struct sim_complaints check_config_key(const char *key)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
	struct sim_complaints c = { 0 };
	size_t n = strlen(key);

	if (n > KEY_MAX)
		c.text[c.n++] = "must be no more than 253 characters";
	if (n == 0 || strspn(key, allowed) != n)
		c.text[c.n++] =
			"a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
			"'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
	if (!strcmp(key, "."))
		c.text[c.n++] = "must not be '.'";
	else if (!strcmp(key, ".."))
		c.text[c.n++] = "must not be '..'";
	else if (!strncmp(key, "..", 2))
		c.text[c.n++] = "must not start with '..'";
	return c;
}

/* Bytes that a text in base64 stands for. */
static size_t decoded_size(const char *text)
{
	size_t n = strlen(text), padding = 0;

	while (padding < n && text[n - padding - 1] == '=')
		padding++;
	return n / 4 * 3 - (padding < 3 ? padding : 0);
}

/* Returns the size of the values. */
static size_t check_data(struct sim_write *w, const char *member, bool base64)
{
	const struct sim_value *data = sim_member(*w->new, member);
	size_t total = 0;

	if (data == sim_member(w->old, member) && data)
		return 0;
	for (struct sim_member m = sim_first(data); m.value; m = sim_next(m)) {
		const char *text = sim_text_or(m.value, "");
		struct sim_value *key = sim_string(m.key);

		total += base64 ? decoded_size(text) : strlen(text);
		sim_cause_grammar(&w->causes, SIM_AT_KEY(SIM_AT(NULL, member), m.key), key, check_config_key);
		if (!base64 && sim_get(*w->new, "binaryData", m.key))
			sim_cause_invalid(&w->causes, SIM_AT_KEY(SIM_AT(NULL, member), m.key), key,
				"duplicate of key present in binaryData");
		sim_unref(key);
	}
	return total;
}

static void check_immutable(struct sim_write *w, const char *const *members)
{
	if (!sim_bool_of(sim_member(w->old, "immutable"), false))
		return;
	if (!sim_bool_of(sim_member(*w->new, "immutable"), false))
		sim_cause_forbidden(&w->causes, SIM_AT(NULL, "immutable"), "%s", immutable_text);
	for (; *members; members++) {
		if (!sim_equal(sim_member(w->old, *members), sim_member(*w->new, *members)))
			sim_cause_forbidden(&w->causes, SIM_AT(NULL, *members), "%s", immutable_text);
	}
}

static void validate_map(struct sim_write *w)
{
	static const char *const members[] = { "data", "binaryData", NULL };

	if (check_data(w, "data", false) + check_data(w, "binaryData", true) > DATA_MAX)
		sim_cause_add(&w->causes, "FieldValueTooLong", "[]",
			"Too long: may not be more than %d bytes", DATA_MAX);
	check_immutable(w, members);
}

const struct sim_strategy sim_strategy_config_map = { .validate = validate_map };

/* ---- secrets ---- */

static void append_base64(struct kar_buf *out, const char *text, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i < 3 ? n - i : 3;
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (k < left ? (unsigned char)text[i + k] : 0u);
		for (size_t k = 0; k < 4; k++)
			kar_buf_append(out, k <= left ? &digits[bits >> (18 - 6 * k) & 63] : "=", 1);
	}
}

/* stringData is for writers only: it becomes data. */
static void default_secret(struct sim_write *w)
{
	struct sim_value *plain KAR_CLEANUP(sim_cleanup_value) = NULL;

	if (!*sim_text_or(sim_member(*w->new, "type"), ""))
		sim_set_text(w->new, "Opaque", "type");
	if (!sim_member(*w->new, "stringData"))
		return;
	plain = sim_ref(sim_member(*w->new, "stringData"));
	for (struct sim_member m = sim_first(plain); m.value; m = sim_next(m)) {
		struct kar_buf encoded KAR_CLEANUP(kar_cleanup_buf) = { 0 };
		const char *text = sim_text_or(m.value, "");

		append_base64(&encoded, text, strlen(text));
		sim_set_text(w->new, kar_buf_cstr(&encoded), "data", m.key);
	}
	sim_remove(w->new, "stringData");
}

static void validate_secret(struct sim_write *w)
{
	static const char *const members[] = { "data", NULL };

	if (check_data(w, "data", true) > DATA_MAX)
		sim_cause_add(&w->causes, "FieldValueTooLong", "data",
			"Too long: may not be more than %d bytes", DATA_MAX);
	if (w->old && !sim_equal(sim_member(w->old, "type"), sim_member(*w->new, "type")))
		sim_cause_invalid(&w->causes, SIM_AT(NULL, "type"), sim_member(*w->new, "type"),
			"field is immutable");
	check_immutable(w, members);
}

static const char *secret_field(const struct sim_value *secret, const char *name)
{
	return strcmp(name, "type") == 0 ? sim_text_or(sim_member(secret, "type"), "") : NULL;
}

const struct sim_strategy sim_strategy_secret = {
	.default_ = default_secret,
	.validate = validate_secret,
	.field = secret_field,
};
