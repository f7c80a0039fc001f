// SPDX-License-Identifier: GPL-2.0
/*
 * Answers: whole, of the types that the spec names, refused with an errno that it documents and
 * with a sentence. The numbers of runs, probes, feeds and drives in answers are remembered.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>

#include "../../../kmod/load/uapi/spek.h"
#include "fuzz.h"

const struct fuzz_op *fuzz_op(const struct fuzz_family *family, uint8_t cmd)
{
	size_t i;

	for (i = 0; i < family->nr_ops; i++)
		if (family->ops[i].id == cmd)
			return &family->ops[i];
	return NULL;
}

static bool is_in_reply(const struct fuzz_op *op, uint16_t id)
{
	size_t i;

	for (i = 0; i < op->nr_reply; i++)
		if (op->reply[i] == id)
			return true;
	return false;
}

static const char *check_payload(const struct fuzz_attr *attr, const uint8_t *bytes, size_t length)
{
	switch (attr->type) {
	case FUZZ_U32:
	case FUZZ_S32:
		return length == 4 ? NULL : "a 32-bit attribute of another length";
	case FUZZ_U64:
	case FUZZ_S64:
		return length == 8 ? NULL : "a 64-bit attribute of another length";
	case FUZZ_STRING:
		return length && !bytes[length - 1] && memchr(bytes, 0, length) == bytes + length - 1 ?
			NULL : "a text that does not end with its one zero";
	default:
		return NULL;
	}
}

/* @op: only at the outermost level */
static const char *check_attrs(const struct fuzz_family *family, const struct fuzz_op *op, int set,
			       const uint8_t *bytes, size_t length)
{
	while (length) {
		struct nlattr head;
		const struct fuzz_attr *attr;
		const char *wrong;
		size_t whole;

		if (length < NLA_HDRLEN)
			return "rests behind the last attribute";
		memcpy(&head, bytes, sizeof(head));
		if (head.nla_len < NLA_HDRLEN || head.nla_len > length)
			return "an attribute longer than its message";
		attr = fuzz_find(family, set, head.nla_type & NLA_TYPE_MASK);
		if (!attr)
			return "an attribute that the spec doesn't have";
		if (op && attr->type != FUZZ_PAD && !is_in_reply(op, attr->id))
			return "an attribute that this answer doesn't have in the spec";
		wrong = attr->nested < 0 ?
			check_payload(attr, bytes + NLA_HDRLEN, head.nla_len - NLA_HDRLEN) :
			check_attrs(family, NULL, attr->nested, bytes + NLA_HDRLEN,
				    head.nla_len - NLA_HDRLEN);
		if (wrong)
			return wrong;
		whole = NLA_ALIGN(head.nla_len);
		if (whole > length)
			whole = length;
		bytes += whole;
		length -= whole;
	}
	return NULL;
}

/* Return: kind of the number "id" in the attributes of @op, FUZZ_KINDS if they have none. */
static enum fuzz_kind kind_of(int family, const struct fuzz_op *op)
{
	static const char *const sets[] = {
		[KIND_RUN] = "run",
		[KIND_PROBE] = "probe",
		[KIND_FEED] = "feed",
		[KIND_DRIVE] = "drive",
	};
	enum fuzz_kind kind;

	for (kind = KIND_RUN; op->set >= 0 && kind <= KIND_DRIVE; kind++)
		if (!strcmp(fuzz_families[family].sets[op->set].name, sets[kind]))
			return kind;
	return FUZZ_KINDS;
}

/* Return: payload of the attribute @name, of at least 4 bytes; NULL if it isn't there. */
static const uint8_t *find_value(int family, const struct fuzz_op *op, const char *name,
				 const uint8_t *bytes, size_t length)
{
	while (length >= NLA_HDRLEN + 4) {
		const struct fuzz_attr *attr;
		struct nlattr head;
		size_t whole;

		memcpy(&head, bytes, sizeof(head));
		attr = fuzz_find(&fuzz_families[family], op->set, head.nla_type & NLA_TYPE_MASK);
		if (!strcmp(attr->name, name))
			return bytes + NLA_HDRLEN;
		whole = NLA_ALIGN(head.nla_len);
		if (whole >= length)
			break;
		bytes += whole;
		length -= whole;
	}
	return NULL;
}

