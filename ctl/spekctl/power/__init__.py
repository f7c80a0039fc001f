# SPDX-License-Identifier: GPL-2.0-or-later
"""Power during a measurement: meters, what they said, their calibration."""
