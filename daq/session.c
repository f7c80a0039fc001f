// SPDX-License-Identifier: GPL-2.0
/*
 * One session: a source is opened and read until it ends, and its samples are printed or delivered.
 *
 * Two threads without capabilities. The reader (bridge.c) waits for nothing but its device, whose
 * buffer holds only some tens of ms. The main thread delivers samples (sender.c) and watches
 * signals and time. A queue connects them. CAP_SYS_ADMIN, which the prober requires, is in another
 * process (feeder.c), created first.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bridge.h"
#include "notify.h"
#include "pace.h"
#include "print.h"
#include "privilege.h"
#include "queue.h"
#include "say.h"
#include "sender.h"
#include "session.h"
#include "stop.h"

#define WORK_NS 50000000
#define ROOM_NS 1000000

struct session {
	const struct daq_options *options;
	struct daq_channel channel[DAQ_MAX_CHANNELS];
	struct daq_meter meter;
	struct daq_bridge bridge;
	struct daq_queue queue;
	struct daq_sender sender;
	struct daq_print print;
	struct daq_print log;
	pthread_t reader;
	const struct daq_stop *stop;
};

/* What cannot be logged is no reason to feed no more: the log ends. */
static void log_scan(struct session *session, uint64_t at_ns, const int64_t *value,
		     const struct spek_prober_power_sample *sample, size_t nr_samples)
{
	struct daq_error err;

	if (!session->log.file ||
	    !daq_print_scan(&session->log, at_ns, value, sample, nr_samples, &err))
		return;
	daq_say("%s: %s; nothing more is logged, the prober still gets its samples",
		session->options->log_path, err.text);
	fclose(session->log.file);
	session->log.file = NULL;
}

static int enqueue(void *context, uint64_t at_ns, const int64_t *value,
		   const struct spek_prober_power_sample *sample, size_t nr_samples,
		   struct daq_error *err)
{
	struct session *session = context;

	(void)err;
	log_scan(session, at_ns, value, sample, nr_samples);
	while (session->options->ops->can_wait && !atomic_load(&session->bridge.stop) &&
	       !daq_queue_has_room(&session->queue, nr_samples))
		daq_sleep_until(daq_now_ns() + ROOM_NS, 1);
	daq_queue_put(&session->queue, sample, nr_samples);
	return 0;
}

/* A line that a full disk or a power cut has left half written must not take in the header. */
static void end_last_line(FILE *file)
{
	if (!fseek(file, -1, SEEK_END)) {
		int last = fgetc(file);

		/* Between reading and writing a stream has to be positioned. */
		fseek(file, 0, SEEK_END);
		if (last != EOF && last != '\n')
			fputc('\n', file);
	}
	clearerr(file);
}

/* Appended: a restart must not lose what was logged before. Each start writes a header. */
static int open_log(struct session *session, struct daq_error *err)
{
	const char *path = session->options->log_path;
	struct stat status;

	session->log = (struct daq_print){
		.meter = &session->meter,
		.nr_channels = session->bridge.nr_channels,
		.raw = true,
	};
	if (!path || session->options->do_check)
		return 0;
	/* Its reader could hold up the feed, and end it with SIGPIPE. */
	if (!stat(path, &status) && S_ISFIFO(status.st_mode))
		return daq_fail(err, EINVAL, "--log is %s, which is a pipe; it must be a file", path);
	session->log.file = fopen(path, "a+e");
	if (!session->log.file)
		return daq_fail(err, errno, "cannot write %s: %s", path, strerror(errno));
	end_last_line(session->log.file);
	return daq_print_check(&session->log, err);
}

static int set_sink(struct session *session, struct daq_error *err)
{
	if (session->options->print == DAQ_PRINT_NOT) {
		session->bridge.sink = (struct daq_sink){ enqueue, session };
		return open_log(session, err);
	}
	session->print = (struct daq_print){
		.meter = &session->meter,
		.nr_channels = session->bridge.nr_channels,
		.raw = session->options->print == DAQ_PRINT_RAW,
		.file = stdout,
		.stop = &session->bridge.stop,
	};
	session->bridge.sink = (struct daq_sink){ daq_print_scan, &session->print };
	return daq_print_check(&session->print, err);
}

