/*
 * cert - a certificate for one run of a server, signed by itself; the only user of GnuTLS.
 */
#ifndef KAR_CERT_H
#define KAR_CERT_H

#include "common/err.h"

struct kar_cert {
	char *certificate, *key; /* PEM, owned */
};

/* A fresh ECDSA key and a certificate with the common name @name for "localhost" and the IPv4 address @address, valid for a year. -1 with KAR_FATAL. */
int kar_cert_make(const char *name, const char *address, struct kar_cert *out,
	struct kar_err *err) KAR_NONNULL;
void kar_cert_release(struct kar_cert *c) KAR_NONNULL;

#endif
