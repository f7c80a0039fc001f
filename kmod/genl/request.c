// SPDX-License-Identifier: GPL-2.0
/*
 * From requests to structures, and from these to answers, by tables generated from the spec.
 *
 * The policy of the family has checked types, lengths and limits of all attributes, in nests too.
 * This adds which ones a request must have and how often the others may be repeated; values are
 * checked against each other by the caller. Nests recurse as deeply as the spec nests sets.
 */
#include <linux/bitmap.h>
#include <net/genetlink.h>
#include "refuse.h"
#include "request.h"

/**
 * struct attributes - attributes of one message or nest
 * @head: the first one
 * @len: bytes of all of them
 * @nest: the nest, which is blamed for what is missing; NULL: the message
 */
struct attributes {
	const struct nlattr *head;
	int len;
	const struct nlattr *nest;
};

/**
 * struct parser - one request
 * @root: structure of the whole request, which has the pools
 * @extack: of the request
 */
struct parser {
	void *root;
	struct netlink_ext_ack *extack;
};

static int parse_record(const struct parser *parser, const struct spek_genl_record *record,
			void *dst, const struct attributes *attributes);

static u32 *count_of(const struct spek_genl_field *field, void *dst)
{
	return dst + field->count;
}

static void set_number(const struct spek_genl_field *field, void *dst, u64 value)
{
	void *member = dst + field->offset;

	switch (field->bytes) {
	case sizeof(bool):
		*(bool *)member = value;
		break;
	case sizeof(u32):
		*(u32 *)member = value;
		break;
	case sizeof(u64):
		*(u64 *)member = value;
		break;
	}
}

static void set_default(const struct spek_genl_field *field, void *dst)
{
	if (field->usual)
		set_number(field, dst, field->usual);
}

/* Copy an attribute that fits its member by the policy. */
static int set_member(const struct parser *parser, const struct spek_genl_field *field, void *dst,
		      const struct nlattr *attr)
{
	switch (field->kind) {
	case SPEK_GENL_U32:
		set_number(field, dst, nla_get_u32(attr));
		break;
	case SPEK_GENL_U64:
		set_number(field, dst, nla_get_u64(attr));
		break;
	case SPEK_GENL_TEXT:
		nla_strscpy(dst + field->offset, attr, field->bytes);
		break;
	case SPEK_GENL_BYTES:
		*count_of(field, dst) = nla_memcpy(dst + field->offset, attr, field->at_most);
		break;
	case SPEK_GENL_VECTOR:
		if (nla_len(attr) % field->bytes)
			return spek_genl_refuse(parser->extack, attr, -EINVAL,
						"The length of this array is not a multiple of that of its entries.");
		*count_of(field, dst) = nla_memcpy(dst + field->offset, attr,
						   field->at_most * field->bytes) / field->bytes;
		break;
	}
	return 0;
}

static int add_record(const struct parser *parser, const struct spek_genl_field *field, void *dst,
		      const struct nlattr *attr)
{
	const struct attributes inner = { nla_data(attr), nla_len(attr), attr };
	u32 *count = count_of(field, dst);
	int err;

	if (*count == field->at_most)
		return spek_genl_refuse(parser->extack, attr, -ERANGE, field->too_many);
	err = parse_record(parser, field->record, dst + field->offset + *count * field->bytes,
			   &inner);
	if (err)
		return err;
	++*count;
	return 0;
}

static int add_to_pool(const struct parser *parser, const struct spek_genl_field *field, void *dst,
		       const struct nlattr *attr)
{
	u32 *used = parser->root + field->pool->count, *first = dst + field->offset;
	u32 nr = nla_len(attr) / field->bytes;

	if (nla_len(attr) % field->bytes)
		return spek_genl_refuse(parser->extack, attr, -EINVAL, field->pool->torn);
	if (nr > field->at_most - *used)
		return spek_genl_refuse(parser->extack, attr, -ERANGE, field->too_many);
	*first = *used;
	*count_of(field, dst) = nr;
	nla_memcpy(parser->root + field->pool->offset + *used * field->bytes, attr, nla_len(attr));
	*used += nr;
	return 0;
}

static const struct spek_genl_field *field_of(const struct spek_genl_record *record, int type)
{
	u32 i;

	for (i = 0; i < record->nr; i++)
		if (record->field[i].attr == type)
			return &record->field[i];
	return NULL;
}

