# SPDX-License-Identifier: GPL-2.0
"""Verified data: nothing is found wrong that is right, and everything that is wrong is found.

Two injectors: the test itself, which changes a disk between the load and a check, so that all
back ends are covered, each class is known by address, and persistence is part of it; and
spek_corrupt (tests/disks), a disk that spoils what is written under load, and counts by class
what it hands out that it should not.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import struct
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.verified import contents_of
from lib.guest.disks import mapped_disk, null_disk, partition, scsi_disk, settle
from lib.guest.modules import unload_soon

from spekctl import cli

pytestmark = pytest.mark.any_kernel

KIB, MIB = 1 << 10, 1 << 20
HEADER = struct.Struct("=QQQQQIHHQ")
MAGIC = 0x3130504D54534B50
USAGE, DATA_ERRORS = 2, 6
Spekctl = Callable[..., "subprocess.CompletedProcess[str]"]

MIXED = """
[workload]
name = "overlaps"
summary = "mixed sizes, half writes, most of it in a hot spot"
doc = "For tests of verification: many I/Os meet."
[[arrival]]
name = "main"
law = "closed"
depth = 32
[[stream]]
name = "hot"
share = "70%"
read = "50%"
range = "256KiB"
align = "512"
sizes = [{ size = "512", share = "40%" }, { size = "4KiB", share = "40%" },
         { size = "24KiB", share = "20%" }]
[[stream]]
name = "wide"
share = "30%"
read = "30%"
align = "4KiB"
sizes = [{ size = "4KiB", share = "70%" }, { size = "68KiB", share = "30%" }]
"""

BLKFLSBUF = 0x1261  # linux/fs.h


@pytest.fixture
def spekctl() -> Spekctl:
    """spekctl in this process: starting it takes longer than a test."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.run(list(arguments))
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A workload whose I/Os overlap all the time."""
    path = tmp_path_factory.mktemp("workload") / "overlaps.toml"
    path.write_text(MIXED)
    return str(path)


def result_of(done: subprocess.CompletedProcess[str]) -> Any:
    """JSON of a program, whatever its exit code."""
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        raise AssertionError(f"exit {done.returncode}: {done.stdout}{done.stderr}") from None


def load(
    spekctl: Spekctl, workload: str, node: str, *options: str, count: int = 800, code: int = 0
) -> Any:
    """A verified run; its result."""
    done = spekctl(
        *("run", workload, "--device", node, "--write", "--verify", "--count", str(count)),
        *("--no-prober", "--progress", "none", "--json", *options),
    )
    assert done.returncode == code, done.stdout[-3000:] + done.stderr
    return result_of(done)


def check(spekctl: Spekctl, node: str, state: Path, code: int = 0, *options: str) -> Any:
    """spekctl verify; its report."""
    done = spekctl(
        *("verify", "--device", node, "--from", str(state), "--progress", "none", "--json"),
        *options,
    )
    assert done.returncode == code, done.stdout[-3000:] + done.stderr
    return result_of(done)


def assert_all_right(verify: Any) -> None:
    assert verify["mismatches"] == 0, verify
    assert verify["complete"]
    assert verify["load"]["checked"] > 0
    assert verify["final"]["checked"] > 0
    assert verify["load"]["uncertain"] == verify["final"]["uncertain"] == 0


class Disk:
    """A disk to change behind everybody's back."""

    def __init__(self, node: str) -> None:
        self.fd = os.open(node, os.O_RDWR | os.O_SYNC)
        # What others have read of it before, as udev may, must not be what we see.
        fcntl.ioctl(self.fd, BLKFLSBUF)
        self.bytes = os.lseek(self.fd, 0, os.SEEK_END)

    def __enter__(self) -> Disk:
        return self

    def __exit__(self, *_exception: object) -> None:
        os.close(self.fd)

    def read(self, offset: int, size: int = 512) -> bytes:
        return os.pread(self.fd, size, offset)

    def write(self, offset: int, data: bytes) -> None:
        assert os.pwrite(self.fd, data, offset) == len(data)

    def blocks(self, size: int) -> dict[int, tuple[int, ...]]:
        """Header of every stamped block, by address."""
        headers = {}
        for start in range(0, self.bytes, MIB):
            data = self.read(start, MIB)
            for at in range(0, len(data), size):
                header = HEADER.unpack_from(data, at)
                if header[0] == MAGIC:
                    headers[start + at] = header
        return headers


