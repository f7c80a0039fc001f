# SPDX-License-Identifier: GPL-2.0-or-later
"""SPC-1: the phases of the benchmark, its checks and its persistence test."""
