# SPDX-License-Identifier: GPL-2.0-or-later
"""SPC-1/E: energy over idle, and over the load points of SPC-1."""
