// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of a unit: taken, refused, and taken back.
 *
 * A command belongs to the unit from spek_unit_serve() until it is collected (see events.c). Who
 * takes a command out of its slot ends it, and nobody else does: the event of its end, abort and
 * reset, or spek_unit_kill(). Abort and reset then wait for batches that are on their way to
 * scsi_done(), as the SCSI layer may use the command again as soon as they return. A batch is an
 * RCU read-side critical section that begins under the lock: a grace period waits for those that
 * had begun, and for none that begin later, however busy the drive is.
 *
 * A drive that sleeps holds commands that its slots have and the model has not.
 *
 * An aborted access that an arm is serving is finished by the arm and reported to nobody; its
 * slot may have the next command by then, which the tag tells apart.
 */
#include <linux/rcupdate.h>
#include <scsi/scsi.h>
#include <scsi/scsi_cmnd.h>
#include "data.h"
#include "events.h"
#include "serve.h"

static_assert(SPEK_DRIVE_MAX_QUEUE <= 1 << SPEK_UNIT_SLOT_BITS);
static_assert(SPEK_SCSI_MAX_SECTORS == SPEK_DRIVE_MAX_SECTORS);
static_assert(SPEK_SCSI_MAX_RANGES >= SPEK_DRIVE_MAX_ARMS);

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

static void answer_query(struct spek_unit *unit, struct scsi_cmnd *cmd,
			 struct spek_scsi_request *request, struct list_head *done)
{
	struct spek_scsi_status status = {
		.starts = unit->drive.account.starts,
		.removed = unit->drive.arms.failed,
	};
	u8 data[SPEK_SCSI_ANSWER_BYTES];
	u32 bytes, arm;

	for (arm = 0; arm < unit->scsi.nr_elements; arm++)
		status.sole_sectors[arm] = spek_drive_sole_sectors(&unit->drive, arm);
	condition_sense(unit, &status.condition);
	if (request->action == SPEK_SCSI_REQUEST_SENSE && unit->attention) {
		memset(&status.condition, 0, sizeof(status.condition));
		status.condition.key = SPEK_SCSI_UNIT_ATTENTION;
		status.condition.code = unit->attention;
		unit->attention = 0;
	}
	bytes = spek_scsi_answer(&unit->scsi, &status, request, data);
	if (request->action == SPEK_SCSI_REFUSE) {
		spek_unit_end_with_sense(unit, cmd, &request->sense, done);
		return;
	}
	/* Memory that the host only sends may be a file's, or read-only. */
	bytes = cmd->sc_data_direction == DMA_FROM_DEVICE ? min(bytes, scsi_bufflen(cmd)) : 0;
	if (bytes)
		bytes = scsi_sg_copy_from_buffer(cmd, data, bytes);
	scsi_set_resid(cmd, scsi_bufflen(cmd) - bytes);
	spek_unit_end(cmd, SAM_STAT_GOOD, done);
}

static void mode_select(struct spek_unit *unit, struct scsi_cmnd *cmd,
			struct spek_scsi_request *request, u64 now_ns, struct list_head *done)
{
	u8 data[SPEK_SCSI_MODE_BYTES];
	u32 bytes = min(request->length, scsi_bufflen(cmd));

	if (bytes > sizeof(data)) {
		spek_unit_end_with_code(unit, cmd, SPEK_SCSI_ILLEGAL_REQUEST,
					SPEK_SCSI_LIST_LENGTH, done);
		return;
	}
	if (bytes)
		bytes = scsi_sg_copy_to_buffer(cmd, data, bytes);
	if (spek_scsi_mode_select(&unit->scsi, request, data, bytes)) {
		spek_unit_end_with_sense(unit, cmd, &request->sense, done);
		return;
	}
	unit->last_use_ns = now_ns;
	spek_unit_end(cmd, SAM_STAT_GOOD, done);
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
		spek_unit_end_with_sense(unit, cmd, &sense, done);
	else
		spek_unit_end(cmd, SAM_STAT_GOOD, done);
}

static int change_power(struct spek_unit *unit, struct scsi_cmnd *cmd,
			const struct spek_scsi_request *request, u64 now_ns,
			struct list_head *done)
{
	static const enum spek_drive_event events[] = {
		[SPEK_SCSI_POWER_START] = SPEK_DRIVE_START,
		[SPEK_SCSI_POWER_IDLE] = SPEK_DRIVE_START,
		[SPEK_SCSI_POWER_STANDBY] = SPEK_DRIVE_SLEEP,
		[SPEK_SCSI_POWER_STOP] = SPEK_DRIVE_STOP,
		[SPEK_SCSI_POWER_SLEEP] = SPEK_DRIVE_SLEEP,
	};

