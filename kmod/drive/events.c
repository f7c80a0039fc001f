// SPDX-License-Identifier: GPL-2.0
/*
 * The events of a unit's drive, and the ends of commands.
 *
 * Everything happens between spek_unit_lock_now() and spek_unit_unlock(). The first brings the
 * drive up to the time: each event is served at its own time, however late it is noticed, so
 * lateness never adds up. Commands that ended are collected. The second arms the timer for the
 * next event, unlocks, and only then calls scsi_done(), which may call queuecommand again. Where
 * timers are late, as in emulated guests, a drive can have it fire early and wait for the event.
 * Events that follow each other faster are awaited in the same interrupt, which would otherwise be
 * due again before it has ended, but not for longer than the timer is early: after that the timer
 * is set to SPIN_PAUSE_NS later at least, so that the processor comes out of the interrupt.
 *
 * Planning flash may take milliseconds. Interrupts are off, so a drive gets PLAN_STEPS each time; a
 * drive that is behind resumes PLAN_PAUSE_NS later, at its own time. Meanwhile the unit accepts
 * commands, with their arrival times. Readers of its state get the state up to its own time
 * (spek_unit_lock_accounted()). Callers that change it need the drive at the present time, and wait
 * (spek_unit_lock_settled()): until then commands for the media are busy, so that the wait ends
 * with what the drive has, however fast the host sends.
 *
 * A power command that stops the spindle waits until the drive holds no request; commands
 * for the media are given back to the SCSI layer as busy meanwhile.
 */
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <scsi/scsi.h>
#include <scsi/scsi_cmnd.h>
#include "../compat/drive.h"
#include "events.h"
#include "trace.h"

#define TICK_NS		(100 * NSEC_PER_MSEC)
/* 10 to 50 us, and as long again for everybody else. */
#define PLAN_STEPS	4096
#define PLAN_PAUSE_NS	(50 * NSEC_PER_USEC)
#define SPIN_PAUSE_NS	(20 * NSEC_PER_USEC)

static_assert(SPEK_SCSI_SENSE_BYTES <= SCSI_SENSE_BUFFERSIZE);

/* ---- ends ---- */

/**
 * spek_unit_end() - end a command
 * @cmd: command that no slot has any more
 * @result: its result, as in struct scsi_cmnd
 * @done: gets it
 *
 * Context: any, with the unit's lock.
 */
void spek_unit_end(struct scsi_cmnd *cmd, int result, struct list_head *done)
{
	struct spek_unit_command *command = scsi_cmd_priv(cmd);

	cmd->result = result;
	command->cmd = cmd;
	list_add_tail(&command->entry, done);
}

/**
 * spek_unit_end_with_sense() - end a command with CHECK CONDITION
 * @unit: the unit
 * @cmd: command that no slot has any more
 * @sense: sense data
 * @done: gets it
 *
 * Context: any, with the unit's lock.
 */
void spek_unit_end_with_sense(struct spek_unit *unit, struct scsi_cmnd *cmd,
			      const struct spek_scsi_sense *sense, struct list_head *done)
{
	bool descriptor = sense->has_ata ? !unit->config->description.fixed_ata_sense :
					   unit->scsi.mode.descriptor_sense;

	lockdep_assert_held(&unit->lock);
	memset(cmd->sense_buffer, 0, SCSI_SENSE_BUFFERSIZE);
	spek_scsi_sense(sense, descriptor, cmd->sense_buffer);
	unit->count.errors++;
	spek_unit_end(cmd, SAM_STAT_CHECK_CONDITION, done);
}

/**
 * spek_unit_end_with_code() - end a command with CHECK CONDITION and no more than a code
 * @unit: the unit
 * @cmd: command that no slot has any more
 * @key: sense key
 * @code: additional sense code and its qualifier
 * @done: gets it
 *
 * Context: any, with the unit's lock.
 */
void spek_unit_end_with_code(struct spek_unit *unit, struct scsi_cmnd *cmd, u8 key, u16 code,
			     struct list_head *done)
{
	struct spek_scsi_sense sense = { .key = key, .code = code };

	spek_unit_end_with_sense(unit, cmd, &sense, done);
}

/* ---- events ---- */

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
	spek_unit_end_with_sense(unit, cmd, &sense, done);
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
static struct scsi_cmnd *take_command(struct spek_unit *unit, u64 tag)
{
	struct spek_unit_slot *slot = &unit->slots[tag & GENMASK(SPEK_UNIT_SLOT_BITS - 1, 0)];
	struct scsi_cmnd *cmd = slot->tag == tag ? slot->cmd : NULL;

