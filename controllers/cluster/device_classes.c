#include "controllers/cluster/device_classes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/mem.h"
#include "common/base/str.h"
#include "common/base/utf8.h"

static int by_name(const void *a, const void *b)
{
	const struct kar_device_resource *x = a, *y = b;

	return strcmp(x->resource, y->resource);
}

static struct kar_device_resource *find(const struct kar_device_classes *c, const char *resource)
{
	const struct kar_device_resource wanted = { .resource = resource };

	return c->n ? bsearch(&wanted, c->items, c->n, sizeof(*c->items), by_name) : NULL;
}

struct kar_device_resource *kar_device_classes_find(const struct kar_device_classes *c, const char *resource)
{
	struct kar_device_resource *r = find(c, resource);

	return r && r->class ? r : NULL;
}

/* --- which classes there are ------------------------------------------------------------------------- */

/* Of two classes of one name the younger one serves it, of two of one age the first by name. */
static bool goes_first(const struct kar_deviceclass *a, const struct kar_deviceclass *b)
{
	return a->creation != b->creation ? a->creation > b->creation : strcmp(a->o.name, b->o.name) < 0;
}

static struct kar_device_resource *add(struct kar_device_classes *c, const char *resource)
{
	struct kar_device_resource *r;

	c->items = kar_xrealloc(c->items, c->n + 1, sizeof(*c->items));
	c->items[c->n++] = (struct kar_device_resource){ .resource = kar_intern_get(c->strings, resource) };
	for (r = &c->items[c->n - 1]; r > c->items && by_name(r - 1, r) > 0; r--) {
		const struct kar_device_resource after = r[-1];

		r[-1] = *r;
		*r = after;
	}
	return r;
}

static void serve(struct kar_device_classes *c, const char *resource, const struct kar_deviceclass *class,
	bool implicit)
{
	struct kar_device_resource *r = find(c, resource);

	if (r && r->class && !goes_first(class, r->class))
		return;
	if (!r)
		r = add(c, resource);
	r->class = class;
	r->second = implicit && kar_has_text(class->resource);
	r->asked |= !implicit || kar_sched_knows(c->sched, resource);
}

static void drop(struct kar_device_classes *c, struct kar_device_resource *r)
{
	char **selectors = r->selectors.items;

	kar_intern_put(c->strings, r->resource);
	kar_intern_put(c->strings, r->base);
	kar_intern_put(c->strings, r->ns);
	for (size_t i = 0; i < r->selectors.n; i++)
		free(selectors[i]);
	free(selectors);
}

/* Those that are not served, and of which nothing is published. */
static void drop_unused(struct kar_device_classes *c)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		if (c->items[i].class || c->items[i].amounts) {
			c->items[kept++] = c->items[i];
			continue;
		}
		kar_sched_doubt(c->sched, c->items[i].resource, NULL);
		drop(c, &c->items[i]);
	}
	c->n = kept;
}

/* Parts have the classes of their bases. */
static void serve_parts(struct kar_device_classes *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct kar_device_resource *base = c->items[i].base ? find(c, c->items[i].base) : NULL;

		if (base)
			c->items[i].class = base->class;
	}
}

void kar_device_classes_read(struct kar_device_classes *c, const struct kar_store *classes)
{
	const struct kar_object *o;
	char name[KAR_DEVICECLASS_NAME];

	for (uint32_t i = 0; i < c->n; i++)
		c->items[i].class = NULL;
	for (struct kar_iter it = kar_store_all(classes); kar_iter_next(&it, &o);) {
		const struct kar_deviceclass *class = kar_as_deviceclass(o);

		if (kar_has_text(class->resource))
			serve(c, class->resource, class, false);
		snprintf(name, sizeof(name), KAR_DEVICECLASS_PREFIX "%s", o->name);
		serve(c, name, class, true);
	}
	serve_parts(c);
	drop_unused(c);
}

void kar_device_classes_release(struct kar_device_classes *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		c->items[i].class = NULL;
	drop_unused(c);
	free(c->items);
}

/* --- which devices are of them ----------------------------------------------------------------------- */

static enum kar_match match(const struct kar_array *of, const struct kar_device *device)
{
	const char *const *selectors = of->items;
	enum kar_match all = KAR_MATCH;

	for (size_t i = 0; i < of->n; i++) {
		enum kar_match m =
			selectors[i] ? kar_selector_match(selectors[i], &device->view) : KAR_MATCH_UNKNOWN;

		if (m == KAR_NO_MATCH || m == KAR_MATCH_FAILED)
			return m;
		all = m == KAR_MATCH ? all : m;
	}
	return all;
}

static enum kar_match match_resource(const struct kar_device_resource *r, const struct kar_device *device)
{
	enum kar_match m = match(&r->class->selectors, device),
		       own = m == KAR_NO_MATCH || m == KAR_MATCH_FAILED ? m : match(&r->selectors, device);

	return own == KAR_MATCH ? m : own;
}

