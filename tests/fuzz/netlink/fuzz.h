/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink messages that look like what the families expect, and are wrong in many ways.
 *
 *   tables (from the specs) -> build.c: a plausible request as a tree of attributes
 *   -> mutate.c: what is wrong with it -> bytes -> socket.c: sent, answers read
 *   -> check.c: are they what the spec says?
 *
 * One struct fuzz_state for each thread; what threads share is in struct fuzz_shared. All
 * decisions come from the state's random numbers, so a seed and a number of threads give the
 * same requests again, but for what the kernel answered meanwhile (numbers of runs).
 */
#ifndef SPEK_FUZZ_H
#define SPEK_FUZZ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fuzz_type {
	FUZZ_PAD,
	FUZZ_U32,
	FUZZ_U64,
	FUZZ_S32,
	FUZZ_S64,
	FUZZ_STRING,
	FUZZ_BINARY,
	FUZZ_FLAG,
	FUZZ_NEST,
};

/* where a value comes from */
enum fuzz_source {
	SOURCE_NUMBER,
	SOURCE_TEXT,
	SOURCE_RUN,
	SOURCE_PROBE,
	SOURCE_FEED,
	SOURCE_DRIVE,
	SOURCE_REPLAY,
	SOURCE_MAJOR,
	SOURCE_MINOR,
	SOURCE_PROTECTED_MINOR,
	SOURCE_NEAR_NOW,
	SOURCE_SAMPLES,
	SOURCE_INTERVALS,
	SOURCE_PID,
	SOURCE_STATES,
	SOURCE_PARTS,
	SOURCE_ZONES,
	SOURCE_SEEK_POINTS,
	SOURCE_RECORDS,
	SOURCE_FED,
};

struct fuzz_value {
	enum fuzz_source source;
	uint64_t number;
	const char *text;
};

/* an attribute of a plausible set; @often in 256ths; @variants: of a nest, or NULL for its set's */
struct fuzz_field {
	uint16_t id;
	uint16_t often;
	uint16_t at_most;
	const struct fuzz_value *values;
	size_t nr_values;
	const struct fuzz_variant *variants;
	size_t nr_variants;
};

struct fuzz_variant {
	const struct fuzz_field *fields;
	size_t nr_fields;
};

struct fuzz_attr {
	const char *name;
	uint16_t id;
	enum fuzz_type type;
	int multi;
	int nested;	/* index of a set, or -1 */
	uint64_t min, max;
	uint32_t max_len;
};

struct fuzz_set {
	const char *name;
	const struct fuzz_attr *attrs;
	size_t nr_attrs;
	const struct fuzz_variant *variants;
	size_t nr_variants;
};

struct fuzz_op {
	const char *name;
	uint8_t id;
	int set;
	int has_do, has_dump;
	int weight;
	const unsigned short *reply;
	size_t nr_reply;
	const struct fuzz_variant *variants;
	size_t nr_variants;
};

struct fuzz_family {
	const char *name;
	const char *group;
	const struct fuzz_set *sets;
	size_t nr_sets;
	const struct fuzz_op *ops;
	size_t nr_ops;
	const int *errnos;	/* that the head of the spec names */
	size_t nr_errnos;
};

#define FUZZ_FAMILIES 3
extern const struct fuzz_family fuzz_families[FUZZ_FAMILIES];

#define MAX_NODES 2048
#define MAX_BYTES (1 << 17)
#define MAX_DISKS 16
#define MAX_KNOWN 64

/* numbers that are remembered; in the order of the sources from SOURCE_RUN on */
enum fuzz_kind {
	KIND_RUN,
	KIND_PROBE,
	KIND_FEED,
	KIND_DRIVE,
	KIND_REPLAY,		/* a run that may be fed */
	FUZZ_KINDS,
};

#define ERRNOS 256

/**
 * struct node - an attribute
 * @type: as it is sent, flags included
 * @set: of the attributes in it; -1: bytes
 * @lie: added to the length that is sent
 */
struct node {
	uint16_t type;
	int set;
	int lie;
	uint32_t length;
	const uint8_t *bytes;
	struct node *first;
	struct node *next;
};

