// SPDX-License-Identifier: GPL-2.0
/* Calls from outside, and which part of the machine they concern. */
#include "machine.h"

static int refuse(struct spek_refusal *refusal, const char *text)
{
	return spek_refuse(refusal, 0, 0, -EINVAL, text);
}

/**
 * spek_augment_check() - check sizes and policy
 * @config: sizes and policy
 * @refusal: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int spek_augment_check(const struct spek_augment_config *config, struct spek_refusal *refusal)
{
	if (!config->nr_members || config->nr_members > SPEK_AUGMENT_MEMBERS)
		return refuse(refusal, "A RAID has 1 to 8 members.");
	if (!config->raid_blocks || config->raid_blocks > SPEK_AUGMENT_MAX_BLOCK)
		return refuse(refusal, "A RAID has 1 to 2^48 blocks.");
	if (config->log_blocks < 8 * SPEK_AUGMENT_RECORD_BLOCKS || config->log_blocks > 1U << 30)
		return refuse(refusal, "The log has 256 to 2^30 blocks.");
	if (config->ssd_blocks > 1U << 31 ||
	    config->ssd_blocks < config->log_blocks + SPEK_AUGMENT_LOG_START)
		return refuse(refusal, "The SSD has 2 blocks more than the log, to 2^31.");
	if (config->copy > SPEK_AUGMENT_COPY_SECOND)
		return refuse(refusal, "Reads are copied never, at first or at second touch.");
	if (config->wake > SPEK_AUGMENT_WAKE_LAST)
		return refuse(refusal, "Members are woken in turn, or the last mirror is.");
	if (config->prefetch_blocks > SPEK_AUGMENT_STAGE_BLOCKS)
		return refuse(refusal, "0 to 16 blocks are read ahead.");
	if (!config->stripe_blocks || config->stripe_blocks > 1024)
		return refuse(refusal, "A stripe has 1 to 1024 blocks.");
	if (config->high_blocks > config->log_blocks - 2 * SPEK_AUGMENT_RECORD_BLOCKS ||
	    config->low_blocks >= config->high_blocks)
		return refuse(refusal, "The high limit is 64 blocks below the log's length, the low one below it.");
	if (!config->retry_ns)
		return refuse(refusal, "The pause after a failed destage is not 0.");
	return 0;
}

/**
 * spek_augment_init() - make a machine that knows of no record
 * @m: machine, any contents
 * @config: checked
 * @memory: spek_augment_bytes() bytes, aligned to 4
 *
 * Context: may sleep. spek_augment_recover() and spek_augment_start() have to follow.
 */
void spek_augment_init(struct spek_augment *m, const struct spek_augment_config *config,
		       void *memory)
{
	spek_memset(m, 0, sizeof(*m));
	m->config = *config;
	m->entries = memory;
	m->nr_entries = config->ssd_blocks - SPEK_AUGMENT_LOG_START;
	m->mark_ns = SPEK_AUGMENT_NEVER;
	spek_augment_map_init(m);
	spek_augment_io_init(m);
}

/* In normal operation only a write that finds no room depends on destage. */
static bool is_hopeless(const struct spek_augment *m, u32 bio)
{
	if (spek_augment_is_stuck(m))
		return m->requests[bio].bio.op != SPEK_AUGMENT_READ ||
		       m->mode == SPEK_AUGMENT_RECOVERING;
	return m->mode == SPEK_AUGMENT_NORMAL && m->requests[bio].bio.op == SPEK_AUGMENT_WRITE &&
	       m->destage.stuck && m->now_ns < m->destage.retry_at_ns &&
	       m->config.log_blocks - spek_augment_used(m) < 3;
}

static void serve(struct spek_augment *m, struct spek_augment_list *list,
		  bool (*step)(struct spek_augment *m, u32 bio))
{
	while (list->first != SPEK_AUGMENT_NONE) {
		u32 bio = list->first;
		struct spek_augment_request *request = &m->requests[bio];

		if (!step(m, bio)) {
			if (!is_hopeless(m, bio))
				return;
			request->error = -EIO;
			request->issued = request->bio.blocks;
		}
		spek_augment_pop(m, list);
		spek_augment_request_end(m, bio);
	}
}

