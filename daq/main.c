// SPDX-License-Identifier: GPL-2.0
/*
 * spek-daq: measures power and delivers it to the prober.
 *
 * Two threads. The reader (bridge.c) must never wait for anything but its device, whose own buffer
 * holds some tens of ms; it has no capabilities. The main thread delivers (sender.c), watches
 * signals and time; it keeps CAP_SYS_ADMIN if there is a prober to feed. Between them is a queue.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bridge.h"
#include "config/options.h"
#include "pace.h"
#include "print.h"
#include "privilege.h"
#include "queue.h"
#include "say.h"
#include "sender.h"

#define WORK_MS 50
#define ROOM_NS 1000000

struct daq {
	struct daq_options options;
	struct daq_channel channel[DAQ_MAX_CHANNELS];
	struct daq_meter meter;
	struct daq_bridge bridge;
	struct daq_queue queue;
	struct daq_sender sender;
	struct daq_print print;
	pthread_t reader;
	int signals;
};

static int list_channels(const struct daq_options *options, struct daq_error *err)
{
	static const char *const what[] = {
		[DAQ_UNIT_UV] = "voltage", [DAQ_UNIT_UA] = "current", [DAQ_UNIT_NW] = "power",
		[DAQ_UNIT_NJ] = "energy", [DAQ_UNIT_BITS] = "digital",
	};
	struct daq_channel found[DAQ_MAX_CHANNELS];
	int nr, i;

	if (!options->ops->discover)
		return daq_fail(err, EINVAL, "source %s can't list its channels; they are: %s",
				options->ops->name, options->ops->help);
	nr = options->ops->discover(&options->setup, found, DAQ_MAX_CHANNELS, err);
	for (i = 0; i < nr; i++)
		printf("%s\t%s\n", found[i].name, what[found[i].unit]);
	return nr < 0 ? nr : daq_print_flush(err);
}

static int enqueue(void *context, uint64_t at_ns, const int64_t *value,
		   const struct spek_prober_power_sample *sample, size_t nr_samples,
		   struct daq_error *err)
{
	struct daq *daq = context;

	(void)at_ns;
	(void)value;
	(void)err;
	while (daq->options.ops->can_wait && !atomic_load(&daq->bridge.stop) &&
	       !daq_queue_has_room(&daq->queue, nr_samples))
		daq_sleep_until(daq_now_ns() + ROOM_NS, 1);
	daq_queue_put(&daq->queue, sample, nr_samples);
	return 0;
}

static void set_sink(struct daq *daq)
{
	if (daq->options.print == DAQ_PRINT_NOT) {
		daq->bridge.sink = (struct daq_sink){ enqueue, daq };
		return;
	}
	daq->print = (struct daq_print){
		.meter = &daq->meter,
		.nr_channels = daq->bridge.nr_channels,
		.raw = daq->options.print == DAQ_PRINT_RAW,
	};
	daq->bridge.sink = (struct daq_sink){ daq_print_scan, &daq->print };
}

/* Wrong input and missing rights don't go away by waiting. */
static bool is_worth_waiting(int error)
{
	return error == -ENODEV || error == -ENXIO || error == -EBUSY || error == -ENOPROTOOPT;
}

static int open_device(struct daq *daq, struct daq_error *err)
{
	int nr = daq_rails_resolve(&daq->options.rails, &daq->meter, daq->channel, err);
	int error;

	if (nr < 0)
		return nr;
	daq->bridge.ops = daq->options.ops;
	daq->bridge.setup = &daq->options.setup;
	daq->bridge.channel = daq->channel;
	daq->bridge.nr_channels = (size_t)nr;
	daq->bridge.meter = &daq->meter;
	pthread_mutex_init(&daq->bridge.lock, NULL);
	set_sink(daq);
	error = daq_bridge_open(&daq->bridge, err);
	if (error && daq->options.do_wait && !daq->options.do_check && is_worth_waiting(error)) {
		daq_say("%s; waiting for the device", err->text);
		return 0;
	}
	return error;
}

/* A source may be slower than was wanted, or, before it is there, not known; a file is as it is. */
static uint64_t max_step_ns(const struct daq *daq)
{
	uint64_t wanted_ns = daq->options.setup.interval_ns;
	uint64_t found_ns = daq->bridge.source.interval_ns;

	if (daq->options.max_step_ns)
		return daq->options.max_step_ns;
	if (daq->options.ops->can_wait)
		return 0;
	return daq_meter_max_step_ns(found_ns > wanted_ns ? found_ns : wanted_ns);
}

static int open_prober(struct daq *daq, struct daq_error *err)
{
	int error;

	if (daq_queue_init(&daq->queue, (size_t)daq->options.queue))
		return daq_fail(err, ENOMEM, "there is no memory for the queue");
	daq->sender.bridge = &daq->bridge;
	daq->sender.queue = &daq->queue;
	daq->sender.config = (struct daq_feed_config){
		.name = daq->options.name,
		.source = daq->options.ops->name,
		.history = (uint32_t)daq->options.history,
		.max_step_ns = max_step_ns(daq),
		.meter = &daq->meter,
	};
	error = daq_sender_open(&daq->sender, err);
	if (!error || !daq->options.do_wait || !is_worth_waiting(error))
		return error;
	daq_say("%s; waiting for the prober", err->text);
	daq->sender.last = *err;
	return 0;
}

