// SPDX-License-Identifier: GPL-2.0
/* What QIS writes: a header, a zero byte, then rows, one a line. Or rows of a usual header. */
#include <stdlib.h>
#include <string.h>

#include "quarch/text.h"
#include "target.h"

static const char usual[] =
	"<?xml version=\"1.0\"?><header><version>V3</version><mainPeriod>4096uS</mainPeriod><channels>"
	"<channel><name>Status</name><group>status</group><units>NA</units></channel>"
	"<channel><name>5V</name><group>voltage</group><units>mV</units></channel>"
	"<channel><name>5V</name><group>power</group><units>uW</units></channel>"
	"</channels></header>";

static void take_rows(const struct quarch_header *header, const char *text, size_t size)
{
	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t length = end ? (size_t)(end - text) : size, i;
		int64_t value[QUARCH_MAX_COLUMNS];
		/* exactly as long as the row, so that a look past its end is seen */
		char *row = malloc(length ? length : 1);
		uint64_t at;

		memcpy(row, text, length);
		if (!quarch_row_parse(header, row, length, &at, value)) {
			FUZZ_REQUIRE(at <= INT64_MAX, "times are not negative");
			for (i = 0; i < header->nr; i++)
				FUZZ_REQUIRE((value[i] != DAQ_ABSENT) ==
					     header->column[i].is_measured,
					     "a row has all values");
		}
		free(row);
		text += length;
		size -= length;
		if (size) {
			text++;
			size--;
		}
	}
}

void fuzz_quarch(const uint8_t *data, size_t size)
{
	size_t length = strnlen((const char *)data, size);
	char *text = strndup((const char *)data, length);
	struct quarch_header header;
	struct daq_error err;

	if (quarch_header_parse(&header, text, &err))
		FUZZ_REQUIRE(!quarch_header_parse(&header, usual, &err),
			     "a usual header is fine");
	FUZZ_REQUIRE(header.nr_measured && header.nr_measured <= header.nr &&
		     header.nr <= QUARCH_MAX_COLUMNS, "a header has channels");
	length += length < size;
	take_rows(&header, (const char *)data + length, size - length);
	free(text);
}
