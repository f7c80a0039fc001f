// SPDX-License-Identifier: GPL-2.0
/* Plausible requests, and random numbers. */
#include <linux/netlink.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../../kmod/drive/uapi/spek_drive.h"
#include "../../../kmod/load/uapi/spek.h"
#include "../../../prober/uapi/spek_prober.h"
#include "fuzz.h"

/* xorshift128+ */
uint64_t fuzz_random(struct fuzz_state *state)
{
	uint64_t a = state->random[0], b = state->random[1];

	state->random[0] = b;
	a ^= a << 23;
	state->random[1] = a ^ b ^ (a >> 18) ^ (b >> 5);
	return state->random[1] + b;
}

uint32_t fuzz_below(struct fuzz_state *state, uint32_t n)
{
	return (uint32_t)((fuzz_random(state) >> 32) * n >> 32);
}

bool fuzz_chance(struct fuzz_state *state, uint32_t in_256)
{
	return fuzz_below(state, 256) < in_256;
}

uint64_t fuzz_boundary(struct fuzz_state *state, const struct fuzz_attr *attr)
{
	uint64_t power = 1ull << fuzz_below(state, 64);
	const uint64_t edge[] = {
		0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, UINT32_MAX, INT32_MAX,
		1ull << 31, 1ull << 32, power, power - 1, power + 1, -power,
		attr ? attr->min : 0, attr ? attr->min - 1 : 0, attr ? attr->max : 0,
		attr ? attr->max + 1 : 0, fuzz_random(state), fuzz_below(state, 1000), 512, 4096,
	};

	return edge[fuzz_below(state, sizeof(edge) / sizeof(edge[0]))];
}

static uint8_t *take(struct fuzz_state *state, uint32_t length)
{
	uint8_t *found = state->data + state->used;

	if (state->used + length > sizeof(state->data))
		return NULL;
	state->used += length;
	return found;
}

struct node *fuzz_node(struct fuzz_state *state, uint16_t type, const void *bytes, uint32_t length)
{
	uint8_t *copy = take(state, length);
	struct node *node = &state->node[state->nr_nodes];

	if (!copy || state->nr_nodes == MAX_NODES)
		return NULL;
	state->nr_nodes++;
	if (length)
		memcpy(copy, bytes, length);
	*node = (struct node){ .type = type, .set = -1, .bytes = copy, .length = length };
	return node;
}

