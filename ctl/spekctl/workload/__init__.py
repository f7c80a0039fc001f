# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads: files, checks, and what the kernel side is told."""
