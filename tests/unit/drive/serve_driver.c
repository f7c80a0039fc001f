// SPDX-License-Identifier: GPL-2.0
/*
 * Units of random models with random commands, aborts, resets and faults: driver SEED UNITS.
 *
 * Every command ends once, with its data if it succeeds, which no power cut has taken; a drive that
 * stops or goes to standby makes permanent what was written; as long as anything is to happen there
 * is a timer; and the timer does not fire again and again at the same time.
 */
#include <inttypes.h>
#include <unistd.h>

#include "serve_kernel.h"
#include "../../../kmod/drive/events.h"
#include "../../../kmod/drive/faults.h"
#include "../../../kmod/drive/serve.h"

/* Of these at a time no event follows another. */
#define MOST_FIRINGS	2000
#define MOST_RELAX_NS	10000
/* The timer is late by it if events follow each other for as long as it is early. */
#define MOST_PAUSE_NS	20000
/* Far more than planning all that a drive holds takes. */
#define MOST_ROUNDS	200

static u64 state, now_ns, ended, refused, removed, cuts, changes, power_ons, flushed;
static u64 flushes = 1;
static struct spek_drive_model model;
static struct spek_drive_zone zone;
static struct spek_drive_seek_point point;
static struct spek_unit *unit;
static struct scsi_cmnd commands[SPEK_DRIVE_MAX_QUEUE], *current;
static u32 firings, rounds;
static bool has_rivals, is_besieged, is_firing, has_unflushed;
static bool is_overtaken;

static u64 draw(u64 below)
{
	u64 z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) % below;
}

/* ---- what a unit calls ---- */

u64 ktime_get_ns(void)
{
	return now_ns;
}

/* Time passes, and other processors work. */
void cpu_relax(void)
{
	REQUIRE(!unit->lock.is_held);
	now_ns += 1 + draw(MOST_RELAX_NS);
	rival();
}

void cond_resched(void)
{
	REQUIRE(++rounds < MOST_ROUNDS);
	rival();
}

/* While a power cut waits for data that move, the host sends more. */
void synchronize_rcu(void)
{
	if (unit->faults_lock.is_held)
		rival();
}

void scsi_done(struct scsi_cmnd *cmd)
{
	REQUIRE(!unit->lock.is_held);
	REQUIRE(cmd->is_sent);
	if (cmd->result == SAM_STAT_GOOD) {
		REQUIRE((cmd->has_moved && !cmd->is_lost) || !cmd->wants_data);
		REQUIRE(cmd->has_flushed || !cmd->wants_flush);
		flushed += cmd->wants_flush;
		/* It holds no written data any more, however late these came; IMMED does not wait. */
		REQUIRE(!has_unflushed || !cmd->wants_flush || unit->ignores_flush ||
			cmd->cmnd[0] != 0x1b || cmd->cmnd[1]);
		has_unflushed |= cmd->flushes_before == flushes;
	}
	else if (cmd->result == SAM_STAT_CHECK_CONDITION)
		REQUIRE((cmd->sense_buffer[0] & 0x7d) == 0x70);
	cmd->is_sent = false;
	ended++;
}

int spek_store_write(struct spek_store *store, u64 lba, struct scatterlist *list, u32 entries,
		     u64 bytes, bool permanent, bool whole)
{
	u64 kind = draw(50);

	current->has_moved = true;
	if (!permanent)
		current->flushes_before = flushes;
	return kind == 0 ? -ENOSPC : kind == 1 ? -ENOMEM : 0;
}

void spek_store_unmap(struct spek_store *store, u64 lba, u64 bytes)
{
	REQUIRE(lba + bytes / SPEK_SCSI_SECTOR_BYTES <= unit->scsi.sectors);
	current->has_moved = true;
}

void spek_store_read(struct spek_store *store, u64 lba, struct scatterlist *list, u32 entries,
		     u64 bytes)
{
	current->has_moved = true;
}

