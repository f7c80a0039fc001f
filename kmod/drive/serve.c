// SPDX-License-Identifier: GPL-2.0
/*
 * A unit at work: commands in, the drive's events, completions out.
 *
 * Everything happens between spek_unit_lock_now() and spek_unit_unlock(). The first brings the
 * drive up to the time: each event is served at its own time, however late it is noticed, so
 * lateness never adds up. Commands that ended are collected. The second arms the timer for the
 * next event, unlocks, and only then calls scsi_done(), which may call queuecommand again. Where
 * timers are late, as in emulated guests, a drive can have it fire early and wait for the event.
 *
 * A command belongs to the unit from spek_unit_serve() until it is collected. Who takes a command
 * out of its slot ends it, and nobody else does: the event of its end, abort and reset, or
 * spek_unit_kill(). Abort and reset then wait for batches that are on their way to scsi_done(), as
 * the SCSI layer may use the command again as soon as they return. A batch is an RCU read-side
 * critical section that begins under the lock: a grace period waits for those that had begun, and
 * for none that begin later, however busy the drive is.
 *
 * An aborted access that an arm is serving is finished by the arm and reported to nobody; its
 * slot may have the next command by then, which the tag tells apart.
 *
 * A power command that stops the spindle waits until the drive holds no request; commands
 * for the media are given back to the SCSI layer as busy meanwhile.
 */
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <scsi/scsi.h>
#include <scsi/scsi_cmnd.h>
#include <scsi/scsi_eh.h>
#include <scsi/scsi_host.h>
#include "../compat/drive.h"
#include "data.h"
#include "serve.h"
#include "trace.h"

#define TICK_NS		(100 * NSEC_PER_MSEC)

static_assert(SPEK_DRIVE_MAX_QUEUE <= 1 << SPEK_UNIT_SLOT_BITS);
static_assert(SPEK_SCSI_SENSE_BYTES <= SCSI_SENSE_BUFFERSIZE);
static_assert(SPEK_SCSI_MAX_SECTORS == SPEK_DRIVE_MAX_SECTORS);
static_assert(SPEK_SCSI_MAX_RANGES >= SPEK_DRIVE_MAX_ARMS);

static struct spek_unit_command *command_of(struct scsi_cmnd *cmd)
{
	return scsi_cmd_priv(cmd);
}

static void end(struct scsi_cmnd *cmd, int result, struct list_head *done)
{
	cmd->result = result;
	list_add_tail(&command_of(cmd)->entry, done);
}

static void end_with_sense(struct spek_unit *unit, struct scsi_cmnd *cmd,
			   const struct spek_scsi_sense *sense, struct list_head *done)
{
	bool descriptor = sense->has_ata ? !unit->config->fixed_ata_sense :
					   unit->scsi.mode.descriptor_sense;

	lockdep_assert_held(&unit->lock);
	memset(cmd->sense_buffer, 0, SCSI_SENSE_BUFFERSIZE);
	spek_scsi_sense(sense, descriptor, cmd->sense_buffer);
	unit->count.errors++;
	end(cmd, SAM_STAT_CHECK_CONDITION, done);
}

static void end_with_code(struct spek_unit *unit, struct scsi_cmnd *cmd, u8 key, u16 code,
			  struct list_head *done)
{
	struct spek_scsi_sense sense = { .key = key, .code = code };

	end_with_sense(unit, cmd, &sense, done);
}

/* ---- the drive's events ---- */

static void count_end(struct spek_unit *unit, const struct spek_drive_request *request)
{
	struct spek_unit_count *count = &unit->count;

	if (request->flush)
		return;
	if (request->trim) {
		count->unmaps++;
		count->unmapped_sectors += request->sectors;
	} else if (request->write) {
		count->writes++;
		count->written_sectors += request->sectors;
	} else {
		count->reads++;
		count->read_sectors += request->sectors;
	}
}

static void end_with_error(struct spek_unit *unit, struct scsi_cmnd *cmd,
			   const struct spek_drive_service *service, struct list_head *done)
{
	struct spek_scsi_sense sense = {
		.key = SPEK_SCSI_MEDIUM_ERROR,
		.code = service->error == SPEK_DRIVE_WRITE_ERROR ? SPEK_SCSI_WRITE_ERROR :
								   SPEK_SCSI_READ_ERROR,
		.info = service->error_lba,
		.has_info = !service->request.flush,
	};

	if (service->error == SPEK_DRIVE_NO_ARM) {
		sense.key = SPEK_SCSI_HARDWARE_ERROR;
		sense.code = SPEK_SCSI_POSITIONING_ERROR;
		sense.has_info = false;
	}
	end_with_sense(unit, cmd, &sense, done);
}

