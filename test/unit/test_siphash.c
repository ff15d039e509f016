#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/siphash.h"

/*
 * The hashes of 0, 1, 2 ... 32 bytes 00 01 02 ... under the key 00 01 .. 0f, as published with the reference
 * implementation and in the tests of the standard library of Rust (library/coretests/tests/hash/sip.rs, SipHash-1-3).
 */
static void published_vectors(void **state)
{
	static const uint64_t vectors[] = {
		0xabac0158050fc4dcu,
		0xc9f49bf37d57ca93u,
		0x82cb9b024dc7d44du,
		0x8bf80ab8e7ddf7fbu,
		0xcf75576088d38328u,
		0xdef9d52f49533b67u,
		0xc50d2b50c59f22a7u,
		0xd3927d989bb11140u,
		0x369095118d299a8eu,
		0x25a48eb36c063de4u,
		0x79de85ee92ff097fu,
		0x70c118c1f94dc352u,
		0x78a384b157b4d9a2u,
		0x306f760c1229ffa7u,
		0x605aa111c0f95d34u,
		0xd320d86d2a519956u,
		0xcc4fdd1a7d908b66u,
		0x9cf2689063dbd80cu,
		0x8ffc389cb473e63eu,
		0xf21f9de58d297d1cu,
		0xc0dc2f46a6cce040u,
		0xb992abfe2b45f844u,
		0x7ffe7b9ba320872eu,
		0x525a0e7fdae6c123u,
		0xf464aeb267349c8cu,
		0x45cd5928705b0979u,
		0x3a3e35e3ca9913a5u,
		0xa91dc74e4ade3b35u,
		0xfb0bed02ef6cd00du,
		0x88d93cb44ab1e1f4u,
		0x540f11d643c5e663u,
		0x2370dd1f8c21d1bcu,
		0x81157b6c16a7b60du,
	};
	const struct kar_hash_key key = { .k0 = 0x0706050403020100u, .k1 = 0x0f0e0d0c0b0a0908u };
	unsigned char text[KAR_LEN(vectors)];

	(void)state;
	for (size_t n = 0; n < KAR_LEN(vectors); n++) {
		text[n] = (unsigned char)n;
		if (kar_siphash(&key, text, n) != vectors[n])
			fail_msg("hash of %zu bytes", n);
	}
}

static void keys_differ(void **state)
{
	const struct kar_hash_key a = kar_hash_key_new(), b = kar_hash_key_new();

	(void)state;
	assert_true(a.k0 != b.k0 && a.k1 != b.k1 && a.k0 != a.k1);
	assert_true(kar_siphash(&a, "name", 4) != kar_siphash(&b, "name", 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors),
		cmocka_unit_test(keys_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