# ---- what is right ----


@pytest.mark.parametrize("backend", ["bio", "mq"])
def test_overlaps_are_no_errors(
    spek_module: Path, spekctl: Spekctl, mixed: str, backend: str
) -> None:
    """Two workers, depth 32, hot spots; the disk answers 50 us later, from a timer."""
    with null_disk(size_mb=16, memory_backed=1, irqmode=2, completion_nsec=50_000) as node:
        result = load(spekctl, mixed, node, "--workers", "2", "--backend", backend, count=2000)
    verify = result["verify"]
    assert_all_right(verify)
    assert verify["waits"] > 0, "nothing has met: the test shows nothing"
    assert result["targets"][0]["backend"] == backend
    final = verify["final"]
    assert final["checked"] + final["never_written"] == 16 * MIB // 512
    assert result["outcome"]["ok"] and not result["outcome"]["errors"]


def test_large_blocks_of_a_scsi_disk_are_right(
    spek_module: Path, spekctl: Spekctl, mixed: str
) -> None:
    with scsi_disk(size_mb=16, delay=0) as node:
        result = load(spekctl, mixed, node, "--workers", "2", "--backend", "scsi")
    assert_all_right(result["verify"])
    assert result["targets"][0]["backend"] == "scsi"


# ---- what is not: changed between load and check ----


@pytest.mark.parametrize("backend", ["bio", "mq", "scsi"])
def test_each_class_is_found_by_address(
    spek_module: Path, spekctl: Spekctl, tmp_path: Path, backend: str
) -> None:
    disk = scsi_disk(size_mb=16, delay=0) if backend == "scsi" else null_disk(16, memory_backed=1)
    first, second = tmp_path / "first", tmp_path / "second"
    with disk as node:
        run = ("random-write-4k", node, "--backend", backend)
        load(spekctl, *run, "--depth", "8", "--verify-state", str(first))
        with Disk(node) as raw:
            before = {at: raw.read(at, 4096) for at in raw.blocks(512) if at % 4096 == 0}
        load(spekctl, *run, "--depth", "8", "--verify-state", str(second), "--seed", "2")
        clean = check(spekctl, node, second)
        assert clean["ok"] and clean["counts"]["checked"] > 0

        expected = spoil(node, before)
        report = check(spekctl, node, second, DATA_ERRORS)
    assert report["counts"]["by_kind"] == Counter(expected.values())
    assert {mismatch["offset"]: mismatch["kind"] for mismatch in report["first"]} == expected
    assert all(
        mismatch["device"] == node and mismatch["bytes"] == 512 for mismatch in report["first"]
    )
    by_kind = {mismatch["kind"]: mismatch for mismatch in report["first"]}
    assert by_kind["corrupt"]["bits"] == 1 and by_kind["corrupt"]["first"] == 300
    assert by_kind["torn"]["first"] >= 256
    assert by_kind["misdirected"]["found_device"] == node


def spoil(node: str, before: dict[int, bytes]) -> dict[int, str]:
    """Change blocks in every way; which class is to be found where.

    @before: what the blocks held before the last run.
    """
    expected: dict[int, str] = {}
    with Disk(node) as raw:
        stamped = raw.blocks(512)
        ids = Counter(header[2] for header in stamped.values())
        run = max(ids, key=lambda number: stamped_at(stamped, number, before))
        mine = sorted(at for at, header in stamped.items() if header[2] == run)
        others = sorted(at for at in before if at in stamped and stamped[at][2] != run)
        assert len(mine) > 2000 and others
        places = iter(mine[5::40])

        for _ in range(7):
            at = next(places)
            data = bytearray(raw.read(at))
            data[300] ^= 0x20
            raw.write(at, bytes(data))
            expected[at] = "corrupt"
        for _ in range(3):
            at = next(places)
            raw.write(at, raw.read(mine[0]))
            expected[at] = "misdirected"
        for _ in range(4):
            at = next(places)
            raw.write(at, bytes(512))
            expected[at] = "unstamped"
        for _ in range(2):
            at = next(places)
            raw.write(at, raw.read(at)[:256] + os.urandom(256))
            expected[at] = "torn"
        overwritten = [at for at in before if at in stamped and stamped[at][2] == run]
        for at in overwritten[3:6]:
            if at not in expected:
                raw.write(at, before[at][:512])
                expected[at] = "foreign"
        # Never written by this run: what another one has left is fine, a stamp of this one is not.
        raw.write(others[0], raw.read(mine[1]))
        expected[others[0]] = "misdirected"
    assert Counter(expected.values()).keys() >= {"corrupt", "misdirected", "unstamped", "torn"}
    return expected