static void count_late(struct spek_unit *unit, u64 late_ns)
{
	struct spek_unit_count *count = &unit->count;

	count->late_count++;
	count->late_sum_ns += late_ns;
	count->late_max_ns = max(count->late_max_ns, late_ns);
	count->late[spek_hist_index(late_ns)]++;
}

/* Take a command out of its slot; NULL if it was aborted. */
static struct scsi_cmnd *take(struct spek_unit *unit, u64 tag)
{
	struct spek_unit_slot *slot = &unit->slots[tag & GENMASK(SPEK_UNIT_SLOT_BITS - 1, 0)];
	struct scsi_cmnd *cmd = slot->tag == tag ? slot->cmd : NULL;

	if (cmd)
		slot->cmd = NULL;
	return cmd;
}

static void retire(struct spek_unit *unit, const struct spek_drive_service *service, u64 now_ns,
		   struct list_head *done)
{
	struct scsi_cmnd *cmd = take(unit, service->request.tag);

	unit->held--;
	unit->last_use_ns = service->end_ns;
	trace_spek_drive_complete(unit->id, service, now_ns, cmd);
	if (!cmd)
		return;
	count_late(unit, now_ns - service->end_ns);
	if (service->error) {
		end_with_error(unit, cmd, service, done);
		return;
	}
	count_end(unit, &service->request);
	end(cmd, SAM_STAT_GOOD, done);
}

static void start_all(struct spek_unit *unit, u64 at_ns)
{
	struct spek_drive_service started;

	while (spek_drive_start(&unit->drive, at_ns, &started))
		;
}

/* Give a waiting power command to the drive, or end it when the drive has done it. */
static void drive_power(struct spek_unit *unit, u64 at_ns, struct list_head *done)
{
	struct spek_unit_power *power = &unit->power;
	struct scsi_cmnd *cmd = power->cmd;
	int err = 0;

	if (!power->pending)
		return;
	if (!power->issued) {
		if (power->event != SPEK_DRIVE_START && unit->held)
			return;
		err = spek_drive_command(&unit->drive, at_ns, power->event);
		/* The arms work for the drive itself, or its cache holds written data. */
		if (err && !spek_drive_conditions[unit->drive.condition].refuses)
			return;
		power->issued = true;
		unit->by_timer = false;
		if (!err && power->event != SPEK_DRIVE_START)
			unit->was_stopped = power->event == SPEK_DRIVE_STOP;
	}
	/* A transition may take no time. */
	spek_drive_account(&unit->drive, at_ns);
	if (!err && spek_drive_conditions[unit->drive.condition].is_transition)
		return;
	power->pending = false;
	power->cmd = NULL;
	unit->last_use_ns = at_ns;
	if (!cmd)
		return;
	if (err)	/* only START leads out of STOPPED */
		end_with_code(unit, cmd, SPEK_SCSI_NOT_READY, SPEK_SCSI_START_REQUIRED, done);
	else
		end(cmd, SAM_STAT_GOOD, done);
}

/* When the standby timer expires if nothing happens before. */
static u64 standby_ns(const struct spek_unit *unit)
{
	const struct spek_scsi_mode *mode = &unit->scsi.mode;

	if (!mode->standby_timer || unit->held || unit->power.pending || unit->drive.is_gone ||
	    unit->drive.condition != SPEK_DRIVE_ACTIVE)
		return SPEK_DRIVE_NEVER;
	return unit->last_use_ns + mode->standby_ticks * TICK_NS;
}

