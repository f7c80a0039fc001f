// SPDX-License-Identifier: GPL-2.0
/* See map.h. */
#include "modbus/map.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

#define PPM 1000000

/* ---- types and units ---- */

static const struct {
	const char *name;
	size_t words;
	bool is_signed;
	bool is_float;
	bool low_first;
} types[] = {
	[MODBUS_U16] = { "u16", 1, false, false, false },
	[MODBUS_S16] = { "s16", 1, true, false, false },
	[MODBUS_U32] = { "u32", 2, false, false, false },
	[MODBUS_S32] = { "s32", 2, true, false, false },
	[MODBUS_U64] = { "u64", 4, false, false, false },
	[MODBUS_S64] = { "s64", 4, true, false, false },
	[MODBUS_F32] = { "f32", 2, true, true, false },
	[MODBUS_U32_LOW] = { "u32-low", 2, false, false, true },
	[MODBUS_S32_LOW] = { "s32-low", 2, true, false, true },
	[MODBUS_U64_LOW] = { "u64-low", 4, false, false, true },
	[MODBUS_S64_LOW] = { "s64-low", 4, true, false, true },
	[MODBUS_F32_LOW] = { "f32-low", 2, true, true, true },
};

#define NR_TYPES (sizeof(types) / sizeof(types[0]))

static const struct {
	const char *name;
	enum daq_unit unit;
	int64_t factor;
} units[] = {
	{ "V", DAQ_UNIT_UV, 1000000 },
	{ "A", DAQ_UNIT_UA, 1000000 },
	{ "W", DAQ_UNIT_NW, 1000000000 },
	/* in uJ: in nJ, 64 bits would be full at 2562 kWh */
	{ "kWh", DAQ_UNIT_NJ, 3600000000000 },
	{ "pf", DAQ_UNIT_PPM, 1000000 },
};

#define NR_UNITS (sizeof(units) / sizeof(units[0]))

size_t modbus_words(enum modbus_type type)
{
	return types[type].words;
}

/* ---- models ---- */

#define INPUT(name, unit, address, type, scale) { name, unit, true, address, type, scale, false }
#define HOLDING(name, unit, address, type, scale) { name, unit, false, address, type, scale, false }
#define PHASE(name, is_input, address, type, scale) \
	{ name, DAQ_UNIT_NW, is_input, address, type, scale, true }

static const struct modbus_register sdm_single[] = {
	INPUT("power", DAQ_UNIT_NW, 0x000c, MODBUS_F32, PPM),
	INPUT("voltage", DAQ_UNIT_UV, 0x0000, MODBUS_F32, PPM),
	INPUT("current", DAQ_UNIT_UA, 0x0006, MODBUS_F32, PPM),
	INPUT("pf", DAQ_UNIT_PPM, 0x001e, MODBUS_F32, PPM),
	INPUT("energy", DAQ_UNIT_NJ, 0x0048, MODBUS_F32, PPM),
};

static const struct modbus_register sdm630[] = {
	INPUT("power", DAQ_UNIT_NW, 0x0034, MODBUS_F32, PPM),
	PHASE("power1", true, 0x000c, MODBUS_F32, PPM),
	PHASE("power2", true, 0x000e, MODBUS_F32, PPM),
	PHASE("power3", true, 0x0010, MODBUS_F32, PPM),
	INPUT("voltage1", DAQ_UNIT_UV, 0x0000, MODBUS_F32, PPM),
	INPUT("voltage2", DAQ_UNIT_UV, 0x0002, MODBUS_F32, PPM),
	INPUT("voltage3", DAQ_UNIT_UV, 0x0004, MODBUS_F32, PPM),
	INPUT("current1", DAQ_UNIT_UA, 0x0006, MODBUS_F32, PPM),
	INPUT("current2", DAQ_UNIT_UA, 0x0008, MODBUS_F32, PPM),
	INPUT("current3", DAQ_UNIT_UA, 0x000a, MODBUS_F32, PPM),
	INPUT("pf", DAQ_UNIT_PPM, 0x003e, MODBUS_F32, PPM),
	INPUT("energy", DAQ_UNIT_NJ, 0x0048, MODBUS_F32, PPM),
};

