/*
 * Lines as in sim/test/fuzz/cluster.h, said to an API server with a few objects: it answers each as sim/test/fuzz/cluster.h demands,
 * answers the same once more, and stays usable.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/test/fuzz/cluster.h"
#include "test/fuzz/fuzz.h"

enum { LINES = 20, ONE_IN = 8 /* inputs is tried twice */ };

static void converse(const uint8_t *data, size_t n, bool fresh, struct kar_buf *said)
{
	struct fuzz_cluster *c = fuzz_cluster(fuzz_types_of(data, n), fresh);
	char *text = fuzz_text(data, n), *rest = text;

	for (int i = 0; i < LINES && rest; i++)
		fuzz_say(c, strsep(&rest, "\n"), said);
	fuzz_settle(c);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct kar_buf once = { .cap = SIZE_MAX }, twice = { .cap = SIZE_MAX };
	bool try_twice = fuzz_turn(data, n, 0, ONE_IN);

	converse(data, n, try_twice, &once);
	if (try_twice) {
		converse(data, n, true, &twice);
		fuzz_check_same("the same conversation", &once, &twice);
	}
	kar_buf_release(&once);
	kar_buf_release(&twice);
	return 0;
}
