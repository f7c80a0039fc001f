# SPDX-License-Identifier: GPL-2.0
"""The initramfs of a guest."""

from __future__ import annotations

import re
import signal

import pytest
from virtme import mkinitramfs

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
