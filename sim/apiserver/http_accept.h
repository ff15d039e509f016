/*
 * http_accept - content negotiation: in which form and encoding a client wants the answer, and what it has sent. Pure.
 *
 * Bodies are JSON. YAML is answered with JSON, which is YAML; protobuf is understood (types.h) but never answered:
 * every client of the API that asks for it also accepts JSON.
 */
#ifndef SIM_HTTP_ACCEPT_H
#define SIM_HTTP_ACCEPT_H

#include "sim/apiserver/apiserver.h"

struct sim_accept {
	enum sim_form form;
	bool list;       /* with SIM_FORM_METADATA: PartialObjectMetadataList was asked for */
	bool aggregated; /* apidiscovery.k8s.io/v2 APIGroupDiscoveryList */
	bool yaml;
};

/* What the endpoint can do beyond plain objects. */
enum sim_accept_endpoint { SIM_ACCEPT_PLAIN, SIM_ACCEPT_OBJECTS, SIM_ACCEPT_DISCOVERY };

/* The best clause of an Accept header (NULL or "": JSON). False: nothing it names can be given. */
bool sim_accept_parse(const char *header, enum sim_accept_endpoint endpoint, struct sim_accept *out)
	__attribute__((nonnull(3)));

enum sim_content {
	SIM_CONTENT_UNKNOWN,
	SIM_CONTENT_JSON,
	SIM_CONTENT_YAML,
	SIM_CONTENT_PROTOBUF,
	SIM_CONTENT_JSON_PATCH,
	SIM_CONTENT_MERGE_PATCH,
	SIM_CONTENT_STRATEGIC_PATCH,
	SIM_CONTENT_APPLY,
};

/* What a Content-Type header names; NULL or "": JSON. Parameters are ignored. */
enum sim_content sim_content_parse(const char *header);

#endif
