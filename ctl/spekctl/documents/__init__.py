# SPDX-License-Identifier: GPL-2.0
"""The files that spekctl writes and reads: what stands in them, checked when read."""
