/*
 * http_site - nghttpd with a certificate made by openssl(1). For one test executable: all functions are static.
 */
#ifndef KAR_TEST_HTTP_SITE_H
#define KAR_TEST_HTTP_SITE_H

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "common/base/mem.h"
#include "test/fixture/wait.h"

enum { PEM_MAX = 16 << 10 };

/* One server for all tests: its certificate is for the name kar.test only. */
static struct {
	char dir[64];
	char *cert, *key, *other_cert;
	unsigned port;
	pid_t pid;
	char url[64];
} site;

static pid_t spawn(const char *const argv[])
{
	extern char **environ;
	posix_spawn_file_actions_t quiet;
	pid_t pid = 0;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &quiet, NULL, (char *const *)(uintptr_t)argv, environ))
		pid = 0;
	posix_spawn_file_actions_destroy(&quiet);
	return pid;
}

static bool make_certificate(const char *cert, const char *key)
{
	const char *const argv[] = { "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
		"ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=kar.test", "-addext",
		"subjectAltName=DNS:kar.test", "-out", cert, "-keyout", key, NULL };
	pid_t pid = spawn(argv);
	int status = 1;

	return pid && waitpid(pid, &status, 0) == pid && status == 0;
}

static char *read_text(const char *path)
{
	char *text = kar_xcalloc(1, PEM_MAX);
	FILE *f = fopen(path, "r");

	if (f) {
		text[fread(text, 1, PEM_MAX - 1, f)] = '\0';
		fclose(f);
	}
	return text;
}

static int connect_to(unsigned port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int rc = connect(fd, (struct sockaddr *)&a, sizeof(a));

	close(fd);
	return rc;
}

static unsigned free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(fd, (struct sockaddr *)&a, n) || getsockname(fd, (struct sockaddr *)&a, &n))
		abort();
	close(fd);
	return ntohs(a.sin_port);
}

static bool is_listening(void *arg KAR_UNUSED)
{
	return connect_to(site.port) == 0;
}

static void open_site(void)
{
	char cert[96], key[96], other[96], page[96], port[8];
	const char *const argv[] = { "nghttpd", "-a", "127.0.0.1", "-d", site.dir, port, key, cert, NULL };
	struct kar_loop *l;
	FILE *f;

	snprintf(site.dir, sizeof(site.dir), "/tmp/kar-http-tls-XXXXXX");
	if (!mkdtemp(site.dir))
		return;
	snprintf(cert, sizeof(cert), "%s/cert", site.dir);
	snprintf(key, sizeof(key), "%s/key", site.dir);
	snprintf(other, sizeof(other), "%s/other", site.dir);
	snprintf(page, sizeof(page), "%s/x", site.dir);
	f = fopen(page, "w");
	if (f)
		fclose(f);
	if (!make_certificate(other, key) || !make_certificate(cert, key))
		return;
	site.cert = read_text(cert);
	site.key = read_text(key);
	site.other_cert = read_text(other);
	site.port = free_port();
	snprintf(port, sizeof(port), "%u", site.port);
	snprintf(site.url, sizeof(site.url), "https://127.0.0.1:%u/x", site.port);
	site.pid = spawn(argv);
	if (!site.pid)
		return;
	l = kar_loop_new();
	wait_until(l, is_listening, NULL);
	kar_loop_free(l);
}

static void close_site(void)
{
	static const char *const files[] = { "cert", "key", "other", "x" };
	char path[96];

	if (site.pid) {
		kill(site.pid, SIGKILL);
		waitpid(site.pid, NULL, 0);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", site.dir, files[i]);
		unlink(path);
	}
	rmdir(site.dir);
	free(site.cert);
	free(site.key);
	free(site.other_cert);
}

#endif