/* Without power no flush makes permanent what the cut is about to lose. */
void spek_store_flush(struct spek_store *store)
{
	REQUIRE(!unit->drive.is_gone);
	flushes++;
	has_unflushed = false;
	/* By itself a drive flushes when it leaves the active condition. */
	if (unit->lock.is_held)
		return;
	REQUIRE(current->wants_flush);
	current->has_flushed = true;
}

void spek_store_track(struct spek_store *store, bool tracks)
{
}

/* All that was not flushed, and here that is everything. What a read has moved is with the host. */
void spek_store_cut(struct spek_store *store, bool tears)
{
	u32 i;

	for (i = 0; i < model.queue_depth; i++)
		commands[i].is_lost |= commands[i].has_moved &&
				       commands[i].sc_data_direction == DMA_TO_DEVICE;
	has_unflushed = false;
	cuts++;
}

/* ---- models ---- */

static void describe_flash(u32 sectors)
{
	model.flash = (struct spek_drive_flash_rule) {
		.channels = (u32)(1 + draw(4)),
		.page_sectors = (u32)(1 + draw(16)),
		.block_pages = (u32)(1 + draw(32)),
		.low_blocks = 2,
		.sectors = sectors,
		.read_ns = 1 + draw(100000),
		.program_ns = 1 + draw(1000000),
		.erase_ns = 1 + draw(5000000),
	};
	model.flash.blocks = sectors / model.flash.block_pages + 5;
}

static void describe_disk(void)
{
	struct spek_drive_mechanics *mechanics = &model.mechanics;
	u32 arm;

	zone = (struct spek_drive_zone) { .cylinders = 100, .spt = 500 };
	point = (struct spek_drive_seek_point) { .distance = 1, .ns = 1 + draw(2000000) };
	mechanics->geometry.heads = 2;
	mechanics->geometry.nr_zones = 1;
	mechanics->geometry.zones = &zone;
	mechanics->seek.nr_points = 1;
	mechanics->seek.points = &point;
	mechanics->rotation.period_ps = 4000000000 + draw(8000000000);
	mechanics->seek_scale = SPEK_DRIVE_SCALE;
	mechanics->rotation_scale = SPEK_DRIVE_SCALE;
	mechanics->nr_arms = (u32)(1 + draw(4));
	mechanics->geometry.stacks = mechanics->nr_arms % 2 ? 1 : (u32)(1 + draw(2));
	mechanics->channels = (u32)(1 + draw(mechanics->nr_arms));
	mechanics->split = draw(3) == 0;
	for (arm = 0; arm < mechanics->nr_arms; arm++)
		mechanics->arm_angle[arm] = (~0ULL / mechanics->nr_arms) * arm;
	if (draw(2)) {
		model.cache.segments = (u32)draw(5);
		model.cache.segment_sectors = 500;
		model.cache.ahead_sectors = model.cache.segments ? (u32)draw(500) : 0;
		model.cache.hit_ns = draw(100000);
	}
}

static void describe(void)
{
	struct spek_refusal refusal = { 0 };

	memset(&model, 0, sizeof(model));
	if (draw(4))
		describe_disk();
	else
		describe_flash(4000);
	model.cache.write_sectors = draw(2) * draw(10000);
	model.rule.policy = (u32)draw(SPEK_DRIVE_POLICY_NR);
	model.rule.window = (u32)(1 + draw(40));
	model.queue_depth = (u32)(1 + draw(40));
	/* Often none at all, as it is if a model says nothing of them. */
	model.watts.starting_ns = draw(3) ? draw(20000000) : 0;
	model.watts.stopping_ns = draw(3) ? draw(20000000) : 0;
	REQUIRE(!spek_drive_model_init(&model, &refusal));
}

/* ---- the host ---- */

static void put(u8 *at, u64 value, u32 bytes)
{
	while (bytes--) {
		at[bytes] = (u8)value;
		value >>= 8;
	}
}

