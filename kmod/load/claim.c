// SPDX-License-Identifier: GPL-2.0
/*
 * Claims: devices that stay claimed between the runs of a socket.
 *
 *   OPENING -> READY  -> CLOSING -> GONE
 *         \-> FAILED -^
 *
 * A run without a claim opens its devices and closes them when it is DONE, so between two runs
 * anybody may have them. A claim opens them once; runs that name it borrow its handles, and return
 * them when they are DONE, FAILED or deleted. A device has one run at a time: that which has taken
 * it. Taking is a matter of the request run-new; what a device was found to be at the claim
 * (its number and the sequence number of its disk) is compared again when the run opens its
 * targets, and its limits are read again.
 *
 * The holder of a device is the handle in the claim, also while a run uses it. So the callback of
 * a removal comes here, and is passed on to the run that has borrowed the handle. Kernels before
 * v6.5 have no such callback: there the run notices at its first I/O, and the next one that wants
 * the device is refused.
 *
 * As with runs, no request waits for a device: claim-new, claim-del and the end of the owner queue
 * work items, which open and close them. A claim in use can't be deleted. When its owner's socket
 * closes, the runs of the socket end first (run.c): the claim becomes CLOSING, and its close_work
 * is queued by the last run that gives it back.
 *
 * References to a claim: one for the table, from claim-new until close_work ends; one for each of
 * open_work and close_work, from being queued to its end; one for each run that has taken it; one
 * for each pointer returned by spek_claim_get(). The last one frees the claim. It pins the module
 * until close_work has closed the devices; the remainder of a work item is waited for in
 * spek_claim_deinit().
 *
 * Lock order: claim->notify_lock > claims_lock, and claim->notify_lock > genl->rwsem
 * (genl/family.c) > claims_lock. claims_lock protects the table and the state of all claims. It is
 * taken with run->release_lock or no lock of a run held, and nothing is waited for inside it: the
 * open_mutex of a disk is only tried.
 * bd_holder_lock > device->lock: the removal of a device and the run that lends or returns it meet
 * there, so that no callback uses the outcome of a run that has returned the device.
 */
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "claim.h"
#include "outcome.h"
#include "target.h"

static DEFINE_MUTEX(claims_lock);
struct spek_genl_table spek_claims = SPEK_GENL_TABLE(spek_claims, &claims_lock, struct spek_claim,
						     ref);

/* Its work waits for devices for arbitrarily long: nothing else is queued here. */
static struct workqueue_struct *claim_wq;
static const struct spek_claim_listener *listener;

/* ---- references ---- */

static void release_claim(struct kref *ref)
{
	struct spek_claim *claim = container_of(ref, struct spek_claim, ref);

	put_pid(claim->owner);
	kfree(claim);
}

/**
 * spek_claim_put() - drop a reference
 * @claim: claim
 *
 * Context: any.
 */
void spek_claim_put(struct spek_claim *claim)
{
	kref_put(&claim->ref, release_claim);
}

/**
 * spek_claim_get() - find a claim
 * @id: its number
 *
 * Context: process.
 * Return: the claim, for spek_claim_put(), or NULL.
 */
struct spek_claim *spek_claim_get(u32 id)
{
	return spek_genl_table_get(&spek_claims, id);
}

/* ---- devices ---- */

/* Called with the holder lock of the device. */
static void device_gone(void *holder)
{
	struct spek_claim_device *device = holder;

	spin_lock(&device->lock);
	device->is_gone = true;
	if (device->outcome)
		spek_outcome_end(device->outcome, SPEK_REASON_DEVICE_GONE);
	spin_unlock(&device->lock);
}

static const struct spek_compat_holder_ops holder_ops = {
	.gone = device_gone,
};

static void close_devices(struct spek_claim *claim)
{
	u32 i;

	for (i = 0; i < claim->nr_devices; i++)
		spek_compat_bdev_close(&claim->device[i].handle);
}

