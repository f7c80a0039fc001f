// SPDX-License-Identifier: GPL-2.0
/*
 * The prober's answers as spek-daq reads them: sendmsg(), recvmsg() and time() are ours, libnl and
 * push.c are real. The input is what each recvmsg() gives: u16 length, bytes; lengths, sequence
 * number and port in the headers are put right in most, as libnl drops what isn't.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "push.h"
#include "target.h"

static struct fuzz_input answers;
static struct nlmsghdr request;

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t recvmsg(int fd, struct msghdr *msg, int flags);
time_t time(time_t *now);

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	(void)fd;
	(void)flags;
	memcpy(&request, msg->msg_iov[0].iov_base, sizeof(request));
	return (ssize_t)msg->msg_iov[0].iov_len;
}

/* libnl numbers its requests from here. */
time_t time(time_t *now)
{
	if (now)
		*now = 1;
	return 1;
}

static void put_right(uint8_t *bytes, size_t length)
{
	while (length >= NLMSG_HDRLEN) {
		struct nlmsghdr head;

		memcpy(&head, bytes, sizeof(head));
		if (head.nlmsg_len < NLMSG_HDRLEN || head.nlmsg_len > length)
			head.nlmsg_len = (uint32_t)length;
		head.nlmsg_seq = request.nlmsg_seq;
		head.nlmsg_pid = request.nlmsg_pid;
		memcpy(bytes, &head, sizeof(head));
		if (NLMSG_ALIGN(head.nlmsg_len) >= length)
			return;
		bytes += NLMSG_ALIGN(head.nlmsg_len);
		length -= NLMSG_ALIGN(head.nlmsg_len);
	}
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	size_t length = fuzz_bytes(&answers, 2);
	bool is_right = !(length >> 15);
	uint8_t *copy;

	(void)fd;
	if (!answers.size) {
		errno = EAGAIN;
		return -1;
	}
	length &= 0x0fff;
	if (length > answers.size)
		length = answers.size;
	if (length > msg->msg_iov[0].iov_len)
		length = msg->msg_iov[0].iov_len;
	copy = msg->msg_iov[0].iov_base;
	memcpy(copy, answers.data, length);
	if (is_right)
		put_right(copy, length);
	if (!(flags & MSG_PEEK)) {
		answers.data += length;
		answers.size -= length;
	}
	if (msg->msg_name)
		memcpy(msg->msg_name, &kernel, sizeof(kernel));
	msg->msg_namelen = sizeof(kernel);
	msg->msg_controllen = 0;
	msg->msg_flags = 0;
	return (ssize_t)length;
}

void fuzz_daq_push(const uint8_t *data, size_t size)
{
	static const struct daq_feed_config config = {
		.name = "fuzz",
		.source = "fuzz",
		.nr_rails = 1,
		.rail = { { .name = "r0", .lsb_nw = 1 } },
	};
	struct spek_prober_power_sample sample = { .at_ns = 1 };
	struct daq_status status = { .uncertainty_ns = 1 };
	struct daq_push push = { .family = 30 };
	struct daq_error err = { "" };
	int error;

	answers = (struct fuzz_input){ data, size };
	error = daq_push_open(&push, &config, &err);
	FUZZ_REQUIRE(!error || (error < 0 ? err.text[0] : 1), "a failure has a sentence");
	if (error) {
		/* the rest as if the feed were open */
		push.socket = nl_socket_alloc();
		if (!push.socket || genl_connect(push.socket))
			abort();
		push.is_open = true;
	}
	daq_push_samples(&push, &sample, 1, &err);
	daq_push_mark(&push, &status, &err);
	daq_push_close(&push);
}
