// SPDX-License-Identifier: GPL-2.0
/* Allocating slots, arming the bios of their parts, and completing them. */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "../compat/compat.h"
#include "../core/rng.h"
#include "memory.h"
#include "outcome.h"
#include "slot.h"

/* A run that needs too much memory is refused: no OOM kill and no warning for it. */
#define SLOT_GFP	(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * spek_slot_chunk_bytes() - size of the contiguous chunks that a buffer is made of
 * @buffer_bytes: size of the buffer
 *
 * Return: bytes.
 */
u32 spek_slot_chunk_bytes(u32 buffer_bytes)
{
	if (buffer_bytes <= PAGE_SIZE)
		return PAGE_SIZE;
	return min_t(u32, roundup_pow_of_two(buffer_bytes), SPEK_SLOT_CHUNK_MAX);
}

static void fill_chunk(struct page *page, u32 bytes, struct spek_rng *rng)
{
	u64 *word = page_address(page);
	u32 i;

	for (i = 0; i < bytes / sizeof(*word); i++)
		word[i] = spek_rng_next(rng);
}

static u32 nr_chunks(const struct spek_slot_shape *shape)
{
	return DIV_ROUND_UP(shape->buffer_bytes, shape->chunk_bytes);
}

static void destroy_buffer(struct bio_vec *vec, const struct spek_slot_shape *shape)
{
	u32 i;

	if (!vec)
		return;
	for (i = 0; i < nr_chunks(shape); i++)
		if (vec[i].bv_page)
			__free_pages(vec[i].bv_page, get_order(shape->chunk_bytes));
	kfree(vec);
}

/* Return: the buffer, or NULL if out of memory */
static struct bio_vec *create_buffer(const struct spek_slot_shape *shape, int node,
				     struct spek_rng *rng)
{
	struct bio_vec *vec;
	u32 i;

	vec = kcalloc_node(nr_chunks(shape), sizeof(*vec), SLOT_GFP, node);
	if (!vec)
		return NULL;
	for (i = 0; i < nr_chunks(shape); i++) {
		struct page *page = alloc_pages_node(node, SLOT_GFP | __GFP_ZERO | __GFP_COMP,
						     get_order(shape->chunk_bytes));

		if (!page) {
			destroy_buffer(vec, shape);
			return NULL;
		}
		if (rng)
			fill_chunk(page, shape->chunk_bytes, rng);
		vec[i].bv_page = page;
		vec[i].bv_len = shape->chunk_bytes;
	}
	return vec;
}

static int create_buffers(struct spek_slot *slot, const struct spek_slot_shape *shape, int node,
			  struct spek_rng *rng)
{
	if (shape->reads) {
		slot->vec[0] = create_buffer(shape, node, NULL);
		if (!slot->vec[0])
			return -ENOMEM;
	}
	if (shape->writes) {
		slot->vec[1] = create_buffer(shape, node, shape->random ? rng : NULL);
		if (!slot->vec[1])
			return -ENOMEM;
	}
	return 0;
}

static struct spek_part *create_parts(struct spek_slot *slot, u32 nr, int node)
{
	struct spek_part *part = kvzalloc_node(array_size(nr, sizeof(*part)), SLOT_GFP, node);
	u32 i;

	for (i = 0; part && i < nr; i++) {
		part[i].slot = slot;
		bio_init(&part[i].bio, NULL, &part[i].vec, 1, 0);
	}
	return part;
}

static void destroy_parts(struct spek_part *part, u32 nr)
{
	u32 i;

	for (i = 0; part && i < nr; i++)
		bio_uninit(&part[i].bio);
	kvfree(part);
}

/**
 * spek_slots_bytes() - memory that slots take
 * @nr: number of slots
 * @shape: how they are made
 *
 * Return: bytes, buffers included.
 */
u64 spek_slots_bytes(u32 nr, const struct spek_slot_shape *shape)
{
	u64 buffer = (u64)nr_chunks(shape) * (shape->chunk_bytes + sizeof(struct bio_vec));
	u64 each = sizeof(struct spek_slot) + (u64)shape->max_parts * sizeof(struct spek_part) +
		   (shape->reads + shape->writes) * buffer;

	return nr * each;
}

/**
 * spek_slots_create() - allocate the slots of a worker
 * @inflight: of the worker; its shape says how slots are made
 * @nr: number of slots
 * @node: NUMA node of the worker
 *
 * Context: process, may sleep.
 * Return: array of @nr slots, or NULL without memory.
 */
struct spek_slot *spek_slots_create(struct spek_inflight *inflight, u32 nr, int node)
{
	const struct spek_slot_shape *shape = inflight->shape;
	struct spek_slot *slots;
	struct spek_rng rng;
	u32 i;

