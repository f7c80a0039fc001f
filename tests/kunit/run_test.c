// SPDX-License-Identifier: GPL-2.0
/* Runs on a real device, driven from inside the kernel: states, claims, counts, owners. */
#include <linux/delay.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "outcome.h"
#include "run.h"
#include "suites.h"

#define PORTID		0xfeed
#define WAIT_MS		30000
#define BLOCK		4096u
#define ASU_BYTES	(1u << 20)

static struct spek_run_config *new_config(struct kunit *test)
{
	struct spek_run_config *config = kvzalloc(sizeof(*config), GFP_KERNEL);
	struct spek_workload *wl;

	KUNIT_ASSERT_NOT_NULL(test, config);
	strscpy(config->name, "kunit", sizeof(config->name));
	config->seed = 1;
	config->owner_portid = PORTID;
	config->max_outstanding = 4;
	config->batch = 1;
	config->time_ns = 3600 * (u64)NSEC_PER_SEC;
	config->nr_workers = 1;
	config->nr_targets = 1;
	config->target[0].major = MAJOR(spek_kunit_device());
	config->target[0].minor = MINOR(spek_kunit_device());
	wl = &config->workload;
	wl->nr_asus = 1;
	wl->asu[0].bytes = ASU_BYTES;
	wl->asu[0].nr_extents = 1;
	wl->nr_arrivals = 1;
	wl->arrival[0].law = SPEK_LAW_CLOSED;
	wl->arrival[0].depth = 4;
	wl->nr_streams = 1;
	wl->stream[0].weight = 1;
	wl->stream[0].replicas = 1;
	wl->stream[0].read_ppm = 1000000;
	wl->stream[0].range_bytes = ASU_BYTES;
	wl->stream[0].align_bytes = BLOCK;
	wl->stream[0].nr_sizes = 1;
	wl->stream[0].size[0].bytes = BLOCK;
	wl->stream[0].size[0].weight = 1;
	return config;
}

static u32 state_of(struct spek_run *run, u32 *reason)
{
	struct spek_run_view *view = kzalloc(sizeof(*view), GFP_KERNEL);
	u32 state = SPEK_STATE_NR;

	if (view) {
		spek_run_view(run, view);
		state = view->state;
		if (reason)
			*reason = view->reason;
	}
	kfree(view);
	return state;
}

static bool becomes(struct spek_run *run, u32 state)
{
	u32 ms;

	for (ms = 0; ms < WAIT_MS; ms += 10) {
		if (state_of(run, NULL) == state)
			return true;
		msleep(10);
	}
	return false;
}

static bool becomes_done(struct spek_run *run)
{
	return becomes(run, SPEK_STATE_DONE);
}

static bool becomes_unknown(u32 id)
{
	u32 ms;

	for (ms = 0; ms < WAIT_MS; ms += 10) {
		struct spek_run *run = spek_run_get(id);

		if (!run)
			return true;
		spek_run_put(run);
		msleep(10);
	}
	return false;
}

/* A run of @config that opens its devices, with a reference for the caller; @config is the run's. */
static struct spek_run *opening_run(struct kunit *test, struct spek_run_config *config)
{
	struct spek_refusal refusal = {};
	struct spek_run *run;
	u32 id = 0;
	int err = spek_run_new(config, &id, &refusal);

	if (err)
		kvfree(config);
	KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", refusal.text);
	run = spek_run_get(id);
	KUNIT_ASSERT_NOT_NULL(test, run);
	return run;
}

static struct spek_run *new_run(struct kunit *test, struct spek_run_config *config)
{
	struct spek_run *run = opening_run(test, config);

	KUNIT_ASSERT_TRUE(test, becomes(run, SPEK_STATE_READY));
	return run;
}

static void drop_run(struct kunit *test, struct spek_run *run)
{
	struct spek_refusal refusal = {};
	u32 id = run->id;

	KUNIT_EXPECT_EQ_MSG(test, spek_run_delete(run, &refusal), 0, "%s", refusal.text);
	spek_run_put(run);
	KUNIT_EXPECT_TRUE(test, becomes_unknown(id));
}

static int need_device(struct kunit *test)
{
	if (!spek_kunit_device())
		kunit_skip(test, "no device was given");
	return 0;
}