	if (request->power == SPEK_SCSI_POWER_NONE) {
		spek_unit_end(cmd, SAM_STAT_GOOD, done);
		return 0;
	}
	if (unit->power.pending)
		return SCSI_MLQUEUE_DEVICE_BUSY;
	if (request->sets_timer) {
		unit->scsi.mode.standby_timer = request->standby_ticks;
		unit->scsi.mode.standby_ticks = request->standby_ticks;
	}
	unit->is_idle = request->power == SPEK_SCSI_POWER_IDLE;
	unit->power.pending = true;
	unit->power.issued = false;
	unit->power.sleeps = request->power == SPEK_SCSI_POWER_SLEEP;
	unit->power.flushes = spek_data_flushes(request);
	unit->power.event = events[request->power];
	unit->power.cmd = request->immediate ? NULL : cmd;
	spek_unit_drive_power(unit, now_ns, done);
	spek_unit_start_all(unit, now_ns);
	if (request->immediate)
		end_good(unit, cmd, request, 0, done);
	return 0;
}

/* The slot for a command, with a tag that no other has; NULL: there is none, the command ended. */
static struct spek_unit_slot *slot_for(struct spek_unit *unit, struct scsi_cmnd *cmd, u64 *tag,
				       struct list_head *done)
{
	u32 index = scsi_cmd_to_rq(cmd)->tag;

	if (WARN_ON_ONCE(index >= SPEK_DRIVE_MAX_QUEUE || unit->slots[index].cmd)) {
		spek_unit_end(cmd, DID_ERROR << 16, done);
		return NULL;
	}
	*tag = unit->next_tag++ << SPEK_UNIT_SLOT_BITS | index;
	return &unit->slots[index];
}

static void hold_command(struct spek_unit_slot *slot, struct scsi_cmnd *cmd, u64 tag)
{
	slot->cmd = cmd;
	slot->tag = tag;
}

/* A drive that sleeps answers nothing: the SCSI layer takes the command back, and resets it. */
static void hear_nothing(struct spek_unit *unit, struct scsi_cmnd *cmd, struct list_head *done)
{
	struct spek_unit_slot *slot;
	u64 tag;

	slot = slot_for(unit, cmd, &tag, done);
	if (slot)
		hold_command(slot, cmd, tag);
}

static int submit_access(struct spek_unit *unit, struct scsi_cmnd *cmd,
			 const struct spek_scsi_request *request, u64 now_ns,
			 struct list_head *done)
{
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

	if (unit->power.pending || unit->settling)
		return SCSI_MLQUEUE_DEVICE_BUSY;
	slot = slot_for(unit, cmd, &access.tag, done);
	if (!slot)
		return 0;
	err = spek_drive_submit(&unit->drive, &access);
	if (err == -EBUSY)	/* what was aborted is still there */
		return SCSI_MLQUEUE_DEVICE_BUSY;
	if (err) {
		struct spek_scsi_sense sense;

		condition_sense(unit, &sense);
		WARN_ON_ONCE(err != -EIO || sense.key != SPEK_SCSI_NOT_READY);
		spek_unit_end_with_sense(unit, cmd, &sense, done);
		return 0;
	}
	unit->held++;
	if (request->immediate)
		spek_unit_end(cmd, SAM_STAT_GOOD, done);
	else
		hold_command(slot, cmd, access.tag);
	if (!access.flush)
		unit->is_idle = false;
	spek_unit_start_all(unit, now_ns);
	return 0;
}

/* Commands that need the unit ready; Return: false if it is not, and then the command ended. */
static bool check_ready(struct spek_unit *unit, struct scsi_cmnd *cmd, struct list_head *done)
{
	struct spek_scsi_sense sense;

	condition_sense(unit, &sense);
	if (sense.key != SPEK_SCSI_NOT_READY)
		return true;
	spek_unit_end_with_sense(unit, cmd, &sense, done);
	return false;
}

/* Like an injected failure of the arm, which ends the access that it serves. */
static void remove_element(struct spek_unit *unit, struct scsi_cmnd *cmd,
			   struct spek_scsi_request *request, u64 now_ns, struct list_head *done)
{
	const struct spek_drive_fault fault = {
		.kind = SPEK_DRIVE_FAULT_ARM,
		.number = request->element - 1,
	};
	struct spek_refusal refusal;

