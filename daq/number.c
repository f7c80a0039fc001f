// SPDX-License-Identifier: GPL-2.0
/* Decimal text to integers. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "number.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int append(int64_t *value, int digit)
{
	if (__builtin_mul_overflow(*value, 10, value) ||
	    __builtin_sub_overflow(*value, digit, value))
		return -ERANGE;
	return 0;
}

/* Collected as a negative number, whose range is larger by one. */
static int collect(const char *text, size_t length, unsigned int decimals, int64_t *value)
{
	bool has_point = false, has_digit = false;
	unsigned int left = decimals;
	size_t i;

	for (i = 0; i < length; i++) {
		if (text[i] == '.' && !has_point) {
			has_point = true;
		} else if (is_digit(text[i])) {
			has_digit = true;
			if (has_point && !left)
				break;
			if (append(value, text[i] - '0'))
				return -ERANGE;
			left -= has_point;
		} else {
			return -EINVAL;
		}
	}
	if (!has_digit)
		return -EINVAL;
	while (left--)
		if (append(value, 0))
			return -ERANGE;
	if (i == length)
		return 0;
	if (text[i] >= '5' && __builtin_sub_overflow(*value, 1, value))
		return -ERANGE;
	for (; i < length; i++)
		if (!is_digit(text[i]))
			return -EINVAL;
	return 0;
}

int daq_parse_fixed(const char *text, size_t length, unsigned int decimals, int64_t *value)
{
	bool is_negative = length && text[0] == '-';
	int64_t found = 0;
	int error;

	if (decimals > 18)
		return -EINVAL;
	error = collect(text + is_negative, length - is_negative, decimals, &found);
	if (error)
		return error;
	if (!is_negative && found == INT64_MIN)
		return -ERANGE;
	*value = is_negative ? found : -found;
	return 0;
}

int daq_parse_duration_ns(const char *text, uint64_t *value)
{
	static const struct {
		const char *name;
		unsigned int decimals;
		int64_t factor;
	} unit[] = {
		{ "ns", 0, 1 }, { "us", 3, 1 }, { "ms", 6, 1 }, { "s", 9, 1 },
		{ "m", 9, 60 }, { "h", 9, 3600 },
	};
	size_t digits = strspn(text, "-.0123456789");
	int64_t found;
	size_t i;
	int error;

	if (!strcmp(text, "0")) {
		*value = 0;
		return 0;
	}
	for (i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		if (!strcmp(text + digits, unit[i].name))
			break;
	if (i == sizeof(unit) / sizeof(unit[0]))
		return -EINVAL;
	error = daq_parse_fixed(text, digits, unit[i].decimals, &found);
	if (error)
		return error;
	if (found < 0 || __builtin_mul_overflow(found, unit[i].factor, &found))
		return -ERANGE;
	*value = (uint64_t)found;
	return 0;
}