static int open_device(struct spek_claim_device *device, struct spek_refusal *refusal)
{
	int err = spek_target_claim(&device->handle, device->dev, device->may_write, device,
				    &holder_ops, refusal);
	u64 diskseq;

	if (err == -EROFS || err == -EACCES)
		return spek_refuse_part(refusal, err,
					"The device is read-only, and runs under the claim may write.");
	if (err)
		return err;
	diskseq = device->handle.bdev->bd_disk->diskseq;
	if (device->diskseq && device->diskseq != diskseq)
		return spek_refuse_part(refusal, -ENODEV,
					"The disk was replaced after it was checked: check it again.");
	device->diskseq = diskseq;
	snprintf(device->name, sizeof(device->name), "%pg", device->handle.bdev);
	return 0;
}

/* Return: 0, or a negative errno with no device open. */
static int open_devices(struct spek_claim *claim, struct spek_refusal *refusal)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < claim->nr_devices; i++) {
		refusal->kind = SPEK_REFUSAL_TARGET;
		refusal->index = i;
		err = open_device(&claim->device[i], refusal);
	}
	if (err)
		close_devices(claim);
	return err;
}

/* ---- life ---- */

static void open_work(struct work_struct *work)
{
	struct spek_claim *claim = container_of(work, struct spek_claim, open_work);
	struct spek_refusal refusal = {};
	int err = open_devices(claim, &refusal);

	mutex_lock(&claim->notify_lock);
	mutex_lock(&claims_lock);
	if (err) {
		claim->failure = refusal;
		claim->failure.err = err;
	} else {
		claim->is_open = true;
	}
	/* It may have been deleted meanwhile. */
	if (claim->state == SPEK_CLAIM_STATE_OPENING)
		claim->state = err ? SPEK_CLAIM_STATE_FAILED : SPEK_CLAIM_STATE_READY;
	mutex_unlock(&claims_lock);
	listener->state_changed(claim);
	mutex_unlock(&claim->notify_lock);
	spek_claim_put(claim);
}

static void close_work(struct work_struct *work)
{
	struct spek_claim *claim = container_of(work, struct spek_claim, close_work);

	flush_work(&claim->open_work);
	close_devices(claim);
	/* Before the claim leaves the table: its devices and the module are released by then. */
	module_put(THIS_MODULE);
	mutex_lock(&claim->notify_lock);
	mutex_lock(&claims_lock);
	claim->state = SPEK_CLAIM_STATE_GONE;
	spek_genl_table_remove(&spek_claims, claim->id);
	mutex_unlock(&claims_lock);
	listener->state_changed(claim);
	mutex_unlock(&claim->notify_lock);
	listener->removed(claim);
	spek_claim_put(claim);	/* the table's */
	spek_claim_put(claim);
}

/* Close the devices once no run uses them. Nothing queues this a second time: see the callers. */
static void close_if_unused(struct spek_claim *claim)
{
	lockdep_assert_held(&claims_lock);
	if (claim->state != SPEK_CLAIM_STATE_CLOSING || claim->nr_runs)
		return;
	kref_get(&claim->ref);
	queue_work(claim_wq, &claim->close_work);
}

/* Make a claim CLOSING, after which no run takes it. */
static void begin_close(struct spek_claim *claim)
{
	lockdep_assert_held(&claim->notify_lock);
	lockdep_assert_held(&claims_lock);
	claim->state = SPEK_CLAIM_STATE_CLOSING;
	close_if_unused(claim);
}

static struct spek_claim *alloc_claim(const struct spek_claim_config *config, u32 portid)
{
	struct spek_claim *claim;
	u32 i;

	claim = kzalloc(struct_size(claim, device, config->nr_targets), GFP_KERNEL);
	if (!claim)
		return NULL;
	kref_init(&claim->ref);
	mutex_init(&claim->notify_lock);
	INIT_WORK(&claim->open_work, open_work);
	INIT_WORK(&claim->close_work, close_work);
	claim->owner_portid = portid;
	claim->owner = get_pid(task_tgid(current));
	claim->may_write = config->write;
	claim->state = SPEK_CLAIM_STATE_OPENING;
	claim->nr_devices = config->nr_targets;
	for (i = 0; i < claim->nr_devices; i++) {
		const struct spek_run_target *target = &config->target[i];

		spin_lock_init(&claim->device[i].lock);
		claim->device[i].dev = MKDEV(target->major, target->minor);
		claim->device[i].diskseq = target->diskseq;
		claim->device[i].may_write = config->write && !target->read_only;
	}
	return claim;
}