/** struct fuzz_shared - what all threads know */
struct fuzz_shared {
	uint16_t family_id[FUZZ_FAMILIES];
	uint32_t group_id[FUZZ_FAMILIES];
	uint32_t major;
	uint32_t minor[MAX_DISKS];
	size_t nr_disks;
	uint32_t protected_minor;	/* no run may write to this one */
	uint32_t feed_percent;	/* of the messages that are to be about the feed of traces */
	/* numbers that the kernel has told, of enum fuzz_kind */
	_Atomic uint32_t known[FUZZ_KINDS][MAX_KNOWN];
	atomic_uint nr_known[FUZZ_KINDS];
	atomic_bool failed;
};

struct fuzz_counts {
	uint64_t sent, dumps, batches, sockets, abandoned, overruns, checked;
	uint64_t fed;	/* records that were accepted */
	uint64_t replies[FUZZ_FAMILIES][32];
	uint64_t errors[FUZZ_FAMILIES + 1][ERRNOS];
	uint64_t asked[FUZZ_FAMILIES][32];
	uint64_t asked_us[FUZZ_FAMILIES][32];	/* time that sending and reading took */
	uint64_t notes;
};

/**
 * struct fuzz_feeding - what a socket feeds
 * @run: whose trace it feeds, 0 for none; no other socket may
 * @accepted: records that the run has taken
 * @at_ns: when the last record that was sent is due
 * @refused: refusals since records were accepted
 */
struct fuzz_feeding {
	uint32_t run;
	uint64_t accepted;
	uint64_t at_ns;
	uint32_t refused;
};

struct fuzz_state {
	struct fuzz_shared *shared;
	uint64_t random[2];
	struct node node[MAX_NODES];
	size_t nr_nodes;
	uint8_t data[MAX_BYTES];
	size_t used;
	uint8_t out[2 * MAX_BYTES];
	struct fuzz_counts counts;
	struct fuzz_feeding feeding;	/* of the socket that is being used */
	bool makes_replay;	/* a request of this exchange makes a run that replays a trace */
	uint32_t told_run, told_state;	/* of the last run of which an answer told the state */
	int last_family;
	uint8_t last_op;
};

/* random numbers */
uint64_t fuzz_random(struct fuzz_state *state);
uint32_t fuzz_below(struct fuzz_state *state, uint32_t n);
bool fuzz_chance(struct fuzz_state *state, uint32_t in_256);

/** fuzz_boundary() - Return: a number at which mistakes are made. */
uint64_t fuzz_boundary(struct fuzz_state *state, const struct fuzz_attr *attr);

/* trees; NULL when the arena is full */
struct node *fuzz_node(struct fuzz_state *state, uint16_t type, const void *bytes, uint32_t length);
const struct fuzz_attr *fuzz_find(const struct fuzz_family *family, int set, uint16_t id);

/** fuzz_op() - Return: the command with this number, NULL if there is none. */
const struct fuzz_op *fuzz_op(const struct fuzz_family *family, uint8_t cmd);

/** fuzz_has() - whether an attribute is in a list */
bool fuzz_has(const struct node *list, uint16_t id);

/** fuzz_build() - Return: the plausible attributes of a request, a list. */
struct node *fuzz_build(struct fuzz_state *state, int family, const struct fuzz_op *op);

/** fuzz_mutate() - put something wrong into the attributes. Return: the list. */
struct node *fuzz_mutate(struct fuzz_state *state, int family, const struct fuzz_op *op,
			 struct node *list);

/** fuzz_write() - Return: bytes of the attributes at @to, at most @room. */
size_t fuzz_write(const struct node *list, uint8_t *to, size_t room);

/**
 * fuzz_check() - whether a datagram is what the specs say that answers are
 * Return: NULL, or what is wrong.
 */
const char *fuzz_check(struct fuzz_state *state, const uint8_t *bytes, size_t length);

/** fuzz_remember() - a number that the kernel has told, once (@kind: enum fuzz_kind). */
void fuzz_remember(struct fuzz_shared *shared, enum fuzz_kind kind, uint32_t number);

/** fuzz_thread() - make and send @messages; a thread's work. */
void fuzz_thread(struct fuzz_state *state, uint64_t messages);

/** fuzz_resolve() - ask the kernel for all families. Return: false if one isn't there. */
bool fuzz_resolve(struct fuzz_shared *shared);

#endif
