# SPDX-License-Identifier: GPL-2.0-or-later
"""SNIA Emerald: conditioning, the load mixes, idle."""
