# SPDX-License-Identifier: GPL-2.0
"""The initramfs of a guest, and how its emulator came to its end."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from virtme import mkinitramfs

from spekctl.vm import virtme_run
from spekctl.vm.virtme_run import CachedConfig


def mounts(config: mkinitramfs.Config) -> list[str]:
    script: str = mkinitramfs.generate_init(config).decode()
    return re.findall(r"mount .*-t 9p -o (\S+)", script)


def test_the_root_of_a_guest_is_cached() -> None:
    """In virtme-ng as it is installed."""
    (options,) = mounts(CachedConfig())
    assert {"ro", "cache=loose"} <= set(options.split(","))
    (without,) = mounts(mkinitramfs.Config())
    assert "cache=loose" not in without.split(",")


def test_virtme_run_makes_its_configuration_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks the class up when it runs, so that ours stands in for it."""
    from virtme.commands import run

    class Reached(Exception):
        pass

    def configure() -> None:
        raise Reached

    monkeypatch.setattr(mkinitramfs, "Config", configure)
    monkeypatch.setattr(run.qemu_helpers.Qemu, "probe", lambda qemu: None)
    monkeypatch.setattr(run.qemu_helpers.Qemu, "cannot_overmount_virtfs", False, raising=False)
    monkeypatch.setattr("sys.argv", ["virtme-run", "--kimg", "/boot/none", "--mods", "none"])
    usual = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(Reached):
            run.main()
    finally:
        # Its handler is meant for a process of its own.
        signal.signal(signal.SIGTERM, usual)


@pytest.mark.parametrize(("end", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -KILL $$", 137)])
def test_virtme_run_ends_as_its_emulator(end: str, code: int, tmp_path: Path) -> None:
    """By itself it returns 255, or what the guest's script returned, and drops even that."""
    emulator = tmp_path / "emulator"
    real = shutil.which("qemu-system-x86_64")
    # virtme-run asks it for its version and its options first.
    emulator.write_text(f'#!/bin/sh\n[ $# -gt 2 ] || exec {real} "$@"\n{end}\n')
    emulator.chmod(0o700)
    kernel = tmp_path / "kernel"
    kernel.write_bytes(b"")
    words = ["--kimg", str(kernel), "--mods", "none", "--disable-kvm", "--force-9p"]
    words += ["--qemu-bin", str(emulator), "--script-sh", "true"]
    ended = subprocess.run(
        [sys.executable, "-P", virtme_run.__file__, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == code, ended.stderr


def test_virtme_run_that_starts_no_emulator_has_failed(tmp_path: Path) -> None:
    words = ["--kimg", str(tmp_path / "none"), "--mods", "none", "--script-sh", "true"]
    ended = subprocess.run(
        [sys.executable, "-P", virtme_run.__file__, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode not in (0, 255), ended.stderr
