// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets: those that read all answers, those that leave dumps in the middle, those that never
 * read, and two that all threads share. The kernel answers before send() returns, so reading
 * until there is nothing needs no waiting.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../../../kmod/drive/uapi/spek_drive.h"
#include "../../../kmod/load/uapi/spek.h"
#include "../../../prober/uapi/spek_prober.h"
#include "fuzz.h"

#define SOL_NETLINK_ 270
#define SOCKETS 4

enum habit { READS_ALL, LEAVES_DUMPS, NEVER_READS, HABITS };

struct one {
	int fd;
	enum habit habit;
	uint32_t left;	/* requests until it is closed */
	uint32_t seq;
	struct fuzz_feeding feeding;
};

static int open_socket(struct fuzz_state *state, bool joins)
{
	struct sockaddr_nl me = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	int one = 1, i;

	if (fd < 0 || bind(fd, (struct sockaddr *)&me, sizeof(me))) {
		perror("socket");
		atomic_store(&state->shared->failed, true);
		return -1;
	}
	setsockopt(fd, SOL_NETLINK_, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK_, NETLINK_CAP_ACK, &one, sizeof(one));
	for (i = 0; joins && i < FUZZ_FAMILIES; i++)
		setsockopt(fd, SOL_NETLINK_, NETLINK_ADD_MEMBERSHIP, &state->shared->group_id[i],
			   sizeof(uint32_t));
	state->counts.sockets++;
	return fd;
}

static void renew(struct fuzz_state *state, struct one *socket)
{
	if (socket->fd >= 0)
		close(socket->fd);
	socket->fd = open_socket(state, fuzz_chance(state, 64));
	socket->habit = fuzz_chance(state, 200) ? READS_ALL : 1 + fuzz_below(state, HABITS - 1);
	socket->left = 20 + fuzz_below(state, 400);
	socket->seq = 1;
	memset(&socket->feeding, 0, sizeof(socket->feeding));
}

static void print_request(const uint8_t *bytes, size_t length)
{
	size_t i;

	for (i = 0; i < length && i < 2048; i++)
		fprintf(stderr, "%02x", bytes[i]);
	fputc('\n', stderr);
}

/* Reads what is there, at most @most datagrams. Return: false when an answer is wrong. */
static bool read_answers(struct fuzz_state *state, int fd, uint32_t most, size_t length)
{
	static _Thread_local uint8_t bytes[1 << 18];
	const char *wrong;

	while (most--) {
		ssize_t got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_TRUNC);

		if (got < 0 && errno == ENOBUFS) {
			state->counts.overruns++;
			continue;
		}
		if (got <= 0)
			return true;
		wrong = (size_t)got > sizeof(bytes) ? "an answer of more than 256 KiB" :
						      fuzz_check(state, bytes, (size_t)got);
		if (!wrong)
			continue;
		fprintf(stderr, "wrong answer: %s; to this request:\n", wrong);
		print_request(state->out, length);
		fprintf(stderr, "it is:\n");
		print_request(bytes, (size_t)got);
		return false;
	}
	return true;
}

/* ---- requests ---- */

static uint16_t request_flags(struct fuzz_state *state, const struct fuzz_op *op)
{
	bool dump = op->has_dump && (!op->has_do || fuzz_chance(state, 64));

	if (fuzz_chance(state, 6))
		return (uint16_t)fuzz_random(state);
	if (fuzz_chance(state, 4))
		dump = !dump;
	return (uint16_t)(NLM_F_REQUEST | (dump ? NLM_F_DUMP : 0) |
			  (fuzz_chance(state, 230) ? NLM_F_ACK : 0));
}

/*
 * No run may write to the protected disk: in a request that can make one, either no run
 * writes or none is on that disk. Attributes are looked for where they could be found by any
 * way of reading, in the bytes as they are sent.
 */
static void protect(struct fuzz_state *state, uint8_t *bytes, size_t length)
{
	bool may_write = fuzz_chance(state, 128);
	const struct fuzz_shared *shared = state->shared;
	size_t at;

	for (at = NLMSG_HDRLEN; at + 8 <= length; at += 4) {
		struct nlattr head;
		uint32_t value;

		memcpy(&head, bytes + at, sizeof(head));
		memcpy(&value, bytes + at + 4, 4);
		if (head.nla_len < 5)
			continue;
		if (may_write && (head.nla_type & 0xff) == SPEK_A_TARGET_MINOR &&
		    value == shared->protected_minor)
			memcpy(bytes + at + 4, &shared->minor[0], 4);
		if (!may_write && (head.nla_type & 0xff) == SPEK_A_RUN_WRITE)
			memset(bytes + at + 4, 0, 4);
	}
}

