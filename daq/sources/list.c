// SPDX-License-Identifier: GPL-2.0
/* The list of all sources, in the order of --help. */
#include <string.h>

#include "sources/source.h"

extern const struct daq_source_ops daq_source_exec;
extern const struct daq_source_ops daq_source_hwmon;
extern const struct daq_source_ops daq_source_iio;
extern const struct daq_source_ops daq_source_modbus;
extern const struct daq_source_ops daq_source_powercap;
extern const struct daq_source_ops daq_source_powersensor3;
extern const struct daq_source_ops daq_source_quarch;
extern const struct daq_source_ops daq_source_replay;
extern const struct daq_source_ops daq_source_sim;
extern const struct daq_source_ops daq_source_u6;

const struct daq_source_ops *const daq_sources[] = {
	&daq_source_u6,
	&daq_source_powersensor3,
	&daq_source_quarch,
	&daq_source_modbus,
	&daq_source_hwmon,
	&daq_source_iio,
	&daq_source_powercap,
	&daq_source_exec,
	&daq_source_replay,
	&daq_source_sim,
	NULL,
};

const struct daq_source_ops *daq_source_find(const char *name)
{
	size_t i;

	for (i = 0; daq_sources[i]; i++)
		if (!strcmp(daq_sources[i]->name, name))
			return daq_sources[i];
	return NULL;
}
