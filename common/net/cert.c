#include "common/net/cert.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bsd/stdlib.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "common/base/mem.h"

enum { SERIAL_LEN = 16, OLD = 10 /* parts of a lifetime, of which the last is old age */ };

static int set_names(gnutls_x509_crt_t cert, const char *name, const char *address)
{
	struct in_addr ip;

	if (inet_pton(AF_INET, address, &ip) != 1)
		return GNUTLS_E_INVALID_REQUEST;
	int r = gnutls_x509_crt_set_dn_by_oid(cert, GNUTLS_OID_X520_COMMON_NAME, 0, name,
		(unsigned)strlen(name));

	if (!r)
		r = gnutls_x509_crt_set_subject_alt_name(cert, GNUTLS_SAN_DNSNAME, "localhost", 9,
			GNUTLS_FSAN_SET);
	if (!r)
		r = gnutls_x509_crt_set_subject_alt_name(cert, GNUTLS_SAN_IPADDRESS, &ip, sizeof(ip),
			GNUTLS_FSAN_APPEND);
	return r;
}

/* It is its own authority, so that clients can be told to trust it and nothing else. */
static int fill(gnutls_x509_crt_t cert, gnutls_x509_privkey_t key, const char *name, const char *address,
	kar_time lifetime)
{
	unsigned char serial[SERIAL_LEN];
	time_t now = time(NULL);
	int r;

	arc4random_buf(serial, sizeof(serial));
	serial[0] = (serial[0] & 0x7f) | 1; /* positive, and not zero */
	r = gnutls_x509_crt_set_version(cert, 3);
	if (!r)
		r = gnutls_x509_crt_set_key(cert, key);
	if (!r)
		r = gnutls_x509_crt_set_serial(cert, serial, sizeof(serial));
	if (!r)
		r = gnutls_x509_crt_set_activation_time(cert, now - KAR_CERT_DAY / KAR_SECOND);
	if (!r)
		r = gnutls_x509_crt_set_expiration_time(cert, now + lifetime / KAR_SECOND);
	if (!r)
		r = gnutls_x509_crt_set_basic_constraints(cert, 1, 0);
	if (!r)
		r = gnutls_x509_crt_set_key_usage(cert,
			GNUTLS_KEY_DIGITAL_SIGNATURE | GNUTLS_KEY_KEY_CERT_SIGN);
	if (!r)
		r = gnutls_x509_crt_set_key_purpose_oid(cert, GNUTLS_KP_TLS_WWW_SERVER, 0);
	if (!r)
		r = set_names(cert, name, address);
	if (!r)
		r = gnutls_x509_crt_sign2(cert, cert, key, GNUTLS_DIG_SHA256, 0);
	return r;
}

static char *take(gnutls_datum_t *d)
{
	char *text = kar_xstrndup((const char *)d->data, d->size);

	gnutls_free(d->data);
	return text;
}

static int export(gnutls_x509_crt_t cert, gnutls_x509_privkey_t key, struct kar_cert *out)
{
	gnutls_datum_t c = { 0 }, k = { 0 };
	int r = gnutls_x509_crt_export2(cert, GNUTLS_X509_FMT_PEM, &c);

	if (r)
		return r;
	r = gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &k);
	if (r) {
		gnutls_free(c.data);
		return r;
	}
	*out = (struct kar_cert){ take(&c), take(&k) };
	return 0;
}

int kar_cert_make(const char *name, const char *address, kar_time lifetime, struct kar_cert *out,
	struct kar_err *err)
{
	gnutls_x509_privkey_t key = NULL;
	gnutls_x509_crt_t cert = NULL;
	int r = gnutls_x509_privkey_init(&key);

	if (!r)
		r = gnutls_x509_crt_init(&cert);
	if (!r)
		r = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
			GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	if (!r)
		r = fill(cert, key, name, address, lifetime);
	if (!r)
		r = export(cert, key, out);
	if (cert)
		gnutls_x509_crt_deinit(cert);
	if (key)
		gnutls_x509_privkey_deinit(key);
	return r ? kar_fail(err, KAR_FATAL, "cannot make a certificate: %s", gnutls_strerror(r)) : 0;
}