static void make_mode_select(struct scsi_cmnd *cmd)
{
	static const u8 ticks[] = { 0, 0, 1, 5 };

	memcpy(cmd->cmnd, (u8[]) { 0x15, 0x10, 0, 0, 44 }, 5);
	memcpy(cmd->data + 4, (u8[]) { 0x1a, 38, 0, draw(3) ? 1 : 0 }, 4);
	cmd->data[15] = ticks[draw(sizeof(ticks))];
	cmd->sc_data_direction = DMA_TO_DEVICE;
}

static void make_unmap(struct scsi_cmnd *cmd, u64 lba, u32 sectors)
{
	memcpy(cmd->cmnd, (u8[]) { 0x42, 0, 0, 0, 0, 0, 0, 0, 24 }, 9);
	put(cmd->data, 22, 2);
	put(cmd->data + 2, 16, 2);
	put(cmd->data + 8, lba, 8);
	put(cmd->data + 16, sectors, 4);
	cmd->sc_data_direction = DMA_TO_DEVICE;
	cmd->wants_data = sectors;
}

static void make_access(struct scsi_cmnd *cmd, u64 lba, u32 sectors)
{
	bool write = draw(2);

	cmd->cmnd[0] = write ? 0x8a : 0x88;
	cmd->cmnd[1] = draw(6) ? 0 : 0x08;
	put(cmd->cmnd + 2, lba, 8);
	put(cmd->cmnd + 10, sectors, 4);
	cmd->length = sectors * SPEK_SCSI_SECTOR_BYTES;
	cmd->sc_data_direction = write ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	cmd->wants_data = sectors;
}

static void make_command(struct scsi_cmnd *cmd)
{
	static const u8 conditions[] = { 0, 0, 1, 1, 0x10, 0x20, 0x30, 0x30 };
	static const u8 ata[] = { 0xe5, 0xe0, 0xe1, 0xe2, 0xe3, 0xe6, 0xec };
	u64 lba = draw(unit->scsi.sectors + 1), left = unit->scsi.sectors - lba;
	u32 sectors = (u32)draw(draw(10) ? 64 : 3000);

	if (sectors > left && draw(8))
		sectors = (u32)left;
	cmd->cmd_len = 16;
	cmd->length = sizeof(cmd->data);
	cmd->sc_data_direction = draw(8) ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
	switch (draw(16)) {
	case 0:
		memcpy(cmd->cmnd, (u8[]) { 0x1b, (u8)draw(2), 0, 0, conditions[draw(8)] }, 5);
		/* STOP and STANDBY; with NO_FLUSH they are free not to. */
		cmd->wants_flush = cmd->cmnd[4] == 0 || cmd->cmnd[4] == 0x30;
		if (!draw(3)) {
			cmd->cmnd[4] |= 4;
			cmd->wants_flush = false;
		}
		break;
	case 1:
		memcpy(cmd->cmnd, (u8[]) { 0x35, draw(3) ? 0 : 2 }, 2);
		cmd->wants_flush = true;
		break;
	case 2:
		make_mode_select(cmd);
		break;
	case 3:
		memcpy(cmd->cmnd, (u8[]) { draw(2) ? 0x03 : 0x12, 0, 0, 0, 96 }, 5);
		break;
	case 4:
		make_unmap(cmd, lba, sectors);
		break;
	case 5:
		memcpy(cmd->cmnd, (u8[]) { 0x85, 0x06, draw(2) ? 0x20 : 0 }, 3);
		cmd->cmnd[6] = (u8)draw(2);
		cmd->cmnd[14] = ata[draw(sizeof(ata))];
		cmd->wants_flush = cmd->cmnd[14] == 0xe0 || cmd->cmnd[14] == 0xe2 ||
				   cmd->cmnd[14] == 0xe6;
		break;
	case 6:		/* TEST UNIT READY */
		break;
	case 7:		/* element status, removal of an arm, restoration of all */
		memcpy(cmd->cmnd, (u8[]) { 0x9e, (u8)(0x17 + draw(3)) }, 2);
		if (cmd->cmnd[1] == 0x17)
			put(cmd->cmnd + 10, draw(400), 4);
		else if (cmd->cmnd[1] == 0x18)
			put(cmd->cmnd + 10, draw(5), 4);
		break;
	default:
		make_access(cmd, lba, sectors);
	}
}