/**
 * spek_claim_new() - make a claim and have its devices opened
 * @config: the devices, each once, and whether runs may write
 * @portid: netlink port of the owner, which is the current process
 * @id: number of the new claim
 * @refusal: filled in on failure
 *
 * The claim is OPENING; it becomes READY, or FAILED with the refusal in its view, and both are
 * reported to the listener.
 *
 * Context: process, may sleep, doesn't wait for devices; no lock held.
 * Return: 0, or a negative errno with nothing changed.
 */
int spek_claim_new(const struct spek_claim_config *config, u32 portid, u32 *id,
		   struct spek_refusal *refusal)
{
	struct spek_claim *claim;
	int err;
	u32 i;

	for (i = 0; i < config->nr_targets; i++) {
		const struct spek_run_target *target = &config->target[i];

		/* A work item would not be in the device cgroup of the requester. */
		err = spek_target_may_open(MKDEV(target->major, target->minor),
					   config->write && !target->read_only);
		if (err)
			return spek_refuse(refusal, SPEK_REFUSAL_TARGET, i, err,
					   "The device cgroup of this process doesn't allow the device.");
	}
	if (!try_module_get(THIS_MODULE))
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENODEV,
				   "The module is being unloaded.");
	claim = alloc_claim(config, portid);
	err = claim ? 0 : -ENOMEM;
	if (!err) {
		mutex_lock(&claims_lock);
		err = spek_genl_table_add(&spek_claims, claim, &claim->id);
		/* Queued before the claim can be found and deleted: close_work flushes it. */
		if (!err) {
			*id = claim->id;
			kref_get(&claim->ref);
			queue_work(claim_wq, &claim->open_work);
		}
		mutex_unlock(&claims_lock);
	}
	if (err) {
		if (claim)
			spek_claim_put(claim);
		module_put(THIS_MODULE);
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, err, "There is not enough memory.");
	}
	return 0;
}

/**
 * spek_claim_delete() - close the devices of a claim that no run uses
 * @claim: claim
 * @refusal: filled in on failure
 *
 * Returns at once: the claim is CLOSING until its devices are free, then it leaves the table and
 * GONE is reported.
 *
 * Context: process.
 * Return: 0 or -EBUSY.
 */
int spek_claim_delete(struct spek_claim *claim, struct spek_refusal *refusal)
{
	int err = 0;

	mutex_lock(&claim->notify_lock);
	mutex_lock(&claims_lock);
	if (claim->state == SPEK_CLAIM_STATE_CLOSING || claim->state == SPEK_CLAIM_STATE_GONE)
		err = spek_refuse(refusal, SPEK_REFUSAL_CLAIM, 0, -EBUSY,
				  "The claim is being deleted already.");
	else if (claim->nr_runs)
		err = spek_refuse(refusal, SPEK_REFUSAL_CLAIM, 0, -EBUSY,
				  "A run uses the claim: delete it, or wait until it is DONE.");
	else
		begin_close(claim);
	mutex_unlock(&claims_lock);
	if (!err)
		listener->state_changed(claim);
	mutex_unlock(&claim->notify_lock);
	return err;
}

/**
 * spek_claim_owner_gone() - a netlink socket was closed: delete its claims once its runs have ended
 * @portid: port of the socket, whose runs are ending already
 *
 * Context: process. Doesn't wait for devices.
 */
