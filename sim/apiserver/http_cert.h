/*
 * http_cert - a certificate for one run of the server, signed by itself; the only user of GnuTLS.
 */
#ifndef SIM_HTTP_CERT_H
#define SIM_HTTP_CERT_H

#include "common/err.h"

struct sim_cert {
	char *certificate, *key; /* PEM, owned */
};

/* A fresh ECDSA key and a certificate for "localhost" and the IPv4 address @address, valid for a year. -1 with KAR_FATAL. */
int sim_cert_make(const char *address, struct sim_cert *out, struct kar_err *err) KAR_NONNULL;
void sim_cert_release(struct sim_cert *c) KAR_NONNULL;

#endif
