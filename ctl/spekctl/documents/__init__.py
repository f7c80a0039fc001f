# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that spekctl writes and reads: what stands in them, checked when read."""
