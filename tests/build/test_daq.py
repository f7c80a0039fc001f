# SPDX-License-Identifier: GPL-2.0
"""spek-daq builds without a warning of an analyzer, installs, or says what it lacks."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from lib.build import silent

ROOT = Path(__file__).resolve().parents[2]
DAQ = ROOT / "daq"
PACKAGES = "libnl-genl-3.0 libusb-1.0 libiio libcap-ng libmodbus"


def make(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "-C", str(ROOT), *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def complaints(compiler: str, file: str, includes: list[str]) -> str:
    words = shlex.split(compiler)
    words += ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    words += ["-Wno-format-truncation"] if "gcc" in compiler else []
    words += ["-I", str(DAQ), "-I", str(ROOT / "prober"), *includes]
    return silent.complaints(words, DAQ / file)


@pytest.fixture(scope="module")
def compiled(request: pytest.FixtureRequest) -> Iterator[dict[tuple[str, str], Future[str]]]:
    """What compilers say of each file that is asked for, as many at once as there are CPUs."""
    includes = subprocess.run(
        ["pkg-config", "--cflags", *PACKAGES.split()], capture_output=True, text=True, check=True
    ).stdout.split()
    wanted = [
        (str(item.callspec.params["compiler"]), str(item.callspec.params["file"]))
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and item.module is request.module
        and "compiled" in item.fixturenames
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {pair: pool.submit(complaints, *pair, includes) for pair in wanted}


@pytest.mark.parametrize("compiler", ["gcc -fanalyzer", "clang"])
@pytest.mark.parametrize("file", sorted(str(path.relative_to(DAQ)) for path in DAQ.rglob("*.c")))
def test_no_file_has_a_warning(
    compiler: str, file: str, compiled: dict[tuple[str, str], Future[str]]
) -> None:
    assert compiled[compiler, file].result() == ""


def test_it_is_installed_with_its_unit(tmp_path: Path) -> None:
    program = tmp_path / "spek-daq"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    words = [f"daq-program={program}", f"DESTDIR={tmp_path}/root", "prefix=/opt/spek"]
    done = make("daq-install", *words)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "root/opt/spek/sbin/spek-daq").stat().st_mode & 0o777 == 0o755
    unit = (tmp_path / "root/opt/spek/lib/systemd/system/spek-daq.service").read_text()
    assert "ExecStart=/opt/spek/sbin/spek-daq --wait" in unit
    assert "@prefix@" not in unit
    # Some systemd make a list of allowed devices of these, without those that are measured.
    assert "ProtectClock=" not in unit
    assert "PrivateDevices=" not in unit
    assert "DeviceAllow=" not in unit
    assert make("daq-uninstall", *words).returncode == 0
    assert not [path for path in (tmp_path / "root").rglob("*") if path.is_file()]


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit as systemd reads it, with a program that exists."""
    path = tmp_path / "spek-daq.service"
    text = (DAQ / "spek-daq.service").read_text()
    path.write_text(re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={shutil.which('true')}", text))
    return path


NEEDS_ANALYZE = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd is missing; make deps installs it"
)


@NEEDS_ANALYZE
def test_the_unit_is_hardened(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    exposure = re.search(r"Overall exposure level for spek-daq.service: ([\d.]+)", done.stdout)
    assert exposure, done.stdout + done.stderr
    assert float(exposure[1]) <= 2.0, done.stdout


@NEEDS_ANALYZE
def test_systemd_knows_every_line_of_the_unit(unit: Path) -> None:
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "spek-daq.service" not in done.stdout + done.stderr


@pytest.mark.skipif(
    shutil.which("systemd-sysusers") is None, reason="systemd is missing; make deps installs it"
)
def test_its_user_has_a_group_of_that_name(tmp_path: Path) -> None:
    unit = (DAQ / "spek-daq.service").read_text()
    assert "\nUser=spek-daq\nGroup=spek-daq\n" in unit
    (tmp_path / "etc").mkdir()
    # As the package of a version that had the group only left it.
    (tmp_path / "etc/group").write_text("root:x:0:\nspek-daq:x:990:\n")
    command = ["systemd-sysusers", f"--root={tmp_path}", str(DAQ / "spek-daq.sysusers")]
    subprocess.run(command, capture_output=True, check=True)
    assert re.search(r"(?m)^spek-daq:x:990:$", (tmp_path / "etc/group").read_text())
    (user,) = re.findall(
        r"(?m)^spek-daq:x:\d+:(\d+):.*:(.*)$", (tmp_path / "etc/passwd").read_text()
    )
    assert user == ("990", "/usr/sbin/nologin")
    # Serial lines, as that of a PowerSensor3, are that group's.
    assert re.search(r"(?m)^dialout:x:\d+:spek-daq$", (tmp_path / "etc/group").read_text())
    # Each rule that gives access gives it to that group.
    given = re.findall(r'GROUP="([^"]+)"|chgrp (?:-R )?(\S+)', (DAQ / "spek-daq.rules").read_text())
    assert {name for pair in given for name in pair if name} == {"spek-daq"}


def test_what_was_not_built_is_not_installed(tmp_path: Path) -> None:
    done = make("daq-install", f"daq-program={tmp_path}/none", f"DESTDIR={tmp_path}")
    assert done.returncode == 0
    assert done.stderr == "spek: spek-daq was not built, so it is not installed (make daq)\n"


def test_what_is_missing_is_said_in_one_line(tmp_path: Path) -> None:
    # A pkg-config that knows nothing.
    nothing = {"PKG_CONFIG_LIBDIR": str(tmp_path), "PKG_CONFIG_PATH": ""}
    wanted = "libnl-genl-3-dev libusb-1.0-0-dev libiio-dev libmodbus-dev libcap-ng-dev"
    wanted += " libtomlplusplus-dev"
    plain = make("-s", "daq-if-possible", **nothing)
    assert plain.returncode == 0
    assert plain.stderr == f"spek: spek-daq is not built; it needs: {wanted}\n"
    asked = make("-s", "daq", **nothing)
    assert asked.returncode == 2
    assert asked.stderr.splitlines()[0] == f"spek: spek-daq needs: apt-get install {wanted}"


def test_the_packages_that_make_deps_installs_are_those() -> None:
    script = (ROOT / ".ci/packages").read_text()
    libraries = ("nl-genl-3", "usb-1.0-0", "iio", "modbus", "cap-ng")
    for package in (f"lib{name}-dev" for name in libraries):
        assert package in script
        assert package in (DAQ / "Makefile").read_text()
