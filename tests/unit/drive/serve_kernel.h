/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a unit needs of the kernel, for a process with one thread and a clock of its own.
 *
 * Other processors are what rival() does: it is called where another one may take the lock first.
 */
#ifndef SERVE_KERNEL_H
#define SERVE_KERNEL_H

#include <stdio.h>
#include <stdlib.h>

#include "../../../kmod/core/spek_host.h"

#define REQUIRE(holds) do {							\
		if (!(holds)) {							\
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #holds);	\
			abort();						\
		}								\
	} while (0)

#define __acquires(lock)
#define __releases(lock)
#define fallthrough			__attribute__((fallthrough))
#define static_assert			_Static_assert
#define lockdep_assert_held(lock)	REQUIRE((lock)->is_held)
#define WARN_ON_ONCE(condition)		({ REQUIRE(!(condition)); false; })
#define READ_ONCE(variable)		(variable)
#define WRITE_ONCE(x, value)	((void)((x) = (value)))
#define smp_load_acquire(at)	(*(at))
#define smp_store_release(at, value)	((void)(*(at) = (value)))
#define GENMASK(high, low)		((~0ULL << (low)) & (~0ULL >> (63 - (high))))
#define min(a, b)			((a) < (b) ? (a) : (b))
#define max(a, b)			((a) > (b) ? (a) : (b))
#define min_t(type, a, b)		min((type)(a), (type)(b))
#define container_of(member_of, type, member) \
	((type *)((char *)(member_of) - offsetof(type, member)))

#define NSEC_PER_USEC			1000L
#define NSEC_PER_MSEC			1000000L
#define SECTOR_SHIFT			9
#define CLOCK_MONOTONIC			1
#define HRTIMER_MODE_ABS		0
#define KTIME_MAX			((1ULL << 63) - 1)
#define SCSI_SENSE_BUFFERSIZE		96
#define SCSI_MLQUEUE_DEVICE_BUSY	0x1056
#define SAM_STAT_GOOD			0
#define SAM_STAT_CHECK_CONDITION	2
#define DID_NO_CONNECT			1
#define DID_ERROR			7
#define DID_RESET			8

struct list_head {
	struct list_head *next;
	struct list_head *prev;
};

#define LIST_HEAD(name)	struct list_head name = { &(name), &(name) }
#define list_for_each_entry_safe(entry, after, head, member)			\
	for (entry = container_of((head)->next, typeof(*entry), member),	\
	     after = container_of(entry->member.next, typeof(*entry), member);	\
	     &entry->member != (head);						\
	     entry = after, after = container_of(after->member.next, typeof(*after), member))

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	entry->prev = head->prev;
	entry->next = head;
	head->prev->next = entry;
	head->prev = entry;
}

typedef struct {
	bool is_held;
} spinlock_t;

void rival(void);

void cond_resched(void);

#define spin_lock_irqsave(lock, flags) do {	\
		rival();			\
		REQUIRE(!(lock)->is_held);	\
		(lock)->is_held = true;		\
		(flags) = 0;			\
	} while (0)
#define spin_unlock_irqrestore(lock, flags) do {	\
		REQUIRE((lock)->is_held && !(flags));	\
		(lock)->is_held = false;		\
	} while (0)
/* The one thread is never in another's way: rival() takes none that is held. */
struct mutex {
	bool is_held;
};

static inline void mutex_lock(struct mutex *mutex)
{
	REQUIRE(!mutex->is_held);
	mutex->is_held = true;
}

static inline void mutex_unlock(struct mutex *mutex)
{
	REQUIRE(mutex->is_held);
	mutex->is_held = false;
}

#define rcu_read_lock()		((void)0)
#define rcu_read_unlock()	((void)0)
/* What others do while it waits. */
void synchronize_rcu(void);

enum hrtimer_restart {
	HRTIMER_NORESTART,
};

struct hrtimer {
	u64 at_ns;
	bool is_armed;
	enum hrtimer_restart (*function)(struct hrtimer *timer);
};

#define hrtimer_init(timer, clock, mode)	((void)((timer)->is_armed = false))
#define hrtimer_cancel(timer)			((void)((timer)->is_armed = false))
#define ns_to_ktime(ns)				(ns)

static inline void hrtimer_start(struct hrtimer *timer, u64 at_ns, int mode)
{
	REQUIRE(at_ns <= KTIME_MAX && mode == HRTIMER_MODE_ABS);
	timer->at_ns = at_ns;
	timer->is_armed = true;
}

u64 ktime_get_ns(void);
void cpu_relax(void);

/* Only held by the structures that a unit uses. */
struct kref { int unused; };
struct work_struct { int unused; };
struct xarray { int unused; };
typedef struct { long unused; } atomic_long_t;
struct scatterlist;

enum dma_data_direction {
	DMA_TO_DEVICE = 1,
	DMA_FROM_DEVICE = 2,
};

struct request {
	int tag;
};

/**
 * struct scsi_cmnd - a command, and what the test knows of it
 * @is_sent: the unit has it
 * @wants_data: it succeeds only if data has moved
 * @has_moved: data has moved since it was sent last
 * @is_lost: the power went after that
 * @wants_flush: it succeeds only if data have become permanent
 * @has_flushed: they have since it was sent last
 * @flushes_before: flushes before its data moved that a cut may lose; 0: none has
 */
struct scsi_cmnd {
	struct request request;
	u8 cmnd[16];
	u16 cmd_len;
	int result;
	u8 *sense_buffer;
	enum dma_data_direction sc_data_direction;
	u32 length;
	u32 residue;
	u8 data[512];
	u8 sense[SCSI_SENSE_BUFFERSIZE];
	u64 priv[8];
	bool is_sent;
	bool wants_data;
	bool has_moved;
	bool is_lost;
	bool wants_flush;
	bool has_flushed;
	u64 flushes_before;
};

#define scsi_cmd_priv(cmd)	((void *)(cmd)->priv)
#define scsi_cmd_to_rq(cmd)	(&(cmd)->request)
#define scsi_bufflen(cmd)	((cmd)->length)
#define scsi_sglist(cmd)	((void)(cmd), (struct scatterlist *)NULL)
#define scsi_sg_count(cmd)	((void)(cmd), 0)

void scsi_done(struct scsi_cmnd *cmd);

static inline void scsi_set_resid(struct scsi_cmnd *cmd, u32 residue)
{
	REQUIRE(residue <= cmd->length);
	cmd->residue = residue;
}

static inline u32 scsi_sg_copy_from_buffer(struct scsi_cmnd *cmd, const void *from, u32 bytes)
{
	REQUIRE(cmd->sc_data_direction == DMA_FROM_DEVICE && bytes <= cmd->length);
	memcpy(cmd->data, from, bytes);
	return bytes;
}

static inline u32 scsi_sg_copy_to_buffer(struct scsi_cmnd *cmd, void *to, u32 bytes)
{
	REQUIRE(bytes <= cmd->length);
	memcpy(to, cmd->data, bytes);
	return bytes;
}

/* trace.h */
#define TP_PROTO(...)	__VA_ARGS__
#define TRACE_DEFINE_ENUM(name)
#define TRACE_EVENT(name, proto, ...) static inline void trace_##name(proto) { }

#endif
