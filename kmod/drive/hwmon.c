// SPDX-License-Identifier: GPL-2.0
/*
 * The hwmon device of a drive: voltage, current, power and energy of its two rails.
 *
 * Voltages are nominal. Current is power by voltage. Energies are the account's, exact up to the
 * moment of reading, so that differences between two readings are, too. A drive of flash that draws
 * nothing from 12 V has no sensors of that rail.
 */
#include <linux/hwmon.h>
#include <linux/platform_device.h>
#include "events.h"
#include "hwmon.h"

static const char *const labels[SPEK_DRIVE_RAIL_NR] = {
	[SPEK_DRIVE_5V] = "5V",
	[SPEK_DRIVE_12V] = "12V",
};

static const long millivolts[SPEK_DRIVE_RAIL_NR] = {
	[SPEK_DRIVE_5V] = 5000,
	[SPEK_DRIVE_12V] = 12000,
};

static bool draws(const struct spek_drive_model *model, int rail)
{
	u32 i, sum = 0;

	if (!model->flash.channels || rail == SPEK_DRIVE_5V)
		return true;
	for (i = 0; i < SPEK_DRIVE_CONDITION_NR; i++)
		sum |= model->watts.base[i][rail];
	return sum;
}

static umode_t is_visible(const void *data, enum hwmon_sensor_types type, u32 attr, int channel)
{
	const struct spek_unit *unit = data;

	return draws(&unit->config->model, channel) ? 0444 : 0;
}

static int read(struct device *dev, enum hwmon_sensor_types type, u32 attr, int channel,
		long *value)
{
	struct spek_unit *unit = dev_get_drvdata(dev);
	unsigned long flags;
	u64 now_ns, uw, nj;
	LIST_HEAD(done);

	now_ns = spek_unit_lock_accounted(unit, &done, &flags);
	uw = spek_drive_power_uw(&unit->drive, channel, now_ns);
	nj = unit->drive.account.energy[channel].nj;
	spek_unit_unlock(unit, &done, flags);
	switch (type) {
	case hwmon_in:
		*value = millivolts[channel];
		return 0;
	case hwmon_curr:
		*value = DIV_ROUND_CLOSEST_ULL(uw, millivolts[channel]);
		return 0;
	case hwmon_power:
		*value = uw;
		return 0;
	case hwmon_energy:
		*value = div_u64(nj, NSEC_PER_USEC);
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int read_string(struct device *dev, enum hwmon_sensor_types type, u32 attr, int channel,
		       const char **text)
{
	*text = labels[channel];
	return 0;
}

static const struct hwmon_ops ops = {
	.is_visible = is_visible,
	.read = read,
	.read_string = read_string,
};

static const struct hwmon_channel_info *channels[] = {
	HWMON_CHANNEL_INFO(in, HWMON_I_INPUT | HWMON_I_LABEL, HWMON_I_INPUT | HWMON_I_LABEL),
	HWMON_CHANNEL_INFO(curr, HWMON_C_INPUT | HWMON_C_LABEL, HWMON_C_INPUT | HWMON_C_LABEL),
	HWMON_CHANNEL_INFO(power, HWMON_P_INPUT | HWMON_P_LABEL, HWMON_P_INPUT | HWMON_P_LABEL),
	HWMON_CHANNEL_INFO(energy, HWMON_E_INPUT | HWMON_E_LABEL, HWMON_E_INPUT | HWMON_E_LABEL),
	NULL
};

static const struct hwmon_chip_info chip = {
	.ops = &ops,
	.info = channels,
};

/**
 * spek_hwmon_add() - show a drive's power
 * @unit: the drive
 *
 * A kernel without hwmon, or one that refuses, shows none: the drive works without. Context:
 * process.
 */
void spek_hwmon_add(struct spek_unit *unit)
{
	struct device *dev;

	if (!IS_REACHABLE(CONFIG_HWMON))
		return;
	dev = hwmon_device_register_with_info(&unit->device->dev, "spek_drive", unit, &chip, NULL);
	if (!IS_ERR(dev))
		unit->hwmon = dev;
}

/**
 * spek_hwmon_remove() - remove what spek_hwmon_add() has made
 * @unit: unit
 *
 * No reading runs when this returns.
 *
 * Context: process, may sleep.
 */
void spek_hwmon_remove(struct spek_unit *unit)
{
	if (IS_REACHABLE(CONFIG_HWMON) && unit->hwmon)
		hwmon_device_unregister(unit->hwmon);
	unit->hwmon = NULL;
}