void kar_device_classes_count(const struct kar_device_classes *c, const struct kar_device *device,
	int64_t *amounts, uint8_t *doubts)
{
	enum { OVERLAP = 1 << KAR_DOUBT_OVERLAP };
	uint32_t first = c->n;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct kar_deviceclass *class = c->items[i].class;
		enum kar_match m =
			class && c->items[i].asked ? match_resource(&c->items[i], device) : KAR_NO_MATCH;

		if (m == KAR_MATCH_FAILED) /* it is not had, but with it there others may not be had either */
			doubts[i] |= 1 << KAR_DOUBT_SELECTOR;
		if (m == KAR_NO_MATCH || m == KAR_MATCH_FAILED)
			continue;
		amounts[i]++;
		doubts[i] |= (uint8_t)((m == KAR_MATCH_UNKNOWN) << KAR_DOUBT_SELECTOR |
			device->partial << KAR_DOUBT_COUNTERS);
		if (first == c->n) {
			first = i;
		} else if (class != c->items[first].class) {
			doubts[i] |= OVERLAP;
			doubts[first] |= OVERLAP;
		}
	}
}

/* --- parts ------------------------------------------------------------------------------------------- */

enum { PARTS_MAX = 16, PARTS_OF_NAMESPACE = 4, PART_NAME = 240 };

/* Long selectors are cut; what tells them apart then is a number that is made of them. */
static const char *part_name(const char *base, const struct kar_array *selectors, struct kar_buf *out)
{
	const char *const *all = selectors->items;

	kar_buf_printf(out, "%s{", base);
	for (size_t i = 0; i < selectors->n; i++)
		kar_buf_printf(out, "%s%s", i ? " && " : "", all[i]);
	kar_buf_puts(out, "}");
	if (out->n > PART_NAME) {
		char *all_of_it = kar_buf_detach(out);
		size_t kept = kar_utf8_clean(all_of_it, PART_NAME - 24);

		kar_buf_printf(out, "%.*s... %016" PRIx64 "}", (int)kept, all_of_it,
			kar_hash_str(0, all_of_it));
		free(all_of_it);
	}
	return kar_buf_cstr(out);
}

static bool has_room_for_part(const struct kar_device_classes *c, const char *ns)
{
	uint32_t n = 0, of_namespace = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		n += c->items[i].base != NULL;
		of_namespace += c->items[i].base && kar_streq(c->items[i].ns, ns);
	}
	return n < PARTS_MAX && of_namespace < PARTS_OF_NAMESPACE;
}

/* Two lists may have one name. */
static bool is_same_list(const struct kar_array *a, const struct kar_array *b)
{
	const char *const *x = a->items, *const *y = b->items;

	for (size_t i = 0; a->n == b->n && i < a->n; i++) {
		if (strcmp(x[i], y[i]) != 0)
			return false;
	}
	return a->n == b->n;
}

static struct kar_array copy_texts(const struct kar_array *from)
{
	const char *const *texts = from->items;
	char **out = kar_xcalloc(from->n + 1, sizeof(*out));

	for (size_t i = 0; i < from->n; i++)
		out[i] = kar_xstrdup(texts[i]);
	return (struct kar_array){ .items = out, .n = from->n };
}

const char *kar_device_classes_part(struct kar_device_classes *c, const char *ns, const char *base,
	const struct kar_array *selectors, bool *added)
{
	struct kar_buf name = { 0 };
	struct kar_device_resource *r = find(c, part_name(base, selectors, &name));

	*added = !r && has_room_for_part(c, ns);
	if (*added) {
		const struct kar_device_resource *of = find(c, base);
		const struct kar_deviceclass *class;

		assert(of);
		class = of->class; /* what is added moves the others */
		r = add(c, kar_buf_cstr(&name));
		r->base = kar_intern_get(c->strings, base);
		r->ns = kar_intern_get(c->strings, ns);
		r->selectors = copy_texts(selectors);
		r->asked = true;
		r->class = class;
	}
	kar_buf_release(&name);
	return r && is_same_list(&r->selectors, selectors) ? r->resource : NULL;
}

void kar_device_classes_compare(const struct kar_device_classes *c, const int64_t *amounts, uint8_t *doubts)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct kar_device_resource *base = c->items[i].base ? find(c, c->items[i].base) : NULL;

		if (base && amounts[i] != amounts[base - c->items])
			doubts[i] |= 1 << KAR_DOUBT_PART;
	}
}

/* --- how sure their amounts are ---------------------------------------------------------------------- */

void kar_device_classes_note(const struct kar_device_classes *c, const char *resource, uint8_t doubts,
	int64_t claimed, int sign)
{
	struct kar_device_resource *r = find(c, resource);
	uint32_t one = sign > 0 ? 1 : UINT32_MAX;

	assert(r);
	r->amounts += one;
	r->claimed += sign * claimed;
	assert(r->claimed >= 0);
	for (int i = 0; i < KAR_N_DOUBTS; i++)
		r->doubts[i] += doubts >> i & 1 ? one : 0;
}

static const char *doubt_of(const struct kar_device_resource *r)
{
	static const char *const names[] = { [KAR_DOUBT_SELECTOR] = "a selector of its DeviceClass",
		[KAR_DOUBT_COUNTERS] = "devices that share counters",
		[KAR_DOUBT_OVERLAP] = "devices of several DeviceClasses",
		[KAR_DOUBT_NODES] = "devices of several nodes",
		[KAR_DOUBT_PART] = "devices that a request without a selector may have as well" };

	if (r->class && r->second)
		return "a DeviceClass that has another name as well";
	for (int i = 0; i < KAR_N_TOLD; i++) {
		if (r->doubts[i])
			return names[i];
	}
	return NULL;
}

void kar_device_classes_tell(const struct kar_device_classes *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		kar_sched_doubt(c->sched, c->items[i].resource, doubt_of(&c->items[i]));
}
