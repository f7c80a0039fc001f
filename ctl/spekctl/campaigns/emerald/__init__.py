# SPDX-License-Identifier: GPL-2.0
"""SNIA Emerald: conditioning, the load mixes, idle."""
