// SPDX-License-Identifier: GPL-2.0
/*
 * sender.c, feeder.c, push.c and libnl, with a prober whose sendmsg() and recvmsg() are here.
 * usage: sender_driver FAULT... - one fault or "ok" per request, then none. Prints the requests.
 *        sender_driver serve FD - the feeder alone, for requests to the socket FD
 */
#include <errno.h>
#include <linux/netlink.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sender.h"

static char **fault;
static struct nlmsgerr answer[4];
static uint32_t sequence[4];
static int nr_answers, nr_given;
static int recv_error;
static uint32_t port;

struct daq_status daq_bridge_status(struct daq_bridge *bridge)
{
	(void)bridge;
	return (struct daq_status){ .uncertainty_ns = 1 };
}

static const char *name_of(uint8_t command)
{
	switch (command) {
	case SPEK_PROBER_CMD_FEED_PUSH:
		return "push";
	case SPEK_PROBER_CMD_FEED_MARK:
		return "mark";
	case SPEK_PROBER_CMD_FEED_CLOSE:
		return "close";
	default:
		return "other";
	}
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	const struct nlmsghdr *request = msg->msg_iov[0].iov_base;
	const struct genlmsghdr *header = NLMSG_DATA(request);
	const char *now = *fault ? *fault++ : "ok";

	(void)fd;
	(void)flags;
	printf("%s %s\n", name_of(header->cmd), now);
	if (!strcmp(now, "unsent")) {
		errno = ENOBUFS;
		return -1;
	}
	if (!strcmp(now, "unread"))
		recv_error = ENOBUFS;
	port = request->nlmsg_pid;
	sequence[nr_answers] = request->nlmsg_seq;
	answer[nr_answers++].error = !strcmp(now, "nomem") ? -ENOMEM : !strcmp(now, "gone") ? -ENOENT : 0;
	return (ssize_t)msg->msg_iov[0].iov_len;
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct nlmsghdr *reply = msg->msg_iov[0].iov_base;
	size_t length = NLMSG_LENGTH(sizeof(struct nlmsgerr));

	(void)fd;
	errno = recv_error ? recv_error : EAGAIN;
	if (recv_error || nr_given == nr_answers) {
		recv_error = 0;
		return -1;
	}
	*reply = (struct nlmsghdr){
		.nlmsg_len = (uint32_t)length,
		.nlmsg_type = NLMSG_ERROR,
		.nlmsg_seq = sequence[nr_given],
		.nlmsg_pid = port,
	};
	memcpy(NLMSG_DATA(reply), &answer[nr_given], sizeof(answer[0]));
	if (!(flags & MSG_PEEK))
		nr_given++;
	memcpy(msg->msg_name, &kernel, sizeof(kernel));
	msg->msg_namelen = sizeof(kernel);
	msg->msg_controllen = 0;
	msg->msg_flags = 0;
	return (ssize_t)length;
}

/* A feeder whose feed is open. */
static int serve(int fd)
{
	struct daq_push push = { .family = 30, .is_open = true, .socket = nl_socket_alloc() };
	int error = !push.socket || genl_connect(push.socket) ? -ENOMEM : daq_feeder_serve(fd, &push);

	return error ? 1 : 0;
}

int main(int argc, char **argv)
{
	static struct daq_queue queue;
	static struct daq_sender sender = { .queue = &queue, .is_connected = true };
	const struct spek_prober_power_sample sample = { .at_ns = 1 };
	int rounds = 3;
	int ends[2];

	setvbuf(stdout, NULL, _IONBF, 0);
	fault = argv + argc;
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(atoi(argv[2]));
	fault = argv + 1;
	sender.next_mark_ns = UINT64_MAX;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) || daq_queue_init(&queue, 16))
		return 1;
	sender.feeder.pid = fork();
	if (!sender.feeder.pid) {
		close(ends[0]);
		return serve(ends[1]);
	}
	close(ends[1]);
	sender.feeder.fd = ends[0];
	daq_queue_put(&queue, &sample, 1);
	while (rounds-- && sender.is_connected)
		daq_sender_work(&sender);
	printf("%s, %zu queued, %s\n", sender.is_connected ? "connected" : "lost", queue.length,
	       sender.gap[0] ? "gap" : "no gap");
	daq_feeder_stop(&sender.feeder);
	daq_queue_deinit(&queue);
	return 0;
}
