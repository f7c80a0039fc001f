// SPDX-License-Identifier: GPL-2.0
/*
 * Drives of the module and their lives.
 *
 *	CREATING -host added-> READY -delete-> DELETING -host removed-> GONE
 *	CREATING -refused----> FAILED -delete-> DELETING
 *	CREATING -delete-----> DELETING
 *
 * A work of the unit does all that waits for the SCSI layer, in order: it creates, and when it
 * runs again it removes. drive-del sets DELETING and queues it. A unit is in the table from
 * spek_unit_new() until it is GONE.
 *
 * References: the table's; one for each time that the work is queued; one for each request or
 * message over netlink. The last one frees the unit and its data.
 *
 * Removal. Make dead: spek_unit_kill() fails the commands that the drive holds and all that come,
 * and stops the timer. Wait: scsi_remove_host() returns when no command is in the host and none
 * will come, and spek_host_remove() waits for a reset as well. Open disks keep a reference to the
 * module and to the host, not to the unit, of which the host knows nothing any more.
 *
 * A drive belongs to no socket: what made it may end. Unloading the module, which an open disk
 * prevents, removes all drives.
 *
 * Locks: table_lock and unit->lock are never held together, and neither is held across scsi_done()
 * or a call that adds or removes a host. Both are taken inside genl->rwsem (genl/family.c), as a
 * message about a drive is built. A host's lock (host.c) is taken outside of unit->lock.
 */
#include <linux/dma-mapping.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/vmalloc.h>
#include <scsi/scsi_host.h>
#include "../genl/table.h"
#include "events.h"
#include "host.h"
#include "hwmon.h"
#include "serve.h"

static DEFINE_MUTEX(table_lock);
struct spek_genl_table spek_units = SPEK_GENL_TABLE(spek_units, &table_lock, struct spek_unit, ref);
static struct workqueue_struct *workqueue;
static void (*notify_unit)(struct spek_unit *unit);

/**
 * spek_unit_config_free() - free a configuration
 * @config: configuration with the tables that it owns, or NULL
 *
 * Context: process.
 */
void spek_unit_config_free(struct spek_unit_config *config)
{
	if (!config)
		return;
	kvfree(config->model.mechanics.geometry.zones);
	kvfree(config->model.mechanics.seek.points);
	kvfree(config);
}

static void free_flash(struct spek_unit *unit)
{
	kvfree(unit->flash);
	spek_store_unreserve(unit->flash_bytes);
}

static void free_unit(struct kref *ref)
{
	struct spek_unit *unit = container_of(ref, struct spek_unit, ref);

	spek_store_deinit(&unit->store);
	spek_unit_config_free(unit->config);
	free_flash(unit);
	kvfree(unit);
}

/**
 * spek_unit_put() - drop a reference
 * @unit: unit
 *
 * Context: process, may sleep.
 */
void spek_unit_put(struct spek_unit *unit)
{
	kref_put(&unit->ref, free_unit);
}

/**
 * spek_unit_get() - find a unit
 * @id: its number
 *
 * Context: process.
 * Return: the unit, for spek_unit_put(), or NULL.
 */
struct spek_unit *spek_unit_get(u32 id)
{
	return spek_genl_table_get(&spek_units, id);
}

static void queue_unit(struct spek_unit *unit)
{
	kref_get(&unit->ref);
	if (!queue_work(workqueue, &unit->work))
		spek_unit_put(unit);
}

/* ---- identity ---- */

/* Without the spaces at its end, which INQUIRY data cannot tell from its padding. */
static void fill_text(char *text, size_t size, const char *otherwise)
{
	size_t length = strlen(text);

	while (length && text[length - 1] == ' ')
		text[--length] = '\0';
	if (!length)
		strscpy(text, otherwise, size);
}

static void pad_field(char *to, size_t bytes, const char *text)
{
	memset(to, ' ', bytes);
	memcpy(to, text, min(strlen(text), bytes));
}

/* Locally assigned (NAA 3), of the serial number: the same drive has the same name again. */
static u64 naa_of(const char *serial)
{
	u64 hash = 0xcbf29ce484222325ULL;

	while (*serial)
		hash = (hash ^ (u8)*serial++) * 0x100000001b3ULL;
	return (hash & (~0ULL >> 4)) | 3ULL << 60;
}

