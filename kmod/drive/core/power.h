/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Power conditions of a drive and the energy of its parts.
 *
 *	condition	media access		commands that lead away
 *	ACTIVE		served			standby, stop
 *	STANDBY		starts the spindle	start, stop
 *	STOPPED		refused			start
 *	STARTING	waits			standby, stop
 *	TO_STANDBY	starts the spindle	start, stop
 *	TO_STOPPED	refused			start
 *
 * In ACTIVE the power is a sum of components, each constant while it is on, so that energies are
 * products, exact and additive:
 *
 *	electronics	5 V	always
 *	spindle		12 V	always; the caller scales it by speed, diameter and platters
 *	hold		12 V	always, for each arm assembly
 *	move		12 V	for each arm that seeks
 *	wait		12 V	for each arm that waits for rotation
 *	read, write	5 V	for each arm that transfers, each channel that reads or programs
 *	erase		5 V	for each channel that erases
 *
 * In the other conditions each rail has one constant power; starting and stopping take a
 * constant time, so that the peak of the current at spin-up is not shown.
 */
#ifndef SPEK_DRIVE_POWER_H
#define SPEK_DRIVE_POWER_H

#include "../../core/refusal.h"
#include "../../core/spek_host.h"
#include "geometry.h"

#define SPEK_DRIVE_MAX_UW		1000000000U
#define SPEK_DRIVE_MAX_TRANSITION_NS	600000000000ULL

/**
 * enum spek_drive_condition - power condition of a drive
 * @SPEK_DRIVE_ACTIVE: ready for media accesses
 * @SPEK_DRIVE_STANDBY: spindle stopped; a media access starts it
 * @SPEK_DRIVE_STOPPED: spindle stopped until the host starts it
 * @SPEK_DRIVE_STARTING: on the way to active
 * @SPEK_DRIVE_TO_STANDBY: on the way to standby
 * @SPEK_DRIVE_TO_STOPPED: on the way to stopped
 * @SPEK_DRIVE_CONDITION_NR: number of conditions
 */
enum spek_drive_condition {
	SPEK_DRIVE_ACTIVE,
	SPEK_DRIVE_STANDBY,
	SPEK_DRIVE_STOPPED,
	SPEK_DRIVE_STARTING,
	SPEK_DRIVE_TO_STANDBY,
	SPEK_DRIVE_TO_STOPPED,
	SPEK_DRIVE_CONDITION_NR,
};

/**
 * enum spek_drive_event - event that changes a power condition
 * @SPEK_DRIVE_START: the host wants the drive active
 * @SPEK_DRIVE_SLEEP: the host wants standby, which a media access ends
 * @SPEK_DRIVE_STOP: the host wants the spindle stopped until it starts it
 * @SPEK_DRIVE_MEDIA: a request waits for the media
 * @SPEK_DRIVE_REACHED: the time of a transition is over
 * @SPEK_DRIVE_EVENT_NR: number of events
 */
enum spek_drive_event {
	SPEK_DRIVE_START,
	SPEK_DRIVE_SLEEP,
	SPEK_DRIVE_STOP,
	SPEK_DRIVE_MEDIA,
	SPEK_DRIVE_REACHED,
	SPEK_DRIVE_EVENT_NR,
};

/**
 * enum spek_drive_rail - supply voltages
 * @SPEK_DRIVE_5V: 5 V: electronics
 * @SPEK_DRIVE_12V: 12 V: motors
 * @SPEK_DRIVE_RAIL_NR: number of rails
 */
enum spek_drive_rail {
	SPEK_DRIVE_5V,
	SPEK_DRIVE_12V,
	SPEK_DRIVE_RAIL_NR,
};

/**
 * enum spek_drive_phase - activity of an arm or of a channel of flash
 * @SPEK_DRIVE_IDLE: none
 * @SPEK_DRIVE_SEEK: the arm moves
 * @SPEK_DRIVE_ROTATE: the arm waits for a sector
 * @SPEK_DRIVE_READ: it reads
 * @SPEK_DRIVE_WRITE: it writes
 * @SPEK_DRIVE_ERASE: a channel of flash erases
 * @SPEK_DRIVE_PHASE_NR: number of phases
 */
enum spek_drive_phase {
	SPEK_DRIVE_IDLE,
	SPEK_DRIVE_SEEK,
	SPEK_DRIVE_ROTATE,
	SPEK_DRIVE_READ,
	SPEK_DRIVE_WRITE,
	SPEK_DRIVE_ERASE,
	SPEK_DRIVE_PHASE_NR,
};

/**
 * struct spek_drive_condition_info - properties of a power condition
 * @name: for people
 * @serves: the media can be accessed
 * @refuses: a media access is refused, not queued
 * @is_transition: it ends by itself after a time
 */
struct spek_drive_condition_info {
	const char *name;
	bool serves;
	bool refuses;
	bool is_transition;
};

/**
 * struct spek_drive_watts - power of the parts in uW, up to 1 kW each
 * @base: in each condition by rail; ACTIVE: 5 V electronics, 12 V spindle
 * @hold: for each arm assembly of an active drive; 12 V
 * @phase: what an arm or channel adds in each phase; 12 V for seek and rotate, else 5 V; 0 for idle
 * @starting_ns: time from standby or stopped to active
 * @stopping_ns: time from active to standby or stopped
 */
struct spek_drive_watts {
	u32 base[SPEK_DRIVE_CONDITION_NR][SPEK_DRIVE_RAIL_NR];
	u32 hold;
	u32 phase[SPEK_DRIVE_PHASE_NR];
	u64 starting_ns;
	u64 stopping_ns;
};

/**
 * struct spek_drive_energy - an exact energy: @nj + @rest / 10^6
 * @nj: nanojoules, modulo 2^64, which is 58 years at 10 W
 * @rest: femtojoules, below 10^6
 */
struct spek_drive_energy {
	u64 nj;
	u32 rest;
};

extern const struct spek_drive_condition_info spek_drive_conditions[SPEK_DRIVE_CONDITION_NR];

int spek_drive_condition_next(enum spek_drive_condition condition, enum spek_drive_event event);
int spek_drive_watts_check(const struct spek_drive_watts *watts, struct spek_refusal *refusal);
enum spek_drive_rail spek_drive_phase_rail(enum spek_drive_phase phase);
void spek_drive_energy_add(struct spek_drive_energy *energy, u64 uw, u64 ns);

#endif
