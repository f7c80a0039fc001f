# SPDX-License-Identifier: GPL-2.0
"""Entries of the cache that tests can do without: they ask again where it cannot be written, as
where it belongs to root."""

from __future__ import annotations

import atexit
import errno
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from spekctl.vm.cache import cache_dir, cached

REFUSALS = (errno.EACCES, errno.EPERM, errno.EROFS)
_unkept: dict[tuple[str, str], Path] = {}  # of this process


@contextmanager
def unless_refused() -> Iterator[None]:
    """Leave the block if a file in it is read-only or belongs to another user."""
    try:
        yield
    except OSError as error:
        if error.errno not in REFUSALS:
            raise


def kept(folder: str, name: str, make: Callable[[Path], object]) -> Path:
    """What @make makes at the place that it is given: cached() as @name in this folder of the
    cache, or made for this process only."""
    has_begun = False

    def begin(place: Path) -> None:
        nonlocal has_begun
        has_begun = True
        make(place)

    try:
        return cached(cache_dir(folder) / name, begin)
    except OSError as error:
        if has_begun or error.errno not in REFUSALS:
            raise
    key = folder, name
    if key not in _unkept:
        scratch = Path(tempfile.mkdtemp(prefix="spek-unkept-"))
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
        make(scratch / name)
        _unkept[key] = scratch / name
    return _unkept[key]
