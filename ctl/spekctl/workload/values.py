# SPDX-License-Identifier: GPL-2.0-or-later
"""Sets of values and bounds that a workload file, an option and the kernel have in common."""

from __future__ import annotations

from typing import Literal, get_args

SECTOR = 512
NAME_LEN_MAX = 31
RUN_NAME_LEN_MAX = 63
STREAMS_MAX = 64
SIZES_MAX = 64
ARRIVALS_MAX = 16
ASUS_MAX = 16
TARGETS_MAX = 16
WORKERS_MAX = 256
DEPTH_MAX = 65536
IO_BYTES_MAX = 16 << 20
U32_MAX = 2**32 - 1
WEIGHT_MAX = U32_MAX
THETA_MAX = 16
ZONES_MAX = 255
OPEN_ZONES_MAX = 1 << 20
POINTS_MAX = 256
POINTS_IN_ALL = 1024
RATE_MILLI_MAX = 10**12
TAIL_MIN = 1.001
TAIL_MAX = 16

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
FILE_PATTERNS: tuple[Pattern, ...] = tuple(one for one in get_args(Pattern) if one != "trace")
TABLES: tuple[Pattern, ...] = get_args(TablePattern)
CorePattern = Literal[
    PlainPattern,
    "table",
    "trace",
    "write-pointer",
]
# How the addresses of a trace are mapped onto the devices.
Map = Literal["as-is", "wrap", "scale", "concatenate", "pack"]
# How workers share a trace.
Share = Literal["address", "time"]
Law = Literal["closed", "poisson", "constant", "burst", "trace"]
WalkStyle = Literal["classic", "fixed"]
Operation = Literal[
    "transfer",
    "flush",
    "discard",
    "write-zeroes",
    "zone-append",
    "zone-reset",
    "zone-finish",
    "zone-open",
    "zone-close",
]
# On a zone as a whole.
ZONE_COMMANDS: tuple[Operation, ...] = ("zone-reset", "zone-finish", "zone-open", "zone-close")
Priority = Literal["none", "rt", "be", "idle"]
PRIORITY_PATTERN = "^(rt|be)(:[0-7])?$|^idle$"
PRIORITY_LEVEL = 4  # unless given, as ionice(1) has it
# Keys of a stream that writes data of its own.
DATA_KEYS = ("compressible", "duplicate", "fill")
FILL_PATTERN = "^0[xX]([0-9a-fA-F]{2}){1,64}$"
WriteHint = Literal["not-set", "none", "short", "medium", "long", "extreme"]
Data = Literal["zero", "random"]
Backend = Literal["auto", "bio", "mq", "scsi"]
