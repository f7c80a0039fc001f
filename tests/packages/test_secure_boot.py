# SPDX-License-Identifier: GPL-2.0
"""Debian's kernels, started by UEFI firmware with Secure Boot on, load the signed module only."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lib.build.sources import ROOT
from lib.harness.kernels import STOCK_KERNELS
from packages import firmware, locked_guest

from spekctl.vm.apt import Apt
from spekctl.vm.cache import cache_dir, cached
from spekctl.vm.kernels import find_kernel
from spekctl.vm.modules import build_modules

FORMS = ("unsigned", "stranger", "owner")  # the last one is loaded
LIMIT = "15m"  # firmware and boot loader take minutes on a busy machine without KVM


def take_loaders(to: Path) -> None:
    Apt().unpack(list(firmware.LOADERS), to, to.with_name("debs"))


@pytest.fixture(scope="module", params=STOCK_KERNELS)
def said(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """What a guest tells that was given the module in all forms."""
    loaders = cached(cache_dir("firmware") / "-".join(firmware.LOADERS), take_loaders)
    # A guest sees no files of /tmp.
    folder = ROOT / "out/secure-boot"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    kernel = find_kernel(request.param)
    (sign,) = {path.resolve() for path in kernel.headers.glob("scripts/sign-file")}
    for form in FORMS:
        (folder / form).mkdir()
        module = shutil.copy(build_modules(kernel)[0], folder / form)
        if form != "unsigned":
            certificate = firmware.make_key(folder, form)
            key = certificate.with_suffix(".key")
            subprocess.run([sign, "sha256", key, certificate, module], check=True)
    programs = firmware.prepare(folder, loaders, folder / "owner.der")
    vm = [sys.executable, "-m", "spekctl", "vm", "--kernel", request.param, "--timeout", LIMIT]
    vm += ["--no-load", "--disk", "null_blk,size=64M", "--exec", "--"]
    inside = [sys.executable, locked_guest.__file__, *(f"{form}={folder / form}" for form in FORMS)]
    run = [sys.executable, "-m", "spekctl", "run", "--device", "{disk1}"]
    run += ["--read", "100%", "--size", "4KiB", "--pattern", "uniform", "--time", "1s"]
    log: list[str | Path] = ["--log", folder / "log.parquet", "--json"]
    done = subprocess.run(
        [*vm, *inside, "--", *run, *log],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    yield json.loads(done.stdout)
    shutil.rmtree(folder)


def test_the_kernel_is_locked_down_by_secure_boot(said: dict[str, Any]) -> None:
    assert "Secure boot enabled" in said["kernel"]
    assert "Kernel is locked down from EFI Secure Boot" in said["kernel"]
    assert "[integrity]" in said["lockdown"]


def test_an_unsigned_module_is_refused_as_doctor_says(said: dict[str, Any]) -> None:
    form = said["forms"]["unsigned"]
    level, text, remedy = form["doctor"]
    assert level == "stops" and "/updates/dkms/spek.ko is not signed" in text
    assert "mokutil --import /var/lib/dkms/mok.pub" in remedy
    assert form["code"] != 0


def test_a_module_signed_by_a_stranger_is_refused_as_doctor_says(said: dict[str, Any]) -> None:
    """By a key of the same name as the one that is enrolled."""
    form = said["forms"]["stranger"]
    level, text, remedy = form["doctor"]
    assert level == "note" and "that the firmware does not know" in text
    assert "(DKMS module signing key, " in text and "mokutil --import" in remedy
    assert form["code"] != 0 and "Key was rejected by service" in form["text"]


def test_a_module_signed_by_the_owner_is_loaded_as_doctor_says(said: dict[str, Any]) -> None:
    form = said["forms"]["owner"]
    level, text, _ = form["doctor"]
    assert level == "ok" and "that the firmware knows" in text
    assert (form["code"], form["text"]) == (0, "")
    assert said["doctor"][:2] == ["ok", "Secure Boot is on, and the module is loaded"]


def test_a_locked_down_kernel_plays_and_logs_load(said: dict[str, Any]) -> None:
    """Lockdown denies most of debugfs, where the log is."""
    code, text = said["command"]
    assert code == 0, text
