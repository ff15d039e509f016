/*
 * http_sock - the descriptors of one libcurl multi handle and what they wait for; for http_curl.c.
 *
 * A watcher never outlives its descriptor; http_curl.c opens and closes the descriptors itself and drops the
 * watcher before close(). Dropping or noting an unknown descriptor does nothing, because libcurl does that.
 */
#ifndef KAR_HTTP_SOCK_H
#define KAR_HTTP_SOCK_H

#include "common/base/base.h"
#include "common/loop/loop.h"

struct kar_socks;

/* @fn is called with the descriptor and its KAR_IO_* events; it may drop it and free the whole table. */
struct kar_socks *kar_socks_new(struct kar_loop *l, kar_io_fn *fn, void *arg) KAR_MUSTUSE KAR_RETNN;
void kar_socks_free(struct kar_socks *t); /* accepts NULL; closes nothing */

/*
 * A new TCP or other stream socket: not blocking, close-on-exec, dead peers are noticed. -1 and errno on
 * failure.
 */
int kar_sock_open(int family, int type, int protocol) KAR_MUSTUSE;

/* Waits for @events of @fd from now on. */
void kar_socks_want(struct kar_socks *t, int fd, int events) KAR_NONNULL;
void kar_socks_drop(struct kar_socks *t, int fd) KAR_NONNULL;
/*
 * Says whether handling the last event of @fd moved a byte. When the HTTP/2 window of an upload is used up,
 * libcurl goes on waiting for writability, which is always there, and the loop would spin until the server
 * opens the window. A descriptor that was only writable several times in a row without a byte moving is
 * left alone for 5 ms, or until something can be read (the WINDOW_UPDATE).
 */
void kar_socks_note(struct kar_socks *t, int fd, int events, bool moved) KAR_NONNULL;

#endif