const struct fuzz_attr *fuzz_find(const struct fuzz_family *family, int set, uint16_t id)
{
	size_t i;

	for (i = 0; set >= 0 && i < family->sets[set].nr_attrs; i++)
		if (family->sets[set].attrs[i].id == id)
			return &family->sets[set].attrs[i];
	return NULL;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static uint64_t near_now(struct fuzz_state *state)
{
	return now_ns() + fuzz_below(state, 2000000000) - 1500000000ull;
}

static uint32_t known(struct fuzz_state *state, enum fuzz_kind kind)
{
	struct fuzz_shared *shared = state->shared;
	uint32_t nr = atomic_load(&shared->nr_known[kind]);

	if (!nr)
		return 1;
	/* mostly the young ones: the old ones are gone */
	if (fuzz_chance(state, 200))
		nr -= fuzz_below(state, nr < 6 ? nr : 6);
	else
		nr -= fuzz_below(state, nr < MAX_KNOWN ? nr : MAX_KNOWN);
	return atomic_load(&shared->known[kind][(nr - 1) % MAX_KNOWN]);
}

static uint32_t replay(struct fuzz_state *state)
{
	/* A socket that reads no answers never hears that its run has ended. */
	if (!state->feeding.run || fuzz_chance(state, 1))
		state->feeding = (struct fuzz_feeding){ .run = known(state, KIND_REPLAY) };
	return fuzz_chance(state, 240) ? state->feeding.run : known(state, KIND_REPLAY);
}

void fuzz_remember(struct fuzz_shared *shared, enum fuzz_kind kind, uint32_t number)
{
	uint32_t at;

	for (at = 0; at < MAX_KNOWN; at++)
		if (atomic_load(&shared->known[kind][at]) == number)
			return;
	at = atomic_fetch_add(&shared->nr_known[kind], 1);
	atomic_store(&shared->known[kind][at % MAX_KNOWN], number);
}

static struct node *samples(struct fuzz_state *state, uint16_t type)
{
	struct spek_prober_power_sample batch[64];
	uint32_t nr = 1 + fuzz_below(state, 64), i;
	uint64_t at_ns = near_now(state);

	for (i = 0; i < nr; i++) {
		at_ns += fuzz_below(state, 1000000);
		batch[i] = (struct spek_prober_power_sample){
			.at_ns = at_ns,
			.power_uw = (int32_t)fuzz_random(state),
			.rail = fuzz_below(state, 3) ? 0 : fuzz_below(state, 4),
			.flags = fuzz_chance(state, 16),
		};
	}
	return fuzz_node(state, type, batch, nr * (uint32_t)sizeof(batch[0]));
}

static struct node *intervals(struct fuzz_state *state, uint16_t type)
{
	struct spek_prober_power_interval some[32];
	uint32_t nr = 1 + fuzz_below(state, 32), i;

	for (i = 0; i < nr; i++) {
		some[i].from_ns = near_now(state);
		some[i].to_ns = some[i].from_ns + 1 + fuzz_below(state, 1000000000);
	}
	return fuzz_node(state, type, some, nr * (uint32_t)sizeof(some[0]));
}

static struct node *states(struct fuzz_state *state, uint16_t type)
{
	uint64_t some[256];
	uint32_t nr = 1 + fuzz_below(state, 256), i;

	/* generations, some of failed writes; rarely what none can be */
	for (i = 0; i < nr; i++)
		some[i] = fuzz_chance(state, 1) ? fuzz_random(state) : fuzz_below(state, 20);
	return fuzz_node(state, type, some, nr * (uint32_t)sizeof(some[0]));
}

/* A table for some of the ranges, alignments and sizes that streams have here. */
static struct node *parts(struct fuzz_state *state, uint16_t type)
{
	static const uint32_t range[] = { 65536, 1048576, 8388608, 16777216 };
	static const uint32_t size[] = { 512, 4096, 16384, 65536 };
	uint32_t align = fuzz_below(state, 2) ? 4096 : 512;
	uint64_t slots = (range[fuzz_below(state, 4)] - size[fuzz_below(state, 4)]) / align + 1;
	uint32_t nr = 1 + fuzz_below(state, slots < 64 ? (uint32_t)slots : 64), i;
	struct spek_table_part some[64];
	uint64_t weight = 1ull << 40;

	for (i = 0; i < nr; i++) {
		bool last = i + 1 == nr;

		some[i].slots = last ? slots : 1;
		some[i].weight = last ? weight : weight / 3;
		slots -= some[i].slots;
		weight -= some[i].weight;
		if (fuzz_chance(state, 1))
			some[i].slots = fuzz_random(state);
		if (fuzz_chance(state, 1))
			some[i].weight = fuzz_random(state);
	}
	return fuzz_node(state, type, some, nr * (uint32_t)sizeof(some[0]));
}

/* zones one after another; rarely with a field of which nothing is known */
static struct node *zones(struct fuzz_state *state, uint16_t type)
{
	struct spek_drive_zone_record some[8];
	uint32_t nr = 1 + fuzz_below(state, 8), cylinder = 0, i;

	for (i = 0; i < nr; i++) {
		some[i] = (struct spek_drive_zone_record){
			.first_cylinder = cylinder,
			.cylinders = 1 + fuzz_below(state, 500),
			.sectors_per_track = 1 + fuzz_below(state, 1000),
			.track_skew = fuzz_random(state),
			.cylinder_skew = fuzz_random(state),
		};
		cylinder += some[i].cylinders + (fuzz_chance(state, 32) ? fuzz_below(state, 9) : 0);
	}
	if (fuzz_chance(state, 16))
		memset((uint8_t *)&some[fuzz_below(state, nr)] + 4 * fuzz_below(state, 8), 0xff, 4);
	return fuzz_node(state, type, some, nr * (uint32_t)sizeof(some[0]));
}

static struct node *seek_points(struct fuzz_state *state, uint16_t type)
{
	struct spek_drive_seek_record some[16];
	uint32_t nr = 1 + fuzz_below(state, 16), distance = 0, ns = 1000, i;

	for (i = 0; i < nr; i++) {
		distance += 1 + fuzz_below(state, 300);
		ns += fuzz_below(state, 500000);
		some[i] = (struct spek_drive_seek_record){ .distance = distance, .ns = ns };
	}
	if (fuzz_chance(state, 16))
		some[fuzz_below(state, nr)].ns = (uint32_t)fuzz_random(state);
	return fuzz_node(state, type, some, nr * (uint32_t)sizeof(some[0]));
}

/* Records of a trace in order of time, mostly; rarely one that none can be. */
static struct node *records(struct fuzz_state *state, uint16_t type)
{
	static const uint32_t nr_of_messages[] = { 1, 16, 64, 64, 64, 64, 256, SPEK_TRACE_BATCH };
	struct spek_trace_record some[SPEK_TRACE_BATCH];
	uint32_t nr = nr_of_messages[fuzz_below(state, 8)], i;
	uint64_t at_ns = state->feeding.at_ns;
	bool only_reads = fuzz_chance(state, 200);

	for (i = 0; i < nr; i++) {
		at_ns += fuzz_below(state, 1000);
		some[i] = (struct spek_trace_record){
			.at_ns = at_ns,
			.addr = 4096ull * fuzz_below(state, 2040),
			.bytes = 4096,
			.op = !only_reads && fuzz_below(state, 2),
		};
	}
	state->feeding.at_ns = at_ns;
	if (fuzz_chance(state, 64)) {
		i = fuzz_below(state, nr);
		some[i].op = fuzz_below(state, 5);
		if (some[i].op == SPEK_TRACE_OP_FLUSH)
			some[i].addr = some[i].bytes = 0;
	}
	if (fuzz_chance(state, 32))
		some[fuzz_below(state, nr)].flags = fuzz_below(state, 5);
	if (fuzz_chance(state, 16))
		memset((uint8_t *)&some[fuzz_below(state, nr)] + 4 * fuzz_below(state, 6), 0xff, 4);
	return fuzz_node(state, type, some, nr * (uint32_t)sizeof(some[0]));
}

static struct node *number_node(struct fuzz_state *state, const struct fuzz_attr *attr,
				uint64_t number)
{
	bool is_wide = attr->type == FUZZ_U64 || attr->type == FUZZ_S64;

	return fuzz_node(state, attr->id, &number, is_wide ? 8 : 4);
}

static struct node *value_node(struct fuzz_state *state, const struct fuzz_attr *attr,
			       const struct fuzz_value *value)
{
	struct fuzz_shared *shared = state->shared;

	switch (value->source) {
	case SOURCE_TEXT:
		return fuzz_node(state, attr->id, value->text, (uint32_t)strlen(value->text) + 1);
	case SOURCE_RUN:
	case SOURCE_PROBE:
	case SOURCE_FEED:
	case SOURCE_DRIVE:
		return number_node(state, attr,
				   known(state, (enum fuzz_kind)(value->source - SOURCE_RUN)));
	case SOURCE_MAJOR:
		return number_node(state, attr, shared->major);
	case SOURCE_MINOR:
		return number_node(state, attr,
				   shared->minor[fuzz_below(state, (uint32_t)shared->nr_disks)]);
	case SOURCE_PROTECTED_MINOR:
		return number_node(state, attr, shared->protected_minor);
	case SOURCE_NEAR_NOW:
		return number_node(state, attr, near_now(state));
	case SOURCE_SAMPLES:
		return samples(state, attr->id);
	case SOURCE_INTERVALS:
		return intervals(state, attr->id);
	case SOURCE_PID:
		return number_node(state, attr, fuzz_chance(state, 128) ? (uint32_t)getpid() :
				   1 + fuzz_below(state, 300));
	case SOURCE_STATES:
		return states(state, attr->id);
	case SOURCE_PARTS:
		return parts(state, attr->id);
	case SOURCE_ZONES:
		return zones(state, attr->id);
	case SOURCE_SEEK_POINTS:
		return seek_points(state, attr->id);
	case SOURCE_REPLAY:
		return number_node(state, attr, replay(state));
	case SOURCE_FED:
		/* A socket that has fed nothing would end the trace of any run. */
		return number_node(state, attr,
				   state->feeding.accepted ? state->feeding.accepted : 1);
	case SOURCE_RECORDS:
		return records(state, attr->id);
	default:
		return number_node(state, attr, value->number);
	}
}

static struct node *build_variant(struct fuzz_state *state, const struct fuzz_family *family,
				  int set, const struct fuzz_variant *variants, size_t nr);

static struct node *build_field(struct fuzz_state *state, const struct fuzz_family *family,
				int set, const struct fuzz_field *field)
{
	const struct fuzz_attr *attr = fuzz_find(family, set, field->id);
	struct node *node;

	if (attr->nested < 0)
		return value_node(state, attr,
				  &field->values[fuzz_below(state, (uint32_t)field->nr_values)]);
	node = fuzz_node(state, attr->id | NLA_F_NESTED, NULL, 0);
	if (node) {
		const struct fuzz_set *inner = &family->sets[attr->nested];

		node->set = attr->nested;
		if (field->variants)
			node->first = build_variant(state, family, attr->nested, field->variants,
						    field->nr_variants);
		else
			node->first = build_variant(state, family, attr->nested, inner->variants,
						    inner->nr_variants);
	}
	return node;
}

static struct node *build_variant(struct fuzz_state *state, const struct fuzz_family *family,
				  int set, const struct fuzz_variant *variants, size_t nr)
{
	const struct fuzz_variant *variant = &variants[fuzz_below(state, (uint32_t)nr)];
	struct node *list = NULL, **end = &list;
	size_t i;

	for (i = 0; i < variant->nr_fields; i++) {
		const struct fuzz_field *field = &variant->fields[i];
		/* mostly one: many asus that all fit are rare */
		uint32_t times = fuzz_chance(state, 160) ? 1 : 1 + fuzz_below(state, field->at_most);

		if (!fuzz_chance(state, field->often))
			continue;
		while (times--) {
			*end = build_field(state, family, set, field);
			if (!*end)
				return list;
			end = &(*end)->next;
		}
	}
	return list;
}

bool fuzz_has(const struct node *list, uint16_t id)
{
	while (list && list->type != id)
		list = list->next;
	return list;
}

struct node *fuzz_build(struct fuzz_state *state, int family, const struct fuzz_op *op)
{
	state->nr_nodes = 0;
	state->used = 0;
	return build_variant(state, &fuzz_families[family], op->set, op->variants, op->nr_variants);
}
