// SPDX-License-Identifier: GPL-2.0
/* A modelled drive: its events. */
#include "arm.h"
#include "background.h"
#include "bus.h"
#include "drive.h"

/**
 * spek_drive_model_init() - check a description and compute what a drive needs
 * @model: filled in
 * @refusal: says what was wrong
 *
 * Return: 0 or a negative errno.
 */
int spek_drive_model_init(struct spek_drive_model *model, struct spek_refusal *refusal)
{
	int err;

	if (model->flash.channels) {
		err = spek_drive_flash_check(&model->flash, refusal);
		spek_memset(&model->mechanics, 0, sizeof(model->mechanics));
		model->mechanics.geometry.sectors = model->flash.sectors;
		if (!err && model->cache.segments)
			return spek_refuse(refusal, SPEK_DRIVE_FIELD_CACHE_SEGMENTS, 0, -EINVAL,
					   "Flash has no read segments.");
	} else {
		err = spek_drive_mechanics_init(&model->mechanics, refusal);
	}
	if (!err)
		err = spek_drive_cache_check(&model->cache, refusal);
	if (!err)
		err = spek_drive_watts_check(&model->watts, refusal);
	if (err)
		return err;
	if (model->rule.policy >= SPEK_DRIVE_POLICY_NR)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_POLICY, 0, -EINVAL,
				   "The policy must be fcfs, sstf, sptf or clook.");
	if (!model->rule.window)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WINDOW, 0, -ERANGE,
				   "The window has at least one request.");
	if (!model->queue_depth || model->queue_depth > SPEK_DRIVE_MAX_QUEUE)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_QUEUE_DEPTH, 0, -ERANGE,
				   "The queue holds 1 to 256 requests.");
	return 0;
}

/**
 * spek_drive_init() - make a drive that is active, with all arms at cylinder 0
 * @drive: memory of the caller
 * @model: checked by spek_drive_model_init()
 * @now_ns: time from which accounts count
 *
 * All at one cylinder, since SPTF would never choose an arm that began far from a small footprint.
 */
void spek_drive_init(struct spek_drive *drive, const struct spek_drive_model *model, u64 now_ns)
{
	spek_memset(drive, 0, sizeof(*drive));
	drive->model = model;
	spek_drive_queue_init(&drive->queue, model->queue_depth);
	spek_drive_cache_init(&drive->cache);
	drive->ahead_arm = SPEK_DRIVE_NONE;
	drive->has_power = true;
	drive->condition = SPEK_DRIVE_ACTIVE;
	drive->condition_end_ns = SPEK_DRIVE_NEVER;
	drive->accounted_ns = now_ns;
}

/**
 * spek_drive_init_flash() - give memory to a drive of flash, after spek_drive_init()
 * @drive: its model is of flash
 * @memory: of spek_drive_flash_bytes() bytes, aligned to 8 bytes; outlives the drive
 *
 * Context: may sleep.
 */
void spek_drive_init_flash(struct spek_drive *drive, void *memory)
{
	drive->flash = spek_drive_flash_init(memory, &drive->model->flash, &drive->model->cache);
}

/**
 * spek_drive_submit() - give a request to the drive
 * @drive: initialised
 * @request: copied; its arrival is the time of the call
 *
 * Return: 0; -EINVAL for no or too many sectors or for two kinds at once, -ERANGE beyond the
 * capacity, -EOPNOTSUPP for a trim of a disk, -EIO if the drive is stopped, -ENODEV if it is gone,
 * -EBUSY if the queue is full.
 */
int spek_drive_submit(struct spek_drive *drive, const struct spek_drive_request *request)
{
	const struct spek_drive_geometry *geometry = &drive->model->mechanics.geometry;
	u32 index;

	/* Gone, or flash without memory. */
	if (drive->is_gone || (drive->model->flash.channels && !drive->flash))
		return -ENODEV;
	if ((request->flush ? request->sectors || request->lba :
			      !request->sectors || request->sectors > SPEK_DRIVE_MAX_SECTORS) ||
	    request->write + request->flush + request->trim > 1)
		return -EINVAL;
	if (request->lba >= geometry->sectors ||
	    request->sectors > geometry->sectors - request->lba)
		return -ERANGE;
	if (request->trim && !drive->flash)
		return -EOPNOTSUPP;
	if (spek_drive_conditions[drive->condition].refuses)
		return -EIO;
	index = spek_drive_queue_add(&drive->queue, drive->flash ? NULL : geometry, request);
	if (index == SPEK_DRIVE_NONE)
		return -EBUSY;
	if (!drive->flash)
		spek_drive_note_read(drive, index);
	if (!request->flush)
		return 0;
	drive->flushes++;
	if (!drive->flash) {
		drive->queue.slots[index].held = true;
		drive->queue.slots[index].barrier = drive->cache.writes;
	}
	return 0;
}