/* A run may be fed from when it has its devices until it ends. */
static bool may_be_fed(uint32_t state)
{
	return state == SPEK_STATE_READY || state == SPEK_STATE_ARMED ||
	       state == SPEK_STATE_RUNNING;
}

static void remember_run(struct fuzz_state *state, const struct fuzz_op *op, uint32_t run,
			 const uint8_t *bytes, size_t length)
{
	const uint8_t *found = find_value(0, op, "state", bytes, length);

	if (op->id == SPEK_CMD_RUN_NEW && state->makes_replay)
		state->feeding = (struct fuzz_feeding){ .run = run };
	if (!found)
		return;
	state->told_run = run;
	memcpy(&state->told_state, found, 4);
	if (may_be_fed(state->told_state) && find_value(0, op, "replay", bytes, length))
		fuzz_remember(state->shared, KIND_REPLAY, run);
}

/* Whatever tells of a run, probe, feed or drive: the answer to who made it may never have been read. */
static void remember(struct fuzz_state *state, int family, const struct fuzz_op *op,
		     const uint8_t *bytes, size_t length)
{
	enum fuzz_kind kind = kind_of(family, op);
	const uint8_t *found;
	uint32_t number;

	if (kind != FUZZ_KINDS) {
		found = find_value(family, op, "id", bytes, length);
		if (!found)
			return;
		memcpy(&number, found, 4);
		fuzz_remember(state->shared, kind, number);
		if (kind == KIND_RUN)
			remember_run(state, op, number, bytes, length);
	} else if (family == 0 && op->id == SPEK_CMD_TRACE_FEED) {
		found = find_value(family, op, "accepted", bytes, length);
		if (!found)
			return;
		memcpy(&number, found, 4);
		state->feeding.accepted += number;
		state->feeding.refused = 0;
		state->counts.fed += number;
	}
}

static const char *check_family(struct fuzz_state *state, int family, const uint8_t *bytes,
				size_t length)
{
	const struct fuzz_op *op;
	struct genlmsghdr head;
	const char *wrong;

	if (length < GENL_HDRLEN)
		return "an answer without a header";
	memcpy(&head, bytes, sizeof(head));
	op = fuzz_op(&fuzz_families[family], head.cmd);
	if (!op || head.reserved)
		return "an answer of no command";
	state->counts.replies[family][head.cmd]++;
	bytes += GENL_HDRLEN;
	length -= GENL_HDRLEN;
	wrong = check_attrs(&fuzz_families[family], op, op->set, bytes, length);
	if (!wrong)
		remember(state, family, op, bytes, length);
	return wrong;
}

/* Which family an error is about is in the request that it repeats. */
static int family_of(const struct fuzz_state *state, uint16_t type)
{
	int i;

	for (i = 0; i < FUZZ_FAMILIES; i++)
		if (state->shared->family_id[i] == type)
			return i;
	return FUZZ_FAMILIES;
}

/* @family: FUZZ_FAMILIES: any */
static bool is_documented(int family, int number)
{
	size_t i;

	if (family == FUZZ_FAMILIES) {
		while (family--)
			if (is_documented(family, number))
				return true;
		return false;
	}
	for (i = 0; i < fuzz_families[family].nr_errnos; i++)
		if (fuzz_families[family].errnos[i] == number)
			return true;
	return false;
}

/*
 * Generic netlink itself refuses without a word: commands that there are not, dumps of what
 * can't be dumped (EOPNOTSUPP), a second dump on a socket (EBUSY), a message that is too short
 * for a header (EINVAL), a socket's buffer that is full.
 */
