// SPDX-License-Identifier: GPL-2.0
/*
 * The floor in userspace: what a read costs a program that does nothing but read, by the
 * cheapest way io_uring has: registered file, buffers and ring, many submissions and
 * completions per system call. 4 KiB blocks at random, nothing timed or counted for any.
 *
 * usage: uring DEVICE COUNT DEPTH BATCH irq|polled
 * Prints the nanoseconds from the first submission to the last completion.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#define BLOCK_BYTES 4096u
#define MAX_DEPTH 1024u

struct loop {
	struct io_uring ring;
	uint64_t blocks;
	uint64_t random;
	unsigned int depth;
	unsigned int batch;
	unsigned int nr_free;
	unsigned int free[MAX_DEPTH];
	void *buffer[MAX_DEPTH];
};

static int fail(const char *what, int err)
{
	fprintf(stderr, "uring: %s: %s\n", what, strerror(err));
	return 1;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t random_offset(struct loop *loop)
{
	uint64_t x = loop->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	loop->random = x;
	return (uint64_t)((unsigned __int128)x * loop->blocks >> 64) * BLOCK_BYTES;
}

static void prepare(struct loop *loop)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&loop->ring);
	unsigned int slot = loop->free[--loop->nr_free];

	io_uring_prep_read_fixed(sqe, 0, loop->buffer[slot], BLOCK_BYTES, random_offset(loop),
				 (int)slot);
	sqe->flags |= IOSQE_FIXED_FILE;
	sqe->user_data = slot;
}

/* Return: 0 or the errno of a read that failed. */
static int reap(struct loop *loop)
{
	struct io_uring_cqe *cqe;
	unsigned int head, nr = 0;
	int err = 0;

	io_uring_for_each_cqe(&loop->ring, head, cqe) {
		if (cqe->res != (int)BLOCK_BYTES)
			err = cqe->res < 0 ? -cqe->res : EIO;
		loop->free[loop->nr_free++] = (unsigned int)cqe->user_data;
		nr++;
	}
	io_uring_cq_advance(&loop->ring, nr);
	return err;
}

/* Return: 0 or an errno. */
static int run(struct loop *loop, uint64_t count)
{
	while (count || loop->nr_free < loop->depth) {
		unsigned int n, outstanding;
		int err;

		for (n = 0; n < loop->batch && count && loop->nr_free; n++, count--)
			prepare(loop);
		outstanding = loop->depth - loop->nr_free;
		/* Submitting and waiting for as many as the next batch needs is one system call. */
		err = io_uring_submit_and_wait(&loop->ring, outstanding < loop->batch ?
					       outstanding : loop->batch);
		if (err < 0)
			return -err;
		err = reap(loop);
		if (err)
			return err;
	}
	return 0;
}

static int set_up(struct loop *loop, int fd, unsigned int flags)
{
	struct iovec vec[MAX_DEPTH];
	unsigned int i;
	int err;

	err = io_uring_queue_init(loop->depth, &loop->ring, flags);
	if (err)
		return fail("io_uring_setup", -err);
	for (i = 0; i < loop->depth; i++) {
		loop->buffer[i] = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);
		if (!loop->buffer[i])
			return fail("buffers", ENOMEM);
		memset(loop->buffer[i], 0, BLOCK_BYTES);
		loop->free[loop->nr_free++] = i;
		vec[i] = (struct iovec){ loop->buffer[i], BLOCK_BYTES };
	}
	err = io_uring_register_buffers(&loop->ring, vec, loop->depth);
	if (err)
		return fail("registering buffers", -err);
	err = io_uring_register_files(&loop->ring, &fd, 1);
	if (err)
		return fail("registering the file", -err);
	err = io_uring_register_ring_fd(&loop->ring);
	if (err != 1)
		return fail("registering the ring", -err);
	return 0;
}

int main(int argc, char **argv)
{
	static struct loop loop = { .random = 0x9e3779b97f4a7c15ull };
	unsigned int flags = IORING_SETUP_SINGLE_ISSUER;
	uint64_t bytes, start_ns;
	int fd, err;

	if (argc != 6 || (strcmp(argv[5], "irq") && strcmp(argv[5], "polled"))) {
		fprintf(stderr, "usage: uring DEVICE COUNT DEPTH BATCH irq|polled\n");
		return 2;
	}
	flags |= strcmp(argv[5], "polled") ? IORING_SETUP_DEFER_TASKRUN : IORING_SETUP_IOPOLL;
	loop.depth = (unsigned int)strtoul(argv[3], NULL, 10);
	loop.batch = (unsigned int)strtoul(argv[4], NULL, 10);
	if (!loop.depth || loop.depth > MAX_DEPTH || !loop.batch || loop.batch > loop.depth) {
		fprintf(stderr, "uring: 1 <= BATCH <= DEPTH <= %u\n", MAX_DEPTH);
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_DIRECT);
	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &bytes))
		return fail(argv[1], errno);
	loop.blocks = bytes / BLOCK_BYTES;
	if (set_up(&loop, fd, flags))
		return 1;
	start_ns = now_ns();
	err = run(&loop, strtoull(argv[2], NULL, 10));
	if (err)
		return fail("reading", err);
	printf("%llu\n", (unsigned long long)(now_ns() - start_ns));
	return 0;
}
