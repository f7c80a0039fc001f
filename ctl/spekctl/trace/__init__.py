# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces: recorded I/O, read from many formats, examined, converted, mapped and scheduled."""
