# SPDX-License-Identifier: GPL-2.0-or-later
"""The PTS-like campaign: IOPS, throughput, latency and write saturation of solid-state storage."""
