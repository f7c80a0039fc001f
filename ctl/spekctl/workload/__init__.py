# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads: files, checks, and their configuration for the kernel."""