/* Set the members that need no other attribute; refuse attributes that only answers carry. */
static int parse_members(const struct parser *parser, const struct spek_genl_record *record,
			 void *dst, const struct attributes *attributes,
			 unsigned long *given)
{
	const struct nlattr *attr;
	int rem, err;

	nla_for_each_attr(attr, attributes->head, attributes->len, rem) {
		const struct spek_genl_field *field = field_of(record, nla_type(attr));

		if (!field)
			return spek_genl_refuse(parser->extack, attr, -EINVAL,
						"This attribute is for answers: a request can't set it.");
		err = set_member(parser, field, dst, attr);
		if (err)
			return err;
		__set_bit(field - record->field, given);
	}
	return 0;
}

static int refuse_missing(const struct parser *parser, const struct spek_genl_record *record,
			  const struct attributes *attributes, const unsigned long *given)
{
	u32 i;

	for (i = 0; i < record->nr; i++) {
		const struct spek_genl_field *field = &record->field[i];

		if (!field->missing || test_bit(i, given))
			continue;
		NL_SET_ERR_ATTR_MISS(parser->extack, attributes->nest, field->attr);
		return spek_genl_refuse(parser->extack, attributes->nest, -EINVAL, field->missing);
	}
	return 0;
}

static int parse_arrays(const struct parser *parser, const struct spek_genl_record *record,
			void *dst, const struct attributes *attributes)
{
	const struct nlattr *attr;
	int rem, err = 0;

	nla_for_each_attr(attr, attributes->head, attributes->len, rem) {
		const struct spek_genl_field *field = field_of(record, nla_type(attr));

		if (field->kind == SPEK_GENL_RECORD)
			err = add_record(parser, field, dst, attr);
		else if (field->kind == SPEK_GENL_POOL)
			err = add_to_pool(parser, field, dst, attr);
		if (err)
			break;
	}
	return err;
}

static int parse_record(const struct parser *parser, const struct spek_genl_record *record,
			void *dst, const struct attributes *attributes)
{
	DECLARE_BITMAP(given, SPEK_GENL_MAX_FIELDS) = {};
	int err;
	u32 i;

	for (i = 0; i < record->nr; i++)
		set_default(&record->field[i], dst);
	err = parse_members(parser, record, dst, attributes, given);
	if (!err)
		err = refuse_missing(parser, record, attributes, given);
	if (!err)
		err = parse_arrays(parser, record, dst, attributes);
	return err;
}

static int parse_message(const struct nlmsghdr *message, struct netlink_ext_ack *extack,
			 const struct spek_genl_record *record, void *dst)
{
	const struct parser parser = { .root = dst, .extack = extack };
	const struct attributes attributes = {
		.head = nlmsg_attrdata(message, GENL_HDRLEN),
		.len = nlmsg_attrlen(message, GENL_HDRLEN),
	};

	return parse_record(&parser, record, dst, &attributes);
}

/**
 * spek_genl_parse() - parse the attributes of a request
 * @info: request, validated by its policy
 * @record: attributes that it may have
 * @dst: structure that takes them, all zero
 *
 * Context: any.
 * Return: 0; -EINVAL if an attribute is missing or only for answers, -ERANGE if there are more than
 *	the structure has room for. The extended ack has the sentence and the attribute.
 */
int spek_genl_parse(const struct genl_info *info, const struct spek_genl_record *record, void *dst)
{
	return parse_message(info->nlhdr, info->extack, record, dst);
}

/**
 * spek_genl_parse_dump() - parse the attributes of a request for a dump
 * @cb: dump, in the first call of its dumpit
 * @record: as of spek_genl_parse()
 * @dst: as of spek_genl_parse()
 *
 * Context: any.
 * Return: as of spek_genl_parse().
 */
int spek_genl_parse_dump(const struct netlink_callback *cb, const struct spek_genl_record *record,
			 void *dst)
{
	return parse_message(cb->nlh, cb->extack, record, dst);
}

/**
 * spek_genl_nth() - find a repeated attribute of a request
 * @info: request
 * @type: attribute
 * @index: its number among those of this type
 *
 * Context: any.
 * Return: the attribute, or NULL.
 */
const struct nlattr *spek_genl_nth(const struct genl_info *info, int type, u32 index)
{
	const struct nlattr *attr;
	int rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		if (nla_type(attr) == type && !index--)
			return attr;
	return NULL;
}

/**
 * spek_genl_given() - find out which attributes a request has
 * @info: request
 * @record: attributes that it may have
 * @given: bitmap of SPEK_GENL_MAX_FIELDS bits, all zero; the fields of these attributes are set
 *
 * Context: any.
 */
void spek_genl_given(const struct genl_info *info, const struct spek_genl_record *record,
		     unsigned long *given)
{
	u32 i;

	for (i = 0; i < record->nr; i++)
		if (info->attrs[record->field[i].attr])
			__set_bit(i, given);
}