	slots = spek_zalloc_node(array_size(nr, sizeof(*slots)), node);
	if (!slots)
		return NULL;
	spek_rng_seed(&rng, shape->seed + inflight->worker);
	for (i = 0; i < nr; i++) {
		struct spek_slot *slot = &slots[i];

		slot->inflight = inflight;
		slot->part = create_parts(slot, shape->max_parts, node);
		if (!slot->part || create_buffers(slot, shape, node, &rng))
			goto err_destroy;
		slot->max_parts = shape->max_parts;
		cond_resched();
	}
	return slots;

err_destroy:
	spek_slots_destroy(slots, nr, shape);
	return NULL;
}

/**
 * spek_slot_grow() - give a slot room for more parts
 * @slot: nothing of it is with a device
 * @max_parts: parts wanted
 *
 * Parts that came back keep where they went to.
 *
 * Context: process, may sleep; no I/O is started
 * for memory, as it might come to wait for this very worker.
 * Return: 0 or -ENOMEM with nothing changed.
 */
int spek_slot_grow(struct spek_slot *slot, u32 max_parts)
{
	unsigned int flags = memalloc_noio_save();
	struct spek_part *part = create_parts(slot, max_parts, numa_node_id());
	u32 i;

	memalloc_noio_restore(flags);
	if (!part)
		return -ENOMEM;
	for (i = 0; i < slot->max_parts; i++) {
		part[i].target = slot->part[i].target;
		part[i].target_index = slot->part[i].target_index;
		part[i].bytes = slot->part[i].bytes;
		part[i].offset = slot->part[i].offset;
	}
	destroy_parts(slot->part, slot->max_parts);
	slot->part = part;
	slot->max_parts = max_parts;
	return 0;
}

/**
 * spek_slots_destroy() - free slots and their buffers
 * @slots: without outstanding I/O, or NULL
 * @nr: number of slots
 * @shape: as at their creation
 *
 * Context: process.
 */
void spek_slots_destroy(struct spek_slot *slots, u32 nr, const struct spek_slot_shape *shape)
{
	u32 i;

	if (!slots)
		return;
	for (i = 0; i < nr; i++) {
		destroy_parts(slots[i].part, slots[i].max_parts);
		destroy_buffer(slots[i].vec[0], shape);
		destroy_buffer(slots[i].vec[1], shape);
	}
	kvfree(slots);
}

/**
 * spek_part_arm() - prepare the bio of any part
 * @part: target, offset and bytes are set
 * @buffer_offset: offset of its data in the slot's buffer
 * @chunk_bytes: spek_slot_shape.chunk_bytes
 * @opf: operation and flags
 *
 * Context: the worker's thread.
 */
void spek_part_arm(struct spek_part *part, u32 buffer_offset, u32 chunk_bytes, blk_opf_t opf)
{
	struct spek_slot *slot = part->slot;
	struct bio_vec *chunk = &slot->vec[slot->op.write][buffer_offset / chunk_bytes];
	u32 in_chunk = buffer_offset & (chunk_bytes - 1);

	spek_part_reset(part, opf);
	if (in_chunk + part->bytes <= chunk_bytes) {
		spek_part_set_data(part, chunk, in_chunk);
		return;
	}
	/* Like a cloned bio: the vectors belong to the slot. */
	part->bio.bi_io_vec = chunk;
	part->bio.bi_vcnt = 0;
	spek_compat_iter_set_offset(&part->bio.bi_iter, in_chunk);
	bio_set_flag(&part->bio, BIO_CLONED);
}

/**
 * spek_part_end_io() - complete a part
 * @bio: of the part
 *
 * The last part of an operation adds its slot to the worker's completions and wakes the worker
 * if it is idle. The caller's back end no longer touches the slot.
 *
 * Context: any.
 */
void spek_part_end_io(struct bio *bio)
{
	struct spek_part *part = container_of(bio, struct spek_part, bio);
	struct spek_slot *slot = part->slot;
	struct spek_inflight *inflight = slot->inflight;

	if (unlikely(bio->bi_status)) {
		WRITE_ONCE(slot->status, bio->bi_status);
		spek_outcome_report_failed(inflight->outcome, part, bio->bi_status);
	}
	if (slot->nr_parts > 1 && !atomic_dec_and_test(&slot->parts_left))
		return;
	slot->done_ns = ktime_get_ns();
	/* The cheapest RCU read section: the worker may free all of this once it has the slot. */
	preempt_disable();
	spek_compat_llist_add(&slot->done, &inflight->done);
	if (READ_ONCE(inflight->idle))
		wake_up_process(inflight->task);
	preempt_enable();
}
