// SPDX-License-Identifier: GPL-2.0
/* Requests to spek_prober and its replies. */
#include <errno.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/family.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "push.h"

#define ANSWER_TIMEOUT_S 10
#define MAX_ERRNO 4095 /* include/linux/err.h: what a kernel can report */

/* reply to a request */
struct answer {
	struct daq_push *push;
	struct daq_error *err;
	uint32_t sequence;
	bool is_complete;
	int error;
};

static int on_ack(struct nl_msg *msg, void *context)
{
	struct answer *answer = context;

	(void)msg;
	answer->is_complete = true;
	return NL_STOP;
}

/* The sentence is an attribute after the error, which has no copy of the request (CAP_ACK). */
static void copy_sentence(const struct nlmsgerr *error, struct daq_error *err)
{
	const struct nlmsghdr *header = (const void *)((const char *)error - NLMSG_HDRLEN);
	int length = (int)header->nlmsg_len - (int)(NLMSG_HDRLEN + sizeof(*error));
	const struct nlattr *found;

	daq_error_set(err, "the prober refuses: %s", strerror(-error->error));
	if (!(header->nlmsg_flags & NLM_F_ACK_TLVS) || length <= 0)
		return;
	found = nla_find((const struct nlattr *)(error + 1), length, NLMSGERR_ATTR_MSG);
	if (found)
		daq_error_set(err, "the prober refuses: %.*s", nla_len(found),
			      (const char *)nla_data(found));
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *context)
{
	struct answer *answer = context;

	(void)from;
	answer->is_complete = true;
	if (error->error >= 0 || error->error < -MAX_ERRNO) {
		answer->error = daq_fail(answer->err, EIO,
					 "the prober answered with %d, which is not an errno",
					 error->error);
		return NL_STOP;
	}
	answer->error = error->error;
	copy_sentence(error, answer->err);
	return NL_STOP;
}

/* libnl checks the lengths only of attributes that the policy names. */
static int on_reply(struct nl_msg *msg, void *context)
{
	static const struct nla_policy policy[SPEK_PROBER_A_FEED_MAX + 1] = {
		[SPEK_PROBER_A_FEED_ID] = { .type = NLA_U32 },
		[SPEK_PROBER_A_FEED_ACCEPTED] = { .type = NLA_U64 },
		[SPEK_PROBER_A_FEED_LATE] = { .type = NLA_U64 },
	};
	struct nlattr *attr[SPEK_PROBER_A_FEED_MAX + 1];
	struct answer *answer = context;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, attr, SPEK_PROBER_A_FEED_MAX, policy) < 0)
		return NL_SKIP;
	if (attr[SPEK_PROBER_A_FEED_ID])
		answer->push->feed = nla_get_u32(attr[SPEK_PROBER_A_FEED_ID]);
	if (attr[SPEK_PROBER_A_FEED_ACCEPTED])
		answer->push->accepted += nla_get_u64(attr[SPEK_PROBER_A_FEED_ACCEPTED]);
	if (attr[SPEK_PROBER_A_FEED_LATE])
		answer->push->late += nla_get_u64(attr[SPEK_PROBER_A_FEED_LATE]);
	return NL_OK;
}

/* Also skips the answer to an earlier request that was given up for lack of memory. */
static int is_answer(struct nl_msg *msg, void *context)
{
	const struct answer *answer = context;

	return nlmsg_hdr(msg)->nlmsg_seq == answer->sequence ? NL_OK : NL_SKIP;
}

static int errno_of(int nl_error)
{
	switch (nl_error < 0 ? -nl_error : nl_error) {
	case NLE_AGAIN:
		return ETIMEDOUT;
	case NLE_NOMEM:
		return EAGAIN;
	case NLE_PERM:
	case NLE_NOACCESS:
		return EPERM;
	default:
		return EIO;
	}
}

