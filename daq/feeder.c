// SPDX-License-Identifier: GPL-2.0
/* The process that talks to the prober, and the requests to it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "feeder.h"
#include "privilege.h"
#include "say.h"

/* ---- the feeder ---- */

static size_t length_of(const struct daq_feeder_request *request)
{
	size_t head = offsetof(struct daq_feeder_request, sample);

	switch (request->verb) {
	case DAQ_FEEDER_OPEN:
		return head + sizeof(request->config);
	case DAQ_FEEDER_MARK:
		return head + sizeof(request->status);
	case DAQ_FEEDER_SAMPLES:
		return head + request->nr_samples * sizeof(request->sample[0]);
	default:
		return head;
	}
}

static bool ends_within(const char *text, size_t room)
{
	return memchr(text, '\0', room);
}

static bool is_config_good(const struct daq_feed_config *config)
{
	size_t i;

	if (config->nr_rails > SPEK_PROBER_MAX_RAILS ||
	    !ends_within(config->name, sizeof(config->name)) ||
	    !ends_within(config->source, sizeof(config->source)))
		return false;
	for (i = 0; i < config->nr_rails; i++)
		if (!ends_within(config->rail[i].name, sizeof(config->rail[i].name)))
			return false;
	return true;
}

/* What the values mean is the prober's to check; this is what keeps the feeder itself intact. */
static bool is_request_good(const struct daq_feeder_request *request, size_t length)
{
	if (length < offsetof(struct daq_feeder_request, sample))
		return false;
	if (request->verb < DAQ_FEEDER_OPEN || request->verb > DAQ_FEEDER_ABANDON)
		return false;
	if (request->nr_samples > SPEK_PROBER_MAX_BATCH ||
	    (request->nr_samples && request->verb != DAQ_FEEDER_SAMPLES))
		return false;
	if (length != length_of(request))
		return false;
	return request->verb != DAQ_FEEDER_OPEN || is_config_good(&request->config);
}

static int carry_out(struct daq_push *push, const struct daq_feeder_request *request,
		     struct daq_error *err)
{
	bool needs_feed = request->verb == DAQ_FEEDER_SAMPLES || request->verb == DAQ_FEEDER_MARK;

	if (needs_feed && !push->is_open)
		return daq_fail(err, ENOTCONN, "the feed is not open");
	switch (request->verb) {
	case DAQ_FEEDER_OPEN:
		daq_push_abandon(push);
		return daq_push_open(push, &request->config, err);
	case DAQ_FEEDER_SAMPLES:
		return daq_push_samples(push, request->sample, request->nr_samples, err);
	case DAQ_FEEDER_MARK:
		return daq_push_mark(push, &request->status, err);
	case DAQ_FEEDER_CLOSE:
		daq_push_close(push);
		return 0;
	default:
		daq_push_abandon(push);
		return 0;
	}
}

int daq_feeder_serve(int fd, struct daq_push *push)
{
	/* One more than a request may have, so that a longer one does not look like it. */
	struct {
		struct daq_feeder_request request;
		char excess;
	} *room = calloc(1, sizeof(*room));
	int error = room ? 0 : -ENOMEM;

	while (!error) {
		struct daq_feeder_reply reply = {};
		ssize_t length = recv(fd, room, sizeof(*room), 0);

		if (length < 0 && errno == EINTR)
			continue;
		if (length <= 0)
			break;
		if (!is_request_good(&room->request, (size_t)length)) {
			error = -EPROTO;
			break;
		}
		reply.error = carry_out(push, &room->request, &reply.err);
		reply.accepted = push->accepted;
		reply.late = push->late;
		if (send(fd, &reply, sizeof(reply), MSG_NOSIGNAL) < 0)
			break;
	}
	daq_push_abandon(push);
	free(room);
	return error;
}

/* ---- the reading process ---- */

