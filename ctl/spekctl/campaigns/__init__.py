# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurements of many runs: planned, run step by step, kept in a folder, resumed."""