static void a_run_goes_through_its_states(struct kunit *test)
{
	struct spek_run *run = new_run(test, new_config(test));
	struct spek_refusal refusal = {};
	u32 reason = 0;

	KUNIT_EXPECT_EQ(test, state_of(run, NULL), (u32)SPEK_STATE_READY);
	KUNIT_EXPECT_EQ(test, spek_run_start(run, 0, &refusal), 0);
	KUNIT_EXPECT_EQ(test, state_of(run, NULL), (u32)SPEK_STATE_RUNNING);
	KUNIT_EXPECT_EQ(test, spek_run_start(run, 0, &refusal), -EBUSY);
	KUNIT_EXPECT_EQ(test, spek_run_delete(run, &refusal), -EBUSY);
	KUNIT_EXPECT_EQ(test, spek_run_stop(run, &refusal), 0);
	KUNIT_EXPECT_TRUE(test, becomes_done(run));
	state_of(run, &reason);
	KUNIT_EXPECT_EQ(test, reason, (u32)SPEK_REASON_STOPPED);
	KUNIT_EXPECT_EQ(test, spek_run_start(run, 0, &refusal), -EBUSY);
	KUNIT_EXPECT_EQ(test, spek_run_stop(run, &refusal), 0);
	drop_run(test, run);
}

static void a_run_that_never_began_ends(struct kunit *test)
{
	struct spek_run *run = new_run(test, new_config(test));
	struct spek_refusal refusal = {};

	KUNIT_EXPECT_EQ(test, spek_run_stop(run, &refusal), 0);
	KUNIT_EXPECT_EQ(test, spek_run_stop(run, &refusal), 0);
	KUNIT_EXPECT_TRUE(test, becomes_done(run));
	KUNIT_EXPECT_EQ(test, spek_run_start(run, 0, &refusal), -EBUSY);
	drop_run(test, run);
}

static void a_run_that_never_began_can_be_deleted(struct kunit *test)
{
	drop_run(test, new_run(test, new_config(test)));
}

static void a_device_is_claimed_once(struct kunit *test)
{
	struct spek_run *run = new_run(test, new_config(test));
	struct spek_run *second = opening_run(test, new_config(test));
	struct spek_refusal refusal = {};

	KUNIT_EXPECT_TRUE(test, becomes(second, SPEK_STATE_FAILED));
	KUNIT_EXPECT_EQ(test, second->failure.err, -EBUSY);
	KUNIT_EXPECT_EQ(test, second->failure.kind, SPEK_REFUSAL_TARGET);
	KUNIT_EXPECT_EQ(test, spek_run_start(second, 0, &refusal), -EBUSY);
	drop_run(test, second);
	drop_run(test, run);
	drop_run(test, new_run(test, new_config(test)));
}

static void transactions_are_counted_exactly(struct kunit *test)
{
	struct spek_run_config *config = new_config(test);
	const struct spek_total *total;
	struct spek_refusal refusal = {};
	struct spek_run *run;
	u32 reason = 0;

	config->time_ns = 0;
	config->count = 1000;
	run = new_run(test, config);
	KUNIT_EXPECT_EQ(test, spek_run_start(run, 0, &refusal), 0);
	KUNIT_EXPECT_TRUE(test, becomes_done(run));
	state_of(run, &reason);
	KUNIT_EXPECT_EQ(test, reason, (u32)SPEK_REASON_COMPLETED);
	mutex_lock(&run->lock);
	total = spek_stats_total(run->stats, SPEK_PHASE_MEASURE, 0);
	KUNIT_EXPECT_TRUE(test, total && total->ios == 1000 && total->bytes == 1000 * BLOCK);
	mutex_unlock(&run->lock);
	drop_run(test, run);
}

static void the_first_reason_stays(struct kunit *test)
{
	struct spek_run *run = new_run(test, new_config(test));
	struct spek_refusal refusal = {};
	u32 reason = 0;

	KUNIT_EXPECT_EQ(test, spek_run_start(run, 0, &refusal), 0);
	spek_outcome_end(&run->outcome, SPEK_REASON_ERRORS);
	spek_outcome_end(&run->outcome, SPEK_REASON_DEVICE_GONE);
	KUNIT_EXPECT_TRUE(test, becomes_done(run));
	state_of(run, &reason);
	KUNIT_EXPECT_EQ(test, reason, (u32)SPEK_REASON_ERRORS);
	drop_run(test, run);
}

static void an_armed_run_starts_on_time(struct kunit *test)
{
	struct spek_run *run = new_run(test, new_config(test));
	u64 start_ns = ktime_get_ns() + 200 * NSEC_PER_MSEC;
	struct spek_refusal refusal = {};

	KUNIT_EXPECT_EQ(test, spek_run_start(run, ktime_get_ns(), &refusal), -ETIME);
	KUNIT_EXPECT_EQ(test, spek_run_start(run, start_ns, &refusal), 0);
	KUNIT_EXPECT_EQ(test, state_of(run, NULL), (u32)SPEK_STATE_ARMED);
	KUNIT_EXPECT_EQ(test, spek_run_delete(run, &refusal), -EBUSY);
	KUNIT_EXPECT_TRUE(test, becomes(run, SPEK_STATE_RUNNING));
	KUNIT_EXPECT_GE(test, ktime_get_ns(), start_ns);
	KUNIT_EXPECT_EQ(test, run->started.mono_ns, start_ns);
	KUNIT_EXPECT_EQ(test, spek_run_stop(run, &refusal), 0);
	KUNIT_EXPECT_TRUE(test, becomes_done(run));
	drop_run(test, run);
}