static bool start_host(struct spek_drive *drive, u64 now_ns, struct spek_drive_service *started)
{
	const struct spek_drive_service *service;
	bool moved;

	service = spek_drive_start_arm(drive, &drive->queue, &drive->model->rule, now_ns, &moved);
	if (!service)
		return false;
	drive->account.served++;
	drive->account.moved += moved;
	drive->destaged_last = false;
	*started = *service;
	return true;
}

/* Let a read take over the read-ahead that is just passing its sectors. */
static void start_stream(struct spek_drive *drive, u64 now_ns, u32 index,
			 struct spek_drive_service *started)
{
	const struct spek_drive_mechanics *mechanics = &drive->model->mechanics;
	const struct spek_drive_service ahead = drive->ahead;
	u64 seek_end_ns = ahead.start_ns + ahead.access.seek_ns;
	u64 begin_ns = ahead.end_ns - ahead.access.transfer_ns;
	struct spek_drive_request whole = ahead.request;
	struct spek_drive_service *service;
	struct spek_drive_access *access;

	spek_drive_cut_ahead(drive, now_ns);
	service = spek_drive_take(drive, &drive->queue, index, ahead.arm, now_ns);
	access = &service->access;
	whole.sectors = (u32)(service->request.lba + service->request.sectors - whole.lba);
	service->end_ns = spek_drive_transfer(mechanics, ahead.arm, &whole, begin_ns, access);
	if (service->end_ns < now_ns + mechanics->overhead_ns)
		service->end_ns = now_ns + mechanics->overhead_ns;
	access->seek_ns = seek_end_ns > now_ns ? seek_end_ns - now_ns : 0;
	seek_end_ns = now_ns + access->seek_ns;
	access->rotate_ns = begin_ns > seek_end_ns ? begin_ns - seek_end_ns : 0;
	access->transfer_ns = service->end_ns - seek_end_ns - access->rotate_ns;
	drive->arms.position[ahead.arm] = access->end;
	drive->arms.last_lba = service->request.lba;
	drive->arms.busy |= 1U << ahead.arm;
	drive->ahead_arm = SPEK_DRIVE_NONE;
	drive->account.served++;
	drive->destaged_last = false;
	*started = *service;
}

static bool is_caching(const struct spek_drive *drive)
{
	const struct spek_drive_cache_rule *rule = &drive->model->cache;

	return rule->segments || rule->write_sectors;
}

static bool start_sorted(struct spek_drive *drive, u64 now_ns, struct spek_drive_service *started)
{
	const struct spek_drive_queue *queue = &drive->queue;
	u64 max_wait_ns = drive->model->rule.max_wait_ns;
	u32 for_bus, stream;

	if (drive->arms.failed)
		spek_drive_lose_extents(drive);
	spek_drive_sort(drive, now_ns, &for_bus, &stream);
	if (for_bus != SPEK_DRIVE_NONE && !drive->is_bus_busy) {
		spek_drive_start_bus(drive, now_ns, for_bus, started);
		return true;
	}
	/* Streams go first, but not for longer than the age limit allows. */
	if (stream != SPEK_DRIVE_NONE &&
	    !(max_wait_ns &&
	      now_ns - queue->slots[queue->oldest].request.arrival_ns > max_wait_ns)) {
		start_stream(drive, now_ns, stream, started);
		return true;
	}
	if (spek_drive_is_destage_due(drive) && !drive->destaged_last)
		spek_drive_start_destage(drive, now_ns);
	if (start_host(drive, now_ns, started))
		return true;
	spek_drive_start_background(drive, now_ns);
	return false;
}