def stamped_at(stamped: dict[int, tuple[int, ...]], run: int, before: dict[int, bytes]) -> bool:
    """True if @run is not the one that wrote what was there @before."""
    known = {HEADER.unpack_from(data)[2] for data in before.values()}
    return run not in known


def test_equal_partitions_of_a_disk_are_told_apart(
    spek_module: Path, spekctl: Spekctl, tmp_path: Path
) -> None:
    """They have the names of their disk, and each is as large as the other."""
    state, one_part = tmp_path / "state", tmp_path / "second"
    with (
        null_disk(16, memory_backed=1) as node,
        partition(node, 1, 2048, 8192) as first,
        partition(node, 2, 16384, 8192) as second,
    ):
        load(spekctl, "random-write-4k", first, "--device", second, "--verify-state", str(state))
        saved = json.loads(state.read_text())
        assert [device["facts"]["start_bytes"] for device in saved["devices"]] == [MIB, 8 * MIB]
        for left, right in ((first, second), (second, first)):
            report = check(spekctl, left, state, 0, "--device", right)
            assert report["ok"] and report["counts"]["checked"] > 0

        load(spekctl, "random-write-4k", second, "--verify-state", str(one_part))
        words = ("--from", str(one_part), "--progress", "none")
        refused = spekctl("verify", "--device", first, *words)
        assert refused.returncode == USAGE
        assert f"its place on the disk is byte {MIB}, that of {second} was" in refused.stderr
        assert check(spekctl, second, one_part)["ok"]


def test_lost_writes_and_what_was_never_written(
    spek_module: Path, spekctl: Spekctl, tmp_path: Path
) -> None:
    """An older image of the disk is put back in part; and a check that expects less."""
    state = tmp_path / "state"
    with null_disk(4, memory_backed=1) as node:
        load(
            *(spekctl, "random-write-4k", node, "--depth", "8", "--verify-state", str(state)),
            count=1500,
        )
        with Disk(node) as raw:
            mine = raw.blocks(512)
        saved = json.loads(state.read_text())
        (device,) = saved["devices"]
        lower(device, 3)
        newer = tmp_path / "newer"
        newer.write_text(json.dumps(saved))
        report = check(spekctl, node, newer, DATA_ERRORS)
        assert report["counts"]["by_kind"] == {"unwritten": 8 * 3}

        raise_all(device, 3)
        newer.write_text(json.dumps(saved))
        report = check(spekctl, node, newer, DATA_ERRORS)
        kinds = report["counts"]["by_kind"]
    assert kinds["stale"] == len(mine) - 8 * 3 and kinds["unwritten"] == 8 * 3
    assert sum(kinds.values()) == len(mine)


def _states(device: Any) -> tuple[int, list[int]]:
    import base64
    import zlib

    (part,) = device["states"][:1]
    data = zlib.decompress(base64.b64decode(part["data"]))
    return part["first"], list(struct.unpack(f"<{len(data) // 8}Q", data))


def _put(device: Any, states: list[int]) -> None:
    import base64
    import zlib

    data = struct.pack(f"<{len(states)}Q", *states)
    device["states"][0]["data"] = base64.b64encode(zlib.compress(data)).decode()


def lower(device: Any, count: int) -> None:
    """Forget that the first @count grains were written."""
    _, states = _states(device)
    written = [index for index, state in enumerate(states) if state][:count]
    for index in written:
        states[index] = 0
    _put(device, states)


def raise_all(device: Any, but: int) -> None:
    """Expect a later write of each grain but those that were forgotten."""
    for index in range(len(device["states"])):
        part = {"states": [device["states"][index]]}
        _, states = _states(part)
        _put(part, [state + 4 if state else 0 for state in states])


