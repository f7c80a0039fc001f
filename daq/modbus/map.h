/* SPDX-License-Identifier: GPL-2.0 */
/*
 * map.h - registers of Modbus meters: where each quantity is, and what its words stand for
 *
 * Eastron SDM120, SDM230 and SDM630, Carlo Gavazzi EM111 and EM112, ABB B21 and B23; README.md says
 * which of these tables were compared with what. Another meter is described by the user. Pure.
 */
#ifndef SPEK_DAQ_MODBUS_MAP_H
#define SPEK_DAQ_MODBUS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel.h"
#include "error.h"

#define MODBUS_MAX_WORDS 4
#define MODBUS_NAME_MAX 16

/**
 * enum modbus_type - type of a quantity's words
 *
 * The high word comes first; in those with _LOW, the low word does.
 */
enum modbus_type {
	MODBUS_U16,
	MODBUS_S16,
	MODBUS_U32,
	MODBUS_S32,
	MODBUS_U64,
	MODBUS_S64,
	MODBUS_F32,
	MODBUS_U32_LOW,
	MODBUS_S32_LOW,
	MODBUS_U64_LOW,
	MODBUS_S64_LOW,
	MODBUS_F32_LOW,
};

/**
 * struct modbus_register - one quantity
 * @name: of its channel
 * @unit: of its values; an energy is DAQ_UNIT_NJ, and is decoded in uJ
 * @is_input: read as input registers (function 4) and not as holding registers (function 3)
 * @address: of the first word, from 0
 * @type: type of the words
 * @scale_ppm: 10^6 * what a step stands for, in V, A, W, kWh or as a ratio
 * @is_part: this power is part of another one, and no rail of its own without a rails file
 */
struct modbus_register {
	char name[MODBUS_NAME_MAX];
	enum daq_unit unit;
	bool is_input;
	uint16_t address;
	enum modbus_type type;
	int64_t scale_ppm;
	bool is_part;
};

/**
 * struct modbus_map - quantities of a meter
 * @reg: quantities
 * @nr: length of @reg
 * @end_is_over: a word at the end of its type's range stands for a value beyond the meter's range,
 *	and not for one that it does not have
 */
struct modbus_map {
	struct modbus_register reg[DAQ_MAX_CHANNELS];
	size_t nr;
	bool end_is_over;
};

/**
 * enum modbus_value - what words stand for
 * @MODBUS_VALUE: a value
 * @MODBUS_NONE: no value: NaN, a number beyond 64 bits, or the type's word for "no value"
 * @MODBUS_OVER: a value beyond the meter's range
 */
enum modbus_value {
	MODBUS_VALUE,
	MODBUS_NONE,
	MODBUS_OVER,
};

/** modbus_map_model() - Return: 0, or -EINVAL and a sentence that lists the known models. */
int modbus_map_model(struct modbus_map *map, const char *model, struct daq_error *err);

/**
 * modbus_map_parse() - parse "NAME=TABLE:ADDRESS:TYPE:UNIT[:SCALE],..."
 *
 * For example "power=input:0x0c:f32:W,volts=holding:0:s32-low:V:0.1".
 *
 * Return: 0, or -EINVAL and a sentence.
 */
int modbus_map_parse(struct modbus_map *map, const char *text, struct daq_error *err);

/** modbus_map_find() - Return: the register called @name, or NULL. */
const struct modbus_register *modbus_map_find(const struct modbus_map *map, const char *name);

/** modbus_words() - Return: number of words of a type, at most MODBUS_MAX_WORDS. */
size_t modbus_words(enum modbus_type type);

/**
 * modbus_decode() - convert words
 * @word: as many as modbus_words() says
 * @value: in the register's unit, rounded to nearest; with MODBUS_OVER, the end of the range
 */
enum modbus_value modbus_decode(const struct modbus_map *map, const struct modbus_register *reg,
				const uint16_t *word, int64_t *value);

/** modbus_range() - Return: what stands for a value beyond the meter's range; 0: nothing does. */
int64_t modbus_range(const struct modbus_map *map, const struct modbus_register *reg);

#endif
