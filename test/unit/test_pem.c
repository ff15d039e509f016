/* pem: base64 in three dialects, what makes PEM whole, dates of certificates, tokens that fit a header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/timefmt.h"
#include "common/kube/pem.h"
#include "pem_samples.h"

struct decode_row {
	const char *name;
	enum kar_base64 variant;
	const char *in;
	const char *out; /* NULL: refused */
	size_t bad_at;
};

static const struct decode_row decode_rows[] = {
	{ "empty_then_empty", KAR_BASE64_STD, "", "" },
	{ "no_padding_needed_then_decoded", KAR_BASE64_STD, "YWJj", "abc" },
	{ "two_pads_then_one_byte", KAR_BASE64_STD, "YQ==", "a" },
	{ "one_pad_then_two_bytes", KAR_BASE64_STD, "YWI=", "ab" },
	{ "line_breaks_then_skipped", KAR_BASE64_STD, "YW\nJj\r\nZGVm\n", "abcdef" },
	{ "high_characters_then_decoded", KAR_BASE64_STD, "++//", "\xfb\xef\xff" },
	{ "missing_padding_then_refused", KAR_BASE64_STD, "YQ", NULL, 2 },
	{ "half_the_padding_then_refused", KAR_BASE64_STD, "YQ=", NULL, 3 },
	{ "too_much_padding_then_refused", KAR_BASE64_STD, "YWJj=", NULL, 5 },
	{ "data_after_padding_then_refused", KAR_BASE64_STD, "YQ==YQ==", NULL, 4 },
	{ "single_character_then_refused", KAR_BASE64_STD, "Y", NULL, 1 },
	{ "stray_bits_then_refused", KAR_BASE64_STD, "YR==", NULL, 4 },
	{ "stray_bits_of_two_then_refused", KAR_BASE64_STD, "YWJ=", NULL, 4 },
	{ "blank_then_refused", KAR_BASE64_STD, "YW Jj", NULL, 2 },
	{ "url_alphabet_in_std_then_refused", KAR_BASE64_STD, "YW-_", NULL, 2 },
	{ "non_ascii_then_refused", KAR_BASE64_STD, "YW\xc3\xa4", NULL, 2 },
	{ "blank_in_pem_then_skipped", KAR_BASE64_PEM, " YW Jj\t", "abc" },
	{ "url_alphabet_then_decoded", KAR_BASE64_URL, "--__", "\xfb\xef\xff" },
	{ "url_without_padding_then_decoded", KAR_BASE64_URL, "YQ", "a" },
	{ "url_with_padding_then_refused", KAR_BASE64_URL, "YQ==", NULL, 4 },
	{ "url_with_line_break_then_refused", KAR_BASE64_URL, "YW\nJj", NULL, 2 },
};

static void base64_decodes(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(decode_rows); i++) {
		const struct decode_row *r = &decode_rows[i];
		struct kar_arena arena = { 0 };
		size_t n = 99, bad_at = 99;
		char *out = kar_base64_decode(&arena, r->variant, r->in, strlen(r->in), &n, &bad_at);

		if (!out != !r->out)
			fail_msg("%s: %s", r->name, out ? "accepted" : "refused");
		if (out && (n != strlen(r->out) || memcmp(out, r->out, n + 1) != 0))
			fail_msg("%s: got \"%s\" (%zu bytes)", r->name, out, n);
		if (!out && bad_at != r->bad_at)
			fail_msg("%s: blames character %zu, not %zu", r->name, bad_at, r->bad_at);
		kar_arena_release(&arena);
	}
}

static void base64_round_trips_every_length(void **state KAR_UNUSED)
{
	enum { MAX = 70 };
	unsigned char bytes[MAX];

	for (size_t i = 0; i < MAX; i++)
		bytes[i] = (unsigned char)(i * 151 + 200);
	for (size_t n = 0; n <= MAX; n++) {
		struct kar_buf text = { 0 };
		struct kar_arena arena = { 0 };
		size_t back_n, bad_at;
		char *back;

		kar_base64_encode(&text, bytes, n);
		back = kar_base64_decode(&arena, KAR_BASE64_STD, kar_buf_cstr(&text), text.n, &back_n,
			&bad_at);
		if (!back || back_n != n || memcmp(back, bytes, n) != 0)
			fail_msg("%zu bytes came back differently", n);
		assert_int_equal(text.n, (n + 2) / 3 * 4);
		kar_arena_release(&arena);
		kar_buf_release(&text);
	}
}

