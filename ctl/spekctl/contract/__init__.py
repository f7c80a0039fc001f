# SPDX-License-Identifier: GPL-2.0-or-later
"""What a request to the module can say: limits, words and records, generated from its contract.

Below the rooms that describe a workload and the one that talks to the kernel: both use it.
"""