/* Serve all events up to @now_ns, each at its own time. */
static void catch_up(struct spek_unit *unit, u64 now_ns, struct list_head *done)
{
	struct spek_drive *drive = &unit->drive;
	struct spek_drive_service ended;

	for (;;) {
		u64 next_ns = spek_drive_next_ns(drive), timer_ns = standby_ns(unit);
		u64 at_ns = min(next_ns, timer_ns);

		if (at_ns > now_ns)
			break;
		if (next_ns <= timer_ns) {
			if (spek_drive_finish(drive, at_ns, &ended))
				retire(unit, &ended, now_ns, done);
			else
				spek_drive_account(drive, at_ns);
			if (drive->condition == SPEK_DRIVE_ACTIVE) {
				if (unit->was_stopped)
					unit->last_use_ns = at_ns;
				unit->was_stopped = false;
			}
		} else {
			/* It may have expired while a request was held. */
			at_ns = max(at_ns, drive->accounted_ns);
			if (spek_drive_command(drive, at_ns, SPEK_DRIVE_SLEEP)) {
				/* The drive's own work lasts until its next event at least. */
				unit->last_use_ns = min(next_ns, now_ns + TICK_NS);
				continue;
			}
			unit->by_timer = true;
			unit->is_idle = false;
		}
		start_all(unit, at_ns);
		drive_power(unit, at_ns, done);
	}
	spek_drive_account(drive, now_ns);
}

static void arm(struct spek_unit *unit)
{
	u64 next_ns = min(spek_drive_next_ns(&unit->drive), standby_ns(unit));

	if (unit->is_dead || next_ns == SPEK_DRIVE_NEVER || next_ns == unit->armed_ns)
		return;
	WRITE_ONCE(unit->armed_ns, next_ns);
	next_ns -= min_t(u64, next_ns, unit->config->spin_ns);
	hrtimer_start(&unit->timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS);
}

/**
 * spek_unit_lock_now() - lock a unit and bring it up to the time
 * @unit: the unit
 * @done: gets commands that ended
 * @flags: for spek_unit_unlock()
 *
 * Context: any.
 * Return: the time.
 */
u64 spek_unit_lock_now(struct spek_unit *unit, struct list_head *done, unsigned long *flags)
	__acquires(&unit->lock)
{
	u64 now_ns;

	spin_lock_irqsave(&unit->lock, *flags);
	now_ns = ktime_get_ns();
	catch_up(unit, now_ns, done);
	return now_ns;
}

/**
 * spek_unit_unlock() - arm the timer, unlock, and complete requests
 * @unit: locked unit
 * @done: requests to complete
 * @flags: from spek_unit_lock_now()
 *
 * Context: any.
 */
void spek_unit_unlock(struct spek_unit *unit, struct list_head *done, unsigned long flags)
	__releases(&unit->lock)
{
	struct spek_unit_command *command, *next;

	arm(unit);
	rcu_read_lock();
	spin_unlock_irqrestore(&unit->lock, flags);
	list_for_each_entry_safe(command, next, done, entry)
		scsi_done(command->cmd);
	rcu_read_unlock();
}

/*
 * A timer may have been set to fire early. Without the lock, so that commands come in meanwhile;
 * they may bring an earlier event, or take this one back.
 */
static void await_event(const struct spek_unit *unit)
{
	u64 now_ns, at_ns;

	for (;;) {
		now_ns = ktime_get_ns();
		at_ns = READ_ONCE(unit->armed_ns);
		if (at_ns <= now_ns || at_ns - now_ns > unit->config->spin_ns)
			return;
		cpu_relax();
	}
}

static enum hrtimer_restart expired(struct hrtimer *timer)
{
	struct spek_unit *unit = container_of(timer, struct spek_unit, timer);
	unsigned long flags;
	LIST_HEAD(done);

	if (unit->config->spin_ns)
		await_event(unit);
	spek_unit_lock_now(unit, &done, &flags);
	WRITE_ONCE(unit->armed_ns, SPEK_DRIVE_NEVER);
	spek_unit_unlock(unit, &done, flags);
	return HRTIMER_NORESTART;
}

/* ---- commands ---- */

