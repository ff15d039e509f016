#include "controllers/process/door.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/str.h"
#include "common/base/timefmt.h"
#include "common/kube/kubeconfig.h"
#include "common/net/cert.h"
#include "common/net/listen.h"

enum {
	RETRY = 5 * 1000,  /* ms */
	RELOAD = 5 * 1000, /* ms; a kubelet brings a new Secret within some 90 s */
	LIFETIME = 365,    /* days */
	PEM_MAX = 1 << 20,
	TLS_SHARE =
		4, /* a quarter of the thread: a handshake takes half a millisecond of it, and needs no token */
};

struct kar_door {
	struct kar_loop *loop;
	struct kar_door_options options;
	struct kar_listen_address at;
	int fd; /* -1: not open */
	struct kar_server *server;
	struct kar_server *retired; /* has the old certificate, and may still have requests to answer */
	struct kar_cert cert;       /* of .server */
	struct kar_cert_validity validity; /* of .cert */
	enum kar_cert_age told;            /* what has been logged of that */
	struct kar_timer *timer;
	char said[KAR_ERR_MSG_BYTES]; /* the trouble that was logged last; "": none */
};

static void complain(struct kar_door *d, const struct kar_err *err)
{
	if (kar_streq(d->said, err->msg))
		return;
	memcpy(d->said, err->msg, sizeof(d->said));
	kar_error(KAR_MSG("Cannot answer HTTP at an address, trying again"), KAR_S("what", d->options.what),
		KAR_S("address", d->options.address), KAR_S("err", err->msg));
}

/* Who has mounted the certificate has forgotten to exchange it. */
static void say_age(struct kar_door *d)
{
	static const char *const words[] = {
		[KAR_CERT_TOO_NEW] = "The certificate is not valid yet",
		[KAR_CERT_OLD] = "The certificate expires soon and has not been exchanged",
		[KAR_CERT_EXPIRED] = "The certificate has expired: clients that check it refuse it",
	};
	enum kar_cert_age age = kar_cert_age(&d->validity, kar_loop_wall(d->loop));
	char until[KAR_TIME_LEN];

	if (age == d->told)
		return;
	d->told = age;
	if (age == KAR_CERT_VALID)
		return;
	kar_error(KAR_MSG(words[age]), KAR_S("what", d->options.what), KAR_S("file", d->options.cert_file),
		KAR_S("notAfter", kar_time_format(d->validity.until, until)));
}

static char *read_pem(const char *path, struct kar_err *err)
{
	struct kar_arena arena = { 0 };
	size_t n;
	const char *text = kar_read_file(&arena, path, PEM_MAX, true, &n, err);
	char *copy = text ? kar_xstrndup(text, n) : NULL;

	kar_arena_wipe(&arena);
	return copy;
}

static void release_cert(struct kar_cert *c)
{
	kar_wipe_free(c->key);
	free(c->certificate);
	*c = (struct kar_cert){ 0 };
}

/* Fills in @out; all of it stays NULL for plain HTTP. */
static int load_cert(const struct kar_door *d, struct kar_cert *out, struct kar_err *err)
{
	*out = (struct kar_cert){ 0 };
	if (!d->options.tls)
		return 0;
	if (!d->options.cert_file)
		return kar_cert_make("kar-controllers", "127.0.0.1", d->options.lifetime, out, err);
	out->certificate = read_pem(d->options.cert_file, err);
	out->key = out->certificate ? read_pem(d->options.key_file, err) : NULL;
	if (out->key)
		return 0;
	release_cert(out);
	return -1;
}

/* The old one goes when it has answered what it was asked. */
static void retire(struct kar_door *d)
{
	if (!d->server)
		return;
	d->retired = d->server;
	kar_server_retire(d->retired);
}

/* One that was made here, which nobody else exchanges. */
static bool is_good(const struct kar_door *d)
{
	return d->server && d->options.tls && !d->options.cert_file &&
		kar_cert_age(&d->validity, kar_loop_wall(d->loop)) == KAR_CERT_VALID;
}