/* How a request to flash ends; bad sectors fail as a whole request. */
static void fill_flight(const struct spek_drive *drive, const struct spek_drive_flight *flight,
			struct spek_drive_service *service)
{
	const struct spek_drive_request *request = &flight->request;
	u32 kind = request->write ? SPEK_DRIVE_FAULT_WRITE : SPEK_DRIVE_FAULT_MEDIUM;

	spek_memset(service, 0, sizeof(*service));
	service->request = *request;
	service->arm = SPEK_DRIVE_BUS;
	service->start_ns = flight->start_ns;
	service->end_ns = flight->end_ns;
	service->access.transfer_ns = flight->end_ns - flight->start_ns;
	if (!request->trim && !request->flush &&
	    spek_drive_faults_first(&drive->faults, kind, request->lba, request->sectors,
				    &service->error_lba))
		service->error = request->write ? SPEK_DRIVE_WRITE_ERROR :
						  SPEK_DRIVE_MEDIUM_ERROR;
}

/* In the order of arrival: channels are the queues of flash. The drive may be behind its host. */
static bool start_flash(struct spek_drive *drive, u64 now_ns, struct spek_drive_service *started)
{
	struct spek_drive_flash *flash = drive->flash;
	u32 index = drive->queue.oldest;

	if (!flash->is_planning) {
		if (index == SPEK_DRIVE_NONE || flash->nr_flights == SPEK_DRIVE_MAX_QUEUE ||
		    drive->queue.slots[index].request.arrival_ns > now_ns)
			return false;
		spek_drive_flash_begin(flash, &drive->queue.slots[index].request, now_ns);
		drive->flushes -= flash->flight.request.flush;
		spek_drive_queue_remove(&drive->queue, index);
	}
	if (!spek_drive_flash_plan(flash, now_ns))
		return false;
	drive->account.served++;
	fill_flight(drive, &flash->flights[flash->nr_flights - 1], started);
	return true;
}

/* Requests that came before a flush need the channels, so the drive has to start for them. */
static bool is_flush_first(const struct spek_drive *drive)
{
	u32 oldest = drive->queue.oldest;

	return oldest != SPEK_DRIVE_NONE && drive->queue.slots[oldest].request.flush;
}

static bool finish_flash(struct spek_drive *drive, u64 now_ns, struct spek_drive_service *ended)
{
	const struct spek_drive_flight *first = spek_drive_flash_first(drive->flash);

	if (!first || first->end_ns > now_ns)
		return false;
	spek_drive_account(drive, first->end_ns);
	fill_flight(drive, first, ended);
	if (ended->request.write && !ended->error)
		spek_drive_faults_mend(&drive->faults, ended->request.lba, ended->request.sectors);
	spek_drive_flash_end(drive->flash, first);
	return true;
}

/**
 * spek_drive_start() - start the next access, or the spindle if a request waits for it
 * @drive: initialised
 * @now_ns: start of the access; not before the end of the last one on its channel
 * @started: filled in
 *
 * Return: true if an access of the host was started.
 */
bool spek_drive_start(struct spek_drive *drive, u64 now_ns, struct spek_drive_service *started)
{
	u32 for_bus, stream;
	int condition;

	if (drive->is_gone)
		return false;
	spek_drive_account(drive, now_ns);
	if (drive->queue.length > drive->flushes) {
		condition = spek_drive_condition_next(drive->condition, SPEK_DRIVE_MEDIA);
		if (condition >= 0)
			spek_drive_set_condition(drive, condition);
	}
	if (spek_likely(spek_drive_conditions[drive->condition].serves)) {
		if (drive->flash)
			return start_flash(drive, now_ns, started);
		if (is_caching(drive) || drive->flushes || drive->arms.failed)
			return start_sorted(drive, now_ns, started);
		return drive->queue.length && start_host(drive, now_ns, started);
	}
	/* Nothing starts for a flush: whatever was written is on the media. */
	if (!drive->flushes || drive->is_bus_busy)
		return false;
	if (drive->flash)
		return is_flush_first(drive) && start_flash(drive, now_ns, started);
	spek_drive_sort(drive, now_ns, &for_bus, &stream);
	if (for_bus == SPEK_DRIVE_NONE || !drive->queue.slots[for_bus].request.flush)
		return false;
	spek_drive_start_bus(drive, now_ns, for_bus, started);
	return true;
}