/* What REQUEST SENSE returns, and media commands and TEST UNIT READY refuse with. */
static void condition_sense(const struct spek_unit *unit, struct spek_scsi_sense *sense)
{
	memset(sense, 0, sizeof(*sense));
	switch (unit->drive.condition) {
	case SPEK_DRIVE_STANDBY:
	case SPEK_DRIVE_TO_STANDBY:
		sense->code = unit->by_timer ? SPEK_SCSI_STANDBY_BY_TIMER :
					       SPEK_SCSI_STANDBY_BY_COMMAND;
		break;
	case SPEK_DRIVE_STOPPED:
	case SPEK_DRIVE_TO_STOPPED:
		sense->key = SPEK_SCSI_NOT_READY;
		sense->code = SPEK_SCSI_START_REQUIRED;
		break;
	case SPEK_DRIVE_STARTING:
		/* Out of standby the drive is ready all the time. */
		if (unit->was_stopped) {
			sense->key = SPEK_SCSI_NOT_READY;
			sense->code = SPEK_SCSI_BECOMING_READY;
		}
		break;
	default:
		if (unit->is_idle)
			sense->code = SPEK_SCSI_IDLE_BY_COMMAND;
		break;
	}
}

static u8 ata_count(const struct spek_unit *unit)
{
	switch (unit->drive.condition) {
	case SPEK_DRIVE_ACTIVE:
		return unit->is_idle ? 0x80 : 0xff;
	case SPEK_DRIVE_STARTING:
		return 0xff;
	default:
		return 0x00;
	}
}

static void answer(struct spek_unit *unit, struct scsi_cmnd *cmd,
		   struct spek_scsi_request *request, struct list_head *done)
{
	struct spek_scsi_status status = { .starts = unit->drive.account.starts };
	u8 data[SPEK_SCSI_ANSWER_BYTES];
	u32 bytes;

	condition_sense(unit, &status.condition);
	if (request->action == SPEK_SCSI_REQUEST_SENSE && unit->attention) {
		memset(&status.condition, 0, sizeof(status.condition));
		status.condition.key = SPEK_SCSI_UNIT_ATTENTION;
		status.condition.code = unit->attention;
		unit->attention = 0;
	}
	bytes = spek_scsi_answer(&unit->scsi, &status, request, data);
	if (request->action == SPEK_SCSI_REFUSE) {
		end_with_sense(unit, cmd, &request->sense, done);
		return;
	}
	/* Memory that the host only sends may be a file's, or read-only. */
	bytes = cmd->sc_data_direction == DMA_FROM_DEVICE ? min(bytes, scsi_bufflen(cmd)) : 0;
	if (bytes)
		bytes = scsi_sg_copy_from_buffer(cmd, data, bytes);
	scsi_set_resid(cmd, scsi_bufflen(cmd) - bytes);
	end(cmd, SAM_STAT_GOOD, done);
}

static void mode_select(struct spek_unit *unit, struct scsi_cmnd *cmd,
			struct spek_scsi_request *request, u64 now_ns, struct list_head *done)
{
	u8 data[SPEK_SCSI_MODE_BYTES];
	u32 bytes = min(request->length, scsi_bufflen(cmd));

	if (bytes > sizeof(data)) {
		end_with_code(unit, cmd, SPEK_SCSI_ILLEGAL_REQUEST, SPEK_SCSI_LIST_LENGTH, done);
		return;
	}
	if (bytes)
		bytes = scsi_sg_copy_to_buffer(cmd, data, bytes);
	if (spek_scsi_mode_select(&unit->scsi, request, data, bytes)) {
		end_with_sense(unit, cmd, &request->sense, done);
		return;
	}
	unit->last_use_ns = now_ns;
	end(cmd, SAM_STAT_GOOD, done);
}

/* With the ATA registers if the host wants to see them; @count: the sector count. */
static void end_good(struct spek_unit *unit, struct scsi_cmnd *cmd,
		     const struct spek_scsi_request *request, u8 count, struct list_head *done)
{
	struct spek_scsi_sense sense = {
		.key = SPEK_SCSI_RECOVERED_ERROR,
		.code = SPEK_SCSI_ATA_INFORMATION,
		.has_ata = true,
		.ata_count = count,
		.ata_status = 0x50,
	};

	if (request->check)
		end_with_sense(unit, cmd, &sense, done);
	else
		end(cmd, SAM_STAT_GOOD, done);
}

