/* SPDX-License-Identifier: GPL-2.0 */
/* Dumps: their position between two buffers. See dump.c. */
#ifndef SPEK_GENL_DUMP_H
#define SPEK_GENL_DUMP_H

#include <linux/types.h>

struct netlink_callback;
struct sk_buff;
struct spek_genl;
struct spek_genl_table;

/**
 * struct spek_genl_dump - position of a dump, kept in cb->ctx
 * @object: what is dumped, referenced; NULL in a dump of all objects
 * @memory: snapshot or generator from kvmalloc(), freed at the end; or NULL
 * @next: number of the object, interval, operation or item of the next message
 * @end: number at which the dump ends
 * @first: first bucket or entry that the next message may be about
 * @worker: number of the worker or target that is dumped
 * @step: message within one item: 0 for its counters, then one for each metric
 * @started: the request was checked
 */
struct spek_genl_dump {
	void *object;
	void *memory;
	u64 next;
	u64 end;
	u32 first;
	u32 worker;
	u32 step;
	bool started;
};

struct spek_genl_dump *spek_genl_dump_of(struct netlink_callback *cb);
void *spek_genl_dump_head(const struct spek_genl *genl, struct sk_buff *skb,
			  struct netlink_callback *cb, u8 cmd);
int spek_genl_dump_end(const struct sk_buff *skb, struct netlink_callback *cb, int err);
int spek_genl_dump_done(const struct spek_genl *genl, struct netlink_callback *cb);

/**
 * struct spek_genl_objects - a set of numbered objects, for dumps of all of them
 * @genl: family
 * @cmd: command of the messages, one for each object
 * @id_attr: attribute that names one object; dumps refuse it
 * @id_refusal: the sentence for that
 * @table: table of the objects
 * @drop: drop a reference to an object
 * @size: upper bound of the bytes that @put needs
 * @put: put the attributes of an object. Returns 0 or -EMSGSIZE.
 *
 * All functions are called in process context and may sleep.
 */
struct spek_genl_objects {
	const struct spek_genl *genl;
	u8 cmd;
	u32 id_attr;
	const char *id_refusal;
	struct spek_genl_table *table;
	void (*drop)(void *object);
	size_t (*size)(const void *object);
	int (*put)(struct sk_buff *skb, void *object);
};

int spek_genl_dump_all_start(const struct spek_genl_objects *objects, struct netlink_callback *cb);
int spek_genl_dump_all(const struct spek_genl_objects *objects, struct sk_buff *skb,
		       struct netlink_callback *cb);

#endif
