// SPDX-License-Identifier: GPL-2.0
/*
 * What can be wrong with attributes: missing, twice, too many, in another order, at another level,
 * unknown, of another type, too short, too long, beyond a limit, a length that lies, a nest that is none.
 */
#include <linux/netlink.h>
#include <string.h>

#include "fuzz.h"

/* a place in a list, and what the spec says of the attribute there */
struct place {
	struct node **at;
	int set;
};

static void collect(struct node **list, int set, struct place *places, uint32_t *nr)
{
	for (; *list && *nr < MAX_NODES; list = &(*list)->next) {
		places[(*nr)++] = (struct place){ .at = list, .set = set };
		if ((*list)->set >= 0)
			collect(&(*list)->first, (*list)->set, places, nr);
	}
}

static struct node *copy(struct fuzz_state *state, const struct node *node)
{
	struct node *made = fuzz_node(state, node->type, node->bytes, node->length);
	struct node **end;
	const struct node *child;

	if (!made)
		return NULL;
	made->set = node->set;
	made->lie = node->lie;
	end = &made->first;
	for (child = node->first; child; child = child->next) {
		*end = copy(state, child);
		if (!*end)
			break;
		end = &(*end)->next;
	}
	return made;
}

static void insert(struct node **at, struct node *node)
{
	if (!node)
		return;
	node->next = *at;
	*at = node;
}

static void set_bytes(struct node *node, struct node *other)
{
	if (!other)
		return;
	node->bytes = other->bytes;
	node->length = other->length;
	node->first = NULL;
	node->set = -1;
}

static void boundary_value(struct fuzz_state *state, const struct fuzz_attr *attr,
			   struct node *node)
{
	uint64_t number = fuzz_boundary(state, attr);

	if (node->set >= 0 || !node->length || node->length > 8)
		return;
	set_bytes(node, fuzz_node(state, 0, &number, node->length));
}

static void other_length(struct fuzz_state *state, struct node *node)
{
	static const uint32_t lengths[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 31, 32, 33, 63, 64, 65, 4096, 49152, 65000 };
	uint8_t bytes[65000];
	uint32_t length = lengths[fuzz_below(state, sizeof(lengths) / sizeof(lengths[0]))];

	memset(bytes, fuzz_chance(state, 128) ? 0 : 'x', length);
	if (node->set < 0)
		memcpy(bytes, node->bytes, node->length < length ? node->length : length);
	set_bytes(node, fuzz_node(state, 0, bytes, length));
}

static void random_bytes(struct fuzz_state *state, struct node *node)
{
	uint8_t bytes[256];
	uint32_t i, length = node->set < 0 && node->length <= 256 ? node->length : 64;

	for (i = 0; i < length; i++)
		bytes[i] = (uint8_t)fuzz_random(state);
	set_bytes(node, fuzz_node(state, 0, bytes, length));
}

static void wrap(struct fuzz_state *state, struct node **at)
{
	struct node *outer = fuzz_node(state, (*at)->type | NLA_F_NESTED, NULL, 0);

	if (!outer)
		return;
	outer->set = 0;
	outer->next = (*at)->next;
	outer->first = *at;
	(*at)->next = NULL;
	*at = outer;
}

/* children take the place of their nest */
static void unwrap(struct node **at)
{
	struct node *nest = *at, **end = &nest->first;

	if (nest->set < 0 || !nest->first)
		return;
	while (*end)
		end = &(*end)->next;
	*end = nest->next;
	*at = nest->first;
}

static void swap_with_next(struct node **at)
{
	struct node *one = *at, *two = one->next;

	if (!two)
		return;
	one->next = two->next;
	two->next = one;
	*at = two;
}

static void many(struct fuzz_state *state, struct node **at)
{
	uint32_t times = 1 + fuzz_below(state, fuzz_chance(state, 32) ? 300 : 20);

	while (times-- && state->nr_nodes < MAX_NODES)
		insert(at, copy(state, *at));
}

/* an attribute of the spec that doesn't belong here, or of no spec */
static void foreign(struct fuzz_state *state, const struct fuzz_family *family, struct node **at)
{
	const struct fuzz_set *set = &family->sets[fuzz_below(state, (uint32_t)family->nr_sets)];
	const struct fuzz_attr *attr = &set->attrs[fuzz_below(state, (uint32_t)set->nr_attrs)];
	uint64_t number = fuzz_boundary(state, attr);
	uint16_t type = fuzz_chance(state, 128) ? attr->id : (uint16_t)fuzz_random(state);

	insert(at, fuzz_node(state, type, &number, attr->type == FUZZ_U64 ? 8 : 4));
}

static void change(struct fuzz_state *state, const struct fuzz_family *family,
		   const struct place *place)
{
	struct node *node = *place->at;
	const struct fuzz_attr *attr = fuzz_find(family, place->set, node->type & NLA_TYPE_MASK);

	switch (fuzz_below(state, 20)) {
	case 0:
	case 1:
		*place->at = node->next;
		break;
	case 2:
		insert(place->at, copy(state, node));
		break;
	case 3:
		many(state, place->at);
		break;
	case 4:
		swap_with_next(place->at);
		break;
	case 5:
		wrap(state, place->at);
		break;
	case 6:
		unwrap(place->at);
		break;
	case 7:
		node->type ^= fuzz_chance(state, 200) ? NLA_F_NESTED : NLA_F_NET_BYTEORDER;
		break;
	case 8:
		node->type = (uint16_t)fuzz_random(state) & (fuzz_chance(state, 200) ? 63 : 0xffff);
		break;
	case 9:
		other_length(state, node);
		break;
	case 10:
		random_bytes(state, node);
		break;
	case 11:
		node->lie = fuzz_chance(state, 128) ? (int)fuzz_below(state, 16) - 8 :
						      (int)(int16_t)fuzz_random(state);
		break;
	case 12:
	case 13:
		foreign(state, family, place->at);
		break;
	default:
		boundary_value(state, attr, node);
	}
}

struct node *fuzz_mutate(struct fuzz_state *state, int family, const struct fuzz_op *op,
			 struct node *list)
{
	struct place places[MAX_NODES];
	uint32_t times = 1 + fuzz_below(state, fuzz_chance(state, 64) ? 8 : 2);

	while (times--) {
		uint32_t nr = 0;

		collect(&list, op->set, places, &nr);
		if (!nr) {
			foreign(state, &fuzz_families[family], &list);
			continue;
		}
		change(state, &fuzz_families[family], &places[fuzz_below(state, nr)]);
	}
	return list;
}

size_t fuzz_write(const struct node *list, uint8_t *to, size_t room)
{
	size_t used = 0;

	for (; list; list = list->next) {
		struct nlattr head = { .nla_type = list->type };
		size_t length = list->length;

		if (used + NLA_HDRLEN + NLA_ALIGN(length) > room)
			break;
		if (list->set >= 0)
			length = fuzz_write(list->first, to + used + NLA_HDRLEN,
					    room - used - NLA_HDRLEN);
		else if (length)
			memcpy(to + used + NLA_HDRLEN, list->bytes, length);
		memset(to + used + NLA_HDRLEN + length, 0, NLA_ALIGN(length) - length);
		head.nla_len = (uint16_t)((int)(NLA_HDRLEN + length) + list->lie);
		memcpy(to + used, &head, sizeof(head));
		used += NLA_HDRLEN + NLA_ALIGN(length);
	}
	return used;
}