static bool is_reached(u64 lba)
{
	u32 arm;

	for (arm = 0; arm < model.mechanics.nr_arms; arm++)
		if (!(unit->drive.arms.failed >> arm & 1) &&
		    spek_drive_reaches(&model.mechanics, arm, lba))
			return true;
	return false;
}

/* An arm is removed only if others reach all of its LBAs. */
static void check_elements(const struct scsi_cmnd *cmd, u32 failed)
{
	u64 first, sectors;

	if (cmd->cmnd[0] != 0x9e)
		return;
	REQUIRE(!(unit->drive.arms.failed >> model.mechanics.nr_arms));
	if (cmd->cmnd[1] != 0x18 || unit->drive.arms.failed == failed)
		return;
	REQUIRE(unit->drive.arms.failed == (failed | 1U << (cmd->cmnd[13] - 1)));
	spek_drive_part(&model.mechanics, cmd->cmnd[13] - 1, &first, &sectors);
	REQUIRE(is_reached(first) && is_reached(first + sectors - 1));
	removed++;
}

static void send(void)
{
	u32 tag = (u32)draw(model.queue_depth);
	struct scsi_cmnd *cmd = &commands[tag], *outer = current;
	u64 before;
	u32 failed;

	if (cmd->is_sent)
		return;
	memset(cmd, 0, sizeof(*cmd));
	cmd->request.tag = (int)tag;
	cmd->sense_buffer = cmd->sense;
	make_command(cmd);
	cmd->is_sent = true;
	/* Flushes that are ignored succeed as well. */
	cmd->has_flushed = unit->ignores_flush;
	current = cmd;
	failed = unit->drive.arms.failed;
	before = ++changes;
	if (spek_unit_serve(unit, cmd)) {
		REQUIRE(cmd->is_sent);
		cmd->is_sent = false;
		refused++;
	}
	current = outer;
	if (changes == before)
		check_elements(cmd, failed);
}

static void fire(u64 late_ns)
{
	u64 spin_ns = unit->config->description.spin_ns, before_ns;

	/* A timer that runs on one processor does not run on another. */
	if (!unit->timer.is_armed || is_firing)
		return;
	firings = unit->timer.at_ns + late_ns <= now_ns + 1 ? firings + 1 : 0;
	REQUIRE(firings < MOST_FIRINGS);
	now_ns = max(now_ns, unit->timer.at_ns + late_ns);
	unit->timer.is_armed = false;
	/* It waits for an event, and for those that follow at once, and is not due again when it ends. */
	before_ns = now_ns;
	is_firing = true;
	unit->timer.function(&unit->timer);
	is_firing = false;
	REQUIRE(now_ns <= before_ns + 2 * (spin_ns + MOST_RELAX_NS));
	REQUIRE(!spin_ns || !unit->timer.is_armed || unit->timer.at_ns > now_ns ||
		unit->armed_ns == SPEK_DRIVE_NEVER);
}

/* However early the timer is, nothing happens before the event; and then at once. */
static void fire_in_time(void)
{
	u64 spin_ns = unit->config->description.spin_ns, event_ns = unit->armed_ns;
	u64 latest_ns = max(now_ns, event_ns) + MOST_PAUSE_NS + spin_ns + 2 * MOST_RELAX_NS;

	/* Set by another processor for what this one then served. */
	if (event_ns == SPEK_DRIVE_NEVER) {
		fire(0);
		return;
	}
	REQUIRE(unit->timer.at_ns + spin_ns >= event_ns &&
		unit->timer.at_ns <= event_ns + MOST_PAUSE_NS);
	fire(0);
	REQUIRE(event_ns <= now_ns && now_ns <= latest_ns);
}

