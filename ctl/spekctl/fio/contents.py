# SPDX-License-Identifier: GPL-2.0-or-later
"""The data that a job of fio writes."""

from __future__ import annotations

import re

from spekctl.errors import UsageError
from spekctl.fio import values
from spekctl.fio.options import INFORMATION
from spekctl.fio.plan import Plan, Reader
from spekctl.workload.values import FILL_PATTERN

SETS = ("dedupe_mode", "dedupe_working_set_percentage", "dedupe_global")
SET = (
    "dedupe_mode: the duplicates of each stream repeat 64 blocks; fio's working_set is"
    " dedupe_working_set_percentage of the size, and with dedupe_global it belongs to all jobs"
)
PROTECTION = (
    "the block layer adds and checks protection information on a device that is formatted for it,"
    " without an application tag; fio sends metadata, and has them checked, as its options say"
)


def fill(text: str) -> str:
    """A pattern of bytes: texts in quotes and hexadecimal numbers, one after the other."""
    parts = re.findall(r'"([^"]+)"|0[xX]((?:[0-9a-fA-F]{2})+)', text)
    if re.fullmatch(r'("[^"]+"|0[xX]([0-9a-fA-F]{2})+)+', text):
        pattern = "0x" + "".join(letters.encode().hex() + number for letters, number in parts)
        if re.fullmatch(FILL_PATTERN, pattern):
            return pattern
    raise UsageError(
        f"'{text}' is not a fill; write 0x and 1 to 64 bytes in hexadecimal, or letters in quotes"
    )


def of(options: Reader, plan: Plan) -> dict[str, str]:
    """Fields of a stream for the data of its writes; empty: the data of the run."""
    compressible = options.value("buffer_compress_percentage", values.percent) or 0
    duplicate = options.value("dedupe_percentage", values.percent) or 0
    repeated = options.value("buffer_pattern", fill)
    options.went("buffer_compress_percentage", "stream.compressible")
    options.went("dedupe_percentage", "stream.duplicate")
    options.went("buffer_pattern", "stream.fill")
    for name in INFORMATION:
        options.went(name, "nothing: the block layer has metadata of its own")
        if options.given(name):
            plan.differs(PROTECTION)
    for name in SETS:
        options.went(name, "stream.duplicate")
    fields: dict[str, str] = {}
    if compressible:
        fields["compressible"] = f"{compressible}%"
    # With duplicates of random data fio has no place for the pattern.
    if repeated is not None and (compressible or not duplicate):
        fields["fill"] = repeated
    # Blocks of fill alone are equal anyway.
    if duplicate and compressible < 100:
        fields["duplicate"] = f"{duplicate}%"
        plan.differs("duplicates are blocks of 4 KiB, not of the block size")
        if options.text("dedupe_mode") == "working_set" or options.flag("dedupe_global"):
            plan.differs(SET)
    if fields and options.text("verify") not in (None, "0", "null"):
        plan.differs("stamped blocks neither compress nor have duplicates")
        return {}
    return fields
