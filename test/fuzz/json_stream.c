/* JSON documents and lists with a member of every type: where the bytes are cut changes nothing. */
#include "common/codec/json.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/hear_zoo.h"
#include "test/fuzz/pieces.h"

static void *open_documents(struct kar_buf *heard)
{
	return kar_json_stream_new(&zoo_desc, NULL, NULL, hear_zoo, heard);
}

static void *open_list(struct kar_buf *heard)
{
	return kar_json_stream_new(&zoo_list_desc, NULL, hear_zoo, hear_list, heard);
}

static int feed(void *stream, const char *bytes, size_t n, struct kar_err *err)
{
	return kar_json_stream_feed(stream, bytes, n, err);
}

static int finish(void *stream, struct kar_err *err)
{
	return kar_json_stream_finish(stream, err);
}

static void close_stream(void *stream)
{
	kar_json_stream_free(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct fuzz_reader readers[] = {
		{ "documents", open_documents, feed, finish, close_stream },
		{ "list", open_list, feed, finish, close_stream },
	};

	for (size_t i = 0; i < KAR_LEN(readers); i++)
		fuzz_pieces(&readers[i], data, n);
	return 0;
}
