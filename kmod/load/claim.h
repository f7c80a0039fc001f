/* SPDX-License-Identifier: GPL-2.0 */
/* Claims: devices that are held open between runs. See claim.c for lifetime and locks. */
#ifndef SPEK_CLAIM_H
#define SPEK_CLAIM_H

#include <linux/blkdev.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "../compat/compat.h"
#include "../core/refusal.h"
#include "../genl/table.h"
#include "config.h"

struct pid;
struct spek_claim;
struct spek_outcome;

/**
 * struct spek_claim_listener - what claims report upwards
 * @state_changed: the state of a claim has changed; its notify_lock is held, claims_lock is not
 * @removed: a claim has left the table; no lock is held
 *
 * Context: process.
 */
struct spek_claim_listener {
	void (*state_changed)(struct spek_claim *claim);
	void (*removed)(struct spek_claim *claim);
};

/**
 * struct spek_claim_device - a device of a claim
 * @handle: the open device, whose holder is this handle
 * @dev: device number, const
 * @diskseq: sequence number of the disk: before @is_open of the claim what it must be, 0 for any;
 *	const afterwards
 * @name: name that the kernel prints; const once the claim is open
 * @may_write: the device is open for writing, const
 * @is_used: a run uses it; protected by claims_lock
 * @lock: protects the next two; never held while anything sleeps
 * @outcome: of the run that uses it, or NULL
 * @is_gone: the device was removed
 */
struct spek_claim_device {
	struct spek_compat_bdev handle;
	dev_t dev;
	u64 diskseq;
	char name[BDEVNAME_SIZE];
	bool may_write;
	bool is_used;
	spinlock_t lock;	/* see above */
	struct spek_outcome *outcome;
	bool is_gone;
};

/**
 * struct spek_claim - devices that stay claimed between the runs of a socket
 * @ref: one for the table while the claim is in it, one for each run that uses it, one for each
 *	user of a pointer
 * @id: number, const
 * @owner_portid: netlink port of the socket that owns it and may use it, const
 * @owner: process that made the claim, with a reference; the number that it had may be another
 *	process's once it has ended. const
 * @may_write: devices are open for writing, but for those that are read-only; const
 * @notify_lock: serializes state changes with their notifications
 * @state: enum spek_claim_state; this and the next three are protected by claims_lock
 * @is_open: the devices are open; once set it stays so
 * @nr_runs: runs that use the claim
 * @failure: why it is FAILED
 * @open_work: open the devices; has a reference
 * @close_work: close them and leave the table; has a reference
 * @nr_devices: entries of @device, const
 * @device: the devices
 */
struct spek_claim {
	struct kref ref;
	u32 id;
	u32 owner_portid;
	struct pid *owner;
	bool may_write;
	struct mutex notify_lock;	/* see above */
	enum spek_claim_state state;
	bool is_open;
	u32 nr_runs;
	struct spek_refusal failure;
	struct work_struct open_work;
	struct work_struct close_work;
	u32 nr_devices;
	struct spek_claim_device device[];
};

/**
 * struct spek_claim_view - what netlink reports of a claim
 * @state: enum spek_claim_state
 * @is_open: names and sequence numbers of the devices are known
 * @nr_runs: runs that use it
 * @failure: why it is FAILED; err is 0 otherwise
 */
struct spek_claim_view {
	u32 state;
	bool is_open;
	u32 nr_runs;
	struct spek_refusal failure;
};

extern struct spek_genl_table spek_claims;

int spek_claim_init(const struct spek_claim_listener *listener);
void spek_claim_deinit(void);

int spek_claim_new(const struct spek_claim_config *config, u32 portid, u32 *id,
		   struct spek_refusal *refusal);
struct spek_claim *spek_claim_get(u32 id);
void spek_claim_put(struct spek_claim *claim);
int spek_claim_delete(struct spek_claim *claim, struct spek_refusal *refusal);
void spek_claim_owner_gone(u32 portid);
void spek_claim_view(struct spek_claim *claim, struct spek_claim_view *view);
u32 spek_claim_owner_pid(const struct spek_claim *claim);
u32 spek_claim_opens(struct spek_claim *claim, u32 index);

int spek_claim_take(const struct spek_run_config *config, struct spek_claim **claim,
		    struct spek_refusal *refusal);
const struct spek_compat_bdev *spek_claim_lend(struct spek_claim *claim, dev_t dev,
					       struct spek_outcome *outcome,
					       struct spek_refusal *refusal);
void spek_claim_give_back(struct spek_claim *claim, const struct spek_run_config *config);

#endif