static const struct modbus_register em11x[] = {
	INPUT("power", DAQ_UNIT_NW, 0x0004, MODBUS_S32_LOW, 100000),
	INPUT("voltage", DAQ_UNIT_UV, 0x0000, MODBUS_S32_LOW, 100000),
	INPUT("current", DAQ_UNIT_UA, 0x0002, MODBUS_S32_LOW, 1000),
	INPUT("pf", DAQ_UNIT_PPM, 0x000e, MODBUS_S16, 1000),
	INPUT("energy", DAQ_UNIT_NJ, 0x0010, MODBUS_S32_LOW, 100000),
};

static const struct modbus_register b21[] = {
	HOLDING("power", DAQ_UNIT_NW, 0x5b14, MODBUS_S32, 10000),
	HOLDING("voltage", DAQ_UNIT_UV, 0x5b00, MODBUS_U32, 100000),
	HOLDING("current", DAQ_UNIT_UA, 0x5b0c, MODBUS_U32, 10000),
	HOLDING("pf", DAQ_UNIT_PPM, 0x5b3a, MODBUS_S16, 1000),
	HOLDING("energy", DAQ_UNIT_NJ, 0x5000, MODBUS_U64, 10000),
};

static const struct modbus_register b23[] = {
	HOLDING("power", DAQ_UNIT_NW, 0x5b14, MODBUS_S32, 10000),
	PHASE("power1", false, 0x5b16, MODBUS_S32, 10000),
	PHASE("power2", false, 0x5b18, MODBUS_S32, 10000),
	PHASE("power3", false, 0x5b1a, MODBUS_S32, 10000),
	HOLDING("voltage1", DAQ_UNIT_UV, 0x5b00, MODBUS_U32, 100000),
	HOLDING("voltage2", DAQ_UNIT_UV, 0x5b02, MODBUS_U32, 100000),
	HOLDING("voltage3", DAQ_UNIT_UV, 0x5b04, MODBUS_U32, 100000),
	HOLDING("current1", DAQ_UNIT_UA, 0x5b0c, MODBUS_U32, 10000),
	HOLDING("current2", DAQ_UNIT_UA, 0x5b0e, MODBUS_U32, 10000),
	HOLDING("current3", DAQ_UNIT_UA, 0x5b10, MODBUS_U32, 10000),
	HOLDING("pf", DAQ_UNIT_PPM, 0x5b3a, MODBUS_S16, 1000),
	HOLDING("energy", DAQ_UNIT_NJ, 0x5000, MODBUS_U64, 10000),
};

#define TABLE(table) table, sizeof(table) / sizeof((table)[0])

static const struct {
	const char *name;
	const struct modbus_register *reg;
	size_t nr;
	bool end_is_over;
} models[] = {
	{ "sdm120", TABLE(sdm_single), false },
	{ "sdm230", TABLE(sdm_single), false },
	{ "sdm630", TABLE(sdm630), false },
	/* Its display shows EEE then. */
	{ "em111", TABLE(em11x), true },
	{ "em112", TABLE(em11x), true },
	{ "b21", TABLE(b21), false },
	{ "b23", TABLE(b23), false },
};

#define NR_MODELS (sizeof(models) / sizeof(models[0]))

int modbus_map_model(struct modbus_map *map, const char *model, struct daq_error *err)
{
	char list[100] = "";

	for (size_t i = 0; i < NR_MODELS; i++) {
		strcat(list, i ? ", " : "");
		strcat(list, models[i].name);
		if (strcmp(models[i].name, model))
			continue;
		memset(map, 0, sizeof(*map));
		memcpy(map->reg, models[i].reg, models[i].nr * sizeof(map->reg[0]));
		map->nr = models[i].nr;
		map->end_is_over = models[i].end_is_over;
		return 0;
	}
	return daq_fail(err, EINVAL,
			"setting 'model' is '%s'; known models: %s; setting 'map' describes others",
			model, list);
}

/* ---- a user's map ---- */

static bool is_text(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(text, word, length);
}

static bool take_name(struct modbus_register *reg, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	if (!length || length >= sizeof(reg->name))
		return false;
	memcpy(reg->name, text, length);
	reg->name[length] = '\0';
	return true;
}