	if (cmd)
		slot->cmd = NULL;
	return cmd;
}

static void retire_access(struct spek_unit *unit, const struct spek_drive_service *service,
			  u64 now_ns, struct list_head *done)
{
	struct scsi_cmnd *cmd = take_command(unit, service->request.tag);

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
	spek_unit_end(cmd, SAM_STAT_GOOD, done);
}

/**
 * spek_unit_start_all() - start the requests for which the drive has an arm free
 * @unit: the unit; a drive that is behind starts them later
 * @at_ns: the time
 *
 * Context: any, with the unit's lock.
 */
void spek_unit_start_all(struct spek_unit *unit, u64 at_ns)
{
	struct spek_drive_service started;

	while (!spek_drive_is_short(&unit->drive) &&
	       spek_drive_start(&unit->drive, at_ns, &started))
		;
}

/*
 * A drive that stops its spindle or goes to standby has written its cache to the medium. That has
 * taken time: writes may have been accepted after the command had come.
 */
static void make_permanent(struct spek_unit *unit)
{
	if (!READ_ONCE(unit->ignores_flush))
		spek_store_flush(&unit->store);
}

/**
 * spek_unit_drive_power() - give a waiting power command to the drive, or end it when that is done
 * @unit: the unit
 * @at_ns: the time
 * @done: gets the command when it ends
 *
 * Context: any, with the unit's lock.
 */
