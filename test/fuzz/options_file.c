/* The --config file: it is refused as fatal with its path, or every option has a value within its bounds. */
#include <math.h>
#include <string.h>

#include "controllers/process/options.h"
#include "test/fuzz/fuzz.h"

static void check(const struct kar_options *o)
{
	FUZZ_CHECK(isfinite(o->client.qps) && o->client.qps >= 0, "qps %g", o->client.qps);
	FUZZ_CHECK(o->client.burst >= 0 && o->client.max_in_flight_writes >= 0 && o->verbosity >= 0,
		"a negative count");
	FUZZ_CHECK(o->settings.schedule_timeout >= 0, "schedule-timeout %lld",
		(long long)o->settings.schedule_timeout);
	FUZZ_CHECK(!strcmp(o->logging_format, "text") || !strcmp(o->logging_format, "json"), "format %s",
		o->logging_format);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char program[] = "kar-controllers", flag[] = "--config", path[64];
	char *argv[] = { program, flag, path, NULL };
	struct kar_options options;
	struct kar_arena arena = { 0 };
	struct kar_err err = { 0 };

	strcpy(path, fuzz_file(data, n));
	if (kar_options_parse(&options, &arena, 3, argv, &err) == 0) {
		check(&options);
	} else {
		fuzz_check_error(&err);
		FUZZ_CHECK(err.what == KAR_FATAL && strstr(err.msg, path), "%s: %s",
			kar_err_class_name(err.what), err.msg);
	}
	kar_arena_release(&arena);
	return 0;
}
