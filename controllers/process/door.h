/*
 * door - one address at which the manager answers HTTP: opened as soon as it can be, and again with each new certificate.
 *
 * Nothing that goes wrong here ends the process. A port that is taken and a certificate that is not there yet are logged once and
 * tried again every 5 s; the files of the certificate are read again every minute, and what cannot be used does not replace what can.
 * A certificate that was made here is made again when the last tenth of its lifetime begins; of one in files that is logged then, and
 * when it has expired: who has mounted it must exchange it.
 */
#ifndef KAR_DOOR_H
#define KAR_DOOR_H

#include "common/net/serve.h"

struct kar_door;

struct kar_door_options {
	const char *what;                 /* for the log: "metrics" */
	const char *address;              /* HOST:PORT; kar_listen_parse() accepts it */
	bool tls;                         /* else plain */
	const char *cert_file, *key_file; /* NULL: a certificate is made */
	kar_time retry, reload;           /* ms; 0: 5 s and 1 min */
	kar_time lifetime;                /* ms, of a certificate that is made; 0: a year */
	void (*on_request)(void *arg, struct kar_exchange *x, const struct kar_server_request *rq);
	void *arg;
};

/* @o is copied, its strings are borrowed. */
struct kar_door *kar_door_new(struct kar_loop *l,
	const struct kar_door_options *o) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void kar_door_free(struct kar_door *d);                              /* accepts NULL */
kar_time kar_door_valid_until(const struct kar_door *d) KAR_NONNULL; /* wall; 0: no certificate */
uint16_t kar_door_port(const struct kar_door *d) KAR_NONNULL;        /* 0: not open yet */

#endif
