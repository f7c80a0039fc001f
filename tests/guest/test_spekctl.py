# SPDX-License-Identifier: GPL-2.0
"""spekctl on real modules and disks: the device agrees, wrong input is refused, Ctrl-C is heard.

Commands run inside this process where they can: each start of Python costs seconds in an
emulated guest. Signals and permissions need processes of their own.
"""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lib.guest.disks import settle
from lib.guest.modules import is_loaded, unload_soon
from lib.guest.spekctl import in_process
from lib.waiting import LONG_S, eventually

from spekctl import cli
from spekctl.documents import result
from spekctl.errors import ExitCode
from spekctl.kernel import client
from spekctl.kernel.records import IntervalRow, Phase, StatsCell
from spekctl.run.session import Session
from spekctl.run.slices import Slices
from spekctl.workload import file

pytestmark = pytest.mark.any_kernel

MIB = 1 << 20
QUIET = ("--progress", "none")
READERS = {"burst", "random-read-4k", "sequential-read-128k"}
SLICES = 4


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The result; it is what its schema says."""
        assert self.out, self.err
        document = json.loads(self.out)
        if isinstance(document, dict) and document.get("kind") == "spek-result":
            import msgspec

            msgspec.json.decode(self.out, type=result.Result)
        return document

    @property
    def sentence(self) -> str:
        """The last line on standard error, without our name."""
        return self.err.splitlines()[-1].removeprefix("spekctl: ")


Call = Callable[..., Outcome]


@pytest.fixture
def call(spek_module: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Call]:
    """call("run", ...) in this process; afterwards no run is left in the kernel."""

    with in_process(capfd) as spekctl:

        def called(*arguments: str) -> Outcome:
            done = spekctl(*arguments)
            return Outcome(done.code, done.out, done.err)

        yield called


def counters(node: str) -> tuple[int, int, int, int]:
    """reads, read sectors, writes, written sectors of a disk, read independently of spekctl."""
    fields = Path("/sys/block", os.path.basename(node), "stat").read_text().split()
    return int(fields[0]), int(fields[2]), int(fields[4]), int(fields[6])


@pytest.fixture
def at_claim(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """at_claim(node) notes the disk's counters when the run is about to start."""

    def watch(node: str) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        check = Session.check

        def noting(session: Session) -> None:
            check(session)
            seen["before"] = counters(node)

        monkeypatch.setattr(Session, "check", noting)
        return seen

    return watch


def sent(document: dict[str, Any]) -> tuple[int, int, int, int]:
    """What the result says was sent, in the disk's terms: summed over cells, all phases."""
    sums = {"read": [0, 0], "write": [0, 0]}
    for cell in document["cells"]:
        sums[cell["direction"]][0] += cell["requests"]
        sums[cell["direction"]][1] += cell["bytes"] // 512
    (reads, read_sectors), (writes, written_sectors) = sums.values()
    return reads, read_sectors, writes, written_sectors


def writing(name: str) -> tuple[str, ...]:
    return () if name in READERS else ("--write",)


# --- the device agrees ---------------------------------------------------------------------------


@pytest.mark.sampled
@pytest.mark.parametrize("name", file.shipped_names())
def test_the_disk_counts_what_the_result_says(
    name: str, call: Call, null_blk: Callable[..., str], at_claim: Callable[[str], dict[str, Any]]
) -> None:
    node = null_blk(size_mb=1024)
    seen = at_claim(node)
    load = ("--bsu", "200") if name == "spc1" else ()
    count = "20000" if name == "spc1" else "1000"

    outcome = call(
        *("run", name, "--device", node, "--count", count, "--ramp-count", "100", "--json"),
        *(*load, *writing(name), *QUIET),
    )

    assert outcome.code == ExitCode.OK, outcome.err
    document = outcome.json
    difference = tuple(
        after - before for after, before in zip(counters(node), seen["before"], strict=True)
    )
    assert difference == sent(document)
    (target,) = document["targets"]
    assert target["disk_agrees"] is True
    assert document["totals"]["all"]["ios"] == int(count)
    assert document["outcome"]["ok"] and not document["outcome"]["errors"]
    for cell in document["cells"]:
        for times in cell["times"].values():
            assert times is None or sum(times["histogram"]["counts"]) == cell["ios"]
    if name == "spc1":
        check_spc1(document)