/* The access that ends first, of arms, bus and read-ahead; NULL if there is none. */
static const struct spek_drive_service *first_to_end(const struct spek_drive *drive)
{
	const struct spek_drive_service *first = NULL;
	u32 arm;

	for (arm = 0; arm < drive->model->mechanics.nr_arms; arm++)
		if ((drive->arms.busy >> arm & 1) &&
		    (!first || drive->service[arm].end_ns < first->end_ns))
			first = &drive->service[arm];
	if (drive->is_bus_busy &&
	    (!first || drive->service[SPEK_DRIVE_BUS].end_ns < first->end_ns))
		first = &drive->service[SPEK_DRIVE_BUS];
	if (drive->is_reading_ahead && (!first || drive->ahead.end_ns < first->end_ns))
		first = &drive->ahead;
	return first;
}

/* The end of an access. Return: true if it was the host's. */
static bool end_service(struct spek_drive *drive, const struct spek_drive_service *service)
{
	const struct spek_drive_request *request = &service->request;
	const struct spek_drive_cache_rule *rule = &drive->model->cache;
	u32 bit = 1U << service->arm;

	if (service->arm == SPEK_DRIVE_BUS) {
		spek_drive_end_bus(drive, service);
		return true;
	}
	drive->arms.busy &= ~bit;
	if (request->write && drive->faults.length && !service->error)
		spek_drive_faults_mend(&drive->faults, request->lba, request->sectors);
	if (drive->destaging & bit) {
		drive->destaging &= ~bit;
		drive->cache.dirty_sectors -= request->sectors;
		if (service->error) {
			drive->account.lost++;
			drive->has_lost = true;
		}
		return false;
	}
	if (request->write) {
		spek_drive_cache_drop(&drive->cache, rule, request->lba, request->sectors);
	} else if (rule->segments && !request->fua && !service->error) {
		spek_drive_cache_read(&drive->cache, rule, request->lba, request->sectors);
		if (!(drive->arms.busy || drive->is_reading_ahead))
			drive->ahead_arm = service->arm;
	}
	return true;
}

/**
 * spek_drive_finish() - take back an access that has ended
 * @drive: initialised
 * @now_ns: time
 * @ended: filled in
 *
 * Accesses are returned in the order in which they end. Background work of the drive, such as
 * read-ahead and destaging, ends here as well. If no request is waiting, the next piece of it
 * starts at the model's time, however late the call is.
 *
 * Return: true if an access of the host ended at or before @now_ns.
 */
bool spek_drive_finish(struct spek_drive *drive, u64 now_ns, struct spek_drive_service *ended)
{
	const struct spek_drive_service *first;

	if (drive->flash)
		return !drive->is_gone && finish_flash(drive, now_ns, ended);
	while (!drive->is_gone && (first = first_to_end(drive)) && first->end_ns <= now_ns) {
		u64 end_ns = first->end_ns;

		/* Not further: what starts at the end of this access is still to come. */
		spek_drive_account(drive, end_ns);
		if (first == &drive->ahead) {
			spek_drive_cut_ahead(drive, end_ns);
		} else {
			*ended = *first;
			if (end_service(drive, ended))
				return true;
		}
		if (drive->queue.length == drive->flushes)
			spek_drive_start_background(drive, end_ns);
	}
	return false;
}

/**
 * spek_drive_abort() - take a request back that waits
 * @drive: initialised
 * @now_ns: time
 * @tag: its tag
 *
 * Return: true if it was in the queue; one in service can't be taken back.
 */
bool spek_drive_abort(struct spek_drive *drive, u64 now_ns, u64 tag)
{
	struct spek_drive_queue *queue = &drive->queue;
	u32 index;

	spek_drive_account(drive, now_ns);
	for (index = queue->oldest; index != SPEK_DRIVE_NONE; index = queue->slots[index].next) {
		if (queue->slots[index].request.tag != tag)
			continue;
		drive->flushes -= queue->slots[index].request.flush;
		spek_drive_queue_remove(queue, index);
		return true;
	}
	return false;
}

