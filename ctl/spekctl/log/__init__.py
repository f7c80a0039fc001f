# SPDX-License-Identifier: GPL-2.0-or-later
"""The log of single I/Os: recorded, stored, read, summarized."""