static bool take_address(struct modbus_register *reg, const char *text, size_t length)
{
	bool is_hex = length > 2 && text[0] == '0' && text[1] == 'x';
	uint32_t address = 0;

	if (is_hex) {
		text += 2;
		length -= 2;
	}
	if (!length || length > 5)
		return false;
	for (size_t i = 0; i < length; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = strchr(digits, text[i] >= 'A' && text[i] <= 'F' ? text[i] + 32 :
										      text[i]);
		uint32_t number = digit && *digit ? (uint32_t)(digit - digits) : 16;

		if (number >= (is_hex ? 16u : 10u))
			return false;
		address = address * (is_hex ? 16 : 10) + number;
	}
	reg->address = (uint16_t)address;
	return address + modbus_words(reg->type) <= UINT16_MAX + 1u;
}

static bool take_type(struct modbus_register *reg, const char *text, size_t length)
{
	for (size_t i = 0; i < NR_TYPES; i++) {
		if (!is_text(text, length, types[i].name))
			continue;
		reg->type = (enum modbus_type)i;
		return true;
	}
	return false;
}

static bool take_unit(struct modbus_register *reg, const char *text, size_t length)
{
	for (size_t i = 0; i < NR_UNITS; i++) {
		if (!is_text(text, length, units[i].name))
			continue;
		reg->unit = units[i].unit;
		return true;
	}
	return false;
}

static bool take_scale(struct modbus_register *reg, const char *text, size_t length)
{
	return !daq_parse_fixed(text, length, 6, &reg->scale_ppm) && reg->scale_ppm &&
	       llabs(reg->scale_ppm) <= 1000000ll * PPM;
}

enum { TABLE_FIELD, ADDRESS_FIELD, TYPE_FIELD, UNIT_FIELD, SCALE_FIELD, NR_FIELDS };

static int take_register(struct modbus_register *reg, const char *text, size_t length,
			 struct daq_error *err)
{
	const char *field[NR_FIELDS], *equals = memchr(text, '=', length), *end = text + length;
	size_t bytes[NR_FIELDS], nr = 0;
	const char *from = equals ? equals + 1 : end;

	while (equals && nr < NR_FIELDS) {
		const char *colon = memchr(from, ':', (size_t)(end - from));

		field[nr] = from;
		bytes[nr++] = (size_t)((colon ? colon : end) - from);
		from = colon ? colon + 1 : end;
		if (!colon)
			break;
	}
	if (nr < SCALE_FIELD || from != end || end[-1] == ':' ||
	    !take_name(reg, text, (size_t)(equals - text)))
		return daq_fail(err, EINVAL,
				"setting 'map' has '%.*s'; each part must be NAME=TABLE:ADDRESS:TYPE:UNIT or NAME=TABLE:ADDRESS:TYPE:UNIT:SCALE, with a NAME of 1 to %d bytes",
				(int)length, text, MODBUS_NAME_MAX - 1);
	reg->is_input = is_text(field[TABLE_FIELD], bytes[TABLE_FIELD], "input");
	if (!reg->is_input && !is_text(field[TABLE_FIELD], bytes[TABLE_FIELD], "holding"))
		return daq_fail(err, EINVAL, "register '%s': its table must be input or holding",
				reg->name);
	if (!take_type(reg, field[TYPE_FIELD], bytes[TYPE_FIELD]))
		return daq_fail(err, EINVAL,
				"register '%s': its type must be u16, s16, u32, s32, u64, s64 or f32, with -low behind it if the low word comes first",
				reg->name);
	if (!take_address(reg, field[ADDRESS_FIELD], bytes[ADDRESS_FIELD]))
		return daq_fail(err, EINVAL,
				"register '%s': its address must be from 0 to 65535 (0xffff), and so must that of its last word",
				reg->name);
	if (!take_unit(reg, field[UNIT_FIELD], bytes[UNIT_FIELD]))
		return daq_fail(err, EINVAL, "register '%s': its unit must be V, A, W, kWh or pf",
				reg->name);
	reg->scale_ppm = PPM;
	if (nr > SCALE_FIELD && !take_scale(reg, field[SCALE_FIELD], bytes[SCALE_FIELD]))
		return daq_fail(err, EINVAL,
				"register '%s': its scale must be a decimal number from 0.000001 to 1000000, possibly negative",
				reg->name);
	return 0;
}