# ---- what other operations leave behind ----

OTHERS = """
[workload]
name = "others"
summary = "discards and more among reads and writes of the same blocks"
[[arrival]]
name = "main"
law = "closed"
depth = 32
[[stream]]
name = "data"
read = "50%"
share = 60
range = "1MiB"
align = "4KiB"
sizes = [{ size = "4KiB", share = "70%" }, { size = "16KiB", share = "30%" }]
[[stream]]
name = "sure"
read = "0%"
fua = true
share = 10
range = "1MiB"
size = "8KiB"
[[stream]]
name = "sync"
operation = "flush"
share = 5
"""
OTHER = """
[[stream]]
name = "{0}"
operation = "{0}"
share = 25
range = "1MiB"
align = "4KiB"
sizes = [{{ size = "4KiB", share = "50%" }}, {{ size = "64KiB", share = "50%" }}]
"""
STAMPED, ZEROES, DISCARDED = 0, 2, 3  # enum spek_content


def load_others(
    spekctl: Spekctl, folder: Path, node: str, *operations: str
) -> tuple[Any, dict[int, list[int]], Path]:
    """A verified run with @operations: its verification, contents, and the file of states."""
    workload, state = folder / "others.toml", folder / "state"
    workload.write_text(OTHERS + "".join(map(OTHER.format, operations)))
    options = ("--workers", "2", "--verify-state", str(state))
    verify = load(spekctl, str(workload), node, *options, count=4000)["verify"]
    assert_all_right(verify)
    assert verify["waits"] > 0, "nothing has met: the test shows nothing"
    return verify, contents_of(state), state


def test_what_was_discarded_may_be_anything_until_it_is_written(
    spek_module: Path, spekctl: Spekctl, tmp_path: Path
) -> None:
    delay = {"irqmode": 2, "completion_nsec": 50_000}
    with null_disk(16, memory_backed=1, discard=1, cache_size=1, **delay) as node:
        verify, left, state = load_others(spekctl, tmp_path, node, "discard")
        assert verify["load"]["discarded"] > 0
        final = verify["final"]
        assert final["discarded"] == len(left[DISCARDED]) * 8 > 0
        assert final["checked"] == len(left[STAMPED]) * 8 > 0
        assert final["checked"] + final["discarded"] + final["never_written"] == 16 * MIB // 512

        with Disk(node) as raw:
            stamp = raw.read(left[STAMPED][0])
            for at, data in zip(left[DISCARDED], (b"\xff" * 512, stamp), strict=False):
                raw.write(at, data)
        assert check(spekctl, node, state)["counts"]["discarded"] == final["discarded"]

        with Disk(node) as raw:
            flipped = bytearray(stamp)
            flipped[300] ^= 1
            raw.write(left[STAMPED][0], bytes(flipped))
            # A discard that nobody asked for, or that went to the wrong place.
            raw.write(left[STAMPED][1], bytes(512))
        report = check(spekctl, node, state, DATA_ERRORS)
    assert {mismatch["offset"]: mismatch["kind"] for mismatch in report["first"]} == {
        left[STAMPED][0]: "corrupt",
        left[STAMPED][1]: "unstamped",
    }


def test_what_write_zeroes_leave_must_be_zeroes(
    spek_module: Path, spekctl: Spekctl, tmp_path: Path
) -> None:
    with scsi_disk(16, lbpu=1, lbpws=1, ndelay=50_000) as node:
        operations = ("write-zeroes", "discard")
        verify, left, state = load_others(spekctl, tmp_path, node, *operations)
        final = verify["final"]
        assert verify["load"]["discarded"] > 0 and len(left[DISCARDED]) * 8 == final["discarded"]
        assert final["checked"] == (len(left[STAMPED]) + len(left[ZEROES])) * 8
        assert len(left[ZEROES]) > 8

        expected = {}
        places = iter(left[ZEROES])
        with Disk(node) as raw:
            stamp = raw.read(left[STAMPED][0])
            for kind, data in (
                ("corrupt", bytes(200) + b"\x40" + bytes(311)),
                ("misdirected", stamp),
                ("torn", bytes(256) + stamp[256:]),
                ("unstamped", os.urandom(512)),
            ):
                at = next(places)
                assert not any(raw.read(at))
                raw.write(at, data)
                expected[at] = kind
        report = check(spekctl, node, state, DATA_ERRORS)
    assert {mismatch["offset"]: mismatch["kind"] for mismatch in report["first"]} == expected
    assert all("zeroes were expected" in mismatch["text"] for mismatch in report["first"])


