# SPDX-License-Identifier: GPL-2.0-or-later
"""Power during a measurement: meters, their readings, their calibration."""