static int choose_family(struct fuzz_state *state)
{
	return fuzz_chance(state, 24) ? 2 : fuzz_chance(state, 144) ? 0 : 1;
}

static const struct fuzz_op *choose_op(struct fuzz_state *state, int family)
{
	const struct fuzz_family *known = &fuzz_families[family];
	int total = 0, at;
	size_t i;

	/* Runs live for a short time only, so a socket that has one to feed does that now. */
	if (family == 0 && state->feeding.run && fuzz_chance(state, 128))
		return fuzz_op(known, SPEK_CMD_TRACE_FEED);
	for (i = 0; i < known->nr_ops; i++)
		total += known->ops[i].weight;
	at = (int)fuzz_below(state, (uint32_t)total);
	for (i = 0; at >= known->ops[i].weight; i++)
		at -= known->ops[i].weight;
	return &known->ops[i];
}

/*
 * About the feed of traces: a socket that has a run to feed does that, and sometimes starts it or
 * ends its trace; one that has none makes one, or tries that of another. One that reads no answers
 * would make one after the other.
 */
static const struct fuzz_op *choose_for_feed(struct fuzz_state *state, enum habit habit)
{
	uint32_t at = fuzz_below(state, 1024);
	uint8_t command = SPEK_CMD_TRACE_FEED;

	if (!state->feeding.run)
		command = habit == READS_ALL && at < 768 ? SPEK_CMD_RUN_NEW : command;
	else if (at < 8)
		command = at ? SPEK_CMD_RUN_START : SPEK_CMD_TRACE_END;
	return fuzz_op(&fuzz_families[0], command);
}

static bool is_of_feed(const struct fuzz_op *op)
{
	return op->id == SPEK_CMD_TRACE_FEED || op->id == SPEK_CMD_TRACE_END;
}

static void wrong_header(struct fuzz_state *state, struct nlmsghdr *head, struct genlmsghdr *genl)
{
	switch (fuzz_below(state, 5)) {
	case 0:
		head->nlmsg_len = fuzz_chance(state, 128) ? fuzz_below(state, 40) :
				  head->nlmsg_len + fuzz_below(state, 16) - 8;
		break;
	case 1:
		genl->cmd = (uint8_t)fuzz_random(state);
		break;
	case 2:
		genl->version = (uint8_t)fuzz_random(state);
		break;
	case 3:
		genl->reserved = (uint16_t)fuzz_random(state);
		break;
	default:
		head->nlmsg_pid = (uint32_t)fuzz_random(state);
	}
}

