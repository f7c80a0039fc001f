# SPDX-License-Identifier: GPL-2.0
"""Litmus tests of hand-overs without a lock, by the memory model of the kernel."""