static void fill_identity(struct spek_unit *unit)
{
	const struct spek_drive_mechanics *mechanics = &unit->config->model.mechanics;
	struct spek_drive_description *description = &unit->config->description;
	const struct spek_unit_config *config = unit->config;
	struct spek_scsi_unit *scsi = &unit->scsi;
	u32 i;

	fill_text(description->vendor, sizeof(description->vendor), "SPEK");
	fill_text(description->product, sizeof(description->product), "MODELLED DRIVE");
	fill_text(description->revision, sizeof(description->revision), "0001");
	pad_field(scsi->vendor, sizeof(scsi->vendor), description->vendor);
	pad_field(scsi->product, sizeof(scsi->product), description->product);
	pad_field(scsi->revision, sizeof(scsi->revision), description->revision);
	strscpy(scsi->serial, description->serial, sizeof(scsi->serial));
	scsi->naa = naa_of(description->serial);
	scsi->sectors = mechanics->geometry.sectors;
	scsi->caches_reads = config->model.cache.segments;
	scsi->caches_writes = config->model.cache.write_sectors;
	scsi->atomic_sectors = description->atomic_sectors;
	if (config->model.flash.channels) {
		scsi->rpm = 1;	/* not rotating */
		scsi->unmap_sectors = config->model.flash.page_sectors;
		return;
	}
	scsi->rpm = div64_u64(60000000000000ULL + mechanics->rotation.period_ps / 2,
			      mechanics->rotation.period_ps);
	if (mechanics->nr_arms > 1)
		scsi->nr_elements = mechanics->nr_arms;
	if (!mechanics->split)
		return;
	scsi->nr_ranges = mechanics->nr_arms;
	for (i = 0; i < scsi->nr_ranges; i++)
		spek_drive_part(mechanics, i, &scsi->ranges[i].first, &scsi->ranges[i].sectors);
}

/* ---- life ---- */

static void set_state(struct spek_unit *unit, u32 state)
{
	lockdep_assert_held(&table_lock);
	unit->state = state;
	spek_genl_table_changed(&spek_units);
}

static int create_devices(struct spek_unit *unit, const char **why)
{
	/* It has no DMA of its own, so no limit of one: requests are as large as it takes. */
	const struct platform_device_info info = {
		.name = "spek_drive",
		.id = unit->id,
		.dma_mask = DMA_BIT_MASK(64),
	};
	int err;

	unit->device = platform_device_register_full(&info);
	if (IS_ERR(unit->device)) {
		err = PTR_ERR(unit->device);
		unit->device = NULL;
		*why = "The kernel refused the device of the drive.";
		return err;
	}
	err = spek_host_add(unit);
	if (err) {
		*why = "The SCSI layer refused the host of the drive.";
		platform_device_unregister(unit->device);
		unit->device = NULL;
		return err;
	}
	spek_hwmon_add(unit);
	return 0;
}

static void remove_devices(struct spek_unit *unit)
{
	spek_unit_kill(unit);
	spek_hwmon_remove(unit);
	spek_host_remove(unit);
	platform_device_unregister(unit->device);
	unit->device = NULL;
	mutex_lock(&table_lock);
	spek_genl_table_remove(&spek_units, unit->id);
	set_state(unit, SPEK_DRIVE_STATE_GONE);
	mutex_unlock(&table_lock);
	notify_unit(unit);
	spek_unit_put(unit);
}

/* One run of a unit's work at a time: the workqueue sees to that. */
static void run_unit_work(struct work_struct *ptr)
{
	struct spek_unit *unit = container_of(ptr, struct spek_unit, work);
	const char *why = NULL;
	bool created = false;
	u32 state;
	int err;

	mutex_lock(&table_lock);
	state = unit->state;
	mutex_unlock(&table_lock);
	if (state == SPEK_DRIVE_STATE_CREATING) {
		err = create_devices(unit, &why);
		mutex_lock(&table_lock);
		if (unit->state == SPEK_DRIVE_STATE_CREATING) {
			unit->failure = why;
			unit->failure_err = err;
			set_state(unit, err ? SPEK_DRIVE_STATE_FAILED : SPEK_DRIVE_STATE_READY);
			created = true;
		}
		mutex_unlock(&table_lock);
		if (created)
			notify_unit(unit);
	} else if (state == SPEK_DRIVE_STATE_DELETING) {
		/* Told here: spek_unit_delete() might do it after GONE. */
		notify_unit(unit);
		remove_devices(unit);
	}
	spek_unit_put(unit);
}

static int insert_unit(struct spek_unit *unit, struct spek_refusal *refusal)
{
	char *serial = unit->config->description.serial;
	struct spek_unit *other;
	u32 id = 0;
	int err;

	lockdep_assert_held(&table_lock);
	if (spek_units.nr == SPEK_DRIVE_MAX_DRIVES)
		return spek_refuse(refusal, 0, 0, -ENOSPC, "There are already 256 drives.");
	err = spek_genl_table_add(&spek_units, unit, &unit->id);
	if (err)
		return err;
	if (!*serial)
		snprintf(serial, sizeof(unit->config->description.serial), "SPEK%08u", unit->id);
	for (; (other = spek_genl_table_next(&spek_units, &id)); id++) {
		if (other == unit || strcmp(other->config->description.serial, serial))
			continue;
		spek_genl_table_remove(&spek_units, unit->id);
		return spek_refuse(refusal, 0, 0, -EEXIST,
				   "Another drive has this serial number: choose one that is free.");
	}
	return 0;
}