void spek_claim_owner_gone(u32 portid)
{
	struct spek_claim *claim;
	bool closes;
	u32 id = 0;

	for (; (claim = spek_genl_table_get_next(&spek_claims, &id)); id++) {
		if (claim->owner_portid == portid) {
			mutex_lock(&claim->notify_lock);
			mutex_lock(&claims_lock);
			closes = claim->state != SPEK_CLAIM_STATE_CLOSING &&
				 claim->state != SPEK_CLAIM_STATE_GONE;
			if (closes)
				begin_close(claim);
			mutex_unlock(&claims_lock);
			if (closes)
				listener->state_changed(claim);
			mutex_unlock(&claim->notify_lock);
		}
		spek_claim_put(claim);
	}
}

/**
 * spek_claim_view() - read what netlink reports of a claim
 * @claim: claim
 * @view: filled in
 *
 * Context: process.
 */
void spek_claim_view(struct spek_claim *claim, struct spek_claim_view *view)
{
	mutex_lock(&claims_lock);
	view->state = claim->state;
	view->is_open = claim->is_open;
	view->nr_runs = claim->nr_runs;
	view->failure = claim->failure;
	mutex_unlock(&claims_lock);
}

/**
 * spek_claim_owner_pid() - number of the process that made a claim
 * @claim: claim
 *
 * Context: process, that of the asker: the number is that of its PID namespace.
 * Return: the number; 0 if the process has ended or has no number there.
 */
u32 spek_claim_owner_pid(const struct spek_claim *claim)
{
	u32 number = 0;

	/* A struct pid keeps its number when the process ends and another one gets it. */
	rcu_read_lock();
	if (pid_task(claim->owner, PIDTYPE_TGID))
		number = pid_vnr(claim->owner);
	rcu_read_unlock();
	return number;
}

/**
 * spek_claim_opens() - count the opens of a device of a claim
 * @claim: claim
 * @index: number of the device
 *
 * Context: process.
 * Return: opens of the device and of what shares its data, the claim included; 0 if they can't be
 *	counted now, or the device is not open.
 */
u32 spek_claim_opens(struct spek_claim *claim, u32 index)
{
	u32 opens = 0;

	/* A claim becomes CLOSING under the lock, and close_work comes after that. */
	mutex_lock(&claims_lock);
	if (claim->state == SPEK_CLAIM_STATE_READY &&
	    !spek_compat_bdev_opens(&claim->device[index].handle, &opens))
		opens = 0;
	mutex_unlock(&claims_lock);
	return opens;
}

/* ---- runs under a claim ---- */

static struct spek_claim_device *find_device(struct spek_claim *claim, dev_t dev)
{
	u32 i;

	for (i = 0; i < claim->nr_devices; i++)
		if (claim->device[i].dev == dev)
			return &claim->device[i];
	return NULL;
}

static int check_take(struct spek_claim *claim, const struct spek_run_config *config,
		      struct spek_refusal *refusal)
{
	u32 i;

	lockdep_assert_held(&claims_lock);
	if (!claim)
		return spek_refuse(refusal, SPEK_REFUSAL_CLAIM, 0, -ENOENT,
				   "There is no claim with this number.");
	if (claim->owner_portid != config->owner_portid)
		return spek_refuse(refusal, SPEK_REFUSAL_CLAIM, 0, -EPERM,
				   "The claim belongs to another socket, whose runs alone may use it.");
	if (claim->state != SPEK_CLAIM_STATE_READY)
		return spek_refuse(refusal, SPEK_REFUSAL_CLAIM, 0, -EBUSY,
				   "Only a claim that is READY can be used.");
	if (config->may_write && !claim->may_write)
		return spek_refuse(refusal, SPEK_REFUSAL_CLAIM, 0, -EPERM,
				   "The run may write, and its claim is for reading only.");
	for (i = 0; i < config->nr_targets; i++) {
		const struct spek_claim_device *device;

		device = find_device(claim, spek_config_dev(config, i));
		if (!device)
			return spek_refuse(refusal, SPEK_REFUSAL_TARGET, i, -EINVAL,
					   "The device is not among those of the claim.");
		if (device->is_used)
			return spek_refuse(refusal, SPEK_REFUSAL_TARGET, i, -EBUSY,
					   "Another run under this claim uses the device: one at a time may.");
		if (spek_config_may_write(config, i) && !device->may_write)
			return spek_refuse(refusal, SPEK_REFUSAL_TARGET, i, -EPERM,
					   "The run may write the device, which its claim has for reading only.");
	}
	return 0;
}