/* Waiting does not fix invalid input or missing permissions. */
static bool is_worth_waiting(int error)
{
	return error == -ENODEV || error == -ENXIO || error == -EBUSY || error == -ENOPROTOOPT;
}

static int open_device(struct session *session, struct daq_error *err)
{
	const struct daq_options *options = session->options;
	int nr = daq_rails_resolve(&options->rails, &session->meter, session->channel, err);
	int error;

	if (nr < 0)
		return nr;
	session->bridge.ops = options->ops;
	session->bridge.setup = &options->setup;
	session->bridge.channel = session->channel;
	session->bridge.nr_channels = (size_t)nr;
	session->bridge.meter = &session->meter;
	pthread_mutex_init(&session->bridge.lock, NULL);
	error = set_sink(session, err);
	if (error)
		return error;
	error = daq_bridge_open(&session->bridge, err);
	if (error && options->do_wait && !options->do_check && is_worth_waiting(error)) {
		daq_say("%s; waiting for the device", err->text);
		return 0;
	}
	return error;
}

/* The source may be slower than requested or not open yet; a file has no interval. */
static uint64_t max_step_ns(const struct session *session)
{
	const struct daq_options *options = session->options;
	uint64_t wanted_ns = options->setup.interval_ns;
	uint64_t found_ns = session->bridge.source.interval_ns;

	if (options->max_step_ns)
		return options->max_step_ns;
	if (options->ops->can_wait)
		return 0;
	return daq_meter_max_step_ns(found_ns > wanted_ns ? found_ns : wanted_ns);
}

static int open_prober(struct session *session, struct daq_error *err)
{
	const struct daq_options *options = session->options;
	int error;

	if (daq_queue_init(&session->queue, (size_t)options->queue))
		return daq_fail(err, ENOMEM, "out of memory for the queue");
	session->sender.bridge = &session->bridge;
	session->sender.queue = &session->queue;
	session->sender.meter = &session->meter;
	session->sender.config.history = (uint32_t)options->history;
	session->sender.config.max_step_ns = max_step_ns(session);
	snprintf(session->sender.config.name, sizeof(session->sender.config.name), "%s",
		 options->name);
	snprintf(session->sender.config.source, sizeof(session->sender.config.source), "%s",
		 options->ops->name);
	error = daq_sender_open(&session->sender, err);
	if (!error || !options->do_wait || !is_worth_waiting(error))
		return error;
	daq_say("%s; waiting for the prober", err->text);
	session->sender.last = *err;
	return 0;
}

/* Return: 0, or -errno and a sentence. */
static int work(struct session *session, struct daq_error *err)
{
	const struct daq_options *options = session->options;
	bool feeds = options->print == DAQ_PRINT_NOT;
	uint64_t end_ns = daq_now_ns() + options->time_ns;

	while (!daq_bridge_status(&session->bridge).has_ended) {
		int error = daq_stop_wait(session->stop, -1, 0, daq_now_ns() + WORK_NS);

		if (error == -ECANCELED)
			return 0;
		if (error != -ETIMEDOUT)
			return daq_fail(err, EIO, "cannot watch signals: %s", strerror(-error));
		if (options->time_ns && daq_now_ns() >= end_ns)
			return 0;
		if (feeds)
			daq_sender_work(&session->sender);
		if (session->sender.feeder.has_ended)
			return 0;
	}
	return 0;
}