static void __attribute__((noreturn)) run_feeder(int fd)
{
	struct daq_push push = {};
	struct daq_error err;
	int error = daq_drop_privileges(true, &err);

	if (error)
		daq_say("%s", err.text);
	else
		error = daq_feeder_serve(fd, &push);
	/* Buffers of stdio are copies of the other process's. */
	_exit(error ? EXIT_FAILURE : EXIT_SUCCESS);
}

int daq_feeder_start(struct daq_feeder *feeder, struct daq_error *err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return daq_fail(err, errno, "cannot create a socket pair: %s", strerror(errno));
	feeder->pid = fork();
	if (feeder->pid < 0) {
		int error = daq_fail(err, errno, "cannot create a process: %s", strerror(errno));

		feeder->pid = 0;
		close(ends[0]);
		close(ends[1]);
		return error;
	}
	if (!feeder->pid) {
		close(ends[0]);
		run_feeder(ends[1]);
	}
	close(ends[1]);
	feeder->fd = ends[0];
	return 0;
}

void daq_feeder_stop(struct daq_feeder *feeder)
{
	if (!feeder->pid)
		return;
	close(feeder->fd);
	while (waitpid(feeder->pid, NULL, 0) < 0 && errno == EINTR)
		;
	feeder->fd = -1;
	feeder->pid = 0;
}

static int lose(struct daq_feeder *feeder, struct daq_error *err)
{
	feeder->has_ended = true;
	return daq_fail(err, EPIPE, "the process that feeds the prober has ended");
}

/* Sends @feeder->request and waits for the reply. */
static int ask(struct daq_feeder *feeder, enum daq_feeder_verb verb, size_t nr_samples,
	       struct daq_error *err)
{
	struct daq_feeder_reply reply;
	ssize_t length;

	if (feeder->has_ended)
		return lose(feeder, err);
	feeder->request.verb = verb;
	feeder->request.nr_samples = (uint32_t)nr_samples;
	do {
		length = send(feeder->fd, &feeder->request, length_of(&feeder->request), MSG_NOSIGNAL);
	} while (length < 0 && errno == EINTR);
	/* Not sent for lack of memory: it can be sent again. */
	if (length < 0 && (errno == ENOBUFS || errno == ENOMEM))
		return daq_fail(err, EAGAIN, "out of memory for a request");
	if (length < 0)
		return lose(feeder, err);
	do {
		length = recv(feeder->fd, &reply, sizeof(reply), 0);
	} while (length < 0 && errno == EINTR);
	if (length != sizeof(reply))
		return lose(feeder, err);
	feeder->accepted = reply.accepted;
	feeder->late = reply.late;
	if (reply.error)
		daq_error_set(err, "%.*s", (int)sizeof(reply.err.text) - 1, reply.err.text);
	return reply.error;
}

int daq_feeder_open(struct daq_feeder *feeder, const struct daq_feed_config *config,
		    struct daq_error *err)
{
	feeder->request.config = *config;
	return ask(feeder, DAQ_FEEDER_OPEN, 0, err);
}

int daq_feeder_samples(struct daq_feeder *feeder, const struct spek_prober_power_sample *sample,
		       size_t nr, struct daq_error *err)
{
	memcpy(feeder->request.sample, sample, nr * sizeof(*sample));
	return ask(feeder, DAQ_FEEDER_SAMPLES, nr, err);
}

int daq_feeder_mark(struct daq_feeder *feeder, const struct daq_status *status,
		    struct daq_error *err)
{
	feeder->request.status = *status;
	return ask(feeder, DAQ_FEEDER_MARK, 0, err);
}

void daq_feeder_close(struct daq_feeder *feeder)
{
	struct daq_error err;

	ask(feeder, DAQ_FEEDER_CLOSE, 0, &err);
}

void daq_feeder_abandon(struct daq_feeder *feeder)
{
	struct daq_error err;

	ask(feeder, DAQ_FEEDER_ABANDON, 0, &err);
}