static void wait_until(u64 at_ns)
{
	while (unit->timer.is_armed && unit->timer.at_ns <= at_ns)
		fire(0);
	now_ns = max(now_ns, at_ns);
}

/* The unit as after its first power-on; only the attention tells that it is not. */
static void check_power_on(void)
{
	u32 i;

	for (i = 0; i < SPEK_DRIVE_MAX_QUEUE; i++)
		REQUIRE(!unit->slots[i].cmd);
	REQUIRE(unit->attention == SPEK_SCSI_POWER_ON);
	REQUIRE(!unit->is_asleep && !unit->is_idle && !unit->power.pending && !unit->was_stopped);
	REQUIRE(!unit->scsi.mode.standby_timer && !unit->scsi.mode.descriptor_sense);
	power_ons++;
}

static void set_faults(bool clear, u32 number)
{
	struct spek_drive_change change = { .clear_faults = clear, .nr_faults = number };
	struct spek_drive_faults scratch;
	struct spek_refusal refusal = { 0 };
	bool had_power, ignored_flush;
	u32 i;

	changes++;
	rounds = 0;
	for (i = 0; i < number; i++)
		change.fault[i] = (struct spek_drive_fault) {
			.kind = (u32)draw(SPEK_DRIVE_FAULT_KIND_NR),
			.lba = draw(unit->scsi.sectors),
			.sectors = draw(1000),
			.number = (u32)draw(4),
			.delay_ns = draw(100000000),
		};
	had_power = unit->drive.has_power;
	ignored_flush = unit->ignores_flush;
	if (!spek_unit_set_faults(unit, &change, &scratch, &refusal) && clear && !had_power)
		check_power_on();
	/* What moved while flushes were ignored may have been in a drive that went to standby. */
	if (ignored_flush) {
		flushes++;
		has_unflushed = false;
	}
	REQUIRE(unit->drive.has_power || (unit->drive.is_gone && !unit->held));
}

/* Takes back one command, or all. What the drive does not take back the kernel ends by itself. */
static void take_back(struct scsi_cmnd *cmd)
{
	bool answers;
	u32 i;

	rounds = 0;
	answers = spek_unit_abort(unit, cmd);
	for (i = 0; i < model.queue_depth; i++) {
		if (cmd && cmd != &commands[i])
			continue;
		REQUIRE(cmd || !answers || !commands[i].is_sent);
		commands[i].is_sent = false;
	}
}

static void look(void)
{
	unsigned long flags;
	LIST_HEAD(done);

	rounds = 0;
	if (draw(2))
		spek_unit_lock_settled(unit, &done, &flags);
	else
		REQUIRE(spek_unit_lock_accounted(unit, &done, &flags) <= now_ns);
	REQUIRE(unit->drive.has_power || !spek_drive_power_uw(&unit->drive, SPEK_DRIVE_12V, now_ns));
	spek_unit_unlock(unit, &done, flags);
}

/* One trim after the other, as long as the unit takes them. */
static void besiege(void)
{
	struct scsi_cmnd *cmd = commands;
	u32 tag = 0;

	now_ns += MOST_RELAX_NS;
	while (cmd->is_sent && ++tag < model.queue_depth)
		cmd++;
	if (tag == model.queue_depth)
		return;
	memset(cmd, 0, sizeof(*cmd));
	cmd->request.tag = (int)tag;
	cmd->sense_buffer = cmd->sense;
	cmd->cmd_len = 16;
	cmd->length = sizeof(cmd->data);
	make_unmap(cmd, 0, (u32)unit->scsi.sectors);
	cmd->is_sent = true;
	current = cmd;
	if (spek_unit_serve(unit, cmd))
		cmd->is_sent = false;
}

