/* SPDX-License-Identifier: GPL-2.0 */
/*
 * identity.h - which device a number of sysfs stands for
 *
 * hwmon1, intel-rapl:0 and iio:device1 are given out in the order in which drivers load. After a
 * reload, the same number may be another device, whose readings do not belong to the rail.
 */
#ifndef SPEK_DAQ_SOURCES_IDENTITY_H
#define SPEK_DAQ_SOURCES_IDENTITY_H

#include "channel.h"

/**
 * daq_identity_pin() - remember the device of a channel the first time, and compare it afterwards
 * @path: entry of the device in sysfs, e.g. /sys/class/hwmon/hwmon1
 * Return: 0; -ENODEV and a sentence if it is another device now.
 */
int daq_identity_pin(struct daq_channel *channel, const char *path, struct daq_error *err);

#endif
