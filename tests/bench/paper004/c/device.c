// SPDX-License-Identifier: GPL-2.0
/* A modelled drive, and the I/O that waits before its queue, first come, first served. */
#include "sim.h"
#include "userspace.h"

/* Return: 0, or -1 and in @sentence why not. */
int device_init(struct device *d, void *description, u64 bytes, char *sentence)
{
	d->first = NONE;
	d->last = NONE;
	d->next_ns = NEVER;
	return userspace_drive_init(&d->model, &d->drive, &d->flash, description, bytes,
				    sentence) ? 0 : -1;
}

void device_free(struct device *d)
{
	userspace_drive_deinit(&d->model, d->flash);
}

static u32 take_slot(struct sim *sim)
{
	u32 i, old = sim->nr_slots;

	if (sim->free_slot == NONE) {
		sim->nr_slots = old ? 2 * old : 1024;
		sim->slots = realloc(sim->slots, sim->nr_slots * sizeof(*sim->slots));
		for (i = sim->nr_slots; i > old; i--) {
			sim->slots[i - 1].next = sim->free_slot;
			sim->free_slot = i - 1;
		}
	}
	i = sim->free_slot;
	sim->free_slot = sim->slots[i].next;
	return i;
}

bool device_is_awake(const struct device *d)
{
	return d->drive.condition == SPEK_DRIVE_ACTIVE;
}

static void submit_waiting(struct sim *sim, struct device *d)
{
	while (d->first != NONE) {
		struct slot *slot = &sim->slots[d->first];
		int err;

		slot->request.arrival_ns = sim->now_ns;
		err = spek_drive_submit(&d->drive, &slot->request);
		if (err == -EBUSY)
			return;
		if (err)
			abort();	/* a place beyond the device is a mistake of this program */
		d->first = slot->next;
		if (d->first == NONE)
			d->last = NONE;
	}
}

void device_submit(struct sim *sim, u32 number, enum sim_op op, u64 block, u32 blocks, bool fua,
		   enum sim_cause cause, struct join *join)
{
	struct device *d = &sim->devices[number];
	u32 index = take_slot(sim);
	struct slot *slot = &sim->slots[index];

	memset(slot, 0, sizeof(*slot));
	slot->join = join;
	slot->next = NONE;
	slot->request.lba = op == OP_FLUSH ? 0 : block * BLOCK_SECTORS;
	slot->request.sectors = op == OP_FLUSH ? 0 : blocks * BLOCK_SECTORS;
	slot->request.write = op == OP_WRITE;
	slot->request.flush = op == OP_FLUSH;
	slot->request.fua = fua;
	slot->request.tag = index;
	join->pending++;
	/* Nothing is in the cache of a drive that sleeps: a flush wakes none. */
	if (op != OP_FLUSH && !device_is_awake(d) && !d->is_waking) {
		d->is_waking = true;
		sim->result->wakes[cause]++;
	}
	if (op != OP_FLUSH)
		d->used_ns = sim->now_ns;
	d->under_way++;
	if (d->last == NONE)
		d->first = index;
	else
		sim->slots[d->last].next = index;
	d->last = index;
	d->is_touched = true;
}

/* End what has ended, up to @now_ns, which is not after the next event. */
void device_advance(struct sim *sim, struct device *d, u64 now_ns)
{
	struct spek_drive_service ended;

	spek_drive_account(&d->drive, now_ns);
	d->is_touched = true;
	while (spek_drive_finish(&d->drive, now_ns, &ended)) {
		u32 index = (u32)ended.request.tag;
		struct join *join = sim->slots[index].join;

		sim->slots[index].next = sim->free_slot;
		sim->free_slot = index;
		d->under_way--;
		if (!ended.request.flush)
			d->used_ns = now_ns;
		join_end(sim, join);
	}
}

/* Start what can start. */
void device_pump(struct sim *sim, struct device *d)
{
	struct spek_drive_service started;

	d->is_touched = false;
	do
		submit_waiting(sim, d);
	while (spek_drive_start(&d->drive, sim->now_ns, &started));
	d->next_ns = spek_drive_next_ns(&d->drive);
}

/* Put an idle disk into standby. Return: true if it went there. */
bool device_rest(struct sim *sim, struct device *d)
{
	if (d->under_way || !device_is_awake(d) ||
	    spek_drive_command(&d->drive, sim->now_ns, SPEK_DRIVE_SLEEP))
		return false;
	d->is_waking = false;
	d->is_touched = true;
	return true;
}
