# SPDX-License-Identifier: GPL-2.0
"""spekctl augment create, attach and check: options, output and exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from lib.core.augment_images import LOG_START, SET, Images
from lib.ctl.augment import Machine
from lib.ctl.schemas import validator
from lib.guest import disk_images

from spekctl import cli
from spekctl.block import openers
from spekctl.documents import augment
from spekctl.errors import ExitCode, NoKernelSideError, SpekError
from spekctl.kernel import client
from spekctl.kernel.client import Kernel


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


CREATE = ("create", "nas", "--raid", "md0", "--ssd", "sdz", "--spare", "sda2", "--spare", "sdb2")
ATTACH = ("attach", "nas", "--raid", "md0")


def features(machine: Machine) -> str:
    (words,) = machine.dm.sent("create")
    return " ".join(words[5].split(" 8:1 8:2 ")[1].split()[1:])


def test_create_prints_the_node_and_what_to_do_next(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    disk_images.mbr(machine.path("md0"))
    assert machine.augment(*CREATE) == ExitCode.OK
    output = capsys.readouterr()
    node = str(machine.dm.folder / "mapper/nas")
    raid = machine.path("md0")
    assert output.out == f"{node}\n"
    lines = output.err.splitlines()
    assert lines[0].startswith(f"spekctl: {raid} holds partition table dos")
    assert lines[1].endswith(", with a log of 2.99 MiB")
    assert lines[2:] == [
        f"spekctl: use {node} instead of {raid} from now on: mounting {raid} would corrupt its"
        " contents",
        "spekctl: `spekctl augment monitor nas` tells it which members sleep",
        f"spekctl: after a restart: spekctl augment attach nas --scan --raid {raid}",
    ]


def test_create_refuses_what_an_unknown_user_has_open(
    machine: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a target in the kernel that has opened a device without a claim."""
    monkeypatch.setattr(openers, "LOOKS_FOR_UNKNOWN", 1)
    monkeypatch.setattr(openers, "_files", lambda *_: set())
    machine.kernel.opens = 2
    assert machine.augment(*CREATE) == ExitCode.REFUSED
    text = f"{machine.path('sdz')} is in use: the kernel counts 1 more open of it than processes"
    assert text in capsys.readouterr().err
    assert machine.dm.sent("create") == []
    # All others may be overwritten on request, and the RAID is not overwritten.
    named = [word for name in ("sdz", "sda2", "sdb2") for word in ("--destroy", f"SERIAL-{name}")]
    assert machine.augment(*CREATE, *named) == ExitCode.REFUSED
    error = capsys.readouterr().err
    assert f"{machine.path('md0')} is in use: the kernel counts 1 more open" in error
    assert "--destroy" not in error
    assert machine.kernel.claim_calls() == ["claim-new", "claim-del"] * 2