/* A write that another processor sends after a stop has come, and before the drive has it. */
static void overtake(void)
{
	struct scsi_cmnd *cmd = &commands[1], *outer = current;

	memset(cmd, 0, sizeof(*cmd));
	cmd->request.tag = 1;
	cmd->sense_buffer = cmd->sense;
	cmd->cmd_len = 16;
	cmd->cmnd[0] = 0x8a;
	put(cmd->cmnd + 10, 8, 4);
	cmd->length = 8 * SPEK_SCSI_SECTOR_BYTES;
	cmd->sc_data_direction = DMA_TO_DEVICE;
	cmd->is_sent = true;
	current = cmd;
	/* Memory may be short. */
	if (spek_unit_serve(unit, cmd))
		cmd->is_sent = false;
	current = outer;
}

void rival(void)
{
	if (is_overtaken) {
		is_overtaken = false;
		overtake();
		return;
	}
	if (!has_rivals || (!is_besieged && draw(3)))
		return;
	if (is_besieged) {
		has_rivals = false;
		besiege();
		has_rivals = true;
		return;
	}
	has_rivals = false;
	if (draw(3))
		send();
	else if (draw(2) && unit->timer.at_ns <= now_ns)
		fire(0);
	else if (!unit->faults_lock.is_held)
		set_faults(true, 0);
	has_rivals = true;
}

/* ---- */

static void check(void)
{
	bool is_waiting = unit->power.pending;
	u32 i;

	for (i = 0; i < model.queue_depth; i++)
		is_waiting |= commands[i].is_sent;
	REQUIRE(!is_waiting || unit->timer.is_armed || unit->drive.is_gone || unit->is_asleep);
	/* Unless the cache has got a write since, all is on the medium. */
	REQUIRE(!has_unflushed || !unit->by_timer || unit->ignores_flush ||
		unit->drive.condition != SPEK_DRIVE_STANDBY || unit->drive.cache.dirty_sectors);
}

static void step(void)
{
	switch (draw(20)) {
	case 0:
		set_faults(draw(2), (u32)draw(3));
		break;
	case 1:
		take_back(draw(3) ? &commands[draw(model.queue_depth)] : NULL);
		break;
	case 2:
		look();
		break;
	case 3:
		wait_until(now_ns + draw(50000000));
		break;
	case 4 ... 10:
		fire(draw(5) ? draw(20000) : draw(2000000000));
		break;
	default:
		send();
	}
	check();
}

/* Mended and awake, the unit does all that it has, and nothing more. */
static void drain(void)
{
	u32 i;

	set_faults(true, 0);
	if (unit->power.sleeps || unit->is_asleep)
		take_back(NULL);
	for (check(); unit->timer.is_armed; check())
		fire_in_time();
	for (i = 0; i < model.queue_depth; i++)
		REQUIRE(!commands[i].is_sent);
	REQUIRE(!unit->held && !unit->power.pending && !unit->drive.queue.length);
}

static void kill(void)
{
	u32 i;

	rounds = 0;
	spek_unit_kill(unit);
	for (i = 0; i < model.queue_depth; i++)
		REQUIRE(!commands[i].is_sent);
	send();
	look();
	REQUIRE(!unit->timer.is_armed);
}

static void create(struct spek_unit_config *config)
{
	unit = calloc(1, sizeof(*unit));
	REQUIRE(unit);
	unit->config = config;
	unit->created_ns = now_ns;
	if (model.flash.channels)
		unit->flash = malloc(spek_drive_flash_bytes(&model.flash));
	spek_unit_events_init(unit);
	unit->scsi.sectors = model.mechanics.geometry.sectors;
	unit->scsi.caches_writes = model.cache.write_sectors;
	has_unflushed = false;
	unit->scsi.unmap_sectors = model.flash.page_sectors;
	unit->scsi.nr_elements = model.mechanics.nr_arms > 1 ? model.mechanics.nr_arms : 0;
	unit->scsi.nr_ranges = model.mechanics.split ? model.mechanics.nr_arms : 0;
	memset(commands, 0, sizeof(commands));
	firings = 0;
	is_firing = false;
}

