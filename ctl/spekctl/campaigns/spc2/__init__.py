# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPC-2-like campaign: large files, large database queries, video on demand."""
