/* A kubeconfig file: it is refused as fatal with its path, or says where the server is. */
#include <string.h>

#include "common/kube/kubeconfig.h"
#include "test/fuzz/fuzz.h"

static const char *no_environment(const char *name KAR_UNUSED)
{
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct kar_kubeconfig_options options = { .kubeconfig = fuzz_file(data, n),
		.getenv = no_environment };
	struct kar_kubeconfig config = { 0 };
	struct kar_arena arena = { 0 };
	struct kar_err err = { 0 };

	if (kar_kubeconfig_load(&arena, &options, &config, &err)) {
		fuzz_check_error(&err);
		FUZZ_CHECK(err.what == KAR_FATAL && strstr(err.msg, options.kubeconfig), "%s: %s",
			kar_err_class_name(err.what), err.msg);
	} else {
		FUZZ_CHECK(!strncmp(config.server, "http", 4) && *config.ns && *config.source,
			"server %s, namespace %s", config.server, config.ns);
		FUZZ_CHECK(!config.proxy_url || strstr(config.proxy_url, "://"), "proxy %s",
			config.proxy_url);
		FUZZ_CHECK(!config.exec || *config.exec->command, "a plug-in without command");
	}
	kar_arena_release(&arena);
	return 0;
}
