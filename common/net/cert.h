/*
 * cert - a certificate for a server, signed by itself, and how long one is valid; the only user of GnuTLS.
 */
#ifndef KAR_CERT_H
#define KAR_CERT_H

#include "common/base/base.h"
#include "common/base/err.h"

struct kar_cert {
	char *certificate, *key; /* PEM, owned */
};

/*
 * A fresh ECDSA key and a certificate with the common name @name for "localhost" and the IPv4 address @address, valid since yesterday and
 * for @lifetime ms more. -1 with KAR_FATAL.
 */
int kar_cert_make(const char *name, const char *address, kar_time lifetime, struct kar_cert *out,
	struct kar_err *err) KAR_NONNULL;
enum { KAR_CERT_DAY = 24 * 60 * 60 * 1000 }; /* ms */

struct kar_cert_validity {
	kar_time from, until; /* wall */
};
/* Of the first certificate in @pem. -1 with KAR_FATAL: there is none. */
int kar_cert_validity(const char *pem, struct kar_cert_validity *out, struct kar_err *err) KAR_NONNULL;

/* Is @key, PEM, the one of the first certificate in @certificate? -1 with KAR_FATAL: it is not, or cannot be read. */
int kar_cert_check_key(const char *certificate, const char *key, struct kar_err *err) KAR_NONNULL;

enum kar_cert_age {
	KAR_CERT_VALID,
	KAR_CERT_TOO_NEW, /* it is not valid yet */
	KAR_CERT_OLD,     /* less than a tenth of its lifetime is left: it should have been exchanged */
	KAR_CERT_EXPIRED,
};
/* Pure. @now: wall. */
enum kar_cert_age kar_cert_age(const struct kar_cert_validity *v, kar_time now) KAR_NONNULL;

void kar_cert_release(struct kar_cert *c) KAR_NONNULL;

#endif