/* One message. Return: its length, padded. */
static size_t write_request(struct fuzz_state *state, struct one *socket, uint8_t *to, size_t room)
{
	bool about_feed = fuzz_below(state, 100) < state->shared->feed_percent;
	int family = about_feed ? 0 : choose_family(state);
	const struct fuzz_op *op = about_feed ? choose_for_feed(state, socket->habit) :
						choose_op(state, family);
	struct nlmsghdr head = { .nlmsg_type = state->shared->family_id[family] };
	struct genlmsghdr genl = { .cmd = op->id, .version = 1 };
	size_t length = NLMSG_HDRLEN + GENL_HDRLEN;
	bool makes_run = family == 0 && op->id == SPEK_CMD_RUN_NEW, makes_replay;
	struct node *list;

	do {
		list = fuzz_build(state, family, op);
		makes_replay = makes_run && fuzz_has(list, SPEK_A_RUN_TRACE_RECORDS);
	} while (about_feed && makes_run && !makes_replay);
	state->makes_replay |= makes_replay;
	/* What is made in order to be fed is made right. */
	if ((!about_feed || is_of_feed(op)) && fuzz_chance(state, 96))
		list = fuzz_mutate(state, family, op, list);
	length += fuzz_write(list, to + length, room - length);
	if (fuzz_chance(state, 8))
		length -= fuzz_below(state, (uint32_t)(length - NLMSG_HDRLEN));
	head.nlmsg_flags = request_flags(state, op);
	head.nlmsg_len = (uint32_t)length;
	head.nlmsg_seq = socket->seq++;
	if (fuzz_chance(state, 6))
		wrong_header(state, &head, &genl);
	memcpy(to, &head, sizeof(head));
	if (length >= NLMSG_HDRLEN + GENL_HDRLEN)
		memcpy(to + NLMSG_HDRLEN, &genl, sizeof(genl));
	state->counts.asked[family][op->id]++;
	state->last_family = family;
	state->last_op = op->id;
	state->counts.sent++;
	length = NLMSG_ALIGN(length);
	while (fuzz_chance(state, 2) && length > NLMSG_HDRLEN + GENL_HDRLEN)
		to[NLMSG_HDRLEN + GENL_HDRLEN +
		   fuzz_below(state, (uint32_t)(length - NLMSG_HDRLEN - GENL_HDRLEN))] =
			(uint8_t)fuzz_random(state);
	return length;
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/*
 * Runs get their devices in another thread, and no record is looked at before. Waits until the run
 * that the socket has made has them, and forgets it if it has failed. Return: false when an answer
 * was wrong.
 */
static bool await_devices(struct fuzz_state *state, struct one *socket)
{
	struct {
		struct nlmsghdr head;
		struct genlmsghdr genl;
		struct nlattr attr;
		uint32_t run;
	} request = {
		{ sizeof(request), state->shared->family_id[0], NLM_F_REQUEST, 0, 0 },
		{ SPEK_CMD_RUN_GET, 1, 0 },
		{ NLA_HDRLEN + 4, SPEK_A_RUN_ID },
		state->feeding.run,
	};
	uint64_t refused = state->counts.errors[0][ENOENT];
	int tries = 1000;

	memcpy(state->out, &request, sizeof(request));
	state->told_run = 0;
	while (tries-- && state->counts.errors[0][ENOENT] == refused &&
	       (state->told_run != request.run || state->told_state == SPEK_STATE_OPENING)) {
		usleep(10000);
		request.head.nlmsg_seq = socket->seq++;
		if (send(socket->fd, &request, sizeof(request), MSG_DONTWAIT) < 0)
			state->counts.notes++;
		if (!read_answers(state, socket->fd, UINT32_MAX, sizeof(request)))
			return false;
	}
	if (state->told_run == request.run && state->told_state == SPEK_STATE_FAILED)
		state->feeding.run = 0;
	return true;
}

/* Return: how many messages were sent, 0 when an answer was wrong. */
static uint64_t exchange(struct fuzz_state *state, struct one *socket)
{
	uint64_t before = state->counts.sent;
	size_t length = 0;
	uint32_t most = UINT32_MAX;
	uint64_t started_us = now_us();
	bool good;

	state->feeding = socket->feeding;
	state->makes_replay = false;
	/* A refusal is taken for that of a batch's last command, so a start comes last. */
	do {
		length += write_request(state, socket, state->out + length, MAX_BYTES);
	} while (state->last_op != SPEK_CMD_RUN_START && fuzz_chance(state, 96) &&
		 length < MAX_BYTES);
	state->counts.batches += state->counts.sent - before > 1;
	protect(state, state->out, length);
	/* ENOBUFS and such are the kernel's way to say that this socket has had enough */
	if (send(socket->fd, state->out, length, MSG_DONTWAIT) < 0)
		state->counts.notes++;
	if (socket->habit == NEVER_READS)
		most = 0;
	else if (socket->habit == LEAVES_DUMPS) {
		most = fuzz_below(state, 3);
		state->counts.abandoned++;
	}
	good = read_answers(state, socket->fd, most, length);
	if (good && most && state->shared->feed_percent && state->makes_replay &&
	    state->feeding.run)
		good = await_devices(state, socket);
	/* Its run is fed no more, and goes with it: the runs of all would not fit in memory. */
	if (state->shared->feed_percent && (socket->feeding.run || state->makes_replay) &&
	    !state->feeding.run)
		socket->left = 0;
	socket->feeding = state->feeding;
	state->counts.asked_us[state->last_family][state->last_op] += now_us() - started_us;
	return good ? state->counts.sent - before : 0;
}

/* Is the family still what it was? A fresh socket asks for what can always be answered. */
static bool still_answers(struct fuzz_state *state)
{
	static const struct {
		uint8_t command;
		bool is_dump;
	} asked[FUZZ_FAMILIES] = {
		{ SPEK_CMD_RUN_GET, true },
		{ SPEK_PROBER_CMD_PROBE_GET, false },
		{ SPEK_DRIVE_CMD_DRIVE_GET, true },
	};
	uint64_t dumps = state->counts.dumps;
	int fd = open_socket(state, false), i;
	bool good = fd >= 0;

	for (i = 0; good && i < FUZZ_FAMILIES; i++) {
		struct {
			struct nlmsghdr head;
			struct genlmsghdr genl;
		} request = {
			{ sizeof(request), state->shared->family_id[i],
			  NLM_F_REQUEST | (asked[i].is_dump ? NLM_F_DUMP : NLM_F_ACK), 1, 0 },
			{ asked[i].command, 1, 0 },
		};
		uint64_t replies = state->counts.replies[i][asked[i].command];

		memcpy(state->out, &request, sizeof(request));
		good = send(fd, &request, sizeof(request), 0) == sizeof(request) &&
		       read_answers(state, fd, UINT32_MAX, sizeof(request)) &&
		       (asked[i].is_dump ?
				state->counts.dumps == dumps + 1 :
				state->counts.replies[i][asked[i].command] == replies + 1);
		dumps = state->counts.dumps;
		if (!good)
			fprintf(stderr, "%s does not answer any more\n", fuzz_families[i].name);
	}
	close(fd);
	return good;
}

void fuzz_thread(struct fuzz_state *state, uint64_t messages)
{
	struct one sockets[SOCKETS] = { { .fd = -1 }, { .fd = -1 }, { .fd = -1 }, { .fd = -1 } };
	uint64_t next_check = 1000;
	int i;

	while (state->counts.sent < messages && !atomic_load(&state->shared->failed)) {
		struct one *socket = &sockets[fuzz_below(state, SOCKETS)];

		if (socket->fd < 0 || !socket->left--)
			renew(state, socket);
		if (!exchange(state, socket))
			atomic_store(&state->shared->failed, true);
		if (state->counts.sent >= next_check) {
			next_check += 1000;
			if (!still_answers(state))
				atomic_store(&state->shared->failed, true);
		}
	}
	for (i = 0; i < SOCKETS; i++)
		if (sockets[i].fd >= 0)
			close(sockets[i].fd);
}

/* ---- the controller of generic netlink ---- */

static const uint8_t *find_attr(const uint8_t *bytes, size_t length, uint16_t type, size_t *found)
{
	while (length >= NLA_HDRLEN) {
		struct nlattr head;

		memcpy(&head, bytes, sizeof(head));
		if (head.nla_len < NLA_HDRLEN || head.nla_len > length)
			return NULL;
		if ((head.nla_type & NLA_TYPE_MASK) == type) {
			*found = head.nla_len - NLA_HDRLEN;
			return bytes + NLA_HDRLEN;
		}
		if ((size_t)NLA_ALIGN(head.nla_len) >= length)
			return NULL;
		length -= NLA_ALIGN(head.nla_len);
		bytes += NLA_ALIGN(head.nla_len);
	}
	return NULL;
}

static bool resolve_one(struct fuzz_shared *shared, int family, int fd)
{
	uint8_t bytes[8192] = { 0 };
	struct nlmsghdr head = { .nlmsg_type = GENL_ID_CTRL, .nlmsg_flags = NLM_F_REQUEST };
	struct genlmsghdr genl = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 };
	const char *name = fuzz_families[family].name;
	struct nlattr attr = { (uint16_t)(NLA_HDRLEN + strlen(name) + 1), CTRL_ATTR_FAMILY_NAME };
	const uint8_t *found;
	size_t length;
	ssize_t got;

	head.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + GENL_HDRLEN + NLA_ALIGN(attr.nla_len));
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + NLMSG_HDRLEN, &genl, sizeof(genl));
	memcpy(bytes + NLMSG_HDRLEN + GENL_HDRLEN, &attr, sizeof(attr));
	strcpy((char *)bytes + NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN, name);
	if (send(fd, bytes, head.nlmsg_len, 0) < 0)
		return false;
	got = recv(fd, bytes, sizeof(bytes), 0);
	if (got < (ssize_t)(NLMSG_HDRLEN + GENL_HDRLEN))
		return false;
	got -= NLMSG_HDRLEN + GENL_HDRLEN;
	found = find_attr(bytes + NLMSG_HDRLEN + GENL_HDRLEN, (size_t)got, CTRL_ATTR_FAMILY_ID,
			  &length);
	if (!found)
		return false;
	memcpy(&shared->family_id[family], found, 2);
	found = find_attr(bytes + NLMSG_HDRLEN + GENL_HDRLEN, (size_t)got, CTRL_ATTR_MCAST_GROUPS,
			  &length);
	if (found)
		found = find_attr(found, length, 1, &length);
	if (found)
		found = find_attr(found, length, CTRL_ATTR_MCAST_GRP_ID, &length);
	if (found)
		memcpy(&shared->group_id[family], found, 4);
	return true;
}

bool fuzz_resolve(struct fuzz_shared *shared)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	bool good = true;
	int i;

	for (i = 0; good && i < FUZZ_FAMILIES; i++) {
		good = resolve_one(shared, i, fd);
		if (!good)
			fprintf(stderr, "the family %s isn't there\n", fuzz_families[i].name);
	}
	close(fd);
	return good;
}
