# SPDX-License-Identifier: GPL-2.0
"""Documents as text: tables, progress, series."""
