# SPDX-License-Identifier: GPL-2.0
"""Fuzzing: of the netlink families, of everything in C and in Python that takes outside data."""
