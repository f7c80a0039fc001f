# SPDX-License-Identifier: GPL-2.0
"""Paper 004 again, on modelled disks in simulated time: `python -m bench.paper004 --help`."""
