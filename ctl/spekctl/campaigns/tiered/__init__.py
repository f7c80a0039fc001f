# SPDX-License-Identifier: GPL-2.0-or-later
"""The tiered storage case: one tier against two, by the SPC-1-like load."""
