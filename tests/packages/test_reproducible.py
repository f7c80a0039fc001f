# SPDX-License-Identifier: GPL-2.0
"""Two builds of a commit in different directories give the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest


def checksums(folder: Path, ends: str) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob(f"*{ends}")
    }


@pytest.mark.parametrize(
    ("kind", "ends", "number"), [("wheel", ".whl", 1), ("deb", ".deb", 3), ("rpm", ".rpm", 1)]
)
def test_two_builds_are_equal(
    build: Callable[[str, str], Path], kind: str, ends: str, number: int
) -> None:
    first = checksums(build(kind, "first"), ends)
    assert len(first) == number
    assert checksums(build(kind, "second-in-another-directory"), ends) == first
