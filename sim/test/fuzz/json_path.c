/* The JSONPath of a printer column: any text finds nothing, or a part of the object; the cell has the type of the column. */
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/table.h"
#include "test/fuzz/fuzz.h"

static const char object_text[] =
	"{\"a\":{\"b c\":1,\"d.e\":\"x\"},\"l\":[{\"type\":\"Ready\",\"n\":2.5},{\"type\":\"Other\",\"b\":true},[3,[4]]],"
	"\"t\":\"2026-11-21T13:46:27Z\",\"z\":null}";

static const struct {
	const char *type;
	enum sim_kind kinds[2]; /* beside null */
} columns[] = {
	{ "string", { SIM_STRING, SIM_STRING } },
	{ "integer", { SIM_INT, SIM_INT } },
	{ "number", { SIM_INT, SIM_REAL } },
	{ "boolean", { SIM_BOOL, SIM_BOOL } },
	{ "date", { SIM_STRING, SIM_STRING } },
};

static void check_cell(const struct sim_value *object, const char *path, size_t column)
{
	struct sim_value *cell = sim_custom_cell(object, path, columns[column].type, 0);
	enum sim_kind kind = sim_kind(cell);

	FUZZ_CHECK(kind == SIM_NULL || kind == columns[column].kinds[0] || kind == columns[column].kinds[1],
		"%s: %s in a column of type %s", path, sim_kind_name(kind), columns[column].type);
	sim_unref(cell);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct sim_value *object = sim_parse(object_text, strlen(object_text), NULL);
	struct kar_buf before = { 0 }, after = { 0 };
	char *path = fuzz_text(data, n);

	sim_print(object, &before);
	for (size_t i = 0; i < KAR_LEN(columns); i++)
		check_cell(object, path, i);
	sim_print(object, &after);
	fuzz_check_same("an object that was looked at", &before, &after);
	kar_buf_release(&before);
	kar_buf_release(&after);
	sim_unref(object);
	free(path);
	return 0;
}