#define BLOCK(label, body) "-----BEGIN " label "-----\n" body "\n-----END " label "-----\n"

struct check_row {
	const char *name;
	const char *pem;
	enum kar_pem_kind kind;
	const char *error; /* NULL: fine */
};

static const struct check_row check_rows[] = {
	{ "certificate_then_fine", VALID_PEM, KAR_PEM_CERTIFICATE, NULL },
	{ "chain_then_fine", VALID_PEM EXPIRED_PEM, KAR_PEM_CERTIFICATE, NULL },
	{ "text_around_it_then_fine", "Subject: x\n" CERT_PEM "trailer", KAR_PEM_CERTIFICATE, NULL },
	{ "certificate_and_key_in_one_then_both_fine", CERT_PEM KEY_PEM, KAR_PEM_PRIVATE_KEY, NULL },
	{ "windows_line_ends_then_fine",
		"-----BEGIN CERTIFICATE-----\r\nMAA=\r\n-----END CERTIFICATE-----\r\n", KAR_PEM_CERTIFICATE,
		NULL },
	{ "rsa_key_then_fine", BLOCK("RSA PRIVATE KEY", "MAA="), KAR_PEM_PRIVATE_KEY, NULL },
	{ "ec_key_after_its_parameters_then_fine",
		BLOCK("EC PARAMETERS", "BggqhkjOPQMBBw==") BLOCK("EC PRIVATE KEY", "MAA="),
		KAR_PEM_PRIVATE_KEY, NULL },
	{ "empty_then_no_certificate", "", KAR_PEM_CERTIFICATE,
		"holds no certificate in PEM form (-----BEGIN ...)" },
	{ "der_then_no_certificate", "0\x82\x01\x01", KAR_PEM_CERTIFICATE,
		"holds no certificate in PEM form (-----BEGIN ...)" },
	{ "key_for_certificate_then_named", KEY_PEM, KAR_PEM_CERTIFICATE,
		"holds a private key where a certificate belongs" },
	{ "certificate_for_key_then_named", CERT_PEM, KAR_PEM_PRIVATE_KEY,
		"holds a certificate where a private key belongs" },
	{ "no_end_line_then_cut_off", "-----BEGIN CERTIFICATE-----\nMAA=\n", KAR_PEM_CERTIFICATE,
		"is cut off: a PEM block has no matching end line" },
	{ "other_end_line_then_cut_off", "-----BEGIN CERTIFICATE-----\nMAA=\n-----END PRIVATE KEY-----\n",
		KAR_PEM_CERTIFICATE, "is cut off: a PEM block has no matching end line" },
	{ "second_block_cut_off_then_refused", CERT_PEM "-----BEGIN CERTIFICATE-----\nMAA",
		KAR_PEM_CERTIFICATE, "is cut off: a PEM block has no matching end line" },
	{ "bad_base64_then_damaged", BLOCK("CERTIFICATE", "MA*="), KAR_PEM_CERTIFICATE,
		"holds a damaged or cut-off certificate" },
	{ "der_shorter_than_it_says_then_damaged", BLOCK("CERTIFICATE", "MAMCAQ=="), KAR_PEM_CERTIFICATE,
		"holds a damaged or cut-off certificate" },
	{ "der_longer_than_it_says_then_damaged", BLOCK("PRIVATE KEY", "MAAA"), KAR_PEM_PRIVATE_KEY,
		"holds a damaged or cut-off private key" },
	{ "no_sequence_then_damaged", BLOCK("CERTIFICATE", "AgEA"), KAR_PEM_CERTIFICATE,
		"holds a damaged or cut-off certificate" },
	{ "empty_block_then_damaged", BLOCK("CERTIFICATE", ""), KAR_PEM_CERTIFICATE,
		"holds a damaged or cut-off certificate" },
	{ "encrypted_key_then_refused", BLOCK("ENCRYPTED PRIVATE KEY", "MAA="), KAR_PEM_PRIVATE_KEY,
		"holds an encrypted private key; give it without a password" },
	{ "old_style_encrypted_key_then_refused",
		BLOCK("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nMAA="),
		KAR_PEM_PRIVATE_KEY, "holds an encrypted private key; give it without a password" },
};