def check_spc1(document: dict[str, Any]) -> None:
    """Shares and sizes against the published ones, five standard deviations wide or so."""
    totals = document["totals"]
    ios = totals["all"]["ios"]
    assert totals["read"]["ios"] / ios == pytest.approx(0.3944, abs=0.018)
    assert totals["all"]["mean_bytes"] / 1024 == pytest.approx(8.0144, abs=0.5)
    expected = {"1-1": 0.035, "1-2": 0.281, "1-3": 0.07, "1-4": 0.21}
    expected |= {"2-1": 0.018, "2-2": 0.07, "2-3": 0.035, "3-1": 0.281}
    for name, share in expected.items():
        cells = [cell for cell in document["cells"] if cell["name"] == name]
        measured = sum(cell["ios"] for cell in cells if cell["phase"] == "measure") / ios
        assert measured == pytest.approx(share, abs=5 * (share * (1 - share) / ios) ** 0.5), name


def test_polled_completion_is_reported(call: Call, null_blk: Callable[..., str]) -> None:
    outcome = call(
        *("run", "random-read-4k", "--device", null_blk(size_mb=64, poll_queues=1), "--polled"),
        *("--count", "500", "--json", *QUIET),
    )
    assert outcome.code == ExitCode.OK, outcome.err
    (target,) = outcome.json["targets"]
    assert (target["polled"], target["disk_agrees"]) == (True, True)
    # This guest's clock runs as clocks do; tests/stats has a guest whose clock counts instructions.
    assert outcome.json["environment"]["counts_instructions"] is False


def test_two_disks_share_the_load_in_stripes(call: Call, null_blk: Callable[..., str]) -> None:
    nodes = [null_blk(size_mb=256), null_blk(size_mb=512)]
    outcome = call(
        *("run", "sequential-read-128k", "--device", nodes[0], "--device", nodes[1]),
        *("--count", "400", "--stripe", "64KiB", "--json", *QUIET),
    )
    assert outcome.code == ExitCode.OK, outcome.err
    document = outcome.json
    assert [target["disk_agrees"] for target in document["targets"]] == [True, True]
    assert document["config"]["asus"][0]["bytes"] == 512 * MIB
    first, second = (target["read_bytes"] for target in document["targets"])
    assert abs(first - second) <= 16 * 128 * 1024
    assert first + second == sum(cell["bytes"] for cell in document["cells"])


def test_asus_are_on_devices_of_their_own(call: Call, null_blk: Callable[..., str]) -> None:
    """asu1 and asu3 each on a disk, asu2 in stripes over two: each disk has the I/Os of its asu."""
    own1, own3, *striped = [null_blk(size_mb=size) for size in (256, 64, 256, 512)]
    outcome = call(
        *("run", "spc1", "--bsu", "20", "--write", "--time", "2s", "--json", *QUIET),
        *("--device", f"asu1={own1}", "--device", f"asu3={own3}"),
        *(word for node in striped for word in ("--device", node)),
    )
    assert outcome.code == ExitCode.OK, outcome.err
    document = outcome.json
    paths = [target["facts"]["path"] for target in document["targets"]]
    assert paths == [*striped, own1, own3]
    assert [target["disk_agrees"] for target in document["targets"]] == [True] * 4
    asu_of = [stream["asu"] for stream in document["config"]["streams"]]
    moved = [0, 0, 0]
    for cell in document["cells"]:
        moved[asu_of[cell["stream"]]] += cell["bytes"]
    on = {
        target["facts"]["path"]: target["read_bytes"] + target["write_bytes"]
        for target in document["targets"]
    }
    assert [on[own1], sum(on[node] for node in striped), on[own3]] == moved
    assert all(on.values())


