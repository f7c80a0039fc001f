# SPDX-License-Identifier: GPL-2.0
"""SPC-1: the phases of the benchmark, its checks and its persistence test."""