/* Memory for the tables of flash, charged to what all drives may use, written data included. */
static int alloc_flash(struct spek_unit *unit, struct spek_refusal *refusal)
{
	const struct spek_drive_flash_rule *rule = &unit->config->model.flash;
	u64 bytes;

	if (!rule->channels)
		return 0;
	bytes = spek_drive_flash_bytes(rule);
	if (!spek_store_reserve(bytes))
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ENOMEM,
				   "The tables of the flash do not fit into the memory that all drives share (module parameter store_limit_mib, by default a quarter of the machine's): make the pages larger or the drive smaller, delete other drives, or raise the limit.");
	unit->flash_bytes = bytes;
	unit->flash = __vmalloc(bytes, GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	if (unit->flash)
		return 0;
	spek_store_unreserve(bytes);
	return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ENOMEM,
				   "There is not enough memory for the tables of the flash.");
}

/**
 * spek_unit_new() - make a drive
 * @config: checked; taken over if it succeeds
 * @id: set to the number of the drive
 * @refusal: says what was wrong
 *
 * The disk comes later; the listener hears of it.
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int spek_unit_new(struct spek_unit_config *config, u32 *id, struct spek_refusal *refusal)
{
	struct spek_unit *unit = kvzalloc(sizeof(*unit), GFP_KERNEL);
	int err;

	if (!unit)
		return -ENOMEM;
	unit->config = config;
	err = alloc_flash(unit, refusal);
	if (err) {
		kvfree(unit);
		return err;
	}
	kref_init(&unit->ref);
	INIT_WORK(&unit->work, run_unit_work);
	spin_lock_init(&unit->lock);
	mutex_init(&unit->faults_lock);
	unit->created_ns = ktime_get_ns();
	unit->state = SPEK_DRIVE_STATE_CREATING;
	spek_unit_events_init(unit);
	spek_store_init(&unit->store, config->description.store == SPEK_DRIVE_STORE_NONE,
			config->description.store_bytes);
	mutex_lock(&table_lock);
	err = insert_unit(unit, refusal);
	if (err) {
		mutex_unlock(&table_lock);
		free_flash(unit);
		kvfree(unit);
		return err;
	}
	fill_identity(unit);
	*id = unit->id;
	queue_unit(unit);
	mutex_unlock(&table_lock);
	return 0;
}

/**
 * spek_unit_delete() - remove a drive; the listener hears when it is gone
 * @unit: with a reference of the caller
 * @refusal: says what was wrong
 *
 * Return: 0 or -EBUSY.
 */
int spek_unit_delete(struct spek_unit *unit, struct spek_refusal *refusal)
{
	int err = 0;

	mutex_lock(&table_lock);
	if (unit->state == SPEK_DRIVE_STATE_DELETING || unit->state == SPEK_DRIVE_STATE_GONE) {
		err = spek_refuse(refusal, 0, 0, -EBUSY, "The drive is already being deleted.");
	} else {
		set_state(unit, SPEK_DRIVE_STATE_DELETING);
		queue_unit(unit);
	}
	mutex_unlock(&table_lock);
	return err;
}

/**
 * spek_unit_view() - look at a unit
 * @unit: unit
 * @view: filled in
 *
 * Context: process.
 */
void spek_unit_view(struct spek_unit *unit, struct spek_unit_view *view)
{
	unsigned long flags;
	LIST_HEAD(done);

	memset(view, 0, sizeof(*view));
	mutex_lock(&table_lock);
	view->state = unit->state;
	view->failure = unit->failure;
	view->failure_err = unit->failure_err;
	view->host = -1;
	/* The work changes neither while the drive is READY. */
	if (unit->state == SPEK_DRIVE_STATE_READY) {
		view->host = unit->host->host_no;
		if (unit->hwmon)
			strscpy(view->hwmon, dev_name(unit->hwmon), sizeof(view->hwmon));
	}
	mutex_unlock(&table_lock);
	view->now_ns = spek_unit_lock_accounted(unit, &done, &flags);
	view->condition = unit->drive.condition;
	view->held = unit->held;
	spek_unit_unlock(unit, &done, flags);
}

/**
 * spek_unit_init() - get ready for drives
 * @notify: called after each change of a drive's state; process context, may sleep
 *
 * Return: 0 or a negative errno.
 */
int spek_unit_init(void (*notify)(struct spek_unit *unit))
{
	notify_unit = notify;
	workqueue = alloc_workqueue("spek_drive", WQ_UNBOUND, 0);
	return workqueue ? 0 : -ENOMEM;
}

/**
 * spek_unit_deinit() - remove all units
 *
 * The caller ensures that no more are made.
 *
 * Context: process, may sleep.
 */
void spek_unit_deinit(void)
{
	struct spek_unit *unit;
	u32 id = 0;

	for (; (unit = spek_genl_table_get_next(&spek_units, &id)); id++) {
		struct spek_refusal refusal = {};

		spek_unit_delete(unit, &refusal);
		spek_unit_put(unit);
	}
	destroy_workqueue(workqueue);
	spek_genl_table_deinit(&spek_units);
	spek_store_exit();
}