def test_data_on_a_disk_that_is_only_read_are_no_reason_to_refuse(
    call: Call, null_blk: Callable[..., str], tmp_path: Path
) -> None:
    """It is neither opened for writing nor in need of --destroy, beside one that is written."""
    read, written = null_blk(size_mb=256, memory_backed=1), null_blk(size_mb=256)
    subprocess.run(["mkswap", read], check=True, capture_output=True)
    subprocess.run(["blockdev", "--setro", read], check=True)
    workload = tmp_path / "two.toml"
    workload.write_text(
        '[workload]\nname = "two"\nsummary = "reads one disk, writes another"\n'
        '[[asu]]\nname = "a"\n[[asu]]\nname = "b"\n'
        '[[stream]]\nname = "r"\nasu = "a"\nsize = "4KiB"\n'
        '[[stream]]\nname = "w"\nasu = "b"\nsize = "4KiB"\nread = "0%"\n'
    )
    words = ["--device", f"a={read}", "--device", f"b={written}", "--count", "400", *QUIET]
    outcome = call("run", str(workload), *words, "--json", "--write")
    assert outcome.code == ExitCode.OK, outcome.err
    moved = [(each["reads"], each["writes"]) for each in outcome.json["targets"]]
    assert moved[0][0] and not moved[0][1] and moved[1][1] and not moved[1][0]
    assert f"no stream writes {read}: opened read-only" in outcome.json["remarks"]
    refusal = call("run", str(workload), *words)
    assert refusal.code == ExitCode.REFUSED
    assert refusal.err.strip().endswith(f"give --write to let it overwrite {written}")


def test_response_time_grows_with_the_backlog_and_service_time_does_not(
    call: Call, null_blk: Callable[..., str]
) -> None:
    node = null_blk(size_mb=256, irqmode=2, completion_nsec=1_000_000)
    outcome = call(
        *("run", "random-read-4k", "--device", node, "--rate", "3000", "--max-outstanding", "1"),
        *("--time", "3s", "--json", *QUIET),
    )
    document = outcome.json
    times = document["totals"]["all"]["times"]
    assert document["outcome"]["offered_iops"] == 3000
    assert document["outcome"]["backlog"] > 1000
    assert times["response"]["percentiles_ns"]["p50"] > 300_000_000
    assert times["service"]["percentiles_ns"]["p50"] < 50_000_000
    rows = [row for row in document["intervals"] if row["phase"] == "measure"]
    assert rows[0]["read"]["response_p50_ns"] < rows[-1]["read"]["response_p50_ns"]


def test_slices_have_every_io_of_the_measure_phase(
    call: Call, null_blk: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Rows of the phase that each look has seen. A slice is what a look adds; the last one may add
    # rows that the look before it has seen, and whose I/Os the sums had not yet.
    looks: list[int] = []
    take = Slices.take

    def counted(self: Slices, cells: Iterable[StatsCell], rows: Sequence[IntervalRow]) -> None:
        before = len(self.result())
        looks.append(sum(row.phase is Phase.MEASURE for row in rows))
        take(self, cells, rows)
        # However long the looks take here, there are enough of them.
        if before < SLICES <= len(self.result()):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Slices, "take", counted)
    node = null_blk(size_mb=256, irqmode=2, completion_nsec=1_000_000)
    outcome = call(
        *("run", "random-read-4k", "--device", node, "--ramp", "300ms", "--time", "10m"),
        *("--interval", "100ms", "--heat-map", "--json", *QUIET),
    )
    assert outcome.code == ExitCode.INTERRUPTED, outcome.err
    document = outcome.json
    whole = document["totals"]["all"]["times"]["response"]
    slices = document["slices"]
    assert SLICES <= len(slices) <= sum(seen > 0 for seen in looks)
    assert sum(sum(piece["response"]["counts"]) for piece in slices) == whole["count"] > 0
    assert all(piece["end_ns"] == after["start_ns"] for piece, after in pairwise(slices))
    (phase,) = (entry for entry in document["phases"] if entry["phase"] == "measure")
    assert slices[0]["start_ns"] == phase["start_ns"]
    assert slices[-1]["end_ns"] == phase["end_ns"]