/**
 * spek_claim_take() - take the targets of a new run from its claim
 * @config: of the run, with the number of a claim
 * @claim: the claim, with a reference, for spek_claim_give_back()
 * @refusal: filled in on failure
 *
 * Context: process, doesn't wait for devices; no lock held.
 * Return: 0, or a negative errno with nothing changed.
 */
int spek_claim_take(const struct spek_run_config *config, struct spek_claim **claim,
		    struct spek_refusal *refusal)
{
	int err;
	u32 i;

	mutex_lock(&claims_lock);
	*claim = spek_genl_table_find(&spek_claims, config->claim);
	err = check_take(*claim, config, refusal);
	if (!err) {
		kref_get(&(*claim)->ref);
		(*claim)->nr_runs++;
		for (i = 0; i < config->nr_targets; i++)
			find_device(*claim, spek_config_dev(config, i))->is_used = true;
	}
	mutex_unlock(&claims_lock);
	return err;
}

/**
 * spek_claim_lend() - lend the handle of a device to the run that has taken it
 * @claim: taken
 * @dev: a target of the run
 * @outcome: of the run, which ends if the device is removed
 * @refusal: filled in on failure (kind and index are the caller's)
 *
 * Context: process.
 * Return: the handle, to be used until spek_claim_give_back(), or an ERR_PTR().
 */
const struct spek_compat_bdev *spek_claim_lend(struct spek_claim *claim, dev_t dev,
					       struct spek_outcome *outcome,
					       struct spek_refusal *refusal)
{
	struct spek_claim_device *device = find_device(claim, dev);
	bool is_gone;

	/* From here on a removal ends the run; one that came before is seen below. */
	spin_lock(&device->lock);
	device->outcome = outcome;
	is_gone = device->is_gone;
	spin_unlock(&device->lock);
	if (is_gone || spek_compat_bdev_is_gone(&device->handle))
		return ERR_PTR(spek_refuse_part(refusal, -ENODEV,
						"The device was removed while it was claimed."));
	if (device->handle.bdev->bd_disk->diskseq != device->diskseq) {
		spek_refuse_part(refusal, -ENODEV,
				 "The disk was replaced while it was claimed: check it again.");
		return ERR_PTR(-ENODEV);
	}
	return &device->handle;
}

/**
 * spek_claim_give_back() - end the use of a claim by a run
 * @claim: taken; not to be used afterwards
 * @config: of the run, which no longer uses any of the devices
 *
 * On return no removal of a device is reported to the run any more.
 *
 * Context: process.
 */
void spek_claim_give_back(struct spek_claim *claim, const struct spek_run_config *config)
{
	u32 i;

	for (i = 0; i < config->nr_targets; i++) {
		struct spek_claim_device *device;

		device = find_device(claim, spek_config_dev(config, i));
		spin_lock(&device->lock);
		device->outcome = NULL;
		spin_unlock(&device->lock);
	}
	mutex_lock(&claims_lock);
	for (i = 0; i < config->nr_targets; i++)
		find_device(claim, spek_config_dev(config, i))->is_used = false;
	claim->nr_runs--;
	close_if_unused(claim);
	mutex_unlock(&claims_lock);
	spek_claim_put(claim);
}

/* ---- module ---- */

/**
 * spek_claim_init() - prepare for claims
 * @report: what claims report to, const
 *
 * Return: 0 or a negative errno.
 */
int spek_claim_init(const struct spek_claim_listener *report)
{
	listener = report;
	claim_wq = alloc_workqueue("spek_claim", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return claim_wq ? 0 : -ENOMEM;
}

/**
 * spek_claim_deinit() - wait for the ends of work items
 *
 * Context: process. No claim and no run exists: each one pinned the module.
 */
void spek_claim_deinit(void)
{
	destroy_workqueue(claim_wq);
	spek_genl_table_deinit(&spek_claims);
}
