# SPDX-License-Identifier: GPL-2.0
"""The log of single I/Os: recorded, stored, read, summed up."""
