# SPDX-License-Identifier: GPL-2.0-or-later
"""Sets of values and bounds that a workload file, an option and the kernel have in common.

Those of the kernel follow from the contract.
"""

from __future__ import annotations

from typing import Literal, get_args

from spekctl.contract import requests as limits
from spekctl.contract.requests import Backend as Backend
from spekctl.contract.requests import Law as Law
from spekctl.contract.requests import Operation as Operation
from spekctl.contract.requests import Priority as Priority
from spekctl.contract.requests import WalkStyle as WalkStyle
from spekctl.contract.requests import WriteHint as WriteHint

SECTOR = limits.SECTOR
NAME_LEN_MAX = limits.MAX_NAME
RUN_NAME_LEN_MAX = limits.MAX_RUN_NAME
STREAMS_MAX = limits.MAX_STREAMS
SIZES_MAX = limits.MAX_SIZES
ARRIVALS_MAX = limits.MAX_ARRIVALS
ASUS_MAX = limits.MAX_ASUS
TARGETS_MAX = limits.MAX_TARGETS
WORKERS_MAX = limits.MAX_WORKERS
DEPTH_MAX = limits.MAX_DEPTH
COUNT_MAX = 10**17  # of an arrival process
BATCH_MAX = limits.MAX_BATCH
IO_BYTES_MAX = limits.MAX_IO_BYTES
POINTS_MAX = limits.MAX_POINTS
POINTS_IN_ALL = limits.MAX_POINTS_IN_ALL
PARTS_MAX = limits.MAX_PARTS
PARTS_IN_ALL = limits.MAX_PARTS_IN_ALL
RATE_MILLI_MAX = limits.MAX_RATE_MILLI
TAIL_MIN = 1.001
TAIL_MAX = limits.MAX_TAIL_MILLI // 1000
U32_MAX = 2**32 - 1
WEIGHT_MAX = U32_MAX
THETA_MAX = 16
ZONES_MAX = 255
OPEN_ZONES_MAX = 1 << 20
REPLICAS_MAX = 1 << 20

# The kernel computes these from the stream's parameters alone.
PlainPattern = Literal[
    "uniform",
    "sequential",
    "strided",
    "runs",
    "walk",
    "hotband",
    "once",
    "backward",
]
# These reach the kernel as tables.
TablePattern = Literal["zipf", "pareto", "normal", "zoned"]
Pattern = Literal[
    PlainPattern,
    TablePattern,
    "trace",
    "write-pointer",
]
# Those that need no more than a word; a trace needs its files.
FILE_PATTERNS: tuple[Pattern, ...] = tuple(
    pattern for pattern in get_args(Pattern) if pattern != "trace"
)
TABLES: tuple[Pattern, ...] = get_args(TablePattern)
CorePattern = limits.Pattern
# How the addresses of a trace are mapped onto the devices.
Map = Literal["as-is", "wrap", "scale", "concatenate", "pack"]
# How workers share a trace.
Share = Literal["address", "time"]
# On a zone as a whole.
ZONE_COMMANDS: tuple[Operation, ...] = ("zone-reset", "zone-finish", "zone-open", "zone-close")
PRIORITY_PATTERN = "^(rt|be)(:[0-7])?$|^idle$"
PRIORITY_LEVEL = 4  # unless given, as ionice(1) has it
# Keys of a stream that writes data of its own.
DATA_KEYS = ("compressible", "duplicate", "fill")
FILL_PATTERN = "^0[xX]([0-9a-fA-F]{2}){1,64}$"
# Without stamped data, which --verify writes.
Data = Literal["zero", "random"]
