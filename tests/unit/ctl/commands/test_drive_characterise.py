# SPDX-License-Identifier: GPL-2.0
"""spekctl drive characterise: the file it writes of a disk, and what it refuses."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Self

import pytest
from lib.ctl.command_line import Spekctl, caller
from lib.fakes.modelled_disk import ModelledDisk

from spekctl.block import device as block_device
from spekctl.block import disk
from spekctl.drive import file
from spekctl.drive.model import Model
from spekctl.errors import RefusedError

CACHE = ("cache.segments=4", "cache.segment_kib=512", "cache.ahead_kib=256", "cache.hit_ms=0.1")


class Opened(ModelledDisk):
    """A ModelledDisk that is closed again."""

    closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closed = True


@pytest.fixture
def spekctl(capfd: pytest.CaptureFixture[str]) -> Spekctl:
    return caller(capfd)


@pytest.fixture
def attach(monkeypatch: pytest.MonkeyPatch) -> Any:
    """attach(model) makes /dev/sdz a disk that behaves like it."""

    def attached(model: Model, rotational: bool = True) -> Opened:
        opened = Opened(model)
        values = {"model": "MODEL OF THE DISK", "major": 8, "minor": 400}
        device = SimpleNamespace(**values, rotational=rotational)
        monkeypatch.setattr(block_device, "find", lambda path: device)
        monkeypatch.setattr(disk, "RealDisk", lambda path, number: opened)
        return opened

    return attached


def test_the_model_of_a_disk_is_that_behind_it(
    spekctl: Spekctl, attach: Any, tmp_path: Path
) -> None:
    model = file.load("st32171w")
    opened = attach(model)
    path = tmp_path / "mine.toml"
    done = spekctl("drive", "characterise", "/dev/sdz", "--points", 12, "-o", path)
    written = file.load(str(path))

    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines()[-1] == f"spekctl: model written to {path}"
    assert opened.closed
    assert (written.title, written.heads) == ("MODEL OF THE DISK", model.heads)
    assert written.sources == ("spekctl drive characterise /dev/sdz",)
    assert written.rpm == pytest.approx(model.rpm, rel=1e-6)
    assert written.capacity == model.capacity
    assert [zone.spt for zone in written.zones] == [zone.spt for zone in model.zones]
    assert isinstance(written.seek, tuple)
    for distance, ns in written.seek:
        assert ns == pytest.approx(model.seek_ns(distance), rel=0.03)


def test_the_cache_alone(spekctl: Spekctl, attach: Any) -> None:
    attach(file.load("barracuda-es", CACHE))
    done = spekctl("drive", "characterise", "/dev/sdz", "--cache")
    assert (done.code, done.out) == (0, "")
    assert "spekctl: read cache: a hit takes 0.1" in done.err
    assert "4 segments, 256 KiB of read-ahead" in done.err


def test_a_cache_has_to_be_off(spekctl: Spekctl, attach: Any) -> None:
    opened = attach(file.load("barracuda-es", CACHE))
    done = spekctl("drive", "characterise", "/dev/sdz")
    assert done.code == 1
    assert done.err.endswith("switch it off: sdparm --set RCD=1 /dev/sdz\n")
    assert opened.closed


def test_flash_is_not_measured(spekctl: Spekctl, attach: Any) -> None:
    attach(file.load("st32171w"), rotational=False)
    done = spekctl("drive", "characterise", "/dev/sdz")
    assert (done.code, done.out) == (2, "")
    assert done.sentence == (
        "/dev/sdz has no rotating platters; only disks that have can be measured"
    )


def test_a_disk_in_use_is_left_alone(
    spekctl: Spekctl, attach: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    attach(file.load("st32171w"))

    def busy(path: str, number: object) -> None:
        raise RefusedError(f"{path} is in use; it must be idle to be measured")

    monkeypatch.setattr(disk, "RealDisk", busy)
    done = spekctl("drive", "characterise", "/dev/sdz")
    assert done.code != 0
    assert done.sentence == "/dev/sdz is in use; it must be idle to be measured"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("/dev/nosuch",), "there is no device /dev/nosuch"),
        ((os.devnull,), "/dev/null is a character device"),
        (("/dev/nosuch", "--points", 9), "'--points': 9 is not in the range 10<=x<=1000"),
        (("/dev/nosuch", "--repeats", 2), "'--repeats': '2' is not one of"),
        (("/dev/nosuch", "-o", "/nowhere/mine.toml"), "/nowhere"),
    ],
)
def test_wrong_input_gets_one_sentence(
    spekctl: Spekctl, words: tuple[str, ...], sentence: str
) -> None:
    done = spekctl("drive", "characterise", *words)
    assert (done.code, done.out) == (2, "")
    assert sentence in done.sentence