static int power(struct spek_unit *unit, struct scsi_cmnd *cmd,
		 const struct spek_scsi_request *request, u64 now_ns, struct list_head *done)
{
	static const enum spek_drive_event events[] = {
		[SPEK_SCSI_POWER_START] = SPEK_DRIVE_START,
		[SPEK_SCSI_POWER_IDLE] = SPEK_DRIVE_START,
		[SPEK_SCSI_POWER_STANDBY] = SPEK_DRIVE_SLEEP,
		[SPEK_SCSI_POWER_STOP] = SPEK_DRIVE_STOP,
	};

	if (request->power == SPEK_SCSI_POWER_NONE) {
		end(cmd, SAM_STAT_GOOD, done);
		return 0;
	}
	if (unit->power.pending)
		return SCSI_MLQUEUE_DEVICE_BUSY;
	unit->is_idle = request->power == SPEK_SCSI_POWER_IDLE;
	unit->power.pending = true;
	unit->power.issued = false;
	unit->power.event = events[request->power];
	unit->power.cmd = request->immediate ? NULL : cmd;
	drive_power(unit, now_ns, done);
	start_all(unit, now_ns);
	if (request->immediate)
		end_good(unit, cmd, request, 0, done);
	return 0;
}

static int transfer(struct spek_unit *unit, struct scsi_cmnd *cmd,
		    const struct spek_scsi_request *request, u64 now_ns, struct list_head *done)
{
	u32 index = scsi_cmd_to_rq(cmd)->tag;
	struct spek_drive_request access = {
		.lba = request->lba,
		.sectors = request->sectors,
		.write = request->action == SPEK_SCSI_WRITE,
		.fua = request->fua,
		.flush = request->action == SPEK_SCSI_SYNC_CACHE,
		.trim = request->action == SPEK_SCSI_UNMAP,
		.arrival_ns = now_ns,
	};
	struct spek_unit_slot *slot;
	int err;

	if (unit->power.pending)
		return SCSI_MLQUEUE_DEVICE_BUSY;
	if (WARN_ON_ONCE(index >= SPEK_DRIVE_MAX_QUEUE || unit->slots[index].cmd)) {
		end(cmd, DID_ERROR << 16, done);
		return 0;
	}
	access.tag = unit->next_tag++ << SPEK_UNIT_SLOT_BITS | index;
	err = spek_drive_submit(&unit->drive, &access);
	if (err == -EBUSY)	/* what was aborted is still there */
		return SCSI_MLQUEUE_DEVICE_BUSY;
	if (err) {
		struct spek_scsi_sense sense;

		condition_sense(unit, &sense);
		WARN_ON_ONCE(err != -EIO || sense.key != SPEK_SCSI_NOT_READY);
		end_with_sense(unit, cmd, &sense, done);
		return 0;
	}
	unit->held++;
	if (request->immediate) {
		end(cmd, SAM_STAT_GOOD, done);
	} else {
		slot = &unit->slots[index];
		slot->cmd = cmd;
		slot->tag = access.tag;
	}
	if (!access.flush)
		unit->is_idle = false;
	start_all(unit, now_ns);
	return 0;
}

/* Commands that need the unit ready; Return: false if it is not, and then the command ended. */
static bool check_ready(struct spek_unit *unit, struct scsi_cmnd *cmd, struct list_head *done)
{
	struct spek_scsi_sense sense;

	condition_sense(unit, &sense);
	if (sense.key != SPEK_SCSI_NOT_READY)
		return true;
	end_with_sense(unit, cmd, &sense, done);
	return false;
}

static int serve(struct spek_unit *unit, struct scsi_cmnd *cmd, struct spek_scsi_request *request,
		 u64 now_ns, struct list_head *done)
{
	if (unit->is_dead || unit->drive.is_gone) {
		end(cmd, DID_NO_CONNECT << 16, done);
		return 0;
	}
	if (unit->attention && request->action != SPEK_SCSI_INQUIRY &&
	    request->action != SPEK_SCSI_REPORT_LUNS &&
	    request->action != SPEK_SCSI_REQUEST_SENSE) {
		u16 code = unit->attention;

		unit->attention = 0;
		end_with_code(unit, cmd, SPEK_SCSI_UNIT_ATTENTION, code, done);
		return 0;
	}
	switch (request->action) {
	case SPEK_SCSI_REFUSE:
		end_with_sense(unit, cmd, &request->sense, done);
		return 0;
	case SPEK_SCSI_SYNC_CACHE:
		/* All of the cache, whatever the range: the drive keeps no order of its parts. */
		request->lba = 0;
		request->sectors = 0;
		return transfer(unit, cmd, request, now_ns, done);
	case SPEK_SCSI_READ:
	case SPEK_SCSI_WRITE:
	case SPEK_SCSI_UNMAP:
		if (request->sectors)
			return transfer(unit, cmd, request, now_ns, done);
		fallthrough;
	case SPEK_SCSI_TEST_READY:
		if (check_ready(unit, cmd, done))
			end(cmd, SAM_STAT_GOOD, done);
		return 0;
	case SPEK_SCSI_MODE_SELECT:
		mode_select(unit, cmd, request, now_ns, done);
		return 0;
	case SPEK_SCSI_POWER:
		return power(unit, cmd, request, now_ns, done);
	case SPEK_SCSI_CHECK_POWER:
		end_good(unit, cmd, request, ata_count(unit), done);
		return 0;
	default:
		answer(unit, cmd, request, done);
		return 0;
	}
}

