/* SPDX-License-Identifier: GPL-2.0 */
/* Putting attributes into messages. */
#ifndef SPEK_GENL_PUT_H
#define SPEK_GENL_PUT_H

#include <net/netlink.h>

/* Put 64-bit attribute @name of set @set, padded with the pad attribute of the set. */
#define SPEK_PUT_U64(skb, set, name, value) \
	nla_put_u64_64bit(skb, set##_##name, value, set##_PAD)
#define SPEK_PUT_S64(skb, set, name, value) \
	nla_put_s64(skb, set##_##name, value, set##_PAD)

/**
 * struct spek_genl_u64 - an unsigned 64-bit attribute and its value
 * @attr: attribute id
 * @value: value
 */
struct spek_genl_u64 {
	int attr;
	u64 value;
};

/**
 * spek_genl_put_u64s() - put a table of attributes
 * @skb: message
 * @pad: pad attribute of their set
 * @values: the table
 * @nr: its entries
 *
 * Return: 0 or -EMSGSIZE.
 */
static inline int spek_genl_put_u64s(struct sk_buff *skb, int pad,
				     const struct spek_genl_u64 *values, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (nla_put_u64_64bit(skb, values[i].attr, values[i].value, pad))
			return -EMSGSIZE;
	return 0;
}

#endif
