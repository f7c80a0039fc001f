/* SPDX-License-Identifier: GPL-2.0 */
/* A module's generic-netlink family: registration, owners, notifications. See family.c. */
#ifndef SPEK_GENL_FAMILY_H
#define SPEK_GENL_FAMILY_H

#include <linux/atomic.h>
#include <linux/notifier.h>
#include <linux/rwsem.h>
#include <linux/types.h>

struct genl_family;
struct sk_buff;

#define SPEK_GENL_OWNER_BITS	6

/**
 * struct spek_genl - a module's family and what the module does for it
 * @family: generated from the module's spec
 * @owner_gone: end what a closed socket owned; process context, may sleep. Called only for
 *	sockets that may own something, see spek_genl_own().
 * @put: drop the reference that a dump holds, see struct spek_genl_dump
 *
 * Initialised statically with SPEK_GENL_INIT().
 */
struct spek_genl {
	struct genl_family *family;
	void (*owner_gone)(u32 portid);
	void (*put)(void *object);
	/* private: */
	struct rw_semaphore rwsem;
	bool is_registered;		/* protected by rwsem */
	struct notifier_block notifier;
	atomic_t owned[1 << SPEK_GENL_OWNER_BITS];
};

#define SPEK_GENL_INIT(name, _family, _owner_gone, _put) {	\
	.family = _family,					\
	.owner_gone = _owner_gone,				\
	.put = _put,						\
	.rwsem = __RWSEM_INITIALIZER((name).rwsem),		\
}

int spek_genl_register(struct spek_genl *genl);
void spek_genl_unregister(struct spek_genl *genl);

void spek_genl_own(struct spek_genl *genl, u32 portid);
void spek_genl_disown(struct spek_genl *genl, u32 portid);

void spek_genl_notify(struct spek_genl *genl, unsigned int group,
		      struct sk_buff *(*message)(void *object), void *object);

#endif
