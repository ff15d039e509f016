/* Selectors of devices (common/device/selector.h): each row is what CEL of Kubernetes 1.37 says, or is not read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/device/selector.h"

static const char *const attributes[] = {
	"type=sgpu",
	"gpu.example.com/productName=sNVIDIA H100 80GB",
	"other.io/slot=i3",
	"ecc=btrue",
	"driverVersion=v570.86.10",
	"odd=v1.2.3-rc.1",
	"links=?",
};
static const char *const capacity[] = {
	"memory=q80Gi",
};
static const struct kar_device_view device = { .driver = "gpu.example.com",
	.attributes = attributes,
	.n_attributes = KAR_LEN(attributes),
	.capacity = capacity,
	.n_capacity = KAR_LEN(capacity) };

#define A "device.attributes[\"gpu.example.com\"]"
#define C "device.capacity['gpu.example.com']"

static const struct {
	const char *expression;
	enum kar_match want;
} rows[] = {
	{ "device.driver == 'gpu.example.com'", KAR_MATCH },
	{ "device.driver == \"other\"", KAR_NO_MATCH },
	{ "device.driver == 'gpu.example.com' && " A ".type == 'gpu'", KAR_MATCH },
	{ "device.driver == 'gpu.example.com' && " A ".type == 'mig'", KAR_NO_MATCH },
	{ "  ( device.driver=='x'||" A ".ecc )\n", KAR_MATCH },
	{ "!(" A ".ecc)", KAR_NO_MATCH },
	{ "!!" A ".ecc", KAR_MATCH },
	{ A ".ecc == true", KAR_MATCH },
	{ A "['type'] == 'gpu'", KAR_MATCH },
	{ "device.attributes['other.io'].slot == 3", KAR_MATCH },
	{ "device.attributes['other.io'].slot in [1, 3]", KAR_MATCH },
	{ "device.attributes['other.io'].slot in [1, 2]", KAR_NO_MATCH },
	{ "device.attributes['other.io'].slot >= 3 && device.attributes['other.io'].slot < 4", KAR_MATCH },
	{ "device.attributes['other.io'].slot != 3", KAR_NO_MATCH },
	{ "'other.io' in device.attributes", KAR_MATCH },
	{ "'gpu.example.com' in device.attributes", KAR_MATCH },
	{ "'none.io' in device.attributes", KAR_NO_MATCH },
	{ A ".productName.startsWith('NVIDIA')", KAR_MATCH },
	{ A ".productName.endsWith('40GB')", KAR_NO_MATCH },
	{ A ".productName.contains('H100')", KAR_MATCH },
	{ A ".productName.matches('^NVIDIA (H100|H200) .*$')", KAR_MATCH },
	{ A ".productName.matches('^A100')", KAR_NO_MATCH },
	{ C ".memory.compareTo(quantity('40Gi')) >= 0", KAR_MATCH },
	{ C ".memory.compareTo(quantity('81920Mi')) == 0", KAR_MATCH },
	{ C ".memory.compareTo(quantity('96Gi')) > 0", KAR_NO_MATCH },
	{ A ".driverVersion.compareTo(semver('570.0.0')) >= 0", KAR_MATCH },
	{ A ".driverVersion.compareTo(semver('571.0.0')) >= 0", KAR_NO_MATCH },
	{ "has(" A ".type)", KAR_MATCH },
	{ "has(" A ".nothing)", KAR_NO_MATCH },
	{ "true", KAR_MATCH },
	/* What is not there fails, and so does all that depends on it. */
	{ A ".nothing == 'x'", KAR_MATCH_FAILED },
	{ A ".nothing != 'x'", KAR_MATCH_FAILED },
	{ "!(" A ".nothing == 'x')", KAR_MATCH_FAILED },
	{ A ".nothing == 'x' || " A ".type == 'gpu'", KAR_MATCH },
	{ "device.attributes['none.io'].type == 'gpu'", KAR_MATCH_FAILED },
	/* What is not read is never guessed. */
	{ "", KAR_MATCH_UNKNOWN },
	{ "device", KAR_MATCH_UNKNOWN },
	{ "device.driver", KAR_MATCH_UNKNOWN },
	{ "device.driver = 'x'", KAR_MATCH_UNKNOWN },
	{ "device.driver == 'gpu.example.com' &&", KAR_MATCH_UNKNOWN },
	{ "device.driver == 'a\\'b'", KAR_MATCH_UNKNOWN },
	{ "device.shape == 1", KAR_MATCH_UNKNOWN },
	{ "device.attributes['other.io'].slot + 1 == 4", KAR_MATCH_UNKNOWN },
	{ "device.attributes.exists(d, d == 'other.io')", KAR_MATCH_UNKNOWN },
	{ "cel.bind(x, 1, x == 1)", KAR_MATCH_UNKNOWN },
	{ A ".type == 3", KAR_MATCH_UNKNOWN },
	{ A ".odd.compareTo(semver('1.2.3')) >= 0", KAR_MATCH_UNKNOWN },
	{ A ".links == 'a'", KAR_MATCH_UNKNOWN },
	{ "'a' in " A ".links", KAR_MATCH_UNKNOWN },
	{ "has(" A ".links)", KAR_MATCH_UNKNOWN },
	{ A ".productName.matches('\\\\d+')", KAR_MATCH_UNKNOWN },
	{ A ".productName.matches('[0-9]{2}')", KAR_MATCH_UNKNOWN },
	{ A ".productName.matches('(((N)+)+)+')", KAR_MATCH_UNKNOWN }, /* memory doubles with each level */
	{ "device.driver == 'gpu.example.com' ? true : false", KAR_MATCH_UNKNOWN },
	{ "((((((((((((((((((((((((((((((((((((((((true))))))))))))))))))))))))))))))))))))))))",
		KAR_MATCH_UNKNOWN },
	{ "device.attributes['other.io'].slot == 99999999999999999999", KAR_MATCH_UNKNOWN },
	/* But the other side may decide. */
	{ "device.driver == 'x' && device.shape == 1", KAR_NO_MATCH },
	{ "device.driver == 'x' && device.attributes.exists(d, true)", KAR_MATCH_UNKNOWN },
	{ "device.driver == 'x' && " A ".odd.compareTo(semver('1.0.0')) > 0", KAR_NO_MATCH },
};

static void each_row_matches(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		enum kar_match got = kar_selector_match(rows[i].expression, &device);

		if (got != rows[i].want)
			fail_msg("%s: %d, not %d", rows[i].expression, (int)got, (int)rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_row_matches) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