int modbus_map_parse(struct modbus_map *map, const char *text, struct daq_error *err)
{
	memset(map, 0, sizeof(*map));
	for (;;) {
		size_t length = strcspn(text, ",");
		struct modbus_register reg = { .name = "" };
		int error;

		if (map->nr == DAQ_MAX_CHANNELS)
			return daq_fail(err, EINVAL, "setting 'map' has more than %d registers",
					DAQ_MAX_CHANNELS);
		error = take_register(&reg, text, length, err);
		if (error)
			return error;
		if (modbus_map_find(map, reg.name))
			return daq_fail(err, EINVAL, "setting 'map' has two registers called '%s'",
					reg.name);
		map->reg[map->nr++] = reg;
		if (!text[length])
			return 0;
		text += length + 1;
	}
}

const struct modbus_register *modbus_map_find(const struct modbus_map *map, const char *name)
{
	for (size_t i = 0; i < map->nr; i++)
		if (!strcmp(map->reg[i].name, name))
			return &map->reg[i];
	return NULL;
}

/* ---- values ---- */

static int64_t factor_of(const struct modbus_register *reg)
{
	size_t i = 0;

	while (units[i].unit != reg->unit)
		i++;
	return units[i].factor;
}

static enum modbus_value decode_float(const struct modbus_register *reg, uint64_t bits,
				      int64_t *value)
{
	uint32_t word = (uint32_t)bits;
	double scaled;
	float number;

	memcpy(&number, &word, sizeof(number));
	scaled = (double)number * (double)factor_of(reg) * ((double)reg->scale_ppm / PPM);
	/* Also false for NaN. */
	if (!(fabs(scaled) < 9.2e18))
		return MODBUS_NONE;
	*value = llround(scaled);
	return MODBUS_VALUE;
}

/* Whether all bits are set, apart from the sign of a signed number. */
static bool is_at_end(enum modbus_type type, uint64_t bits)
{
	unsigned int width = (unsigned int)types[type].words * 16 - types[type].is_signed;

	return bits == UINT64_MAX >> (64 - width);
}

enum modbus_value modbus_decode(const struct modbus_map *map, const struct modbus_register *reg,
				const uint16_t *word, int64_t *value)
{
	size_t words = modbus_words(reg->type);
	unsigned int width = (unsigned int)words * 16;
	__int128 number, product, half = PPM / 2;
	uint64_t bits = 0;

	for (size_t i = 0; i < words; i++)
		bits = bits << 16 | word[types[reg->type].low_first ? words - 1 - i : i];
	if (types[reg->type].is_float)
		return decode_float(reg, bits, value);
	if (is_at_end(reg->type, bits) && !map->end_is_over)
		return MODBUS_NONE;
	number = bits;
	if (types[reg->type].is_signed && bits >> (width - 1))
		number -= (__int128)1 << width;
	product = number * factor_of(reg);
	if (product > (__int128)INT64_MAX * PPM || product < -(__int128)INT64_MAX * PPM)
		return MODBUS_NONE;
	product *= reg->scale_ppm;
	product = (product + (product < 0 ? -half : half)) / PPM;
	if (product > INT64_MAX || product <= INT64_MIN)
		return MODBUS_NONE;
	*value = (int64_t)product;
	return is_at_end(reg->type, bits) ? MODBUS_OVER : MODBUS_VALUE;
}

int64_t modbus_range(const struct modbus_map *map, const struct modbus_register *reg)
{
	uint16_t word[MODBUS_MAX_WORDS];
	size_t words = modbus_words(reg->type);
	size_t first = types[reg->type].low_first ? words - 1 : 0;
	int64_t end;

	memset(word, 0xff, sizeof(word));
	if (types[reg->type].is_signed)
		word[first] = 0x7fff;
	return modbus_decode(map, reg, word, &end) == MODBUS_OVER ? end : 0;
}