def test_the_prober_is_beside_the_run(
    call: Call, prober_module: Path, null_blk: Callable[..., str]
) -> None:
    outcome = call(
        *("run", "random-read-4k", "--device", null_blk(size_mb=256), "--time", "3s", "--json"),
        *("--prober-interval", "100ms", *QUIET),
    )
    assert outcome.code == ExitCode.OK, outcome.err
    prober = outcome.json["prober"]
    assert prober["measure_ns"] > 2_000_000_000
    machine, workers = prober["measure"]["machine"], prober["measure"]["workers"]
    names = ("user_ns", "nice_ns", "system_ns", "idle_ns", "iowait_ns", "irq_ns", "softirq_ns")
    whole_ns = sum(machine[name] for name in names) + machine["steal_ns"]
    # An emulated guest on a busy host loses ticks; test_prober.py compares with /proc/stat.
    assert 0 < whole_ns / (os.cpu_count() * prober["measure_ns"]) < 1.1
    assert workers["runtime_ns"] > prober["measure_ns"] // 2
    assert outcome.err == ""


def test_without_a_prober_one_line_says_so(call: Call, null_blk: Callable[..., str]) -> None:
    if is_loaded("spek_prober"):
        unload_soon("spek_prober")
    outcome = call(
        *("run", "random-read-4k", "--device", null_blk(size_mb=64), "--count", "100", "--json"),
        *QUIET,
    )
    assert outcome.code == ExitCode.OK
    assert outcome.err.count("\n") == 1 and "no prober" in outcome.err
    assert outcome.json["prober"] is None


# --- wrong input, as a new user would try it -----------------------------------------------------


@contextlib.contextmanager
def without_module() -> Iterator[None]:
    """The module is taken away and brought back."""
    was_loaded = is_loaded("spek")
    if was_loaded:
        unload_soon("spek")
    try:
        yield
    finally:
        if was_loaded:
            path = Path(os.environ["SPEK_MODULES"], "spek.ko")
            subprocess.run(["insmod", path], check=True)


def test_no_module_is_said(null_blk: Callable[..., str], capfd: pytest.CaptureFixture[str]) -> None:
    """Runs without the spek_module fixture."""
    with without_module():
        code = cli.run(["run", "random-read-4k", "--device", null_blk(size_mb=64)])
        assert code == ExitCode.NO_KERNEL_SIDE
        assert "the kernel module spek is not loaded" in capfd.readouterr().err


