// SPDX-License-Identifier: GPL-2.0
/* Operations that wait without a slot: their order, the backlog, the limit. */
#include <linux/limits.h>
#include "core/workload.h"
#include "op_fifo.h"
#include "suites.h"

/* More than fit in several pages. */
#define OPS	1000u
#define LIMIT	(1u << 20)

static const struct spek_arrival arrivals[] = {
	{ .law = SPEK_LAW_POISSON },
	{ .law = SPEK_LAW_CLOSED },
};

struct fifo_fixture {
	struct spek_op_room room;
	struct spek_op_fifo fifo;
};

static int make_fifo(struct kunit *test)
{
	struct fifo_fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	test->priv = fixture;
	spek_op_fifo_init(&fixture->fifo, arrivals);
	return 0;
}

static u64 pop(struct fifo_fixture *fixture)
{
	struct spek_op op;

	spek_op_fifo_pop(&fixture->fifo, &fixture->room, &op);
	return op.at_ns;
}

static void empty_fifo(struct kunit *test)
{
	struct fifo_fixture *fixture = test->priv;

	if (!fixture)
		return;
	while (fixture->fifo.nr)
		pop(fixture);
	spek_op_room_destroy(&fixture->room);
}

static bool push(struct fifo_fixture *fixture, u64 at_ns, u8 arrival)
{
	const struct spek_op op = { .at_ns = at_ns, .arrival = arrival };

	if (!spek_op_room_find(&fixture->room))
		return false;
	spek_op_fifo_push(&fixture->fifo, &fixture->room, &op);
	return true;
}

static void operations_come_out_in_order(struct kunit *test)
{
	struct fifo_fixture *fixture = test->priv;
	u64 in = 0, out = 0;

	/* Two go in for each that comes out, then the others come out. */
	while (in < OPS) {
		KUNIT_ASSERT_TRUE(test, push(fixture, in++, 0));
		KUNIT_ASSERT_TRUE(test, push(fixture, in++, 0));
		KUNIT_ASSERT_EQ(test, pop(fixture), out++);
		KUNIT_ASSERT_EQ(test, fixture->fifo.nr, in - out);
	}
	while (out < in)
		KUNIT_ASSERT_EQ(test, pop(fixture), out++);
	KUNIT_EXPECT_EQ(test, fixture->fifo.nr, 0);
	KUNIT_EXPECT_EQ(test, fixture->room.waiting, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&fixture->fifo.pages));
}

static void the_backlog_is_what_is_due_and_open(struct kunit *test)
{
	struct fifo_fixture *fixture = test->priv;
	u64 at_ns;

	/* Every third one is of a closed loop. */
	for (at_ns = 0; at_ns < OPS; at_ns++)
		KUNIT_ASSERT_TRUE(test, push(fixture, at_ns, at_ns % 3 == 2));
	for (at_ns = 0; at_ns <= OPS; at_ns++)
		KUNIT_ASSERT_EQ(test, spek_op_fifo_backlog(&fixture->fifo, at_ns),
				at_ns - at_ns / 3);
	KUNIT_EXPECT_EQ(test, spek_op_fifo_backlog(&fixture->fifo, U64_MAX), OPS - OPS / 3);
	pop(fixture);
	KUNIT_EXPECT_EQ(test, spek_op_fifo_backlog(&fixture->fifo, 3), 1);
	KUNIT_EXPECT_EQ(test, spek_op_fifo_backlog(&fixture->fifo, 0), 0);
}

static void a_worker_has_a_limit_for_all_its_fifos(struct kunit *test)
{
	struct fifo_fixture *fixture = test->priv;
	struct spek_op_fifo second;
	struct spek_op op = {};
	u32 i;

	spek_op_fifo_init(&second, arrivals);
	KUNIT_ASSERT_TRUE(test, spek_op_room_find(&fixture->room));
	spek_op_fifo_push(&second, &fixture->room, &op);
	for (i = 1; i < LIMIT && push(fixture, i, 0); i++)
		;
	KUNIT_ASSERT_EQ(test, i, LIMIT);
	KUNIT_EXPECT_FALSE(test, push(fixture, i, 0));
	spek_op_fifo_pop(&second, &fixture->room, &op);
	KUNIT_EXPECT_TRUE(test, push(fixture, i, 0));
	KUNIT_EXPECT_FALSE(test, push(fixture, i, 0));
}

static struct kunit_case fifo_cases[] = {
	KUNIT_CASE(operations_come_out_in_order),
	KUNIT_CASE(the_backlog_is_what_is_due_and_open),
	KUNIT_CASE(a_worker_has_a_limit_for_all_its_fifos),
	{}
};

struct kunit_suite spek_fifo_suite = {
	.name = "spek_fifo",
	.init = make_fifo,
	.exit = empty_fifo,
	.test_cases = fifo_cases,
};
