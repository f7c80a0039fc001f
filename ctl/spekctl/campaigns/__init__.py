# SPDX-License-Identifier: GPL-2.0
"""Measurements of many runs: planned, run step by step, kept in a folder, resumed."""