/**
 * spek_genl_outside() - find an attribute that an object outside its groups was given
 * @info: request
 * @record: attributes that it may have
 * @groups: those of the object
 *
 * Context: any.
 * Return: the first such attribute, or NULL.
 */
const struct nlattr *spek_genl_outside(const struct genl_info *info,
				       const struct spek_genl_record *record, u32 groups)
{
	u32 i;

	for (i = 0; i < record->nr; i++)
		if (record->field[i].groups & ~groups && info->attrs[record->field[i].attr])
			return info->attrs[record->field[i].attr];
	return NULL;
}

static u64 get_number(const struct spek_genl_field *field, const void *src)
{
	const void *member = src + field->offset;

	switch (field->bytes) {
	case sizeof(bool):
		return *(const bool *)member;
	case sizeof(u32):
		return *(const u32 *)member;
	default:
		return *(const u64 *)member;
	}
}

/**
 * spek_genl_merge() - change the numbers that a request has given
 * @record: attributes that the request may have
 * @dst: structure to change
 * @src: structure that the request was parsed into
 * @given: fields to copy, see spek_genl_given()
 *
 * Context: any.
 */
void spek_genl_merge(const struct spek_genl_record *record, void *dst, const void *src,
		     const unsigned long *given)
{
	u32 i;

	for_each_set_bit(i, given, record->nr) {
		const struct spek_genl_field *field = &record->field[i];

		if (field->kind == SPEK_GENL_U32 || field->kind == SPEK_GENL_U64)
			set_number(field, dst, get_number(field, src));
	}
}

static u32 get_count(const struct spek_genl_field *field, const void *src)
{
	return *(const u32 *)(src + field->count);
}

/**
 * spek_genl_bytes() - compute the room that a structure needs in an answer
 * @record: its attributes
 * @src: structure
 *
 * Context: any.
 * Return: room for all attributes.
 */
size_t spek_genl_bytes(const struct spek_genl_record *record, const void *src)
{
	size_t bytes = 0;
	u32 i, j;

	for (i = 0; i < record->nr; i++) {
		const struct spek_genl_field *field = &record->field[i];
		const void *member = src + field->offset;

		switch (field->kind) {
		case SPEK_GENL_U32:
			bytes += nla_total_size(sizeof(u32));
			break;
		case SPEK_GENL_U64:
			bytes += nla_total_size_64bit(sizeof(u64));
			break;
		case SPEK_GENL_TEXT:
			bytes += nla_total_size(field->bytes);
			break;
		case SPEK_GENL_BYTES:
		case SPEK_GENL_VECTOR:
			bytes += nla_total_size(get_count(field, src) * field->bytes);
			break;
		case SPEK_GENL_RECORD:
			for (j = 0; j < get_count(field, src); j++)
				bytes += nla_total_size(spek_genl_bytes(field->record, member +
									j * field->bytes));
			break;
		}
	}
	return bytes;
}

static int put_records(struct sk_buff *skb, const struct spek_genl_field *field, const void *src,
		       u32 groups)
{
	u32 i;

	for (i = 0; i < get_count(field, src); i++) {
		struct nlattr *nest = nla_nest_start(skb, field->attr);

		if (!nest || spek_genl_put(skb, field->record,
					   src + field->offset + i * field->bytes, groups))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_field(struct sk_buff *skb, const struct spek_genl_record *record,
		     const struct spek_genl_field *field, const void *src, u32 groups)
{
	switch (field->kind) {
	case SPEK_GENL_U32:
		return nla_put_u32(skb, field->attr, get_number(field, src));
	case SPEK_GENL_U64:
		return nla_put_u64_64bit(skb, field->attr, get_number(field, src), record->pad);
	case SPEK_GENL_TEXT:
		return nla_put_string(skb, field->attr, src + field->offset);
	case SPEK_GENL_BYTES:
	case SPEK_GENL_VECTOR:
		return nla_put(skb, field->attr, get_count(field, src) * field->bytes,
			       src + field->offset);
	case SPEK_GENL_RECORD:
		return put_records(skb, field, src, groups);
	default:
		return 0;
	}
}

/**
 * spek_genl_put() - answer with the attributes of a structure
 * @skb: message
 * @record: attributes that a request may have; those of pools are left out
 * @src: structure
 * @groups: attributes outside these groups are left out
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
int spek_genl_put(struct sk_buff *skb, const struct spek_genl_record *record, const void *src,
		  u32 groups)
{
	u32 i;

	for (i = 0; i < record->nr; i++) {
		const struct spek_genl_field *field = &record->field[i];
		int err = field->groups & ~groups ? 0 : put_field(skb, record, field, src, groups);

		if (err)
			return err;
	}
	return 0;
}
