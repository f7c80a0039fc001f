# SPDX-License-Identifier: GPL-2.0
"""Power during a measurement: meters, what they said, their calibration."""