	if (!check_ready(unit, cmd, done))
		return;
	/*
	 * An arm that alone reaches LBAs stays: without them the others would have new addresses,
	 * which the model does not do.
	 */
	if (unit->drive.arms.failed >> fault.number & 1 ||
	    spek_drive_sole_sectors(&unit->drive, fault.number)) {
		spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 10, 7);
		spek_unit_end_with_sense(unit, cmd, &request->sense, done);
		return;
	}
	/* Only the list of faults can be full, with others than those of arms. */
	if (spek_drive_fault(&unit->drive, now_ns, &fault, &refusal)) {
		spek_unit_end_with_code(unit, cmd, SPEK_SCSI_ABORTED_COMMAND,
					SPEK_SCSI_NO_ADDITIONAL, done);
		return;
	}
	spek_unit_end(cmd, SAM_STAT_GOOD, done);
	spek_unit_start_all(unit, now_ns);
}

static void restore_elements(struct spek_unit *unit, struct scsi_cmnd *cmd, u64 now_ns,
			     struct list_head *done)
{
	if (!check_ready(unit, cmd, done))
		return;
	spek_drive_restore_arms(&unit->drive, now_ns);
	spek_unit_end(cmd, SAM_STAT_GOOD, done);
	spek_unit_start_all(unit, now_ns);
}

static int serve_command(struct spek_unit *unit, struct scsi_cmnd *cmd,
			 struct spek_scsi_request *request, u64 now_ns, struct list_head *done)
{
	if (unit->is_dead || unit->drive.is_gone) {
		spek_unit_end(cmd, DID_NO_CONNECT << 16, done);
		return 0;
	}
	if (unit->is_asleep) {
		hear_nothing(unit, cmd, done);
		return 0;
	}
	if (unit->attention && request->action != SPEK_SCSI_INQUIRY &&
	    request->action != SPEK_SCSI_REPORT_LUNS &&
	    request->action != SPEK_SCSI_REQUEST_SENSE) {
		u16 code = unit->attention;

		unit->attention = 0;
		spek_unit_end_with_code(unit, cmd, SPEK_SCSI_UNIT_ATTENTION, code, done);
		return 0;
	}
	switch (request->action) {
	case SPEK_SCSI_REFUSE:
		spek_unit_end_with_sense(unit, cmd, &request->sense, done);
		return 0;
	case SPEK_SCSI_SYNC_CACHE:
		/* All of the cache, whatever the range: the drive keeps no order of its parts. */
		request->lba = 0;
		request->sectors = 0;
		return submit_access(unit, cmd, request, now_ns, done);
	case SPEK_SCSI_READ:
	case SPEK_SCSI_WRITE:
	case SPEK_SCSI_UNMAP:
		if (request->sectors)
			return submit_access(unit, cmd, request, now_ns, done);
		fallthrough;
	case SPEK_SCSI_TEST_READY:
		if (check_ready(unit, cmd, done))
			spek_unit_end(cmd, SAM_STAT_GOOD, done);
		return 0;
	case SPEK_SCSI_MODE_SELECT:
		mode_select(unit, cmd, request, now_ns, done);
		return 0;
	case SPEK_SCSI_POWER:
		return change_power(unit, cmd, request, now_ns, done);
	case SPEK_SCSI_REMOVE_ELEMENT:
		remove_element(unit, cmd, request, now_ns, done);
		return 0;
	case SPEK_SCSI_RESTORE_ELEMENTS:
		restore_elements(unit, cmd, now_ns, done);
		return 0;
	case SPEK_SCSI_CHECK_POWER:
		end_good(unit, cmd, request, ata_count(unit), done);
		return 0;
	default:
		answer_query(unit, cmd, request, done);
		return 0;
	}
}

/*
 * Whether the drive refuses a command that moves data or flushes. Without the lock it may have
 * changed its mind when the command gets there.
 */
static bool refuses(const struct spek_unit *unit, const struct spek_scsi_request *request)
{
	return READ_ONCE(unit->attention) || READ_ONCE(unit->drive.is_gone) ||
	       (request->action != SPEK_SCSI_POWER &&
		spek_drive_conditions[READ_ONCE(unit->drive.condition)].refuses);
}

