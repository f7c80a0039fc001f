// SPDX-License-Identifier: GPL-2.0
/* See stop.h. */
#include "stop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "pace.h"

int daq_stop_init(struct daq_stop *stop, struct daq_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	stop->signals = signalfd(-1, &set, SFD_CLOEXEC);
	stop->asked = eventfd(0, EFD_CLOEXEC);
	if (stop->signals < 0 || stop->asked < 0)
		return daq_fail(err, errno, "cannot watch signals: %s", strerror(errno));
	return 0;
}

void daq_stop_ask(const struct daq_stop *stop)
{
	eventfd_write(stop->asked, 1);
}

bool daq_stop_is_asked(const struct daq_stop *stop)
{
	return stop && daq_stop_wait(stop, -1, 0, 0) == -ECANCELED;
}

int daq_stop_wait(const struct daq_stop *stop, int fd, short events, uint64_t end_ns)
{
	/* poll() passes over negative files. */
	struct pollfd wait[] = {
		{ .fd = fd, .events = events },
		{ .fd = stop ? stop->signals : -1, .events = POLLIN },
		{ .fd = stop ? stop->asked : -1, .events = POLLIN },
	};

	for (;;) {
		uint64_t now_ns = daq_now_ns();
		uint64_t left_ns = now_ns < end_ns ? end_ns - now_ns : 0;
		struct timespec left = {
			.tv_sec = (time_t)(left_ns / 1000000000),
			.tv_nsec = (long)(left_ns % 1000000000),
		};
		int nr = ppoll(wait, 3, &left, NULL);

		if (nr > 0)
			return wait[1].revents || wait[2].revents ? -ECANCELED : 0;
		if (nr < 0 && errno != EINTR)
			return -errno;
		if (!nr && !left_ns)
			return -ETIMEDOUT;
	}
}

void daq_stop_deinit(struct daq_stop *stop)
{
	close(stop->signals);
	close(stop->asked);
}
