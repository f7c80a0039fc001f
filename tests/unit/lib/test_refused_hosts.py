# SPDX-License-Identifier: GPL-2.0
"""A host that a target refuses, and not one that fails in another way, counts as refused."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from fleet import client, lio, nvmet

ADDRESS = "192.0.2.1"
NQN = f"nqn.2014-08.org.nvmexpress:uuid:{client.STRANGER}"


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A guest without modules, whose programs are in @tmp_path."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(lio, "initiating", contextlib.nullcontext)
    monkeypatch.setattr(lio, "NAME", tmp_path / "name")
    (tmp_path / "name").write_text("InitiatorName=iqn.2026-01.spek.guest:its\n")
    monkeypatch.setattr(nvmet, "modprobe", lambda *_: None)
    # A connect fails there.
    monkeypatch.setattr(nvmet, "FABRICS", Path("/dev/full"))
    monkeypatch.setattr(nvmet, "KERNEL_LOG", Path("/dev/null"))
    return tmp_path


@pytest.mark.parametrize(("status", "is_refused"), [(24, True), (8, False), (21, False)])
def test_iscsi(guest: Path, status: int, is_refused: bool) -> None:
    program = guest / "iscsiadm"
    program.write_text(f'#!/bin/sh\nfor word; do test "$word" != --login || exit {status}; done\n')
    program.chmod(0o755)
    if is_refused:
        assert client.refused_to_others("iscsi", ADDRESS)
        return
    with pytest.raises(OSError, match=r"^iscsiadm .* --login: $"):
        client.refused_to_others("iscsi", ADDRESS)


@pytest.mark.parametrize(
    ("said", "is_refused"),
    [
        (f"Connect for subsystem {nvmet.SUBSYSTEM} is not allowed, hostnqn: {NQN}", True),
        (f"Connect for subsystem {nvmet.SUBSYSTEM} is not allowed, hostnqn: nqn.other", False),
        ("Connect command failed: controller is busy or not available", False),
        ("", False),
    ],
)
def test_nvme(guest: Path, monkeypatch: pytest.MonkeyPatch, said: str, is_refused: bool) -> None:
    monkeypatch.setattr(nvmet, "messages", lambda _: f"3,900,12,-;nvme nvme0: {said}\n")
    if is_refused:
        assert client.refused_to_others("nvme", ADDRESS)
        return
    with pytest.raises(OSError, match="No space left"):
        client.refused_to_others("nvme", ADDRESS)