/* Names the file that is wrong. */
static int check_cert(const struct kar_door *d, const struct kar_cert *c, struct kar_cert_validity *validity,
	struct kar_err *err)
{
	const char *files[] = { d->options.cert_file, d->options.key_file };

	if (kar_cert_validity(c->certificate, validity, err))
		return files[0] ? kar_wrap(err, "%s", files[0]) : -1;
	if (kar_cert_check_key(c->certificate, c->key, err))
		return files[1] ? kar_wrap(err, "%s", files[1]) : -1;
	return 0;
}

static int serve(struct kar_door *d, struct kar_err *err)
{
	struct kar_cert cert;
	struct kar_cert_validity validity = { 0 };
	struct kar_server *s;

	if (d->retired || is_good(d))
		return 0; /* not before the one before it is gone */
	if (load_cert(d, &cert, err))
		return -1;
	if (d->server && kar_streq(cert.certificate, d->cert.certificate) &&
		kar_streq(cert.key, d->cert.key)) {
		release_cert(&cert);
		return 0;
	}
	const struct kar_server_options o = { .certificate = cert.certificate,
		.key = cert.key,
		.share = d->options.tls ? TLS_SHARE : 0,
		.on_request = d->options.on_request,
		.arg = d->options.arg };

	s = cert.certificate && check_cert(d, &cert, &validity, err)
		? NULL
		: kar_server_new(d->loop, d->fd, &o, err);
	if (!s) {
		release_cert(&cert);
		return -1;
	}
	retire(d);
	d->server = s;
	release_cert(&d->cert);
	d->cert = cert;
	d->validity = validity;
	kar_info(0, KAR_MSG("Listening"), KAR_S("what", d->options.what),
		KAR_S("address", d->options.address), KAR_I("port", kar_door_port(d)));
	return 0;
}

static int advance(struct kar_door *d, struct kar_err *err)
{
	if (d->fd < 0)
		d->fd = kar_listen_open(&d->at, err);
	return d->fd < 0 ? -1 : serve(d, err);
}

static void on_timer(void *arg)
{
	struct kar_door *d = arg;
	struct kar_err err = { 0 };
	int failed;

	if (d->retired && !kar_server_waiting(d->retired)) {
		kar_server_free(d->retired);
		d->retired = NULL;
	}
	failed = advance(d, &err);
	if (failed)
		complain(d, &err);
	else
		d->said[0] = '\0';
	if (d->server && d->options.cert_file)
		say_age(d);
	if (failed && !d->server)
		kar_timer_start(d->timer, d->options.retry);
	else if (d->options.tls)
		kar_timer_start(d->timer, d->options.reload);
}

struct kar_door *kar_door_new(struct kar_loop *l, const struct kar_door_options *o)
{
	struct kar_door *d = kar_xcalloc(1, sizeof(*d));
	int bad = kar_listen_parse(o->address, &d->at, NULL);

	assert(!bad);
	(void)bad;
	d->loop = l;
	d->options = *o;
	d->options.retry = o->retry ? o->retry : RETRY;
	d->options.reload = o->reload ? o->reload : RELOAD;
	d->options.lifetime = o->lifetime ? o->lifetime : (kar_time)LIFETIME * KAR_CERT_DAY;
	d->fd = -1;
	d->timer = kar_timer_new(l, on_timer, d);
	on_timer(d); /* before the first request to the API server */
	return d;
}

void kar_door_free(struct kar_door *d)
{
	if (!d)
		return;
	kar_timer_free(d->timer);
	kar_server_free(d->retired);
	kar_server_free(d->server);
	if (d->fd >= 0)
		close(d->fd);
	release_cert(&d->cert);
	free(d);
}

kar_time kar_door_valid_until(const struct kar_door *d)
{
	return d->validity.until;
}

uint16_t kar_door_port(const struct kar_door *d)
{
	return d->fd < 0 ? 0 : kar_listen_port(d->fd);
}
