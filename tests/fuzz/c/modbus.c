// SPDX-License-Identifier: GPL-2.0
/* Maps of Modbus meters: the map's text, a zero byte, then words of its registers. */
#include <stdlib.h>
#include <string.h>

#include "modbus/map.h"
#include "target.h"

static void decode_all(const struct modbus_map *map, struct fuzz_input *in)
{
	while (in->size) {
		const struct modbus_register *reg = &map->reg[fuzz_bytes(in, 1) % map->nr];
		size_t words = modbus_words(reg->type);
		/* exactly as long as the type, so that a look past its end is seen */
		uint16_t *word = malloc(words * sizeof(*word));
		int64_t value = 0, end = modbus_range(map, reg);
		size_t i;

		for (i = 0; i < words; i++)
			word[i] = (uint16_t)fuzz_bytes(in, 2);
		switch (modbus_decode(map, reg, word, &value)) {
		case MODBUS_VALUE:
			FUZZ_REQUIRE(value != DAQ_ABSENT, "a value is none that stands for none");
			break;
		case MODBUS_OVER:
			FUZZ_REQUIRE(map->end_is_over && value == end, "a range has one end");
			break;
		case MODBUS_NONE:
			break;
		}
		free(word);
	}
}

void fuzz_modbus(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	size_t length = strnlen((const char *)data, size);
	char *text = strndup((const char *)data, length);
	struct modbus_map *map = malloc(sizeof(*map));
	struct daq_error err;
	size_t i;

	length += length < size;
	in.data += length;
	in.size -= length;
	if (!modbus_map_model(map, text, &err))
		decode_all(map, &in);
	if (!modbus_map_parse(map, text, &err)) {
		FUZZ_REQUIRE(map->nr && map->nr <= DAQ_MAX_CHANNELS, "a map has registers");
		for (i = 0; i < map->nr; i++) {
			FUZZ_REQUIRE(modbus_map_find(map, map->reg[i].name) == &map->reg[i],
				     "names are unique");
			FUZZ_REQUIRE(map->reg[i].address + modbus_words(map->reg[i].type) <= 65536,
				     "addresses have 16 bits");
		}
		map->end_is_over = length % 2;
		decode_all(map, &in);
	}
	free(map);
	free(text);
}