static void pem_is_checked(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(check_rows); i++) {
		const struct check_row *r = &check_rows[i];
		struct kar_err err = { .msg = "" };
		int rc = kar_pem_check(r->pem, r->kind, &err);

		if (rc != (r->error ? -1 : 0) || strcmp(err.msg, r->error ? r->error : "") != 0)
			fail_msg("%s: returned %d, \"%s\"", r->name, rc, err.msg);
	}
}

/* Every proper prefix of a certificate is refused: a file read while it is written is never taken for whole. */
static void every_cut_is_noticed(void **state KAR_UNUSED)
{
	const char *last_dash = strrchr(VALID_PEM, '-');
	size_t whole = (size_t)(last_dash - VALID_PEM) + 1;

	for (size_t n = 0; n < whole; n++) {
		char cut[sizeof(VALID_PEM)] = "";
		struct kar_err err;

		memcpy(cut, VALID_PEM, n);
		if (kar_pem_check(cut, KAR_PEM_CERTIFICATE, &err) == 0)
			fail_msg("the first %zu bytes were taken for a certificate", n);
	}
}

struct date_row {
	const char *name;
	const char *pem;
	const char *not_after; /* NULL: unknown */
};

static const struct date_row date_rows[] = {
	{ "utc_time_of_version_1_then_read", EXPIRED_PEM, "2020-01-02T03:04:05Z" },
	{ "generalized_time_of_version_3_then_read", VALID_PEM, "2126-01-02T03:04:05Z" },
	{ "chain_then_the_first", EXPIRED_PEM VALID_PEM, "2020-01-02T03:04:05Z" },
	{ "key_first_then_the_certificate", KEY_PEM EXPIRED_PEM, "2020-01-02T03:04:05Z" },
	{ "no_certificate_then_unknown", KEY_PEM, NULL },
	{ "not_really_x509_then_unknown", CERT_PEM, NULL },
};

static void expiry_is_read(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(date_rows); i++) {
		const struct date_row *r = &date_rows[i];
		kar_time want = KAR_NEVER, got = kar_pem_not_after(r->pem);

		if (r->not_after)
			assert_int_equal(kar_time_parse(r->not_after, &want), 0);
		if (got != want)
			fail_msg("%s: got %lld", r->name, (long long)got);
	}
}

/* Flipping any byte of the DER must not read outside it (for the sanitizers) nor loop. */
static void damaged_certificates_are_survived(void **state KAR_UNUSED)
{
	for (size_t i = strlen("-----BEGIN CERTIFICATE-----\n"); i < sizeof(VALID_PEM) - 30; i++) {
		char pem[] = VALID_PEM;

		pem[i] = pem[i] == '/' ? 'A' : '/';
		kar_pem_not_after(pem);
	}
}

static void tokens_are_words(void **state KAR_UNUSED)
{
	static const struct {
		const char *name, *token;
		bool fine;
	} rows[] = {
		{ "word_then_fine", "eyJhbGciOi.J9~+/=-_", true },
		{ "empty_then_refused", "", false },
		{ "blank_inside_then_refused", "a b", false },
		{ "line_break_then_refused", "a\r\nX-Evil: 1", false },
		{ "delete_character_then_refused", "a\x7f", false },
		{ "non_ascii_then_refused", "t\xc3\xb6k", false },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_err err = { .msg = "" };

		if ((kar_token_check(rows[i].token, &err) == 0) != rows[i].fine)
			fail_msg("%s: %s", rows[i].name, err.msg);
		if (strstr(err.msg, "Evil"))
			fail_msg("%s: the text shows the token: %s", rows[i].name, err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64_decodes),
		cmocka_unit_test(base64_round_trips_every_length),
		cmocka_unit_test(pem_is_checked),
		cmocka_unit_test(every_cut_is_noticed),
		cmocka_unit_test(expiry_is_read),
		cmocka_unit_test(damaged_certificates_are_survived),
		cmocka_unit_test(tokens_are_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