static int receive(struct daq_push *push, struct answer *answer)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int got = 0;

	if (!cb)
		return daq_fail(answer->err, EAGAIN, "out of memory for the prober's answer");
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, is_answer, answer);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, answer);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_reply, answer);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, answer);
	while (!answer->is_complete && got >= 0)
		got = nl_recvmsgs(push->socket, cb);
	nl_cb_put(cb);
	if (!answer->is_complete)
		return daq_fail(answer->err, errno_of(got), "the prober does not answer: %s",
				nl_geterror(got));
	return answer->error;
}

/* Sends and frees the message. */
static int request(struct daq_push *push, struct nl_msg *msg, struct daq_error *err)
{
	struct answer answer = { .push = push, .err = err };
	int sent = nl_send_auto(push->socket, msg);

	answer.sequence = nlmsg_hdr(msg)->nlmsg_seq;
	nlmsg_free(msg);
	/* Not sent for lack of buffers: the prober has not seen it, so it can be sent again. */
	if (sent < 0)
		return daq_fail(err, errno_of(sent) == EIO ? EAGAIN : errno_of(sent),
				"cannot reach the prober: %s", nl_geterror(sent));
	return receive(push, &answer);
}

static struct nl_msg *message(const struct daq_push *push, uint8_t command, size_t bytes)
{
	struct nl_msg *msg = nlmsg_alloc_size(bytes);

	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, push->family, 0, 0, command,
				SPEK_PROBER_FAMILY_VERSION)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static int put_rails(struct nl_msg *msg, const struct daq_feed_config *config)
{
	size_t i;

	for (i = 0; i < config->nr_rails; i++) {
		struct nlattr *rail = nla_nest_start(msg, SPEK_PROBER_A_FEED_RAIL);

		if (!rail || nla_put_string(msg, SPEK_PROBER_A_RAIL_NAME, config->rail[i].name) ||
		    nla_put_u64(msg, SPEK_PROBER_A_RAIL_LSB_NW, config->rail[i].lsb_nw))
			return -ENOMEM;
		nla_nest_end(msg, rail);
	}
	return 0;
}

static int open_feed(struct daq_push *push, const struct daq_feed_config *config,
		     struct daq_error *err)
{
	struct nl_msg *msg = message(push, SPEK_PROBER_CMD_FEED_OPEN, 16384);
	int error;

	if (!msg || nla_put_string(msg, SPEK_PROBER_A_FEED_NAME, config->name) ||
	    nla_put_string(msg, SPEK_PROBER_A_FEED_SOURCE, config->source) ||
	    nla_put_u64(msg, SPEK_PROBER_A_FEED_UNCERTAINTY_NS, config->uncertainty_ns) ||
	    (config->history &&
	     nla_put_u32(msg, SPEK_PROBER_A_FEED_HISTORY, config->history)) ||
	    (config->max_step_ns &&
	     nla_put_u64(msg, SPEK_PROBER_A_FEED_MAX_STEP_NS, config->max_step_ns)) ||
	    put_rails(msg, config)) {
		nlmsg_free(msg);
		return daq_fail(err, ENOMEM, "out of memory for the feed");
	}
	error = request(push, msg, err);
	push->is_open = !error;
	return error;
}

/*
 * Whether this is another network namespace than the initial one, which alone has the family, and
 * which alone shows this setting of the whole machine.
 */
static bool is_elsewhere(void)
{
	return !access("/proc/sys/net/core", F_OK) &&
	       access("/proc/sys/net/core/netdev_max_backlog", F_OK);
}

/* Searches the list: a request by name would make the kernel load the family's module. */
static int find_family(struct daq_push *push, struct daq_error *err)
{
	struct nl_cache *families = NULL;
	struct genl_family *family;
	int error = genl_ctrl_alloc_cache(push->socket, &families);

	if (error)
		return daq_fail(err, EIO, "cannot list the generic netlink families: %s", nl_geterror(error));
	family = genl_ctrl_search_by_name(families, SPEK_PROBER_FAMILY_NAME);
	push->family = family ? (int)genl_family_get_id(family) : -1;
	if (family)
		genl_family_put(family);
	nl_cache_free(families);
	if (push->family < 0 && is_elsewhere())
		return daq_fail(err, ENOPROTOOPT, "the prober answers in the initial network namespace only, and this process is in another; start the container with --network host (docker, podman)");
	if (push->family < 0)
		return daq_fail(err, ENOPROTOOPT, "the prober is not loaded; load spek_prober.ko");
	return 0;
}