static bool moves_or_flushes(const struct spek_scsi_request *request)
{
	switch (request->action) {
	case SPEK_SCSI_READ:
	case SPEK_SCSI_WRITE:
	case SPEK_SCSI_UNMAP:
		return request->sectors;
	default:
		return spek_data_flushes(request);
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
	/* Before the data move: pairs with spek_unit_power_on(). */
	u32 power_ons = smp_load_acquire(&unit->power_ons);
	struct spek_scsi_request request;
	unsigned long flags;
	LIST_HEAD(done);
	bool refused;
	u64 now_ns;
	int status;

	spek_scsi_decode(&unit->scsi, cmd->cmnd, cmd->cmd_len, &request);
	/* The data move as a whole or not at all: a power cut waits for a grace period. */
	rcu_read_lock();
	refused = refuses(unit, &request);
	status = spek_data_move(unit, cmd, &request, refused);
	rcu_read_unlock();
	if (status)
		return SCSI_MLQUEUE_DEVICE_BUSY;
	now_ns = spek_unit_lock_now(unit, &done, &flags);
	/* The drive would take it now, but its data has not moved, or was lost: it is sent again. */
	if (moves_or_flushes(&request) &&
	    (power_ons != unit->power_ons || (refused && !refuses(unit, &request))))
		status = SCSI_MLQUEUE_DEVICE_BUSY;
	else
		status = serve_command(unit, cmd, &request, now_ns, &done);
	spek_unit_unlock(unit, &done, flags);
	return status;
}

/* ---- taking commands back ---- */

static void forget_command(struct spek_unit *unit, struct spek_unit_slot *slot, u64 now_ns)
{
	slot->cmd = NULL;
	if (spek_drive_abort(&unit->drive, now_ns, slot->tag))
		unit->held--;
	unit->count.aborted++;
}

/**
 * spek_unit_power_on() - restore the power; the drive has lost the requests that it held
 * @unit: the unit, locked; its drive is still gone
 * @now_ns: time
 * @done: takes the commands, which the SCSI layer sends again
 *
 * The data of a write move before its answer, and are lost with the power: to answer it now would
 * acknowledge lost data. Commands whose data were moving detect the change of power_ons, and are
 * sent again. Nothing else that the host had set or asked for survives; a unit attention says so.
 */
void spek_unit_power_on(struct spek_unit *unit, u64 now_ns, struct list_head *done)
{
	u32 i;

	lockdep_assert_held(&unit->lock);
	for (i = 0; i < SPEK_DRIVE_MAX_QUEUE; i++) {
		struct scsi_cmnd *held = unit->slots[i].cmd;

		if (!held)
			continue;
		forget_command(unit, &unit->slots[i], now_ns);
		/* Ignored if the error handler has the command. */
		spek_unit_end(held, DID_RESET << 16, done);
	}
	if (unit->power.cmd) {
		spek_unit_end(unit->power.cmd, DID_RESET << 16, done);
		unit->count.aborted++;
	}
	unit->power = (struct spek_unit_power){};
	unit->scsi.mode = (struct spek_scsi_mode){};
	unit->attention = SPEK_SCSI_POWER_ON;
	unit->last_use_ns = now_ns;
	unit->is_idle = false;
	unit->is_asleep = false;
	unit->by_timer = false;
	unit->was_stopped = false;
	/* After the held commands are gone: pairs with spek_unit_serve(). */
	smp_store_release(&unit->power_ons, unit->power_ons + 1);
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

	now_ns = spek_unit_lock_settled(unit, &done, &flags);
	answers = unit->is_dead || !unit->drive.is_gone;
	for (i = 0; i < SPEK_DRIVE_MAX_QUEUE; i++) {
		struct scsi_cmnd *held = unit->slots[i].cmd;

		if (!held || (cmd && held != cmd))
			continue;
		forget_command(unit, &unit->slots[i], now_ns);
		/* Ignored if the error handler has the command; SG_SCSI_RESET comes without it. */
		if (!cmd && answers)
			spek_unit_end(held, DID_RESET << 16, &done);
	}
	if (unit->power.cmd && (!cmd || unit->power.cmd == cmd)) {
		if (!cmd && answers)
			spek_unit_end(unit->power.cmd, DID_RESET << 16, &done);
		unit->power.cmd = NULL;
		unit->count.aborted++;
	}
	if (answers) {
		if (!cmd) {
			unit->attention = SPEK_SCSI_DEVICE_RESET;
			unit->scsi.mode = (struct spek_scsi_mode){};
			unit->is_asleep = false;
			unit->power.sleeps = false;
		}
		/* A stop may have waited for what was taken back. */
		spek_unit_drive_power(unit, now_ns, &done);
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

	now_ns = spek_unit_lock_settled(unit, &done, &flags);
	unit->is_dead = true;
	for (i = 0; i < SPEK_DRIVE_MAX_QUEUE; i++) {
		struct scsi_cmnd *cmd = unit->slots[i].cmd;

		if (!cmd)
			continue;
		forget_command(unit, &unit->slots[i], now_ns);
		spek_unit_end(cmd, DID_NO_CONNECT << 16, &done);
	}
	if (unit->power.cmd)
		spek_unit_end(unit->power.cmd, DID_NO_CONNECT << 16, &done);
	unit->power.cmd = NULL;
	spek_unit_unlock(unit, &done, flags);
	hrtimer_cancel(&unit->timer);
}