def test_a_recipe_is_red_without_module_or_device(
    spek_module: object,
    null_blk: Callable[..., str],
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """`run` and then `gate`, as CI does: the result of the run before is not there any more."""
    disk = null_blk(size_mb=64)
    limits, result_file = tmp_path / "limits.toml", tmp_path / "r.json"
    limits.write_text("[[limit]]\nmetric = 'errors'\nmax = 0\n")
    run = ["run", "random-read-4k", "--device", disk, "--count", "100", "-o", str(result_file)]
    gate = ["gate", str(limits), str(result_file), "--format", "junit"]
    assert (cli.run([*run, *QUIET]), cli.run(gate)) == (ExitCode.OK, ExitCode.OK)

    @contextlib.contextmanager
    def held() -> Iterator[None]:
        holder = os.open(disk, os.O_RDWR | os.O_EXCL)
        try:
            yield
        finally:
            os.close(holder)

    for trouble, code in ((without_module, ExitCode.NO_KERNEL_SIDE), (held, ExitCode.REFUSED)):
        with trouble():
            capfd.readouterr()
            assert cli.run([*run, *QUIET]) == code
            assert capfd.readouterr().err.splitlines()[-1].startswith("spekctl: ")
            assert not result_file.exists()
            assert cli.run(gate) == ExitCode.USAGE
            assert 'failures="1"' in capfd.readouterr().out
    assert (cli.run([*run, *QUIET]), cli.run(gate)) == (ExitCode.OK, ExitCode.OK)


def test_no_permission_is_said(call: Call, null_blk: Callable[..., str]) -> None:
    command = ["setpriv", "--bounding-set", "-sys_admin", sys.executable, "-m", "spekctl"]
    done = subprocess.run(
        [*command, "run", "random-read-4k", "--device", null_blk(size_mb=64)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == ExitCode.PERMISSION
    assert "CAP_SYS_ADMIN" in done.stderr.splitlines()[-1]
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("spc1", "--bsu", "0"), "--bsu must be 1 to"),
        (("spc1", "--bsu", "1", "--write"), "that takes a device of at least 178 MiB"),
        (("random-read-4k", "--depth", "-1"), "not -1"),
        (("random-raed-4k",), "did you mean 'random-read-4k'?"),
        (("./beyond.toml",), "but /dev/"),
        (("./sum.toml",), "sum to 90%, not to 100%"),
        (("./typo.toml",), "did you mean 'pattern'?"),
        (("random-read-4k", "--polled"), "poll"),
        (("random-read-4k", "--spin", "1s"), "spin"),
    ],
)
def test_wrong_input_gets_one_sentence(
    arguments: tuple[str, ...],
    sentence: str,
    call: Call,
    null_blk: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    head = '[workload]\nname = "w"\nsummary = "s"\n[[stream]]\nname = "s"\n'
    sizes = 'sizes = [{ size = "4k", share = "50%" }, { size = "8k", share = "40%" }]\n'
    asu = '[[asu]]\nname = "a"\nsize = "65MiB"\n'
    (tmp_path / "beyond.toml").write_text(head + 'size = "4k"\n' + asu)
    (tmp_path / "sum.toml").write_text(head + sizes)
    (tmp_path / "typo.toml").write_text(head + 'size = "4k"\npatern = "uniform"\n')
    monkeypatch.chdir(tmp_path)
    node = null_blk(size_mb=64, poll_queues=0)
    before = counters(node)
    outcome = call("run", *arguments, "--device", node, "--time", "1s", "--no-prober", *QUIET)
    assert outcome.code == ExitCode.USAGE, outcome.err
    assert sentence in outcome.sentence
    assert outcome.err.count("\n") == 1 and outcome.out == ""
    assert counters(node) == before


# --- protection of disks -------------------------------------------------------------------------


def test_data_is_only_overwritten_if_the_device_is_named(
    call: Call, null_blk: Callable[..., str]
) -> None:
    node = null_blk(size_mb=64, memory_backed=1)
    subprocess.run(["mkfs.ext4", "-q", "-L", "precious", node], check=True)
    settle()
    head = Path(node).read_bytes()[:MIB]
    common = ("run", "sequential-write-128k", "--device", node, "--count", "600", "--json")
    arguments = (*common, "--data", "random", "--no-prober", *QUIET)

    assert "give --write" in call(*arguments).sentence
    refused = call(*arguments, "--write")
    assert refused.code == ExitCode.REFUSED
    assert "ext4 'precious'" in refused.sentence
    wrong = call(*arguments, "--write", "--destroy", "1:2/3")
    assert "names none of the devices given" in wrong.sentence
    assert Path(node).read_bytes()[:MIB] == head

    name = refused.sentence.rpartition("--destroy ")[2]
    listed = {row["path"]: row["id"] for row in call("devices", "--json").json}
    assert listed[node] == name
    done = call(*arguments, "--write", "--destroy", name)
    assert done.code == ExitCode.OK, done.err
    assert "will be overwritten" in done.err
    assert Path(node).read_bytes()[:MIB] != head


def test_a_link_to_a_device_is_followed_and_shown(
    call: Call, null_blk: Callable[..., str], tmp_path: Path
) -> None:
    node = null_blk(size_mb=64)
    (tmp_path / "my-disk").symlink_to(node)
    outcome = call(
        *("run", "random-read-4k", "--device", str(tmp_path / "my-disk"), "--count", "50"),
        *("--no-prober", *QUIET),
    )
    assert outcome.code == ExitCode.OK, outcome.err
    assert f"{tmp_path}/my-disk ({os.path.basename(node)})" in outcome.out


# --- Ctrl-C, detached runs -----------------------------------------------------------------------


@contextlib.contextmanager
def background(*arguments: str, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """spekctl as a process of its own; never left behind."""
    process = subprocess.Popen(
        [sys.executable, "-m", "spekctl", *arguments],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_running() -> int:
    """Until there is a run that measures; its number."""
    with contextlib.closing(client.connect()) as kernel:
        running = eventually(
            lambda: [info.id for info in kernel.runs() if info.intervals], "no run is under way"
        )
    return int(running[0])


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"]
)
def test_a_signal_ends_the_run_in_order(
    signum: int, code: int, call: Call, null_blk: Callable[..., str]
) -> None:
    node = null_blk(size_mb=64)
    arguments = ("random-read-4k", "--rate", "500", "--device", node, "--time", "10m", "--json")
    with background("run", *arguments, "--interval", "200ms") as process:
        wait_running()
        process.send_signal(signum)
        out, err = process.communicate(timeout=LONG_S)
    outcome = Outcome(process.returncode, out, err)
    assert outcome.code == code
    assert outcome.json["outcome"]["reason"] == "stopped"
    assert outcome.json["totals"]["all"]["ios"] > 0
    assert outcome.json["targets"][0]["disk_agrees"] is True
    assert "stopping" in err


def test_a_killed_controller_leaves_nothing(call: Call, null_blk: Callable[..., str]) -> None:
    node = null_blk(size_mb=64)
    with background("run", "random-read-4k", "--device", node, "--interval", "200ms") as process:
        wait_running()
        process.kill()
        process.wait()
    eventually(lambda: call("status", "--json").json == [], "the run is still there")
    arguments = ("--device", node, "--count", "50", "--no-prober", *QUIET)
    assert call("run", "random-read-4k", *arguments).code == ExitCode.OK


def test_a_detached_run_is_seen_watched_and_stopped(
    call: Call, null_blk: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from spekctl.run import detached

    monkeypatch.setattr(detached, "DIRECTORY", tmp_path)
    node = null_blk(size_mb=64)
    arguments = ("random-read-4k", "--rate", "500", "--device", node, "--interval", "200ms")
    started = call("run", *arguments, "--time", "10m", "--detach", "--json")
    assert started.code == ExitCode.OK, started.err
    number = started.json["run"]

    busy = call("run", "random-read-4k", "--device", node, "--no-prober", *QUIET)
    assert busy.code == ExitCode.REFUSED
    assert busy.sentence == f"{node} is in use: run {number} of spek (random-read-4k) uses it"
    assert wait_running() == number
    (row,) = call("status", "--json").json
    assert (row["id"], row["state"], row["detached"]) == (number, "running", 1)
    assert "random-read-4k" in call("status").out

    usual = signal.getsignal(signal.SIGINT)

    def interrupt() -> None:
        while signal.getsignal(signal.SIGINT) is usual:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    left = call("watch", str(number), *QUIET)
    assert left.code == ExitCode.INTERRUPTED and "continues" in left.err
    assert call("status", "--json").json[0]["state"] == "running"

    assert call("stop").sentence == f"run {number} has ended"
    final = call("watch", str(number), "--json", *QUIET)
    assert final.code == ExitCode.RUN_FAILED
    assert final.json["outcome"]["reason"] == "stopped"
    assert final.json["totals"]["all"]["ios"] > 0
    assert final.json["targets"][0]["disk_agrees"] is None  # it ended while nobody looked
    assert call("status").sentence == "no runs"


def test_a_terminal_shows_the_live_view(call: Call, null_blk: Callable[..., str]) -> None:
    ours, theirs = pty.openpty()
    arguments = ("run", "random-read-4k", "--rate", "500", "--device", null_blk(size_mb=64))
    with background(*arguments, "--time", "6s", stdout=None, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # EIO: the other end was closed
            while data := os.read(ours, 65536):
                seen += data
        assert process.wait(timeout=LONG_S) == ExitCode.OK
    os.close(ours)
    text = seen.decode()
    for wanted in ("random-read-4k on /dev/", "measure", "left", "IOPS", "response p50", "queue"):
        assert wanted in text