/*
 * Whether the drive refuses media accesses. Without the lock it may have changed its mind when the
 * command gets there.
 */
static bool refuses_media(const struct spek_unit *unit)
{
	return READ_ONCE(unit->attention) || READ_ONCE(unit->drive.is_gone) ||
	       spek_drive_conditions[READ_ONCE(unit->drive.condition)].refuses;
}

static bool needs_media(const struct spek_scsi_request *request)
{
	switch (request->action) {
	case SPEK_SCSI_READ:
	case SPEK_SCSI_WRITE:
	case SPEK_SCSI_UNMAP:
		return request->sectors;
	default:
		return false;
	}
}

/**
 * spek_unit_serve() - take a command
 * @unit: the unit
 * @cmd: the command
 *
 * Context: as queuecommand.
 * Return: 0 if scsi_done() is or will be called, or SCSI_MLQUEUE_DEVICE_BUSY.
 */
int spek_unit_serve(struct spek_unit *unit, struct scsi_cmnd *cmd)
{
	bool refused = refuses_media(unit);
	struct spek_scsi_request request;
	unsigned long flags;
	LIST_HEAD(done);
	u64 now_ns;
	int status;

	command_of(cmd)->cmd = cmd;
	spek_scsi_decode(&unit->scsi, cmd->cmnd, cmd->cmd_len, &request);
	if (spek_data_move(unit, cmd, &request, refused))
		return SCSI_MLQUEUE_DEVICE_BUSY;
	now_ns = spek_unit_lock_now(unit, &done, &flags);
	/* The drive takes it by now, but its data has not moved: it comes again. */
	if (refused && needs_media(&request) && !refuses_media(unit))
		status = SCSI_MLQUEUE_DEVICE_BUSY;
	else
		status = serve(unit, cmd, &request, now_ns, &done);
	spek_unit_unlock(unit, &done, flags);
	return status;
}

/* ---- taking commands back ---- */

static void forget(struct spek_unit *unit, struct spek_unit_slot *slot, u64 now_ns)
{
	slot->cmd = NULL;
	if (spek_drive_abort(&unit->drive, now_ns, slot->tag))
		unit->held--;
	unit->count.aborted++;
}

/**
 * spek_unit_abort() - take back a command, or end all
 * @unit: the unit
 * @cmd: the command; NULL: all, and the unit is reset
 *
 * When it returns, scsi_done() has been called for the command or never will be. Context: process.
 *
 * Return: false if the drive does not answer: the SCSI layer gives up the device, and ends its
 * commands itself.
 */
bool spek_unit_abort(struct spek_unit *unit, const struct scsi_cmnd *cmd)
{
	unsigned long flags;
	LIST_HEAD(done);
	bool answers;
	u64 now_ns;
	u32 i;

	now_ns = spek_unit_lock_now(unit, &done, &flags);
	answers = unit->is_dead || !unit->drive.is_gone;
	for (i = 0; i < SPEK_DRIVE_MAX_QUEUE; i++) {
		struct scsi_cmnd *held = unit->slots[i].cmd;

		if (!held || (cmd && held != cmd))
			continue;
		forget(unit, &unit->slots[i], now_ns);
		/* Ignored if the error handler has the command; SG_SCSI_RESET comes without it. */
		if (!cmd && answers)
			end(held, DID_RESET << 16, &done);
	}
	if (unit->power.cmd && (!cmd || unit->power.cmd == cmd)) {
		if (!cmd && answers)
			end(unit->power.cmd, DID_RESET << 16, &done);
		unit->power.cmd = NULL;
		unit->count.aborted++;
	}
	if (answers) {
		if (!cmd) {
			unit->attention = SPEK_SCSI_DEVICE_RESET;
			unit->scsi.mode = (struct spek_scsi_mode){};
		}
		/* A stop may have waited for what was taken back. */
		drive_power(unit, now_ns, &done);
	}
	spek_unit_unlock(unit, &done, flags);
	/* What others took from its slot before is then through scsi_done(). */
	synchronize_rcu();
	return answers;
}