static void advance(struct spek_augment *m, u64 now_ns)
{
	m->now_ns = now_ns;
	do {
		m->again = false;
		spek_augment_flush_step(m);
		/* Mostly not, and the call alone takes 14 instructions. */
		if (m->writes.first != SPEK_AUGMENT_NONE)
			serve(m, &m->writes, spek_augment_write_step);
		if (m->reads.first != SPEK_AUGMENT_NONE)
			serve(m, &m->reads, spek_augment_read_step);
		spek_augment_destage_step(m);
	} while (m->again);
}

static bool is_valid(const struct spek_augment *m, const struct spek_augment_bio *bio)
{
	if (bio->op == SPEK_AUGMENT_FLUSH)
		return !bio->blocks;
	return bio->op <= SPEK_AUGMENT_WRITE && bio->blocks &&
	       bio->blocks <= SPEK_AUGMENT_BIO_BLOCKS && bio->block < m->config.raid_blocks &&
	       bio->blocks <= m->config.raid_blocks - bio->block;
}

static void submit_flush(struct spek_augment *m, u32 bio)
{
	struct spek_augment_slot *slot;

	if (m->mode != SPEK_AUGMENT_PASSING) {
		m->requests[bio].target = m->issued_seq;
		spek_augment_push(m, &m->flushes, bio);
		return;
	}
	slot = spek_augment_io_new(m, SPEK_AUGMENT_FOR_PASS, SPEK_AUGMENT_FLUSH, SPEK_AUGMENT_RAID,
				   0, 0);
	slot->index = bio;
	m->requests[bio].parts = 1;
}

/**
 * spek_augment_submit() - take a bio
 * @m: machine
 * @now_ns: time
 * @bio: copied
 *
 * Return: 0, -EINVAL for a bio that cannot be, or -EBUSY if 64 bios are there already.
 */
int spek_augment_submit(struct spek_augment *m, u64 now_ns, const struct spek_augment_bio *bio)
{
	struct spek_augment_request *request;
	u32 number;

	if (!is_valid(m, bio))
		return -EINVAL;
	number = spek_augment_pop(m, &m->free_bios);
	if (number == SPEK_AUGMENT_NONE)
		return -EBUSY;
	request = &m->requests[number];
	spek_memset(request, 0, sizeof(*request));
	request->bio = *bio;
	if (bio->op == SPEK_AUGMENT_FLUSH)
		submit_flush(m, number);
	else if (bio->op == SPEK_AUGMENT_WRITE)
		spek_augment_push(m, &m->writes, number);
	else
		spek_augment_push(m, &m->reads, number);
	if (bio->op == SPEK_AUGMENT_READ)
		request->is_sequential = spek_augment_is_sequential(m, bio);
	advance(m, now_ns);
	return 0;
}

/**
 * spek_augment_next_answer() - take the next answer
 * @m: machine
 * @answer: filled in; the bio's data and checksums are not used any more
 *
 * Return: false if there is none.
 */
bool spek_augment_next_answer(struct spek_augment *m, struct spek_augment_answer *answer)
{
	u32 bio = spek_augment_pop(m, &m->answers);

	if (bio == SPEK_AUGMENT_NONE)
		return false;
	answer->cookie = m->requests[bio].bio.cookie;
	answer->error = m->requests[bio].error;
	spek_augment_push(m, &m->free_bios, bio);
	return true;
}

static void pass_end(struct spek_augment *m, const struct spek_augment_slot *slot, int error)
{
	struct spek_augment_request *request = &m->requests[slot->index];

	if (error)
		request->error = error;
	request->parts--;
	spek_augment_request_end(m, slot->index);
}

/**
 * spek_augment_complete() - end an I/O
 * @m: machine
 * @now_ns: time
 * @tag: of the I/O
 * @error: 0 or a negative errno
 */
