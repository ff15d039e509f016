/* What the file names, in the simulated API server, by its answers: the rows are in sim/test/scenes/. */
#include "sim_script.h"

int main(void)
{
	static const char *const files[] = { "namespaces.txt" };
	struct CMUnitTest *tests = NULL;
	size_t n = 0;

	for (size_t i = 0; i < KAR_LEN(files); i++)
		script_load(files[i], &tests, &n);
	return _cmocka_run_group_tests("sim_namespace", tests, n, NULL, NULL);
}
