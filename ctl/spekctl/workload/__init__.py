# SPDX-License-Identifier: GPL-2.0
"""Workloads: files, checks, and what the kernel side is told."""