void spek_unit_drive_power(struct spek_unit *unit, u64 at_ns, struct list_head *done)
{
	struct spek_unit_power *power = &unit->power;
	struct scsi_cmnd *cmd = power->cmd;
	int err = 0;

	if (!power->pending || spek_drive_is_short(&unit->drive))
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
		if (!err && power->flushes)
			make_permanent(unit);
		unit->is_asleep = !err && power->sleeps;
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
		spek_unit_end_with_code(unit, cmd, SPEK_SCSI_NOT_READY,
					SPEK_SCSI_START_REQUIRED, done);
	else
		spek_unit_end(cmd, SAM_STAT_GOOD, done);
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

/* Serve all events up to @now_ns, each at its own time, or as many as the drive has steps for. */
static void catch_up(struct spek_unit *unit, u64 now_ns, struct list_head *done)
{
	struct spek_drive *drive = &unit->drive;
	struct spek_drive_service ended;

	spek_drive_allow(drive, PLAN_STEPS);
	for (;;) {
		u64 next_ns = spek_drive_next_ns(drive), timer_ns = standby_ns(unit);
		u64 at_ns = min(next_ns, timer_ns);

		if (spek_drive_is_short(drive))
			return;
		if (at_ns > now_ns)
			break;
		if (next_ns <= timer_ns) {
			if (spek_drive_finish(drive, at_ns, &ended))
				retire_access(unit, &ended, now_ns, done);
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
			make_permanent(unit);
			unit->by_timer = true;
			unit->is_idle = false;
		}
		spek_unit_start_all(unit, at_ns);
		spek_unit_drive_power(unit, at_ns, done);
	}
	spek_drive_account(drive, now_ns);
	/* It may have come while the drive was behind, and no event may follow. */
	spek_unit_drive_power(unit, now_ns, done);
}

static u64 next_event_ns(const struct spek_unit *unit)
{
	return min(spek_drive_next_ns(&unit->drive), standby_ns(unit));
}

/* @earliest_ns: the timer is not set for a time before */
static void arm_timer(struct spek_unit *unit, u64 earliest_ns)
{
	bool is_behind = spek_drive_is_short(&unit->drive);
	u64 next_ns = next_event_ns(unit);

	if (is_behind)
		next_ns = ktime_get_ns() + PLAN_PAUSE_NS;
	if (unit->is_dead || next_ns == SPEK_DRIVE_NEVER || next_ns == unit->armed_ns)
		return;
	WRITE_ONCE(unit->armed_ns, next_ns);
	if (next_ns <= unit->awaits_ns)
		return;
	if (!is_behind)
		next_ns -= min_t(u64, next_ns, unit->config->description.spin_ns);
	hrtimer_start(&unit->timer, ns_to_ktime(max(next_ns, earliest_ns)), HRTIMER_MODE_ABS);
}

/**
 * spek_unit_lock_now() - lock a unit and bring it up to the time
 * @unit: the unit
 * @done: gets commands that ended
 * @flags: for spek_unit_unlock()
 *
 * Its drive may be behind: then it may be given commands, and nothing else.
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

static void unlock(struct spek_unit *unit, struct list_head *done, unsigned long flags,
		   u64 earliest_ns)
	__releases(&unit->lock)
{
	struct spek_unit_command *command, *next;

	arm_timer(unit, earliest_ns);
	rcu_read_lock();
	spin_unlock_irqrestore(&unit->lock, flags);
	list_for_each_entry_safe(command, next, done, entry)
		scsi_done(command->cmd);
	rcu_read_unlock();
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
	unlock(unit, done, flags, 0);
}

/**
 * spek_unit_lock_settled() - lock a unit whose drive is not behind
 * @unit: the unit
 * @done: empty; gets commands that ended
 * @flags: for spek_unit_unlock()
 *
 * Context: process.
 * Return: the time.
 */
u64 spek_unit_lock_settled(struct spek_unit *unit, struct list_head *done, unsigned long *flags)
	__acquires(&unit->lock)
{
	u64 now_ns = spek_unit_lock_now(unit, done, flags);

	unit->settling++;
	while (spek_drive_is_short(&unit->drive)) {
		spek_unit_unlock(unit, done, *flags);
		INIT_LIST_HEAD(done);
		cond_resched();
		now_ns = spek_unit_lock_now(unit, done, flags);
	}
	unit->settling--;
	return now_ns;
}

/**
 * spek_unit_lock_accounted() - lock a unit to read its state
 * @unit: the unit
 * @done: empty; gets commands that ended
 * @flags: for spek_unit_unlock()
 *
 * Unlike spek_unit_lock_settled(), it is not in the way of commands.
 *
 * Context: any.
 * Return: the time up to which everything is accounted: that of a drive that is behind, else now.
 */
u64 spek_unit_lock_accounted(struct spek_unit *unit, struct list_head *done, unsigned long *flags)
	__acquires(&unit->lock)
{
	u64 now_ns = spek_unit_lock_now(unit, done, flags);

	return spek_drive_is_short(&unit->drive) ? unit->drive.accounted_ns : now_ns;
}

/*
 * A timer may have been set to fire early. Without the lock, so that commands come in meanwhile;
 * they may bring an earlier event, or take this one back. Later ones than @last_ns are not awaited.
 */
static void await_event(const struct spek_unit *unit, u64 last_ns)
{
	u64 now_ns, at_ns;

	for (;;) {
		now_ns = ktime_get_ns();
		at_ns = READ_ONCE(unit->armed_ns);
		if (at_ns <= now_ns || at_ns > last_ns)
			return;
		cpu_relax();
	}
}

static enum hrtimer_restart timer_expired(struct hrtimer *timer)
{
	struct spek_unit *unit = container_of(timer, struct spek_unit, timer);
	u64 spin_ns = unit->config->description.spin_ns, now_ns;
	u64 last_ns = ktime_get_ns() + spin_ns;
	bool is_first = true, awaits;
	unsigned long flags;

	do {
		LIST_HEAD(done);

		if (spin_ns)
			await_event(unit, last_ns);
		now_ns = spek_unit_lock_now(unit, &done, &flags);
		if (is_first)
			last_ns = now_ns + spin_ns;
		is_first = false;
		WRITE_ONCE(unit->armed_ns, SPEK_DRIVE_NEVER);
		awaits = !unit->is_dead && !spek_drive_is_short(&unit->drive) &&
			 next_event_ns(unit) <= last_ns;
		unit->awaits_ns = awaits ? last_ns : 0;
		unlock(unit, &done, flags, now_ns + min_t(u64, spin_ns, SPIN_PAUSE_NS));
	} while (awaits);
	return HRTIMER_NORESTART;
}

/**
 * spek_unit_events_init() - prepare a new unit for requests
 * @unit: unit; its drive counts time from now
 *
 * Context: process.
 */
void spek_unit_events_init(struct spek_unit *unit)
{
	spek_compat_hrtimer_setup(&unit->timer, timer_expired);
	spek_drive_init(&unit->drive, &unit->config->model, unit->created_ns);
	if (unit->flash)
		spek_drive_init_flash(&unit->drive, unit->flash);
	unit->last_use_ns = unit->created_ns;
	unit->armed_ns = SPEK_DRIVE_NEVER;
}