/**
 * spek_unit_kill() - fail all commands that are there or will come, and stop the timer
 * @unit: the unit
 *
 * Context: process.
 */
void spek_unit_kill(struct spek_unit *unit)
{
	unsigned long flags;
	LIST_HEAD(done);
	u64 now_ns;
	u32 i;

	now_ns = spek_unit_lock_now(unit, &done, &flags);
	unit->is_dead = true;
	for (i = 0; i < SPEK_DRIVE_MAX_QUEUE; i++) {
		struct scsi_cmnd *cmd = unit->slots[i].cmd;

		if (!cmd)
			continue;
		forget(unit, &unit->slots[i], now_ns);
		end(cmd, DID_NO_CONNECT << 16, &done);
	}
	if (unit->power.cmd)
		end(unit->power.cmd, DID_NO_CONNECT << 16, &done);
	unit->power.cmd = NULL;
	spek_unit_unlock(unit, &done, flags);
	hrtimer_cancel(&unit->timer);
}

/* ---- faults ---- */

/**
 * spek_unit_fault() - read an injected fault
 * @unit: unit
 * @index: number of the fault
 * @fault: filled in
 *
 * Context: process.
 * Return: false if there is no fault with this number.
 */
bool spek_unit_fault(struct spek_unit *unit, u32 index, struct spek_drive_fault *fault)
{
	unsigned long flags;
	LIST_HEAD(done);
	bool found;

	spek_unit_lock_now(unit, &done, &flags);
	found = index < unit->drive.faults.length;
	if (found)
		*fault = unit->drive.faults.entries[index];
	spek_unit_unlock(unit, &done, flags);
	return found;
}

/**
 * spek_unit_set_faults() - change the faults of a drive: all that is asked for, or nothing
 * @unit: the drive
 * @clear: first remove those that it has
 * @added: add these
 * @scratch: memory for a trial
 * @refusal: says what was wrong
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int spek_unit_set_faults(struct spek_unit *unit, bool clear,
			 const struct spek_drive_faults *added,
			 struct spek_drive_faults *scratch, struct spek_refusal *refusal)
{
	const struct spek_drive_mechanics *mechanics = &unit->config->model.mechanics;
	unsigned long flags;
	LIST_HEAD(done);
	u64 now_ns;
	int err = 0;
	u32 i;

	now_ns = spek_unit_lock_now(unit, &done, &flags);
	*scratch = unit->drive.faults;
	if (clear)
		scratch->length = 0;
	for (i = 0; !err && i < added->length; i++)
		err = spek_drive_faults_add(scratch, mechanics, &added->entries[i], refusal);
	if (!err) {
		if (clear)
			spek_drive_clear_faults(&unit->drive, now_ns);
		for (i = 0; i < added->length; i++)
			spek_drive_fault(&unit->drive, now_ns, &added->entries[i], refusal);
		start_all(unit, now_ns);
		/* What a stop waited for may have been taken back while the drive was gone. */
		if (!unit->drive.is_gone)
			drive_power(unit, now_ns, &done);
	}
	spek_unit_unlock(unit, &done, flags);
	return err;
}

/**
 * spek_unit_serve_init() - prepare a new unit for requests
 * @unit: unit; its drive counts time from now
 *
 * Context: process.
 */
void spek_unit_serve_init(struct spek_unit *unit)
{
	spek_compat_hrtimer_setup(&unit->timer, expired);
	spek_drive_init(&unit->drive, &unit->config->model, unit->created_ns);
	if (unit->flash)
		spek_drive_init_flash(&unit->drive, unit->flash);
	unit->last_use_ns = unit->created_ns;
	unit->armed_ns = SPEK_DRIVE_NEVER;
}