static int connect_socket(struct daq_push *push, struct daq_error *err)
{
	const struct timeval timeout = { .tv_sec = ANSWER_TIMEOUT_S };
	int one = 1, fd, error;

	push->socket = nl_socket_alloc();
	if (!push->socket)
		return daq_fail(err, ENOMEM, "out of memory for a socket");
	error = genl_connect(push->socket);
	if (error)
		return daq_fail(err, EIO, "cannot open a netlink socket: %s", nl_geterror(error));
	/* A batch exceeds the default socket buffers. */
	nl_socket_set_buffer_size(push->socket, 1 << 18, 1 << 18);
	fd = nl_socket_get_fd(push->socket);
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	return 0;
}

int daq_push_open(struct daq_push *push, const struct daq_feed_config *config,
		  struct daq_error *err)
{
	int error = connect_socket(push, err);

	if (!error)
		error = find_family(push, err);
	if (!error)
		error = open_feed(push, config, err);
	if (error)
		daq_push_abandon(push);
	return error;
}

int daq_push_samples(struct daq_push *push, const struct spek_prober_power_sample *sample,
		     size_t nr, struct daq_error *err)
{
	int bytes = (int)(nr * sizeof(*sample));
	struct nl_msg *msg = message(push, SPEK_PROBER_CMD_FEED_PUSH, (size_t)bytes + 256);

	if (!msg || nla_put_u32(msg, SPEK_PROBER_A_FEED_ID, push->feed) ||
	    nla_put(msg, SPEK_PROBER_A_FEED_SAMPLES, bytes, sample)) {
		nlmsg_free(msg);
		return daq_fail(err, EAGAIN, "out of memory for a batch");
	}
	return request(push, msg, err);
}

int daq_push_mark(struct daq_push *push, const struct daq_status *status, struct daq_error *err)
{
	struct nl_msg *msg = message(push, SPEK_PROBER_CMD_FEED_MARK, 512);

	if (!msg || nla_put_u32(msg, SPEK_PROBER_A_FEED_ID, push->feed) ||
	    nla_put_u64(msg, SPEK_PROBER_A_FEED_UNCERTAINTY_NS, status->uncertainty_ns) ||
	    nla_put_s64(msg, SPEK_PROBER_A_FEED_DRIFT_PPB, status->drift_ppb) ||
	    nla_put_u64(msg, SPEK_PROBER_A_FEED_RESIDUAL_NS, status->residual_ns) ||
	    nla_put_u64(msg, SPEK_PROBER_A_FEED_OVERFLOWS, status->overflows) ||
	    nla_put_u64(msg, SPEK_PROBER_A_FEED_LOST, status->lost) ||
	    (status->silent_until_ns &&
	     nla_put_u64(msg, SPEK_PROBER_A_FEED_UNTIL_NS, status->silent_until_ns))) {
		nlmsg_free(msg);
		return daq_fail(err, EAGAIN, "out of memory for a mark");
	}
	return request(push, msg, err);
}

void daq_push_abandon(struct daq_push *push)
{
	nl_socket_free(push->socket);
	push->socket = NULL;
	push->is_open = false;
}

void daq_push_close(struct daq_push *push)
{
	struct nl_msg *msg;
	struct daq_error err;

	if (push->is_open) {
		msg = message(push, SPEK_PROBER_CMD_FEED_CLOSE, 256);
		if (msg && !nla_put_u32(msg, SPEK_PROBER_A_FEED_ID, push->feed))
			request(push, msg, &err);
		else
			nlmsg_free(msg);
	}
	daq_push_abandon(push);
}
