/*
 * hear_zoo - what a stream of zoos has told, as text: equal texts are equal zoos. For one program: all functions are static.
 */
#ifndef TEST_FUZZ_HEAR_ZOO_H
#define TEST_FUZZ_HEAR_ZOO_H

#include "test/unit/zoo.h"

static int hear_zoo(void *arg, const void *zoo, struct kar_err *err KAR_UNUSED)
{
	struct kar_buf *heard = arg;

	kar_buf_puts(heard, "zoo( ");
	zoo_print(heard, zoo);
	kar_buf_puts(heard, ") ");
	return 0;
}

static int hear_list(void *arg, const void *root, struct kar_err *err KAR_UNUSED)
{
	const struct zoo_list *list = root;

	kar_buf_printf(arg, "list( %s %s ) ", list->before ? list->before : "-",
		list->after ? list->after : "-");
	return 0;
}

#endif