# ---- what is not: spoilt under load ----

CORRUPT_DEBUG = Path("/sys/kernel/debug/spek_corrupt")
CORRUPT_PARAMETERS = Path("/sys/module/spek_corrupt/parameters")
SPOILT = "/dev/spek_corrupt"


@pytest.fixture
def spoiler() -> Iterator[str]:
    """The disk that spoils what is written; gives its device node."""
    module = Path(os.environ["SPEK_DISKS"], "spek_corrupt.ko")
    subprocess.run(["insmod", module, "mib=16"], check=True)
    try:
        yield SPOILT
    finally:
        settle()
        unload_soon("spek_corrupt")


def spoil_every(nth: int) -> None:
    """What is there now was there before the run; spoil every nth write from now on."""
    (CORRUPT_PARAMETERS / "mark").write_text("1")
    (CORRUPT_PARAMETERS / "every").write_text(str(nth))


def handed_out() -> tuple[dict[str, int], dict[str, int]]:
    """Blocks that were spoilt, and those that were handed out, by class."""
    spoilt, out = {}, {}
    for line in (CORRUPT_DEBUG / "counts").read_text().splitlines():
        name, injected, delivered = line.split()
        if int(injected):
            spoilt[name] = int(injected)
        if int(delivered):
            out[name] = int(delivered)
    return spoilt, out


def assert_found(verify: Any, classes: set[str]) -> Counter[str]:
    """As many of each class as were handed out, and each where it was."""
    spoilt, out = handed_out()
    counts = Counter(verify["load"]["by_kind"]) + Counter(verify["final"]["by_kind"])
    assert counts == out, (counts, out)
    assert verify["complete"] and verify["mismatches"] == sum(out.values())
    assert set(out) >= classes, (spoilt, out)
    delivered = Counter(
        (int(line.split()[0]), line.split()[1])
        for line in (CORRUPT_DEBUG / "delivered").read_text().splitlines()
    )
    assert sum(delivered.values()) == sum(out.values())
    listed = Counter((mismatch["offset"], mismatch["kind"]) for mismatch in verify["first"])
    assert listed and listed <= delivered
    return counts


def test_what_is_spoilt_under_load_is_found_exactly(
    spek_module: Path, spekctl: Spekctl, mixed: str, spoiler: str
) -> None:
    """Two workers, depth 32, hot spots, mixed sizes. First nothing is spoilt, then a lot."""
    spoil_every(0)
    assert_all_right(load(spekctl, mixed, spoiler, "--workers", "2")["verify"])
    assert handed_out() == ({}, {})

    # The first run's blocks are those of another run now; there is one everywhere.
    load(spekctl, "sequential-write-128k", spoiler, count=128)
    spoil_every(5)
    result = load(
        *(spekctl, mixed, spoiler, "--workers", "2", "--seed", "2"), count=2000, code=DATA_ERRORS
    )
    assert_found(result["verify"], {"corrupt", "misdirected", "stale", "torn", "foreign"})
    assert not result["outcome"]["ok"]
    assert "blocks are wrong" in result["outcome"]["text"]


def test_what_is_spoilt_on_an_empty_disk(
    spek_module: Path, spekctl: Spekctl, mixed: str, spoiler: str
) -> None:
    spoil_every(3)
    result = load(spekctl, mixed, spoiler, code=DATA_ERRORS)
    assert_found(result["verify"], {"corrupt", "misdirected", "unstamped", "torn"})


