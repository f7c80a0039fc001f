// SPDX-License-Identifier: GPL-2.0
/* The log of a worker: its format, its ring, what is lost. */
#include <linux/build_bug.h>
#include "iolog.h"
#include "suites.h"

#define RECORDS	SPEK_IOLOG_MIN_RECORDS

struct log_fixture {
	struct dentry *dir;
	struct spek_iolog *log;
	char name[24];
};

static int make_log(struct kunit *test)
{
	struct log_fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	test->priv = fixture;
	fixture->dir = spek_iolog_mkdir(4711, fixture->name, sizeof(fixture->name));
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fixture->dir);
	fixture->log = spek_iolog_create(fixture->dir, 0, RECORDS, NUMA_NO_NODE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fixture->log);
	return 0;
}

static void remove_log(struct kunit *test)
{
	struct log_fixture *fixture = test->priv;

	if (!fixture || IS_ERR_OR_NULL(fixture->dir))
		return;
	spek_iolog_rmdir(fixture->dir);
	if (!IS_ERR_OR_NULL(fixture->log))
		spek_iolog_close(fixture->log);
}

static bool write_record(struct spek_iolog *log, u64 at_ns)
{
	struct spek_log_record *record;

	if (!spek_iolog_has_room(log))
		return false;
	record = spek_iolog_next(log);
	record->at_ns = at_ns;
	spek_iolog_commit(log, record);
	return true;
}

static void a_record_is_laid_out_as_documented(struct kunit *test)
{
	BUILD_BUG_ON(sizeof(struct spek_log_record) != 48);
	BUILD_BUG_ON(offsetof(struct spek_log_record, at_ns) != 0);
	BUILD_BUG_ON(offsetof(struct spek_log_record, issue_ns) != 8);
	BUILD_BUG_ON(offsetof(struct spek_log_record, done_ns) != 16);
	BUILD_BUG_ON(offsetof(struct spek_log_record, addr) != 24);
	BUILD_BUG_ON(offsetof(struct spek_log_record, bytes) != 32);
	BUILD_BUG_ON(offsetof(struct spek_log_record, replica) != 36);
	BUILD_BUG_ON(offsetofend(struct spek_log_record, error) > 48);
	KUNIT_SUCCEED(test);
}

static void room_is_a_power_of_two(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, spek_iolog_records(1), RECORDS);
	KUNIT_EXPECT_EQ(test, spek_iolog_records(RECORDS), RECORDS);
	KUNIT_EXPECT_EQ(test, spek_iolog_records(RECORDS + 1), 2 * RECORDS);
}

static void a_full_ring_loses_and_counts(struct kunit *test)
{
	struct spek_iolog *log = ((struct log_fixture *)test->priv)->log;
	u32 i;

	for (i = 0; i < RECORDS; i++)
		KUNIT_ASSERT_TRUE(test, write_record(log, i));
	KUNIT_EXPECT_FALSE(test, write_record(log, i));
	KUNIT_EXPECT_FALSE(test, write_record(log, i));
	KUNIT_EXPECT_EQ(test, log->written, (u64)RECORDS);
	KUNIT_EXPECT_EQ(test, log->lost, 2ull);
	for (i = 0; i < RECORDS; i++)
		KUNIT_ASSERT_EQ(test, log->record[i].at_ns, (u64)i);
}

static void room_that_was_read_is_used_again(struct kunit *test)
{
	struct spek_iolog *log = ((struct log_fixture *)test->priv)->log;
	u32 i;

	for (i = 0; i < RECORDS; i++)
		KUNIT_ASSERT_TRUE(test, write_record(log, i));
	smp_store_release(&log->taken, 3);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, write_record(log, RECORDS + i));
	KUNIT_EXPECT_FALSE(test, write_record(log, 0));
	KUNIT_EXPECT_EQ(test, log->record[0].at_ns, (u64)RECORDS);
	KUNIT_EXPECT_EQ(test, log->record[3].at_ns, 3ull);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_record_is_laid_out_as_documented),
	KUNIT_CASE(room_is_a_power_of_two),
	KUNIT_CASE(a_full_ring_loses_and_counts),
	KUNIT_CASE(room_that_was_read_is_used_again),
	{}
};

struct kunit_suite spek_log_suite = {
	.name = "spek_log",
	.init = make_log,
	.exit = remove_log,
	.test_cases = cases,
};
