#include "sim/test/fuzz/patching.h"

#include <string.h>

#include "sim/test/fuzz/cluster.h"
#include "test/fuzz/fuzz.h"

enum { ONE_IN = 7 /* inputs is not only tried dry */ };

static const struct target {
	enum fuzz_types types;
	const char *path;
} targets[] = {
	{ FUZZ_BUILT_IN, "/api/v1/namespaces/default/pods/a" },
	{ FUZZ_BUILT_IN, "/api/v1/namespaces/default/pods/b/status" },
	{ FUZZ_BUILT_IN, "/api/v1/namespaces/default/configmaps/c" },
	{ FUZZ_OWN, "/apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs/train" },
};

struct patch {
	const char *content_type, *options;
	struct kar_str body;
	bool again;
};

/* Returns the code. */
static int send(struct fuzz_cluster *c, const char *target, const struct patch *p, const char *dry)
{
	struct kar_buf path = { 0 }, said = { .cap = SIZE_MAX };
	struct sim_http_request rq = { .method = "PATCH", .content_type = p->content_type, .body = p->body };
	int code;

	kar_buf_printf(&path, "%s?fieldManager=m%s%s", target, p->options, dry);
	rq.target = kar_buf_cstr(&path);
	code = fuzz_send(c, &rq, &said);
	kar_buf_release(&path);
	kar_buf_release(&said);
	return code;
}

static int try_dry(const struct target *t, const struct patch *p)
{
	struct fuzz_cluster *c = fuzz_cluster(t->types, false);
	int64_t before = sim_apiserver_rv(fuzz_server(c));
	int code = send(c, t->path, p, "&dryRun=All");

	FUZZ_CHECK(sim_apiserver_rv(fuzz_server(c)) == before, "%s: the dry run has written", t->path);
	return code;
}

static void try_in_earnest(const struct target *t, const struct patch *p, int expected)
{
	struct fuzz_cluster *c = fuzz_cluster(t->types, false);
	int code = send(c, t->path, p, "");
	int64_t after = sim_apiserver_rv(fuzz_server(c));

	FUZZ_CHECK(code == expected, "%s: %d, but %d without dryRun", t->path, expected, code);
	if (p->again && code == 200) {
		code = send(c, t->path, p, "");
		FUZZ_CHECK(code == 200 && sim_apiserver_rv(fuzz_server(c)) == after,
			"%s: the second time %d, and %lld writes", t->path, code,
			(long long)(sim_apiserver_rv(fuzz_server(c)) - after));
	}
	fuzz_settle(c);
}

void fuzz_patch(const char *content_type, const char *options, bool again, const uint8_t *data, size_t n)
{
	const struct patch p = { content_type, options, { (const char *)data, n }, again };

	for (size_t i = 0; i < KAR_LEN(targets); i++) {
		int code = try_dry(&targets[i], &p);

		if (fuzz_turn(data, n, i, ONE_IN * KAR_LEN(targets)))
			try_in_earnest(&targets[i], &p, code);
	}
}
