#include "common/net/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/stdlib.h>

enum { BACKLOG = 1024, HOST_MAX = 64 };

static void set_v4(struct kar_listen_address *out, struct in_addr ip, uint16_t port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)(void *)&out->at;

	*in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = ip };
	out->n = sizeof(*in);
	out->loopback = ntohl(ip.s_addr) >> 24 == IN_LOOPBACKNET;
}

static void set_v6(struct kar_listen_address *out, struct in6_addr ip, uint16_t port)
{
	struct sockaddr_in6 *in = (struct sockaddr_in6 *)(void *)&out->at;

	*in = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = ip };
	out->n = sizeof(*in);
	out->loopback = IN6_IS_ADDR_LOOPBACK(&ip);
}

static int set_host(struct kar_listen_address *out, const char *host, uint16_t port)
{
	struct in_addr v4 = { 0 };
	struct in6_addr v6 = IN6ADDR_ANY_INIT;
	size_t n = strlen(host);
	char inner[HOST_MAX];

	if (!n) {
		set_v6(out, v6, port);
		out->any = true;
		return 0;
	}
	if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &v4) == 1) {
		set_v4(out, v4, port);
		return 0;
	}
	if (host[0] != '[' || host[n - 1] != ']')
		return -1;
	memcpy(inner, host + 1, n - 2);
	inner[n - 2] = '\0';
	if (inet_pton(AF_INET6, inner, &v6) != 1)
		return -1;
	set_v6(out, v6, port);
	return 0;
}

int kar_listen_parse(const char *text, struct kar_listen_address *out, struct kar_err *err)
{
	const char *colon = strrchr(text, ':'), *problem = "no colon";
	struct kar_listen_address a = { 0 };
	char host[HOST_MAX] = "";
	uint16_t port = 0;

	if (colon && colon - text < HOST_MAX) {
		memcpy(host, text, (size_t)(colon - text));
		port = (uint16_t)strtonum(colon + 1, 0, UINT16_MAX, &problem);
	}
	if (problem || set_host(&a, host, port))
		return kar_fail(err, KAR_FATAL,
			"want HOST:PORT such as :8443, 127.0.0.1:8443 or [::1]:8443, got \"%s\"", text);
	*out = a;
	return 0;
}

static in_port_t port_of(const struct kar_listen_address *a)
{
	return a->at.ss_family == AF_INET ? ((const struct sockaddr_in *)(const void *)&a->at)->sin_port
					  : ((const struct sockaddr_in6 *)(const void *)&a->at)->sin6_port;
}

bool kar_listen_collides(const struct kar_listen_address *a, const struct kar_listen_address *b)
{
	if (!port_of(a) || port_of(a) != port_of(b))
		return false;
	return a->any || b->any || (a->n == b->n && memcmp(&a->at, &b->at, a->n) == 0);
}

static int bound(const struct kar_listen_address *a)
{
	int fd = socket(a->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, off = 0,
	    saved;

	if (fd < 0)
		return -1;
	/* What a former process has left open is no obstacle. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
		(a->any && a->at.ss_family == AF_INET6 &&
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off))) ||
		bind(fd, (const struct sockaddr *)&a->at, a->n) || listen(fd, BACKLOG)) {
		saved = errno;
		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

int kar_listen_open(const struct kar_listen_address *a, struct kar_err *err)
{
	int fd = bound(a);

	if (fd < 0 && a->any && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) { /* no IPv6 here */
		struct kar_listen_address v4 = *a;

		set_v4(&v4, (struct in_addr){ 0 },
			ntohs(((const struct sockaddr_in6 *)(const void *)&a->at)->sin6_port));
		fd = bound(&v4);
	}
	return fd < 0 ? kar_fail(err, KAR_RETRY, "%s", strerror(errno)) : fd;
}

uint16_t kar_listen_port(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} at = { .v6 = { 0 } };
	socklen_t n = sizeof(at);

	if (getsockname(fd, &at.any, &n))
		return 0;
	return ntohs(at.any.sa_family == AF_INET6 ? at.v6.sin6_port : at.v4.sin_port);
}
