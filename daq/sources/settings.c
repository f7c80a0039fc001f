// SPDX-License-Identifier: GPL-2.0
/* Looking up the settings of a source, and converting them. */
#include <errno.h>
#include <string.h>

#include "number.h"
#include "sources/source.h"

const char *daq_setting_text(const struct daq_setup *setup, const char *key)
{
	const char *found = NULL;
	size_t i;

	/* The last one wins: --set follows the rails file. */
	for (i = 0; i < setup->nr_settings; i++) {
		if (strcmp(setup->setting[i].key, key))
			continue;
		setup->setting[i].used = true;
		found = setup->setting[i].value;
	}
	return found;
}

int daq_setting_number(const struct daq_setup *setup, const char *key, int64_t min, int64_t max,
		       int64_t *value, struct daq_error *err)
{
	const char *text = daq_setting_text(setup, key);
	int64_t found;

	if (!text)
		return 0;
	if (strchr(text, '.') || daq_parse_fixed(text, strlen(text), 0, &found) || found < min ||
	    found > max)
		return daq_fail(err, EINVAL,
				"setting '%s' is '%s'; it must be a whole number from %lld to %lld",
				key, text, (long long)min, (long long)max);
	*value = found;
	return 0;
}

int daq_setting_bool(const struct daq_setup *setup, const char *key, bool *value,
		     struct daq_error *err)
{
	const char *text = daq_setting_text(setup, key);

	if (!text)
		return 0;
	if (strcmp(text, "true") && strcmp(text, "false"))
		return daq_fail(err, EINVAL, "setting '%s' is '%s'; it must be true or false", key,
				text);
	*value = !strcmp(text, "true");
	return 0;
}

int daq_settings_check(const struct daq_setup *setup, const struct daq_source_ops *ops,
		       struct daq_error *err)
{
	size_t i;

	for (i = 0; i < setup->nr_settings; i++)
		if (!setup->setting[i].used)
			return daq_fail(err, EINVAL, "source %s has no setting '%s'; it has %s",
					ops->name, setup->setting[i].key,
					ops->settings ? ops->settings : "none");
	return 0;
}