/* @r means to whoever has named the wrong file that it has none of @what. */
static int unread(int r, const char *what, struct kar_err *err)
{
	bool none = r == GNUTLS_E_BASE64_DECODING_ERROR || r == GNUTLS_E_BASE64_UNEXPECTED_HEADER_ERROR ||
		r == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE;

	return kar_fail(err, KAR_FATAL, "cannot read the %s: %s", what,
		none ? "the file has none in PEM form" : gnutls_strerror(r));
}

int kar_cert_validity(const char *pem, struct kar_cert_validity *out, struct kar_err *err)
{
	char *copy = kar_xstrdup(pem); /* the library asks for bytes that it could change */
	gnutls_datum_t text = { (unsigned char *)copy, (unsigned)strlen(pem) };
	gnutls_x509_crt_t cert = NULL;
	int r = gnutls_x509_crt_init(&cert);

	if (!r)
		r = gnutls_x509_crt_import(cert, &text, GNUTLS_X509_FMT_PEM);
	if (!r)
		*out = (struct kar_cert_validity){
			.from = gnutls_x509_crt_get_activation_time(cert) * KAR_SECOND,
			.until = gnutls_x509_crt_get_expiration_time(cert) * KAR_SECOND,
		};
	if (cert)
		gnutls_x509_crt_deinit(cert);
	free(copy);
	return r ? unread(r, "certificate", err) : 0;
}

enum { KEY_ID = 64 }; /* bytes, more than any */

static int key_id_of_certificate(const char *pem, unsigned char id[KEY_ID], size_t *n)
{
	char *copy = kar_xstrdup(pem);
	gnutls_datum_t text = { (unsigned char *)copy, (unsigned)strlen(pem) };
	gnutls_x509_crt_t cert = NULL;
	int r = gnutls_x509_crt_init(&cert);

	if (!r)
		r = gnutls_x509_crt_import(cert, &text, GNUTLS_X509_FMT_PEM);
	if (!r)
		r = gnutls_x509_crt_get_key_id(cert, 0, id, n);
	if (cert)
		gnutls_x509_crt_deinit(cert);
	free(copy);
	return r;
}

static int key_id_of_key(const char *pem, unsigned char id[KEY_ID], size_t *n)
{
	char *copy = kar_xstrdup(pem);
	gnutls_datum_t text = { (unsigned char *)copy, (unsigned)strlen(pem) };
	gnutls_x509_privkey_t key = NULL;
	int r = gnutls_x509_privkey_init(&key);

	if (!r)
		r = gnutls_x509_privkey_import2(key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
	if (!r)
		r = gnutls_x509_privkey_get_key_id(key, 0, id, n);
	if (key)
		gnutls_x509_privkey_deinit(key);
	kar_wipe_free(copy);
	return r;
}

int kar_cert_check_key(const char *certificate, const char *key, struct kar_err *err)
{
	unsigned char a[KEY_ID], b[KEY_ID];
	size_t n_a = sizeof(a), n_b = sizeof(b);
	int r = key_id_of_certificate(certificate, a, &n_a);

	if (r)
		return unread(r, "certificate", err);
	r = key_id_of_key(key, b, &n_b);
	if (r)
		return unread(r, "key", err);
	if (n_a != n_b || memcmp(a, b, n_a) != 0)
		return kar_fail(err, KAR_FATAL, "the key is not the one of the certificate");
	return 0;
}

enum kar_cert_age kar_cert_age(const struct kar_cert_validity *v, kar_time now)
{
	if (now < v->from)
		return KAR_CERT_TOO_NEW;
	if (now >= v->until)
		return KAR_CERT_EXPIRED;
	return v->until - now < (v->until - v->from) / OLD ? KAR_CERT_OLD : KAR_CERT_VALID;
}

void kar_cert_release(struct kar_cert *c)
{
	free(c->certificate);
	free(c->key);
	*c = (struct kar_cert){ 0 };
}