static void destroy(void)
{
	free(unit->flash);
	free(unit);
}

/* A host that trims all the time does not keep others from the drive, nor it from its end. */
static void run_besieged(void)
{
	struct spek_unit_config config = { 0 };
	struct spek_refusal refusal = { 0 };
	unsigned long flags;
	LIST_HEAD(done);

	memset(&model, 0, sizeof(model));
	/* A trim takes several rounds of planning, and in each of them another one comes. */
	describe_flash(20000);
	model.flash.page_sectors = 1;
	model.queue_depth = 8;
	model.rule.window = 1;
	REQUIRE(!spek_drive_model_init(&model, &refusal));
	config.model = model;
	create(&config);
	is_besieged = true;
	besiege();
	besiege();
	REQUIRE(spek_drive_is_short(&unit->drive));
	rounds = 0;
	/* What is only read is that of its own time; nobody waits for it, and no command is busy. */
	REQUIRE(spek_unit_lock_accounted(unit, &done, &flags) == unit->drive.accounted_ns);
	REQUIRE(unit->drive.accounted_ns < now_ns && !rounds && !unit->settling);
	spek_unit_unlock(unit, &done, flags);
	INIT_LIST_HEAD(&done);
	REQUIRE(spek_drive_is_short(&unit->drive));
	has_rivals = true;
	spek_unit_lock_settled(unit, &done, &flags);
	REQUIRE(!spek_drive_is_short(&unit->drive));
	spek_unit_unlock(unit, &done, flags);
	besiege();
	besiege();
	REQUIRE(spek_drive_is_short(&unit->drive));
	rounds = 0;
	spek_unit_kill(unit);
	has_rivals = false;
	is_besieged = false;
	destroy();
}

/* A write that a stop waits for is permanent when the stop ends, and it has been. */
static void run_overtaken(void)
{
	struct spek_unit_config config = { 0 };
	struct spek_refusal refusal = { 0 };
	struct scsi_cmnd *stop = &commands[0];

	memset(&model, 0, sizeof(model));
	describe_disk();
	model.cache.write_sectors = 1000;
	model.queue_depth = 2;
	model.rule.window = 1;
	REQUIRE(!spek_drive_model_init(&model, &refusal));
	config.model = model;
	create(&config);
	memset(stop, 0, sizeof(*stop));
	stop->sense_buffer = stop->sense;
	stop->cmd_len = 6;
	stop->cmnd[0] = 0x1b;
	stop->wants_flush = true;
	stop->is_sent = true;
	current = stop;
	is_overtaken = true;
	REQUIRE(!spek_unit_serve(unit, stop));
	while (unit->timer.is_armed)
		fire(0);
	REQUIRE(!stop->is_sent && !commands[1].is_sent);
	REQUIRE(unit->drive.condition == SPEK_DRIVE_STOPPED && !has_unflushed);
	destroy();
}

static void run(void)
{
	struct spek_unit_config config = {
		.model = model,
		.description.fixed_ata_sense = draw(2),
		.description.spin_ns = (u32)(draw(2) * draw(SPEK_DRIVE_MAX_SPIN_NS)),
	};
	u32 i;

	create(&config);
	has_rivals = true;
	for (i = 0; i < 400; i++)
		step();
	has_rivals = false;
	if (draw(4))
		drain();
	else
		kill();
	destroy();
}

int main(int argc, char **argv)
{
	u64 units = argc > 2 ? strtoull(argv[2], NULL, 0) : 100;

	state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	while (units--) {
		/* A loop over events that does not end ends the program. */
		alarm(20);
		now_ns = 1 + draw(1ULL << 50);
		describe();
		run();
		run_besieged();
		run_overtaken();
	}
	printf("%" PRIu64 " ended, %" PRIu64 " busy, %" PRIu64 " removed, %" PRIu64 " cuts, %" PRIu64
	       " power-ons, %" PRIu64 " flushed\n",
	       ended, refused, removed, cuts, power_ons, flushed);
	return 0;
}