def test_attach_refuses_what_an_unknown_user_has_open(
    machine: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log and all writes to come would go on beside it."""
    monkeypatch.setattr(openers, "LOOKS_FOR_UNKNOWN", 1)
    monkeypatch.setattr(openers, "_files", lambda *_: set())
    machine.set()
    machine.kernel.opens = 2
    assert machine.augment(*ATTACH, "--scan") == ExitCode.REFUSED
    error = capsys.readouterr().err
    assert f"{machine.path('md0')} is in use: the kernel counts 1 more open of it" in error
    assert "--destroy" not in error
    assert machine.dm.sent("create") == []
    assert machine.kernel.claim_calls() == ["claim-new", "claim-del"]
    machine.kernel.opens = 1
    assert machine.augment(*ATTACH, "--scan") == ExitCode.OK


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (NoKernelSideError("spek is not loaded"), "is not loaded"),
        (SpekError("it is an older one"), r"cannot be asked \(it is an older one\)"),
        (PermissionError(1, "Operation not permitted"), r"cannot be asked \(Operation not perm"),
    ],
)
def test_create_and_attach_say_if_nobody_counts_unknown_users(
    machine: Machine,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    why: str,
) -> None:
    def connect() -> Kernel:
        raise error

    monkeypatch.setattr(client, "connect", connect)
    assert machine.augment(*CREATE) == ExitCode.OK
    assert re.search(f"the module spek {why}.* so whether a user", capsys.readouterr().err)
    machine.dm.change(mappings={})
    machine.set()
    assert machine.augment(*ATTACH, "--scan") == ExitCode.OK
    assert re.search(f"the module spek {why}.* so whether a user", capsys.readouterr().err)


def test_a_count_that_fails_creates_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def claim_new(*given: object, **more: object) -> int:
        raise SpekError("the claim fails")

    monkeypatch.setattr(machine.kernel, "claim_new", claim_new)
    assert machine.augment(*CREATE) == ExitCode.RUN_FAILED
    assert machine.dm.sent("create") == []


def test_every_option_of_the_policy_becomes_a_feature(machine: Machine) -> None:
    words = (
        *("--log-size", "1MiB", "--copy", "second", "--stripe", "128KiB", "--sequential", "1MiB"),
        *("--high", "512KiB", "--low", "256KiB", "--age", "1h", "--quiet", "5s", "--retry", "10s"),
    )
    assert machine.augment(*CREATE, *words) == ExitCode.OK
    _, _, uuid, *rest = features(machine).split()
    assert " ".join(rest) == (
        "raid serial=SERIAL-md0 copy second stripe_blocks 32 sequential_blocks 256 high_blocks 128"
        " low_blocks 64 age_ms 3600000 quiet_ms 5000 retry_ms 10000"
    )
    assert len(uuid) == 36


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--stripe", "1KiB"], "--stripe has to be a multiple of 4KiB"),
        (["--age", "1us"], "--age has to be a multiple of 1ms"),
        (["--copy", "third"], "'third'"),
        (["--log-size", "1000"], "--log-size is 1000 B; allowed are"),
        (["--spare", "/dev/none"], "there is no device /dev/none"),
    ],
)
def test_wrong_options_create_nothing(
    machine: Machine, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert machine.augment(*CREATE, *words) == ExitCode.USAGE
    assert sentence in capsys.readouterr().err
    assert machine.dm.sent("create") == []


def test_data_and_users_are_refused_with_their_exit_code(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    disk_images.mbr(machine.path("sdz"))
    assert machine.augment(*CREATE) == ExitCode.REFUSED
    assert "give --destroy SERIAL-sdz" in capsys.readouterr().err
    assert machine.augment(*CREATE, "--destroy", "NOBODY") == ExitCode.REFUSED
    assert "--destroy NOBODY names none of the devices given" in capsys.readouterr().err
    assert machine.dm.sent("create") == []
    assert machine.augment(*CREATE, "--destroy", "SERIAL-sdz") == ExitCode.OK
    machine.users["md0"] = "md0 is mounted on /srv"
    assert machine.augment(*CREATE) == ExitCode.REFUSED
    assert "md0 is in use: md0 is mounted on /srv" in capsys.readouterr().err


def test_without_the_module_the_exit_code_says_so(machine: Machine) -> None:
    machine.dm.change(targets=[])
    assert machine.augment(*CREATE) == ExitCode.NO_KERNEL_SIDE


def test_attach_by_scan_prints_the_node(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.set()
    assert machine.augment(*ATTACH, "--scan", "--age", "1m") == ExitCode.OK
    output = capsys.readouterr()
    assert (output.out, output.err) == (f"{machine.dm.folder / 'mapper/nas'}\n", "")
    assert features(machine) == "2 age_ms 60000"


def test_attach_refuses_another_raid_until_it_is_named(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.set()
    machine.change("md0", serial="ANOTHER")
    words = (*ATTACH, "--scan")
    assert machine.augment(*words) == ExitCode.REFUSED
    assert "give --new-raid ANOTHER" in capsys.readouterr().err
    assert machine.augment(*words, "--new-raid", "ANOTHER") == ExitCode.OK
    assert "and is for serial=ANOTHER now" in capsys.readouterr().err


def test_attach_without_a_device_says_so(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.set()
    assert machine.augment(*ATTACH, "sdz", "sdb2") == ExitCode.REFUSED
    assert "give --without member:0" in capsys.readouterr().err
    assert machine.augment(*ATTACH, "sdz", "sdb2", "--without", "member:0") == ExitCode.OK
    assert capsys.readouterr().err == "spekctl: member 0 is missing\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name the devices of the set, or give --scan instead"),
        (["sdz", "--scan"], "or give --scan instead"),
        (["sdz", "--uuid", str(SET)], "--uuid needs --scan as well"),
        (["sdz", "--wait", "5s"], "--wait needs --scan as well"),
        (["--scan", "--uuid", "nas"], "'nas'"),
        (["sdz", "--without", "sda"], "'sda' names no device of a set"),
        (["--scan"], "no free device has a superblock of any set"),
        (["sdz"], "sdz has no intact superblock"),
    ],
)
def test_wrong_options_attach_nothing(
    machine: Machine, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert machine.augment(*ATTACH, *words) == ExitCode.USAGE
    assert sentence in capsys.readouterr().err
    assert machine.dm.sent("create") == []


# ---- check ----


def checked(*words: str) -> int:
    return cli.run(["augment", "check", *words])


def test_check_is_text_and_needs_neither_module_nor_dmsetup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    images = Images(tmp_path / "set")
    images.record(10, 2)
    assert checked(*images.paths) == ExitCode.OK
    out = capsys.readouterr().out
    assert out.startswith(f"set {SET}, generation 1: SSD and 2 members")
    assert "it ends cleanly" in out


def test_check_writes_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    images = Images(tmp_path / "set")
    images.damage(0, LOG_START + images.record(10, 2) + 1)
    path = tmp_path / "check.json"
    assert checked(*images.paths, "--json", "-o", str(path)) == ExitCode.OK
    fields = json.loads(capsys.readouterr().out)
    validator(augment.SCHEMA_FILE).validate(fields)
    assert json.loads(path.read_bytes()) == fields
    assert fields["log"]["single"] == 1
    assert cli.run(["show", str(path)]) == ExitCode.OK
    assert "1 records are intact on one device only" in capsys.readouterr().out


def test_the_exit_codes_are_those_of_the_help(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    images = Images(tmp_path / "set")
    assert checked(*images.paths[:2]) == ExitCode.UNDECIDED
    place = images.record(10, 2)
    for number in (0, 1):
        images.damage(number, LOG_START + place + 1)
    assert checked(*images.paths) == ExitCode.DATA_ERRORS
    assert checked(str(tmp_path / "nothing")) == ExitCode.USAGE
    capsys.readouterr()
    assert checked("--help") == ExitCode.OK
    text = " ".join(capsys.readouterr().out.split())
    for code in ("0 all devices", "2 a device has no", "6 the log ends", "8 a device is missing"):
        assert code in text
