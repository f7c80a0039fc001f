# SPDX-License-Identifier: GPL-2.0
"""Wrong input on the command line: one sentence, an exit code, and nothing done."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import FakeKernel, other_run
from lib.fakes.machine import disk

from spekctl.block import blkid, openers, safety
from spekctl.block import device as block_device
from spekctl.errors import (
    ExitCode,
    NoKernelSideError,
    error_from_errno,
)
from spekctl.kernel import client

# --- wrong input ---------------------------------------------------------------------------------

WRONG: dict[str, tuple[str, str]] = {
    "unknown command": ("rnu", "there is no command 'rnu'; did you mean 'run'?"),
    "help as a command": (
        "help run",
        "there is no command 'help'; write spekctl COMMAND --help (see spekctl --help)",
    ),
    "unknown option": (
        "run spc1 --device /dev/fake0 --dept 3",
        "no such option '--dept'; did you mean '--depth'? (see spekctl run --help)",
    ),
    "unknown option near several": (
        "run spc1 --bsu 1 --devce /dev/fake0",
        "no such option '--devce'; did you mean '--device'? (see spekctl run --help)",
    ),
    "unknown option near none": (
        "run spc1 --device /dev/fake0 --quux",
        "no such option '--quux' (see spekctl run --help)",
    ),
    "unknown short option": (
        "run spc1 --device /dev/fake0 -t 5",
        "no such option '-t' (see spekctl run --help)",
    ),
    "rate with a unit": (
        "run random-read-4k --device /dev/fake0 --rate 2k",
        "'2k' is not a number; write for example 2000 or 0.5",
    ),
    "number of a range in words": (
        "spc1 --device /dev/fake0 --write --max-bsu all",
        "'all' is not a whole number",
    ),
    "no device": ("run spc1 --bsu 1", "missing option '--device'"),
    "unknown workload": ("run spc2 --device /dev/fake0", "did you mean 'spc1'?"),
    "missing file": ("run ./no.toml --device /dev/fake0", "there is no workload file ./no.toml"),
    "negative depth": ("run random-read-4k --device /dev/fake0 --depth -3", "not -3"),
    "depth in words": (
        "run random-read-4k --device /dev/fake0 --depth many",
        "'many' is not a whole number",
    ),
    "bsu 0": ("run spc1 --device /dev/fake0 --bsu 0", "--bsu must be 1 to"),
    "bsu of a plain workload": (
        "run random-read-4k --device /dev/fake0 --bsu 3",
        "does not scale by BSU",
    ),
    "two loads": (
        "run random-read-4k --device /dev/fake0 --rate 3 --depth 3",
        "--rate and --depth exclude each other",
    ),
    "wrong duration": (
        "run random-read-4k --device /dev/fake0 --time 3parsecs",
        "'3parsecs' is not a duration",
    ),
    "wrong start time": (
        "run random-read-4k --device /dev/fake0 --start-at soon",
        "'soon' is not a start time",
    ),
    "wrong size": ("run random-read-4k --device /dev/fake0 --stripe 4KB", "write 4KiB"),
    "wrong cpus": ("run random-read-4k --device /dev/fake0 --cpus 3-1", "not a range of CPUs"),
    "wrong back end": ("run random-read-4k --device /dev/fake0 --backend sg", "is not one of"),
    "wrong device name": ("run random-read-4k --device /dev/nosuch", "there is no device"),
    "empty device name": ("run random-read-4k --device=", "there is no device ''"),
    "more than all reads": ("run --read 170% --device /dev/fake0", "'170%' is more than 100%"),
    "negative share": ("run --read -5% --device /dev/fake0", "'-5%' is not a percentage"),
    "block of no sector": ("run --size 100 --device /dev/fake0", "not a multiple of 512 bytes"),
    "block too large": ("run --size 1TiB --device /dev/fake0", "is more than 16 MiB"),
    "unit that is none": ("run --size 8KX --device /dev/fake0", "the units are KiB, MiB, GiB"),
    "unknown pattern": (
        "run --pattern sequentiel --device /dev/fake0",
        "there is no pattern 'sequentiel'; did you mean 'sequential'?",
    ),
    "value of a pattern without any": (
        "run --pattern backward:1MiB --device /dev/fake0",
        "--pattern backward:1MiB: write backward, without values",
    ),
    "value of a pattern that is no number": (
        "run --pattern zipf:x --device /dev/fake0",
        "--pattern zipf:x: 'x' is not a number",
    ),
    "zone without a size": (
        "run --pattern zoned:60% --device /dev/fake0",
        "write a zone as SHARE/SIZE, for example 60%/10%",
    ),
    "pattern of a file": (
        "run oltp --pattern zipf:1.1 --device /dev/fake0",
        "give --set stream.NAME.pattern=zipf --set stream.NAME.theta=1.1",
    ),
    "too many values of a pattern": (
        "run --pattern strided:1MiB:4KiB:3 --device /dev/fake0",
        "write strided:STRIDE:JITTER",
    ),
    "empty value of a pattern": (
        "run --pattern strided: --device /dev/fake0",
        "write strided:STRIDE:JITTER",
    ),
    "pattern without its key": (
        "run --pattern strided --device /dev/fake0",
        "pattern strided needs 'stride'",
    ),
    "unknown stream": (
        "run --read 50% --device /dev/fake0 --set stream.mian.size=4k",
        "there is no stream 'mian'; did you mean 'main'?",
    ),
    "override without a value": (
        "run --read 50% --device /dev/fake0 --set stream.main.size",
        "write FIELD=VALUE",
    ),
    "negative rate": (
        "run random-read-4k --device /dev/fake0 --rate -3",
        "must be a number above 0",
    ),
    "rate beyond all devices": (
        "run random-read-4k --device /dev/fake0 --rate 1e30",
        "is more than 1000000000 I/Os per second",
    ),
    "depth beyond all numbers": (
        "run random-read-4k --device /dev/fake0 --depth 99999999999999999999",
        "--depth must be 1 to",
    ),
    "no time": ("run random-read-4k --device /dev/fake0 --time 0", "--time must be more than 0"),
    "time beyond all clocks": (
        "run random-read-4k --device /dev/fake0 --time 99999999h",
        "is longer than 5124095 hours",
    ),
    "two workloads": ("run spc1 oltp --device /dev/fake0", "unexpected extra argument (oltp)"),
    "directory as output": ("run random-read-4k --device /dev/fake0 -o /tmp", "is a directory"),
    "CPU that is not there": ("run random-read-4k --device /dev/fake0 --cpus 9999", "CPU 9999"),
    "no block device": ("run random-read-4k --device /etc/passwd", "not a block device"),
    "same device twice": (
        "run random-read-4k --device /dev/fake0 --device /dev/fake0",
        "are the same device",
    ),
    "destroy without write": (
        "run random-write-4k --device /dev/fake0 --destroy S123",
        "--destroy needs --write",
    ),
    "result into nowhere": (
        "run random-read-4k --device /dev/fake0 -o /nonexistent/out.json",
        "there is no directory /nonexistent",
    ),
    "load of no device": (
        "show spc1 --bsu 0 --depth -4",
        "--bsu needs --device or --capacity as well",
    ),
    "rate of no device": ("show burst --rate -5", "--rate needs --device or --capacity as well"),
    "walk of no device": ("show spc1 --hrrw fixed", "--hrrw needs --device or --capacity as well"),
    "rate of a device": (
        "show burst --rate nan --capacity 1GiB",
        "--rate: a rate must be a number above 0",
    ),
    "rate of a closed loop": (
        "run spc1 --device /dev/fake0 --depth 4 --iops-per-bsu 5",
        "--depth and --iops-per-bsu exclude each other: a closed loop has no rate",
    ),
    "result over state": (
        "run random-write-4k --device /dev/fake0 --write --verify --verify-state x -o ./x",
        "--output and --verify-state are the same file",
    ),
    "state over log": (
        "run random-write-4k --device /dev/fake0 --write --verify --verify-state x --log x",
        "--log and --verify-state are the same file",
    ),
    "size of no digits": ("run --size= --device /dev/fake0", "--size: '' is not a size"),
    "share in words": ("run --read most --device /dev/fake0", "--read: 'most' is not a percentage"),
    "infinite rate": (
        "run random-read-4k --device /dev/fake0 --rate inf",
        "--rate: a rate must be a number above 0, not inf",
    ),
    "workload by its file": (
        "run spc1.toml --device /dev/fake0",
        "there is no workload file spc1.toml; the workload of that name is spc1",
    ),
    "directory as workload": ("run . --device /dev/fake0", ". is a directory, not a workload file"),
    "feed without a prober": (
        "run random-read-4k --device /dev/fake0 --no-prober --power-feed u6",
        "--power-feed and --no-prober exclude each other",
    ),
    "baseline without a prober": (
        "sweep random-read-4k --depth 1 --device /dev/fake0 --no-prober --power-baseline 3",
        "--power-baseline and --no-prober exclude each other",
    ),
    "folder of no name": (
        "sweep random-read-4k --depth 1 --device /dev/fake0 --folder=",
        "invalid value for '--folder': the name is empty",
    ),
    "result of no name": (
        "run random-read-4k --device /dev/fake0 --output=",
        "the name is empty",
    ),
    "state of no name": ("verify --device /dev/fake0 --from=", "the name is empty"),
    "too many points": (
        "sweep random-read-4k --device /dev/fake0 --depth 1-1000000000",
        "is more than 1000 numbers",
    ),
    "range that runs down": ("sweep oltp --device /dev/fake0 --rate 10-1", "it is empty"),
    "resume of nothing": (
        "spc1 --device /dev/fake0 --write --folder none --resume",
        "none holds no test to resume",
    ),
    "part twice": ("spc2 --device /dev/fake0 --write --parts lfp,lfp", "lfp is listed twice"),
    "day of 30 hours": (
        "energy spc1e --device /dev/fake0 --write --hours low=10/10/10",
        "a day has 24 h, not 30",
    ),
    "both tiers on one disk": (
        "energy tiered map --slow /dev/fake0 --fast /dev/fake0",
        "--slow and --fast are both /dev/fake0",
    ),
    "no number": ("energy dcse --iops nan", "--iops: 'nan': it must be 0 or between"),
    "run of no number": ("watch 1e3", "'1e3' is not a whole number"),
    "waiting a negative time": ("stop --wait -3", "'-3' is not a duration"),
    "doctor of a directory": ("doctor --device /tmp", "/tmp is a directory"),
    "unknown disk": ("vm --disk floppy -- status", "there is no disk type 'floppy'"),
    "kernel in words": ("vm --kernel latest -- status", "'latest' is not a kernel release"),
    "disk that is not given": (
        "vm --disk null_blk -- run spc1 --device {disk7}",
        "'{disk7}' names a disk that does not exist",
    ),
    "no model": ("drive show floppy", "there is no model 'floppy'"),
    "speed of no number": ("drive show barracuda-es --rpm nan", "'nan' is not a number"),
    "requests that are missing": (
        "drive simulate barracuda-es --requests none.csv",
        "there is no file none.csv",
    ),
    "command of a group": (
        "trace inf x.spc",
        "there is no command 'inf'; did you mean 'info'? (see spekctl trace --help)",
    ),
    "command of a group, unlike all": (
        "energy tiered mix",
        "there is no command 'mix'; the commands are compare, map",
    ),
    "option of a near name": (
        "devices --jsn",
        "no such option '--jsn'; did you mean '--json'? (see spekctl devices --help)",
    ),
    "job file without a name": ("run fio: --device /dev/fake0", "'fio:' names no file"),
    "job file to export": (
        "fio /etc/passwd --export oltp",
        "--export reads no job file: leave out /etc/passwd",
    ),
    "precision beyond its range": (
        "spc1 -d /dev/fake0 --write --resolution 60%",
        "60.0 is not in the range 0<=x<=50",
    ),
    "precision in words": (
        "spc1 -d /dev/fake0 --write --resolution fine",
        "'fine' is not a percentage; write for example 5%",
    ),
    "part of a per cent": (
        "pts -d /dev/fake0 --write --precondition 1.5%",
        "'1.5' is not a whole number of per cent",
    ),
    "share beyond all": (
        "spc2 -d /dev/fake0 --write --max-late 101%",
        "1.01 is not in the range 0<=x<=1",
    ),
    "queues of a disk": ("vm --disk nvme,queues=0 -- status", "from 1 to 1024"),
    "show nothing": ("show spc9", "did you mean 'spc1'?"),
    "run that is not there": ("watch 99", "There is no run"),
    "stop of nothing": ("stop", "the kernel has no run"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_wrong_input_gets_one_sentence_and_code_2(
    case: str, spekctl: Spekctl, kernel: FakeKernel
) -> None:
    line, sentence = WRONG[case]
    outcome = spekctl(*line.split())
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.sentence
    assert outcome.out == ""
    assert "run-new" not in kernel.calls


NO_WORKLOAD: dict[str, tuple[str, bytes | None, str]] = {
    "binary": ("./binary.toml", b"\x7fELF\x02\x01\xff\xfe", "it is not UTF-8 text"),
    "empty": ("./empty.toml", b"", "the section 'workload' is missing"),
    "result": ("result.json", b'{"kind": "spek-result"}', "this is JSON; results and reports"),
    "no TOML": ("./notes.toml", b"remember the milk", "not valid TOML"),
    "directory": ("./folder", None, "is a directory, not a workload file"),
    "other suffix": ("mine.txt", b"", "to use the file, write ./mine.txt"),
}


@pytest.mark.parametrize("case", sorted(NO_WORKLOAD))
def test_a_file_that_is_no_workload_gets_one_sentence(
    case: str,
    spekctl: Spekctl,
    kernel: FakeKernel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, content, sentence = NO_WORKLOAD[case]
    monkeypatch.chdir(tmp_path)
    Path(name).mkdir() if content is None else Path(name).write_bytes(content)
    outcome = spekctl("run", name, "--device", "/dev/fake0", "-o", "out.json")
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.sentence
    assert outcome.out == "" and not Path("out.json").exists()
    assert "run-new" not in kernel.calls


WRONG_KIND: dict[str, tuple[str, str]] = {
    "log of a result": ("log r.json", "r.json is a result of a run; expected a per-I/O log"),
    "plot of TOML": ("plot t.toml", "t.toml is not a spek file"),
    "plot of half a file": ("plot half.json", "half.json is not valid JSON"),
    "later version": ("plot r.json", "r.json has version 99 of its format; this spekctl reads"),
    "verify of a result": (
        "verify --device /dev/fake0 --from r.json",
        "r.json is a result of a run; expected a state file of `spekctl run --verify-state`",
    ),
    "energy of a result": ("energy spc1e --from r.json", "r.json is a result of a run"),
    "gate with results in place of limits": (
        "gate r.json r.json",
        "r.json is a result of a run; limits are read from TOML",
    ),
    "comparison of a later version": (
        "compare r.json -- r.json",
        "r.json has version 99 of its format; this spekctl reads",
    ),
    "missing file": ("energy dcse --from none.toml", "there is no file none.toml"),
    "trace that is a result": (
        "trace info r.json",
        "r.json is a result of a run; expected a trace",
    ),
    "rails file without rails": ("power rails t.toml", "t.toml has no [[rail]]"),
    "one name for two pictures": (
        "plot cdf r.json r.json --label a",
        "--label is given once for 2 files; give one for each",
    ),
    "two names for one page": (
        "report r.json --label a --label b",
        "--label is given 2 times for 1 file; give one for each",
    ),
    "requests that are no CSV": (
        "drive simulate barracuda-es --requests t.toml -o served.csv",
        "t.toml, line 1: 'a = 1' is not arrival_ns",
    ),
}


@pytest.mark.parametrize("case", sorted(WRONG_KIND))
def test_a_document_of_another_kind_gets_one_sentence(
    case: str, spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.json").write_text('{"kind": "spek-result", "version": 99}')
    Path("half.json").write_text("{")
    Path("t.toml").write_text("a = 1\n")
    before = sorted(Path().iterdir())
    line, sentence = WRONG_KIND[case]
    outcome = spekctl(*line.split())
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.sentence
    assert outcome.out == "" and sorted(Path().iterdir()) == before


def test_a_workload_with_a_typo_is_refused(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[workload]\nname = "w"\nsummary = "s"\n[[stream]]\nname = "s"\nsise = "4k"\n')
    outcome = spekctl("run", str(path), "--device", "/dev/fake0")
    assert outcome.code == ExitCode.USAGE
    assert "unknown key 'sise'; did you mean 'size'?" in outcome.sentence


def test_no_module_is_code_5(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> FakeKernel:
        raise NoKernelSideError("the kernel module spek is not loaded; as root: modprobe spek")

    monkeypatch.setattr(client, "connect", missing)
    for command in (["status"], ["stop"], ["run", "random-read-4k", "--device", "/dev/fake0"]):
        outcome = spekctl(*command)
        assert outcome.code == ExitCode.NO_KERNEL_SIDE
        assert "modprobe spek" in outcome.sentence


def test_no_permission_is_code_3(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.refuse["run-new"] = error_from_errno(errno.EPERM, "needs root", "run-new")
    outcome = spekctl("run", "random-read-4k", "--device", "/dev/fake0", "--progress", "none")
    assert (outcome.code, outcome.sentence) == (ExitCode.PERMISSION, "needs root")
    assert kernel.closed


def test_a_device_in_use_is_code_4_and_says_who(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.refuse["run-new"] = error_from_errno(errno.EBUSY, "Somebody holds it.", "run-new")
    holder = safety.Holder("fake0 is mounted on /srv")
    monkeypatch.setattr(safety, "holders", lambda block_device, roots=None: [holder])
    outcome = spekctl("run", "random-read-4k", "--device", "/dev/fake0", "--progress", "none")
    assert outcome.code == ExitCode.REFUSED
    assert outcome.sentence == "/dev/fake0 is in use: fake0 is mounted on /srv"


def test_a_device_of_another_run_is_named(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.refuse["run-new"] = error_from_errno(errno.EBUSY, "Somebody holds it.", "run-new")
    kernel.others = [other_run(3, 250, 1)]
    command = "run random-read-4k --device /dev/fake0 --device /dev/fake1 --progress none"
    outcome = spekctl(*command.split())
    assert outcome.code == ExitCode.REFUSED
    assert outcome.sentence == "/dev/fake1 is in use: run 3 of spek (random-read-4k) uses it"


@pytest.mark.parametrize(
    ("blamed", "name"),
    [
        (("target", 1), "/dev/fake1: "),
        (("stream", 0), "stream 'main': "),
        (("arrival", 0), "arrival 'main': "),
        (("asu", 0), "asu 'all': "),
        (("worker", 0), "worker on CPU "),
        (("spin_ns", 0), ""),
        (None, ""),
    ],
)
def test_the_part_that_the_kernel_blames_is_named(
    blamed: tuple[str, int] | None, name: str, spekctl: Spekctl, kernel: FakeKernel
) -> None:
    error = error_from_errno(errno.ERANGE, "It is too large.", "run-new")
    error.blamed = blamed
    kernel.refuse["run-new"] = error
    command = "run random-read-4k --device /dev/fake0 --device /dev/fake1 --progress none"
    outcome = spekctl(*command.split())
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence.startswith(name)
    assert outcome.sentence.endswith("It is too large.")


def test_writing_without_permission_is_code_4(spekctl: Spekctl, kernel: FakeKernel) -> None:
    outcome = spekctl("run", "random-write-4k", "--device", "/dev/fake0")
    assert outcome.code == ExitCode.REFUSED
    assert "this workload writes; give --write" in outcome.sentence
    assert "run-new" not in kernel.calls


def test_data_is_refused_after_the_claim_and_before_the_start(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    signatures = [blkid.Signature("xfs", "filesystem", 0)]
    monkeypatch.setattr(safety, "signatures_on", lambda block_device, diskseq: signatures)
    command = "run random-write-4k --device /dev/fake0 --write --time 2s --progress none"
    outcome = spekctl(*command.split())
    assert outcome.code == ExitCode.REFUSED
    assert outcome.sentence.endswith(
        "file system xfs at byte 0; to overwrite it, give --destroy S123"
    )
    assert kernel.calls[0] == "run-new"
    assert "run-start" not in kernel.calls
    assert kernel.deleted
    outcome = spekctl(*command.split(), "--destroy", "S123")
    assert outcome.code == ExitCode.OK
    assert "will be overwritten" in outcome.err


def test_a_device_that_an_unknown_user_has_open_is_refused_before_the_start(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openers, "PAUSE_S", 0)
    kernel.opens = 2
    command = "run random-write-4k --device /dev/fake0 --write --time 2s --progress none"
    outcome = spekctl(*command.split())
    assert outcome.code == ExitCode.REFUSED
    assert "the kernel counts 1 more open of it than processes have" in outcome.sentence
    assert "run-start" not in kernel.calls
    assert kernel.deleted
    outcome = spekctl(*command.split(), "--destroy", "S123")
    assert outcome.code == ExitCode.OK
    assert "will be overwritten although" in outcome.err


def test_a_mistyped_serial_is_refused_even_if_nothing_would_be_lost(
    spekctl: Spekctl, kernel: FakeKernel
) -> None:
    outcome = spekctl(
        *("run", "random-write-4k", "--device", "/dev/fake0", "--write", "--destroy", "S124")
    )
    assert outcome.code == ExitCode.REFUSED
    assert outcome.sentence == (
        "--destroy S124 names none of the devices given: /dev/fake0 is S123"
    )
    assert "run-new" not in kernel.calls


def test_a_device_replaced_between_look_and_claim_is_refused(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.diskseq = 6
    monkeypatch.setattr(block_device, "find", lambda path: disk(path, diskseq=5))
    outcome = spekctl("run", "random-read-4k", "--device", "/dev/fake0", "--progress", "none")
    assert outcome.code == ExitCode.REFUSED
    assert "has just been replaced" in outcome.sentence
    assert "run-start" not in kernel.calls
