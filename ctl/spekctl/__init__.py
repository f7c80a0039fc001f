# SPDX-License-Identifier: GPL-2.0-or-later
"""Controller of the spek load generator."""

__version__ = "0.1.0"  # generated from dkms.conf, run make gen