static void report(struct session *session)
{
	struct daq_status status = daq_bridge_status(&session->bridge);
	uint64_t samples = 0, gaps = 0, over = 0, implausible = 0;
	size_t i;

	for (i = 0; i < session->meter.nr_rails; i++) {
		samples += session->meter.rail[i].samples;
		gaps += session->meter.rail[i].gaps;
		over += session->meter.rail[i].over;
		implausible += session->meter.rail[i].implausible;
	}
	daq_say("%llu samples, %llu gaps, %llu lost, %llu overflows, %llu over range, %llu implausible; clock drift %lld ppb, timestamps within %llu ns",
		(unsigned long long)samples, (unsigned long long)gaps,
		(unsigned long long)(status.lost + (session->queue.sample ? daq_queue_lost(&session->queue) : 0)),
		(unsigned long long)status.overflows, (unsigned long long)over,
		(unsigned long long)implausible,
		(long long)status.drift_ppb, (unsigned long long)status.uncertainty_ns);
	if (session->options->print == DAQ_PRINT_NOT)
		daq_say("the prober accepted %llu samples, %llu were late, %llu batches were refused",
			(unsigned long long)session->sender.feeder.accepted,
			(unsigned long long)session->sender.feeder.late,
			(unsigned long long)session->sender.refused);
}

static void report_check(const struct session *session)
{
	daq_say("%zu rails on %zu channels of source %s: ok", session->meter.nr_rails,
		session->bridge.nr_channels, session->options->ops->name);
	if (session->bridge.source.interval_ns)
		daq_say("scan interval: %llu ns",
			(unsigned long long)session->bridge.source.interval_ns);
}

/* Read and deliver until the end; everything is open. */
static int run(struct session *session, struct daq_error *err)
{
	bool feeds = session->options->print == DAQ_PRINT_NOT;
	struct daq_error broken;
	int error;

	error = pthread_create(&session->reader, NULL, daq_bridge_run, &session->bridge);
	if (error)
		return daq_fail(err, error, "cannot create a thread: %s", strerror(error));
	daq_notify("READY=1");
	error = work(session, &broken);
	daq_notify("STOPPING=1");
	atomic_store(&session->bridge.stop, true);
	daq_stop_ask(session->stop);
	pthread_join(session->reader, NULL);
	if (feeds)
		daq_sender_close(&session->sender);
	report(session);
	*err = error ? broken : session->bridge.err;
	if (error)
		return error;
	if (session->sender.feeder.has_ended)
		return daq_fail(err, EPIPE, "the process that feeds the prober has ended");
	if (!session->bridge.error && session->queue.length)
		return daq_fail(err, ENOPROTOOPT, "%zu samples were not delivered to the prober",
				session->queue.length);
	return session->bridge.error;
}

/*
 * Privileges are dropped before a device is opened, because threads that libraries create inherit
 * capabilities. A file is read first: root needs them if it belongs to somebody else.
 */
static int drop_and_open(struct session *session, struct daq_error *err)
{
	bool is_file = session->options->ops->can_wait;
	bool feeds = session->options->print == DAQ_PRINT_NOT && !session->options->do_check;
	int error = feeds ? daq_feeder_start(&session->sender.feeder, err) : 0;

	if (!error && is_file)
		error = open_device(session, err);
	if (!error)
		error = daq_drop_privileges(false, err);
	if (!error && !is_file)
		error = open_device(session, err);
	return error;
}

int daq_session_run(const struct daq_options *options, struct daq_error *err)
{
	struct session *session = calloc(1, sizeof(*session));
	int error;

	if (!session)
		return daq_fail(err, ENOMEM, "out of memory");
	session->options = options;
	session->stop = options->setup.stop;
	error = drop_and_open(session, err);
	if (!error && options->do_check)
		report_check(session);
	if (!error && !options->do_check && options->print == DAQ_PRINT_NOT)
		error = open_prober(session, err);
	if (!error && !options->do_check)
		error = run(session, err);
	daq_feeder_stop(&session->sender.feeder);
	daq_bridge_close(&session->bridge);
	daq_queue_deinit(&session->queue);
	if (session->log.file)
		fclose(session->log.file);
	free(session);
	return error;
}
