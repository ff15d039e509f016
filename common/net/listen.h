/*
 * listen - addresses to listen on, as they are written on the command line, and sockets that listen there.
 */
#ifndef KAR_LISTEN_H
#define KAR_LISTEN_H

#include <sys/socket.h>

#include "common/base/err.h"

struct kar_listen_address {
	struct sockaddr_storage at;
	socklen_t n;
	bool any;      /* no host was named: all addresses, IPv6 and IPv4 */
	bool loopback; /* nobody but this machine reaches it */
};

/*
 * Reads HOST:PORT, where HOST is "" (all addresses), "localhost", an IPv4 address or an IPv6 address in brackets. Names are not looked
 * up: that could block. Port 0 is any that is free. KAR_FATAL: it is none of these.
 */
int kar_listen_parse(const char *text, struct kar_listen_address *out, struct kar_err *err)
	__attribute__((nonnull(1, 2)));
/* True if a socket at one of them keeps sockets off the other: one port, of one address or of all. Port 0 is never taken. */
bool kar_listen_collides(const struct kar_listen_address *a, const struct kar_listen_address *b)
	__attribute__((nonnull));
/* Returns a socket that listens, or -1 with KAR_RETRY: the port is taken, for example. The caller closes it. */
int kar_listen_open(const struct kar_listen_address *a, struct kar_err *err) __attribute__((nonnull(1)));
/* The port that the socket @fd got. */
uint16_t kar_listen_port(int fd);

#endif