static void work(struct daq *daq)
{
	bool feeds = daq->options.print == DAQ_PRINT_NOT;
	uint64_t end_ns = daq_now_ns() + daq->options.time_ns;

	while (!daq_bridge_status(&daq->bridge).has_ended) {
		struct pollfd wait = { .fd = daq->signals, .events = POLLIN };

		if (poll(&wait, 1, WORK_MS) > 0)
			return;
		if (daq->options.time_ns && daq_now_ns() >= end_ns)
			return;
		if (feeds)
			daq_sender_work(&daq->sender);
	}
}

static void report(struct daq *daq)
{
	struct daq_status status = daq_bridge_status(&daq->bridge);
	uint64_t samples = 0, gaps = 0, implausible = 0;
	size_t i;

	for (i = 0; i < daq->meter.nr_rails; i++) {
		samples += daq->meter.rail[i].samples;
		gaps += daq->meter.rail[i].gaps;
		implausible += daq->meter.rail[i].implausible;
	}
	daq_say("%llu samples, %llu gaps, %llu lost, %llu overflows, %llu implausible; clock %lld ppb, within %llu ns",
		(unsigned long long)samples, (unsigned long long)gaps,
		(unsigned long long)(status.lost + (daq->queue.sample ? daq_queue_lost(&daq->queue) : 0)),
		(unsigned long long)status.overflows, (unsigned long long)implausible,
		(long long)status.drift_ppb, (unsigned long long)status.uncertainty_ns);
	if (daq->options.print == DAQ_PRINT_NOT)
		daq_say("the prober took %llu samples, %llu came too late, %llu batches were refused",
			(unsigned long long)daq->sender.push.accepted,
			(unsigned long long)daq->sender.push.late,
			(unsigned long long)daq->sender.refused);
}

static void report_check(const struct daq *daq)
{
	daq_say("%zu rails on %zu channels of source %s are fine", daq->meter.nr_rails,
		daq->bridge.nr_channels, daq->options.ops->name);
	if (daq->bridge.source.interval_ns)
		daq_say("a scan comes every %llu ns",
			(unsigned long long)daq->bridge.source.interval_ns);
}

static int block_signals(struct daq *daq, struct daq_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	daq->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (daq->signals < 0)
		return daq_fail(err, errno, "signals can't be watched: %s", strerror(errno));
	return 0;
}

/* Capabilities are a thread's own; this one needs none. */
static void *read_unprivileged(void *context)
{
	struct daq_error err;

	if (daq_drop_privileges(false, &err))
		daq_say("%s", err.text);
	return daq_bridge_run(context);
}

/* With everything open: read, deliver, end. */
static int run(struct daq *daq, struct daq_error *err)
{
	bool feeds = daq->options.print == DAQ_PRINT_NOT;
	int error;

	error = pthread_create(&daq->reader, NULL, read_unprivileged, &daq->bridge);
	if (error)
		return daq_fail(err, error, "no thread can be made: %s", strerror(error));
	daq_notify("READY=1");
	work(daq);
	daq_notify("STOPPING=1");
	atomic_store(&daq->bridge.stop, true);
	pthread_join(daq->reader, NULL);
	if (feeds)
		daq_sender_close(&daq->sender);
	report(daq);
	*err = daq->bridge.err;
	if (!daq->bridge.error && daq->queue.length)
		return daq_fail(err, ENOPROTOOPT, "%zu samples were not delivered to the prober",
				daq->queue.length);
	return daq->bridge.error;
}

static int feed_or_print(struct daq *daq, struct daq_error *err)
{
	/* Before a library makes a thread, which inherits masks and capabilities. */
	int error = block_signals(daq, err);

	if (!error)
		error = daq_drop_privileges(daq->options.print == DAQ_PRINT_NOT, err);
	if (!error)
		error = open_device(daq, err);
	if (!error && daq->options.do_check)
		report_check(daq);
	if (!error && !daq->options.do_check && daq->options.print == DAQ_PRINT_NOT)
		error = open_prober(daq, err);
	if (!error && !daq->options.do_check)
		error = run(daq, err);
	daq_push_abandon(&daq->sender.push);
	daq_bridge_close(&daq->bridge);
	daq_queue_deinit(&daq->queue);
	return error;
}

int main(int argc, char **argv)
{
	struct daq *daq = calloc(1, sizeof(*daq));
	struct daq_error err = { "there is no memory" };
	int error = daq ? 0 : -ENOMEM;

	if (!error)
		error = daq_options_parse(&daq->options, argc, argv, &err);
	if (!error)
		error = daq->options.do_list ? list_channels(&daq->options, &err) :
					       feed_or_print(daq, &err);
	if (error)
		daq_say("%s", err.text);
	free(daq);
	return daq_exit_code(error);
}
