# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that spekctl writes: their fields, which are checked when a file is read."""
