#include "controllers/controller.h"

void kar_enqueue(struct kar_controller *c, const char *ns, const char *name)
{
	char key[KAR_KEY_LEN];

	kar_workqueue_add(c->queue, kar_key(ns, name, key));
}

void kar_enqueue_object(struct kar_controller *c, const struct kar_object *o)
{
	kar_enqueue(c, o->ns, o->name);
}