static void an_armed_run_can_be_stopped(struct kunit *test)
{
	struct spek_run *run = new_run(test, new_config(test));
	struct spek_refusal refusal = {};
	u64 start_ns = ktime_get_ns() + 3600 * (u64)NSEC_PER_SEC;

	KUNIT_EXPECT_EQ(test, spek_run_start(run, start_ns, &refusal), 0);
	KUNIT_EXPECT_EQ(test, spek_run_stop(run, &refusal), 0);
	KUNIT_EXPECT_TRUE(test, becomes_done(run));
	KUNIT_EXPECT_EQ(test, run->count[0].ios[0], 0ull);
	drop_run(test, run);
}

static void a_suspend_ends_runs(struct kunit *test)
{
	struct spek_run *run = new_run(test, new_config(test));
	struct spek_run_config *config = new_config(test);
	struct spek_refusal refusal = {};
	u32 reason = 0;

	KUNIT_EXPECT_EQ(test, spek_run_start(run, 0, &refusal), 0);
	KUNIT_EXPECT_EQ(test, spek_run_suspend_all(), 0);
	KUNIT_EXPECT_EQ(test, state_of(run, &reason), (u32)SPEK_STATE_DONE);
	KUNIT_EXPECT_EQ(test, reason, (u32)SPEK_REASON_SUSPENDED);
	drop_run(test, run);
	run = new_run(test, config);
	KUNIT_EXPECT_EQ(test, spek_run_start(run, 0, &refusal), -EBUSY);
	spek_run_resume_all();
	KUNIT_EXPECT_EQ(test, spek_run_start(run, 0, &refusal), 0);
	KUNIT_EXPECT_EQ(test, spek_run_stop(run, &refusal), 0);
	KUNIT_EXPECT_TRUE(test, becomes_done(run));
	drop_run(test, run);
}

/* In each state that a run can be in when its owner goes. */
static void a_run_goes_with_its_owner(struct kunit *test)
{
	u32 state;

	for (state = SPEK_STATE_READY; state <= SPEK_STATE_DONE; state++) {
		struct spek_run *run = new_run(test, new_config(test));
		struct spek_refusal refusal = {};
		u32 id = run->id;

		if (state != SPEK_STATE_READY)
			KUNIT_EXPECT_EQ(test, spek_run_start(run, 0, &refusal), 0);
		if (state > SPEK_STATE_RUNNING)
			KUNIT_EXPECT_EQ(test, spek_run_stop(run, &refusal), 0);
		if (state == SPEK_STATE_DONE)
			KUNIT_EXPECT_TRUE(test, becomes_done(run));
		spek_run_put(run);
		spek_run_owner_gone(PORTID + 1);
		run = spek_run_get(id);
		KUNIT_EXPECT_NOT_NULL(test, run);
		if (run)
			spek_run_put(run);
		spek_run_owner_gone(PORTID);
		KUNIT_EXPECT_TRUE_MSG(test, becomes_unknown(id), "in state %u", state);
	}
}

static void a_detached_run_stays_without_its_owner(struct kunit *test)
{
	struct spek_run_config *config = new_config(test);
	struct spek_run *run;

	config->detached = true;
	run = new_run(test, config);
	spek_run_owner_gone(PORTID);
	KUNIT_EXPECT_EQ(test, state_of(run, NULL), (u32)SPEK_STATE_READY);
	drop_run(test, run);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_run_goes_through_its_states),
	KUNIT_CASE(a_run_that_never_began_ends),
	KUNIT_CASE(a_run_that_never_began_can_be_deleted),
	KUNIT_CASE(a_device_is_claimed_once),
	KUNIT_CASE(transactions_are_counted_exactly),
	KUNIT_CASE(the_first_reason_stays),
	KUNIT_CASE(an_armed_run_starts_on_time),
	KUNIT_CASE(an_armed_run_can_be_stopped),
	KUNIT_CASE(a_suspend_ends_runs),
	KUNIT_CASE(a_run_goes_with_its_owner),
	KUNIT_CASE(a_detached_run_stays_without_its_owner),
	{}
};

struct kunit_suite spek_run_suite = {
	.name = "spek_run",
	.init = need_device,
	.test_cases = cases,
};