static const char *check_sentence(int number, const uint8_t *bytes, size_t length)
{
	while (length >= NLA_HDRLEN) {
		struct nlattr head;

		memcpy(&head, bytes, sizeof(head));
		if (head.nla_len < NLA_HDRLEN || head.nla_len > length)
			return "an error's attribute longer than the error";
		if (head.nla_type == NLMSGERR_ATTR_MSG) {
			size_t text = head.nla_len - NLA_HDRLEN;

			return text > 1 && !bytes[head.nla_len - 1] ? NULL :
			       "an error's sentence that is none";
		}
		if ((size_t)NLA_ALIGN(head.nla_len) >= length)
			break;
		bytes += NLA_ALIGN(head.nla_len);
		length -= NLA_ALIGN(head.nla_len);
	}
	return number == EOPNOTSUPP || number == EBUSY ? NULL : "a refusal without a sentence";
}

static const char *check_error(struct fuzz_state *state, const struct nlmsghdr *head,
			       const uint8_t *bytes, size_t length)
{
	struct nlmsgerr error;
	static _Thread_local char text[160];
	const char *wrong = NULL;
	int family, number;

	if (length < sizeof(error))
		return "an error that is too short";
	memcpy(&error, bytes, sizeof(error));
	number = -error.error;
	family = family_of(state, error.msg.nlmsg_type);
	if (number < 0 || number >= ERRNOS)
		return "an error that is no errno";
	state->counts.errors[family][number]++;
	if (family == FUZZ_FAMILIES)
		return NULL;
	if (!number)
		return NULL;
	/* The run is gone, has ended or has another feeder, or takes no records for another reason. */
	if (state->last_family == 0 && state->last_op == SPEK_CMD_TRACE_FEED &&
	    (number == EBUSY || number == ENOENT || ++state->feeding.refused > 32))
		state->feeding.run = 0;
	/* Netlink itself, of a dump on a socket whose buffer is full. */
	if (number == ENOBUFS && (error.msg.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
		return NULL;
	if (!is_documented(family, number))
		wrong = "an errno that the spec doesn't name";
	else if (error.msg.nlmsg_len >= NLMSG_HDRLEN + GENL_HDRLEN)
		wrong = check_sentence(number, bytes + sizeof(error),
				       head->nlmsg_flags & NLM_F_ACK_TLVS ? length - sizeof(error) : 0);
	if (!wrong)
		return NULL;
	snprintf(text, sizeof(text), "%s (family %d, errno %d, length %u)", wrong, family, number,
		 error.msg.nlmsg_len);
	return text;
}

/* The end of a dump carries its outcome. */
static const char *check_done(struct fuzz_state *state, const uint8_t *bytes, size_t length)
{
	static _Thread_local char text[80];
	int outcome;

	if (length < sizeof(outcome))
		return "an end of a dump without an outcome";
	memcpy(&outcome, bytes, sizeof(outcome));
	state->counts.dumps++;
	if (outcome > 0 || (outcome && !is_documented(FUZZ_FAMILIES, -outcome))) {
		snprintf(text, sizeof(text), "a dump that ends with %d", outcome);
		return text;
	}
	return NULL;
}

const char *fuzz_check(struct fuzz_state *state, const uint8_t *bytes, size_t length)
{
	while (length) {
		struct nlmsghdr head;
		const char *wrong = NULL;
		const uint8_t *payload = bytes + NLMSG_HDRLEN;
		size_t rest, whole;
		int family;

		if (length < NLMSG_HDRLEN)
			return "rests behind the last message";
		memcpy(&head, bytes, sizeof(head));
		if (head.nlmsg_len < NLMSG_HDRLEN || head.nlmsg_len > length)
			return "a message longer than what came";
		rest = head.nlmsg_len - NLMSG_HDRLEN;
		family = family_of(state, head.nlmsg_type);
		if (head.nlmsg_type == NLMSG_ERROR)
			wrong = check_error(state, &head, payload, rest);
		else if (head.nlmsg_type == NLMSG_DONE)
			wrong = check_done(state, payload, rest);
		else if (family < FUZZ_FAMILIES)
			wrong = check_family(state, family, payload, rest);
		else if (head.nlmsg_type >= NLMSG_MIN_TYPE && head.nlmsg_type != GENL_ID_CTRL)
			wrong = "a message of nobody's type";
		if (wrong)
			return wrong;
		whole = NLMSG_ALIGN(head.nlmsg_len);
		if (whole > length)
			whole = length;
		bytes += whole;
		length -= whole;
	}
	state->counts.checked++;
	return NULL;
}
