# SPDX-License-Identifier: GPL-2.0
"""How often each fault is played in a guest: once, or as `make faults TIMES=100` says."""

import os

TIMES = int(os.environ.get("SPEK_FAULT_TIMES", "1"))
