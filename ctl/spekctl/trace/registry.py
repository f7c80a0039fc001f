# SPDX-License-Identifier: GPL-2.0-or-later
"""All formats, and which of them a file is of."""

from __future__ import annotations

from spekctl.documents import document
from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean
from spekctl.trace.formats import (
    blkparse,
    blkreplay,
    blktrace,
    cloud,
    fio,
    fiu,
    msr,
    spc,
    speklog,
    srt,
    stored,
    systor,
    table,
    vscsi,
)
from spekctl.trace.formats.format import Format
from spekctl.trace.source import Head

# Of formats that are equally alike, the first one.
FORMATS: tuple[Format, ...] = (
    stored.FORMAT,
    speklog.FORMAT,
    blktrace.FORMAT,
    srt.FORMAT,
    fio.FORMAT,
    blkreplay.FORMAT,
    blkparse.FORMAT,
    spc.FORMAT,
    msr.FORMAT,
    cloud.ALIBABA,
    cloud.TENCENT,
    systor.FORMAT,
    fiu.FORMAT,
    table.FORMAT,
    vscsi.FORMAT,
)
# A file may have bad lines among its first ones.
LEAST_LIKENESS = 0.5
_PARQUET = b"PAR1"


def by_name(name: str) -> Format:
    """The format of this name."""
    for format_ in FORMATS:
        if format_.name == name:
            return format_
    names = [format_.name for format_ in FORMATS]
    hint = did_you_mean(name, names) or f"; the formats are {', '.join(names)}"
    raise UsageError(f"there is no format '{name}'{hint}")


def recognized(head: Head) -> Format:
    """The format of the contents; UsageError if they are of none."""
    if not head.data:
        raise UsageError(f"{head.path} is empty; expected a trace")
    if head.data.startswith(_PARQUET) and not head.is_pipe:
        with head.path.open("rb") as file:
            if file.read(len(_PARQUET)) != _PARQUET:
                raise UsageError(
                    f"{head.path} is Parquet in a compressed file; decompress it: Parquet is"
                    " compressed within"
                )
    best = max(FORMATS, key=lambda format_: format_.likeness(head))
    if best.likeness(head) < LEAST_LIKENESS:
        if not head.is_pipe and document.is_document(head.path):
            kind = document.description(head.path)
            raise UsageError(f"{head.path} is {kind}; expected a trace")
        raise UsageError(
            f"{head.path} is not a trace of a known format; --format of `spekctl trace` names the"
            " format of a file with an unusual beginning, and --column the columns of CSV"
        )
    return best