/* A request waits if it came later than the drive is, or when the drive was short of steps. */
static u64 next_of_flash(const struct spek_drive *drive)
{
	const struct spek_drive_flash *flash = drive->flash;
	u64 ns = spek_drive_flash_next_ns(flash, drive->accounted_ns), begin_ns;
	u32 oldest = drive->queue.oldest;

	if (oldest == SPEK_DRIVE_NONE || flash->is_planning ||
	    flash->nr_flights == SPEK_DRIVE_MAX_QUEUE ||
	    !(spek_drive_conditions[drive->condition].serves || is_flush_first(drive)))
		return ns;
	begin_ns = drive->queue.slots[oldest].request.arrival_ns;
	if (begin_ns < drive->accounted_ns)
		begin_ns = drive->accounted_ns;
	return begin_ns < ns ? begin_ns : ns;
}

/**
 * spek_drive_allow() - allow a drive of flash some steps of planning
 * @drive: drive
 * @steps: a few ns each; a page takes up to SPEK_DRIVE_PLACE_STEPS
 *
 * Without a call there is no limit. A drive without steps is behind: it continues at
 * spek_drive_next_ns() after the next call. Until then the caller may only submit requests, which
 * must not arrive before that time.
 */
void spek_drive_allow(struct spek_drive *drive, u64 steps)
{
	if (drive->flash)
		drive->flash->allowed = steps;
}

/**
 * spek_drive_is_short() - ask whether a drive has used up its steps
 * @drive: drive
 *
 * Return: true if it can go on after spek_drive_allow() only.
 */
bool spek_drive_is_short(const struct spek_drive *drive)
{
	return drive->flash && !drive->flash->allowed;
}

/**
 * spek_drive_next_ns() - find the next event of a drive
 * @drive: drive
 *
 * Return: its time, or SPEK_DRIVE_NEVER if there is none.
 */
u64 spek_drive_next_ns(const struct spek_drive *drive)
{
	const struct spek_drive_service *first = first_to_end(drive);

	if (drive->is_gone)
		return SPEK_DRIVE_NEVER;
	if (drive->flash) {
		u64 ns = next_of_flash(drive);

		return ns < drive->condition_end_ns ? ns : drive->condition_end_ns;
	}
	return first && first->end_ns < drive->condition_end_ns ? first->end_ns :
								   drive->condition_end_ns;
}

/*
 * The drive loses all requests and what its cache holds: what a cut does not lose, the drive saves
 * with the last of its energy.
 */
static void lose_power(struct spek_drive *drive)
{
	spek_drive_cut_ahead(drive, drive->accounted_ns);
	spek_drive_set_condition(drive, SPEK_DRIVE_STANDBY);
	drive->has_power = false;
	drive->arms.busy = 0;
	drive->destaging = 0;
	drive->is_bus_busy = false;
	drive->ahead_arm = SPEK_DRIVE_NONE;
	drive->flushes = 0;
	drive->has_lost = false;
	spek_drive_queue_init(&drive->queue, drive->model->queue_depth);
	spek_memset(&drive->cache, 0, sizeof(drive->cache));
	spek_drive_cache_init(&drive->cache);
	if (drive->flash)
		spek_drive_flash_lose(drive->flash, drive->accounted_ns);
}

/**
 * spek_drive_fault() - give the drive a fault
 * @drive: initialised
 * @now_ns: time from which it holds
 * @fault: copied
 * @refusal: says what was wrong
 *
 * After a power cut the drive has no requests any more, and none of them ends.
 *
 * Return: 0 or a negative errno.
 */
int spek_drive_fault(struct spek_drive *drive, u64 now_ns, const struct spek_drive_fault *fault,
		     struct spek_refusal *refusal)
{
	int err;

	spek_drive_account(drive, now_ns);
	err = spek_drive_faults_add(&drive->faults, &drive->model->mechanics, fault, refusal);
	if (err)
		return err;
	if (fault->kind == SPEK_DRIVE_FAULT_ARM) {
		if (drive->is_reading_ahead && drive->ahead.arm == fault->number)
			spek_drive_cut_ahead(drive, now_ns);
		drive->arms.failed |= 1U << fault->number;
	}
	if (fault->kind == SPEK_DRIVE_FAULT_POWER_CUT)
		lose_power(drive);
	if (fault->kind == SPEK_DRIVE_FAULT_GONE || fault->kind == SPEK_DRIVE_FAULT_POWER_CUT)
		drive->is_gone = true;
	return 0;
}