void spek_augment_complete(struct spek_augment *m, u64 now_ns, u32 tag, int error)
{
	struct spek_augment_slot *slot = &m->slots[tag];

	m->now_ns = now_ns;
	m->stats.errors += error != 0;
	switch (slot->purpose) {
	case SPEK_AUGMENT_FOR_HIT:
	case SPEK_AUGMENT_FOR_MISS:
		if (!spek_augment_read_end(m, slot, error)) {
			advance(m, now_ns);
			return;
		}
		break;
	case SPEK_AUGMENT_FOR_PREFETCH:
		spek_augment_prefetch_end(m, slot, error);
		break;
	case SPEK_AUGMENT_FOR_COPY:
		spek_augment_copy_end(m, slot, error);
		break;
	case SPEK_AUGMENT_FOR_RECORD:
		spek_augment_record_end(m, slot, error);
		break;
	case SPEK_AUGMENT_FOR_FLUSH:
		spek_augment_flush_end(m, slot, error);
		break;
	case SPEK_AUGMENT_FOR_WAKE:
		spek_augment_wake_end(m, slot, error);
		break;
	case SPEK_AUGMENT_FOR_PASS:
		pass_end(m, slot, error);
		break;
	case SPEK_AUGMENT_FOR_MEND:
		spek_augment_mend_end(m, slot, error);
		break;
	default:
		spek_augment_destage_end(m, slot, error);
	}
	spek_augment_io_free(m, tag);
	advance(m, now_ns);
}

/**
 * spek_augment_set_awake() - note that a member sleeps or is awake
 * @m: machine
 * @now_ns: time
 * @member: number of the member, from 0
 * @is_awake: whether it is awake
 */
void spek_augment_set_awake(struct spek_augment *m, u64 now_ns, u32 member, bool is_awake)
{
	spek_augment_wake_set(m, member, is_awake);
	advance(m, now_ns);
}

/**
 * spek_augment_lose() - note that a device is gone
 * @m: machine
 * @now_ns: time
 * @device: SSD or member
 *
 * I/O in flight on it has to end with an error.
 */
void spek_augment_lose(struct spek_augment *m, u64 now_ns, u32 device)
{
	m->now_ns = now_ns;
	spek_augment_drop(m, device);
	advance(m, now_ns);
}

/**
 * spek_augment_tick() - note the time
 * @m: machine
 * @now_ns: time
 */
void spek_augment_tick(struct spek_augment *m, u64 now_ns)
{
	advance(m, now_ns);
}

static u64 sooner(u64 now_ns, u64 at_ns, u64 than_ns)
{
	return at_ns > now_ns && at_ns < than_ns ? at_ns : than_ns;
}

/**
 * spek_augment_next_ns() - ask when the machine wants to know the time
 * @m: machine
 *
 * Return: time, or SPEK_AUGMENT_NEVER.
 */
u64 spek_augment_next_ns(const struct spek_augment *m)
{
	u64 next_ns = SPEK_AUGMENT_NEVER;

	if (m->mode == SPEK_AUGMENT_FAILED)
		return m->forgets ? m->now_ns : SPEK_AUGMENT_NEVER;
	if (m->destage.stuck)
		next_ns = sooner(m->now_ns, m->destage.retry_at_ns, next_ns);
	if (m->mode != SPEK_AUGMENT_NORMAL || !m->dirty)
		return next_ns;
	if (m->config.age_ns && m->mark_ns != SPEK_AUGMENT_NEVER)
		next_ns = sooner(m->now_ns, m->mark_ns + m->config.age_ns, next_ns);
	if (!m->stirred)
		return next_ns;
	return sooner(m->now_ns, m->raid_read_ns + m->config.quiet_ns, next_ns);
}

/**
 * spek_augment_destage_all() - destage what has been written so far
 * @m: machine
 * @now_ns: time
 */
void spek_augment_destage_all(struct spek_augment *m, u64 now_ns)
{
	m->destage.to_seq = m->issued_seq + 1;
	advance(m, now_ns);
}