def test_a_byte_that_device_mapper_changes_is_found(spek_module: Path, spekctl: Spekctl) -> None:
    """dm-flakey, in every write: one block of each. (In reads, 6.1 has the code for it, but looks
    at a bio that has nothing left when it ends.)"""
    subprocess.run(["modprobe", "dm_flakey"], check=True)
    with null_disk(4, memory_backed=1) as disk, flaky(disk, "corrupt_bio_byte 300 w 0 0") as node:
        result = load(spekctl, "sequential-write-128k", node, count=32, code=DATA_ERRORS)
    verify = result["verify"]
    # The byte of each bio, unless it was zero by itself; device mapper may cut an I/O into some.
    assert set(verify["final"]["by_kind"]) == {"corrupt"}
    assert all(mismatch["first"] == 299 and mismatch["bits"] <= 8 for mismatch in verify["first"])
    assert verify["mismatches"] >= 16
    assert len(verify["first"]) == min(verify["mismatches"], 64)
    assert verify["final"]["checked"] == 4 * MIB // 512


@contextlib.contextmanager
def flaky(node: str, feature: str) -> Iterator[str]:
    """dm-flakey over a disk, always at it."""
    words = feature.split()
    sectors = int((Path("/sys/class/block", os.path.basename(node)) / "size").read_text())
    table = f"0 {sectors} flakey {node} 0 0 60 {len(words)} {feature}"
    with mapped_disk("spek-flaky", table) as top:
        yield top


# ---- persistence ----

DETACH = """
set -e
host=$(readlink -f /sys/block/{name}/device | grep -o 'host[0-9]*')
echo 1 > /sys/block/{name}/device/delete
while [ -e /sys/block/{name} ]; do sleep 0.1; done
echo '- - -' > /sys/class/scsi_host/$host/scan
udevadm settle
"""


def test_spc1_persistence_over_a_detached_disk(
    spek_module: Path, spekctl: Spekctl, tmp_path: Path
) -> None:
    """scsi_debug keeps its data while the disk is deleted and found again."""
    folder = tmp_path / "spc1"
    with scsi_disk(size_mb=256, delay=0) as node:
        common = ("spc1", "--device", node, "--write", "--max-bsu", "1", "--folder", str(folder))
        lengths: tuple[str, ...] = ("--sustain", "3s", "--iops-time", "3s", "--search-time", "3s")
        # How quick an emulated disk is does not matter here.
        lengths += ("--phase-time", "1s", "--ramp", "0", "--max-response", "60s")
        first = spekctl(
            *(*common, *lengths, "--keep-going", "--no-prober", "--json"),
            *("--persistence", "--persistence-time", "2s", "--progress", "none"),
        )
        report = result_of(first)
        assert report["persistence"] is not None, first.stderr
        assert report["persistence"]["passed"] is None and report["persistence"]["writes"] > 0
        assert not report["passed"] and first.returncode == 1
        assert report["persistence"]["read_back"]["mismatches"] == 0

        second = spekctl(
            *(*common, *lengths, "--keep-going", "--no-prober", "--json"),
            *("--persistence", "--resume", "--progress", "none"),
            *("--reattach", DETACH.format(name=Path(node).name)),
        )
    report = result_of(second)
    persistence = report["persistence"]
    assert persistence["passed"] is True, second.stderr
    assert persistence["checked"]["checked"] == persistence["read_back"]["checked"] > 0
    assert any("data persistence: passed" in remark for remark in report["remarks"])


# ---- wrong input ----


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("random-read-4k", "--verify"), "random-read-4k only reads, so --verify has nothing"),
        (("random-write-4k", "--verify", "--write", "--data", "zero"), "excludes --data"),
        (
            ("random-write-4k", "--verify", "--write", "--detach"),
            "cannot be combined with --detach",
        ),
        (("random-write-4k", "--write", "--verify-state", "x"), "--verify-state needs --verify"),
    ],
)
def test_what_makes_no_sense_is_refused(
    spek_module: Path, spekctl: Spekctl, null_blk: Callable[..., str], options: Any, sentence: str
) -> None:
    done = spekctl("run", *options, "--device", null_blk(size_mb=4, memory_backed=1))
    assert done.returncode == 2 and sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_disk_too_large_for_memory_is_refused_with_numbers(
    spek_module: Path, spekctl: Spekctl, null_blk: Callable[..., str]
) -> None:
    """2 TiB in blocks of 4 KiB: 4 GiB of states, in a guest of 2 GiB."""
    node = null_blk(size_mb=2 << 20)
    done = spekctl("run", "random-write-4k", "--device", node, "--write", "--verify")
    assert done.returncode == 2
    assert "--verify would need 4 GiB of kernel memory, 8 bytes for every 4 KiB" in done.stderr