/* Complete overdue accesses now, so time stays monotonic. With the power the spindle starts. */
static void come_back(struct spek_drive *drive, u64 now_ns)
{
	u32 arm;

	drive->is_gone = false;
	if (!drive->has_power) {
		drive->has_power = true;
		spek_drive_set_condition(drive, SPEK_DRIVE_STARTING);
	}
	for (arm = 0; arm <= SPEK_DRIVE_MAX_ARMS; arm++)
		if (drive->service[arm].end_ns < now_ns)
			drive->service[arm].end_ns = now_ns;
	if (drive->ahead.end_ns < now_ns)
		drive->ahead.end_ns = now_ns;
	if (drive->flash)
		spek_drive_flash_delay(drive->flash, now_ns);
}

/* Those that no arm reached wait for one again; the next start sorts the others. */
static void queue_again(struct spek_drive_queue *queue)
{
	u32 index;

	for (index = queue->oldest; index != SPEK_DRIVE_NONE; index = queue->slots[index].next)
		queue->slots[index].held = queue->slots[index].request.flush;
}

/**
 * spek_drive_restore_arms() - put all arms into service
 * @drive: drive; its other faults remain
 * @now_ns: time
 */
void spek_drive_restore_arms(struct spek_drive *drive, u64 now_ns)
{
	spek_drive_account(drive, now_ns);
	queue_again(&drive->queue);
	spek_drive_faults_drop(&drive->faults, SPEK_DRIVE_FAULT_ARM);
	drive->arms.failed = 0;
}

/**
 * spek_drive_sole_sectors() - count the sectors that the drive cannot reach without an arm
 * @drive: drive
 * @arm: number of the arm, which may be out of service
 *
 * Return: sectors of the arm's part; 0 if another arm in service reaches them, too.
 */
u64 spek_drive_sole_sectors(const struct spek_drive *drive, u32 arm)
{
	const struct spek_drive_mechanics *mechanics = &drive->model->mechanics;
	u64 first, sectors;
	u32 other;

	spek_drive_part(mechanics, arm, &first, &sectors);
	for (other = 0; other < mechanics->nr_arms; other++)
		if (other != arm && !(drive->arms.failed >> other & 1) &&
		    spek_drive_reaches(mechanics, other, first))
			return 0;
	return sectors;
}

/**
 * spek_drive_clear_faults() - mend a drive
 * @drive: drive; its arms are where they stopped
 * @now_ns: time
 */
void spek_drive_clear_faults(struct spek_drive *drive, u64 now_ns)
{
	spek_drive_account(drive, now_ns);
	queue_again(&drive->queue);
	drive->faults.length = 0;
	drive->arms.failed = 0;
	if (drive->is_gone)
		come_back(drive, now_ns);
}

/**
 * spek_drive_command() - change the power condition
 * @drive: initialised
 * @now_ns: time
 * @event: SPEK_DRIVE_START, SPEK_DRIVE_SLEEP or SPEK_DRIVE_STOP
 *
 * Return: 0; -EBUSY while arms are busy, while the cache holds written data, or if the condition
 * does not allow it; -ENODEV if the drive is gone.
 */
int spek_drive_command(struct spek_drive *drive, u64 now_ns, enum spek_drive_event event)
{
	int condition;

	if (drive->is_gone)
		return -ENODEV;
	spek_drive_account(drive, now_ns);
	condition = spek_drive_condition_next(drive->condition, event);
	if (condition < 0)
		return condition;
	if (condition != SPEK_DRIVE_ACTIVE) {
		if (drive->arms.busy || drive->cache.dirty_sectors)
			return -EBUSY;
		if (drive->flash && (drive->flash->nr_flights || drive->flash->is_planning ||
				     spek_drive_flash_idle_ns(drive->flash) > now_ns))
			return -EBUSY;
		spek_drive_cut_ahead(drive, now_ns);
	}
	spek_drive_set_condition(drive, condition);
	return 0;
}
