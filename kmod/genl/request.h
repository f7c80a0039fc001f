/* SPDX-License-Identifier: GPL-2.0 */
/* From requests to structures, and from these to answers, by tables generated from the spec. */
#ifndef SPEK_GENL_REQUEST_H
#define SPEK_GENL_REQUEST_H

#include <linux/stddef.h>
#include <linux/types.h>

struct genl_info;
struct netlink_callback;
struct nlattr;
struct sk_buff;

#define SPEK_GENL_MAX_FIELDS	128

/**
 * enum spek_genl_kind - what becomes of an attribute
 * @SPEK_GENL_IGNORED: nothing; it is for readers of requests
 * @SPEK_GENL_U32: a number: bool, u32 or u64 in the structure
 * @SPEK_GENL_U64: a number: u64 or s64 in the structure
 * @SPEK_GENL_TEXT: a string
 * @SPEK_GENL_BYTES: bytes and their number
 * @SPEK_GENL_VECTOR: binary, the entries of an array, and their number
 * @SPEK_GENL_RECORD: a nest; repeated, the next entry of an array
 * @SPEK_GENL_POOL: entries of an array that all records of the request share
 */
enum spek_genl_kind {
	SPEK_GENL_IGNORED,
	SPEK_GENL_U32,
	SPEK_GENL_U64,
	SPEK_GENL_TEXT,
	SPEK_GENL_BYTES,
	SPEK_GENL_VECTOR,
	SPEK_GENL_RECORD,
	SPEK_GENL_POOL,
};

/**
 * struct spek_genl_pool - an array that all records of a request share
 * @offset: of the array in the structure of the whole request
 * @count: of the number of entries used, a u32, there
 * @torn: sentence that refuses a part of an entry
 */
struct spek_genl_pool {
	u32 offset;
	u32 count;
	const char *torn;
};

/**
 * struct spek_genl_field - an attribute of a request, and the member that takes it
 * @attr: id of the attribute
 * @kind: enum spek_genl_kind
 * @offset: of the member; SPEK_GENL_POOL: of the index of the first entry, a u32
 * @bytes: size of the member; of an array: of an entry
 * @count: offset of the number of entries or bytes, a u32
 * @at_most: entries that the array has room for
 * @groups: bits of the groups that it is of; objects and messages outside any of them lack it
 * @usual: value of a number that is not given
 * @missing: sentence that refuses a request without it; NULL: it may be left out
 * @too_many: sentence that refuses more than @at_most entries
 * @record: of a nest
 * @pool: SPEK_GENL_POOL: the array
 */
struct spek_genl_field {
	u16 attr;
	u16 kind;
	u32 offset;
	u32 bytes;
	u32 count;
	u32 at_most;
	u32 groups;
	u64 usual;
	const char *missing;
	const char *too_many;
	const struct spek_genl_record *record;
	const struct spek_genl_pool *pool;
};

/**
 * struct spek_genl_record - an attribute set of a request, and the structure that takes it
 * @field: attributes that a request may have
 * @nr: their number, at most SPEK_GENL_MAX_FIELDS
 * @pad: attribute that aligns the others in answers; 0: the set has no numbers of 64 bits
 */
struct spek_genl_record {
	const struct spek_genl_field *field;
	u32 nr;
	u16 pad;
};

#define SPEK_GENL_MEMBER(_kind, _attr, _type, _member)	\
	.attr = _attr,					\
	.kind = SPEK_GENL_##_kind,			\
	.offset = offsetof(_type, _member),		\
	.bytes = sizeof_field(_type, _member)

#define SPEK_GENL_ARRAY(_kind, _attr, _type, _member, _count)	\
	.attr = _attr,						\
	.kind = SPEK_GENL_##_kind,				\
	.offset = offsetof(_type, _member),			\
	.bytes = sizeof_field(_type, _member[0]),		\
	.count = offsetof(_type, _count)

int spek_genl_parse(const struct genl_info *info, const struct spek_genl_record *record, void *dst);
int spek_genl_parse_dump(const struct netlink_callback *cb, const struct spek_genl_record *record,
			 void *dst);
const struct nlattr *spek_genl_nth(const struct genl_info *info, int type, u32 index);
void spek_genl_given(const struct genl_info *info, const struct spek_genl_record *record,
		     unsigned long *given);
void spek_genl_merge(const struct spek_genl_record *record, void *dst, const void *src,
		     const unsigned long *given);
const struct nlattr *spek_genl_outside(const struct genl_info *info,
				       const struct spek_genl_record *record, u32 groups);
size_t spek_genl_bytes(const struct spek_genl_record *record, const void *src);
int spek_genl_put(struct sk_buff *skb, const struct spek_genl_record *record, const void *src,
		  u32 groups);

#endif
