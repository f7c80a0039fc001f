# SPDX-License-Identifier: GPL-2.0
"""spekctl vm --ab with guests that only write results: order, resumption, failures, verdicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from lib.ctl import profiles
from lib.ctl.verdicts import changed, measured, put

from spekctl import cli
from spekctl.campaigns import ab
from spekctl.documents import document
from spekctl.documents.profile import Profile
from spekctl.errors import ExitCode
from spekctl.vm import bytecode, kernels, marks, modules, profiler, runner
from spekctl.vm.architecture import Architecture
from spekctl.vm.kernels import Kernel
from spekctl.vm.runner import Guest, Outcome

RUN = ["run", "random-read-4k", "--device", "/dev/x"]
Fail = Callable[[Guest, Path], Outcome]


class Guests:
    """Stands for QEMU. @cpu_per_io: instructions by kernel; @fail: outcomes of boots by number."""

    def __init__(self) -> None:
        self.booted: list[str] = []
        self.guests: list[Guest] = []
        self.cpu_per_io = {"6.1": 1000.0, "6.12": 1000.0}
        self.fail: dict[int, Fail] = {}
        self.machine = {"6.1": "x86_64", "6.12": "x86_64"}
        self.counts = True

    def __call__(self, guest: Guest, *, out_fd: int) -> Outcome:
        assert out_fd == 2
        release = guest.kernel.release
        self.booted.append(release)
        self.guests.append(guest)
        result = Path(guest.command[guest.command.index("-o") + 1])
        assert result.parent in guest.share
        number = len(self.booted)
        if number in self.fail:
            return self.fail[number](guest, result)
        iops = 1e9 / self.cpu_per_io[release]
        contents = measured(number, iops, counts=self.counts)
        put(result, changed(contents, environment={"machine": self.machine[release]}))
        self.profile(guest, release)
        return Outcome(0)

    def profile(self, guest: Guest, release: str) -> None:
        """What the plugin and the run write where a guest has a plugin."""
        folder = guest.environment.get(marks.VARIABLE)
        assert (folder is not None) == ("-plugin" in guest.qemu)
        if folder is None:
            return
        assert Path(folder) in guest.share
        queue = round(self.cpu_per_io[release] * 1000)
        profiles.parts(Path(folder), {}, {profiles.QUEUE: queue}, run=profiles.run_of(measured(1)))


@pytest.fixture
def guests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guests:
    """No kernel is searched or booted; a folder of modules of its own for each."""
    guests = Guests()

    def find(name: str, made_for: Architecture | None) -> Kernel:
        image = tmp_path / f"vmlinuz-{name}"
        if not image.exists():
            image.write_text(name)
        return Kernel(name, image, tmp_path, tmp_path, "test")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kernels, "find_kernel", find)
    monkeypatch.setattr(modules, "build_modules", lambda kernel: [tmp_path / "key" / "spek.ko"])
    monkeypatch.setattr(bytecode, "compile_ahead", lambda: None)
    monkeypatch.setattr(runner, "check_tools", lambda *_: None)
    monkeypatch.setattr(runner, "run_guest", guests)
    return guests


def play(*options: str, run: list[str] = RUN) -> int:
    """The exit code of a comparison of 6.1 with 6.12 in the folder `out`."""
    return cli.run(["vm", "--ab", "6.1", "6.12", "--folder", "out", *options, "--", *run])


def kept(folder: Path) -> list[str]:
    """Names in the folder of results."""
    return sorted(path.name for path in (folder / "out").iterdir())


@pytest.mark.parametrize(
    ("b", "code", "said"),
    [
        (1001.0, ExitCode.OK, "same: cpu_per_io"),
        (990.0, ExitCode.OK, "better: cpu_per_io"),
        (1010.0, ExitCode.LIMIT_MISSED, "worse: cpu_per_io"),
    ],
)
def test_the_verdict_is_printed_and_is_the_exit_code(
    guests: Guests, capsys: pytest.CaptureFixture[str], b: float, code: int, said: str
) -> None:
    guests.cpu_per_io["6.12"] = b
    assert play() == code
    assert said in capsys.readouterr().out


def test_scattered_counts_leave_the_verdict_undecided(
    guests: Guests, capsys: pytest.CaptureFixture[str]
) -> None:
    def longer(guest: Guest, result: Path) -> Outcome:
        put(result, measured(3, 1e9 / 1010, counts=True))
        return Outcome(0)

    guests.fail[3] = longer
    guests.machine = dict.fromkeys(guests.machine, measured(1).environment.machine)
    assert play() == ExitCode.UNDECIDED
    assert "undecided: cpu_per_io" in capsys.readouterr().out


def test_kernels_take_turns_in_guests_that_count_instructions(
    guests: Guests, tmp_path: Path
) -> None:
    assert play("--repetitions", "2") == ExitCode.OK
    assert guests.booted == ["6.1", "6.12", "6.12", "6.1"] * 2
    assert all(guest.icount and guest.accel == "tcg" for guest in guests.guests)
    results = [f"{side}{number}.json" for side in "ab" for number in (1, 2, 3, 4)]
    assert kept(tmp_path) == [*results, "state.json"]


def test_a_resumption_repeats_no_complete_run_and_may_add_repetitions(
    guests: Guests, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(guest: Guest, result: Path) -> Outcome:
        put(result, measured(3, counts=True, ok=False))
        return Outcome(ExitCode.INTERRUPTED)

    guests.fail[3] = interrupt
    assert play() == ExitCode.INTERRUPTED
    assert "b2: interrupted; --resume continues with this run" in capsys.readouterr().err
    assert kept(tmp_path) == ["a1.json", "b1.json", "state.json"]

    assert play("--resume") == ExitCode.OK
    assert guests.booted[3:] == ["6.12", "6.1"]
    assert play("--resume") == ExitCode.OK
    assert len(guests.booted) == 5
    assert play("--resume", "--repetitions", "2") == ExitCode.OK
    assert guests.booted[5:] == ["6.1", "6.12", "6.12", "6.1"]


def test_functions_that_grew_are_named_by_a_boot_more_for_each_kernel(
    guests: Guests, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    guests.cpu_per_io["6.12"] = 1010.0
    assert play() == ExitCode.LIMIT_MISSED
    assert "null_queue_rq" not in capsys.readouterr().out
    assert play("--resume", "--functions") == ExitCode.LIMIT_MISSED
    assert "null_queue_rq  1000.0  1010.0   +10.0" in capsys.readouterr().out
    assert guests.booted[4:] == ["6.1", "6.12"]
    assert {"a-profile.json", "b-profile.json"} < set(kept(tmp_path))
    assert play("--resume", "--functions") == ExitCode.LIMIT_MISSED
    assert len(guests.booted) == 6


def test_a_profile_that_fails_is_made_by_a_resumption(
    guests: Guests, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    guests.fail[6] = partly(Outcome(143))
    assert play("--functions") == ExitCode.TERMINATED
    assert "b-profile: interrupted; --resume continues" in capsys.readouterr().err
    assert "b-profile.json" not in kept(tmp_path) and ab.RUNNING not in kept(tmp_path)
    assert play("--resume", "--functions") == ExitCode.OK
    assert len(guests.booted) == 7


def test_without_a_profiler_nothing_boots(
    guests: Guests, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(profiler, "_answer", lambda option: "QEMU emulator version 5.2.0 -plugin")
    assert play("--functions") == ExitCode.GUEST_FAILED
    assert "profiling needs QEMU 6.0 to 11.1 with plugins; qemu-system-x86_64 is version" in (
        capsys.readouterr().err
    )
    assert guests.booted == []


def alone(*options: str, run: list[str] = RUN) -> int:
    """The exit code of a guest whose profile goes to p.json."""
    return cli.run(["vm", "--kernel", "6.1", "--function-profile", "p.json", *options, "--", *run])


def test_a_profile_of_one_guest_is_a_file_and_text_beside_the_output(
    guests: Guests,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def boot(guest: Guest) -> Outcome:
        guests.profile(guest, guest.kernel.release)
        return Outcome(0)

    monkeypatch.setattr(runner, "run_guest", boot)
    assert alone("--icount") == ExitCode.OK
    profile = document.read(tmp_path / "p.json", Profile)
    assert [function.function for function in profile.functions] == ["null_queue_rq"]
    printed = capsys.readouterr()
    assert printed.out == "" and "null_queue_rq   1000.0  100.0%" in printed.err


@pytest.mark.parametrize(
    ("outcome", "code", "said"),
    [
        (Outcome(1), ExitCode.RUN_FAILED, ""),
        (Outcome(0), ExitCode.RUN_FAILED, "there is no profile: the run did not complete"),
    ],
)
def test_a_run_that_fails_has_no_profile(
    guests: Guests,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    outcome: Outcome,
    code: int,
    said: str,
) -> None:
    monkeypatch.setattr(runner, "run_guest", lambda guest: outcome)
    assert alone("--icount") == code
    assert said in capsys.readouterr().err
    assert not (tmp_path / "p.json").exists()


def partly(outcome: Outcome) -> Fail:
    """A guest that ends thus, after it has written a result."""

    def end(guest: Guest, result: Path) -> Outcome:
        put(result, measured(2, counts=True))
        return outcome

    return end


@pytest.mark.parametrize(
    ("fail", "code", "said"),
    [
        (partly(Outcome(1)), ExitCode.RUN_FAILED, "b1: the run ended with exit code 1"),
        (partly(Outcome(7)), ExitCode.RUN_FAILED, "b1: the run ended with exit code 7"),
        (partly(Outcome(143)), ExitCode.TERMINATED, "b1: interrupted"),
        (
            partly(Outcome(None, "the guest was killed", interrupted=True)),
            ExitCode.INTERRUPTED,
            "b1: interrupted",
        ),
        (
            partly(Outcome(None, "the guest crashed", console="Oops")),
            ExitCode.GUEST_FAILED,
            "b1: the guest crashed; the last lines of its console:\n  Oops",
        ),
        (
            partly(Outcome(None, "no end after 5 s", timed_out=True)),
            ExitCode.GUEST_TIMEOUT,
            "b1: no end after 5 s",
        ),
        (lambda *_: Outcome(0), ExitCode.RUN_FAILED, "b1: the run wrote no result"),
    ],
)
def test_a_failure_keeps_complete_results_only(
    guests: Guests,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    fail: Fail,
    code: int,
    said: str,
) -> None:
    guests.fail[2] = fail
    assert play() == code
    printed = capsys.readouterr()
    assert said in printed.err and printed.out == ""
    assert kept(tmp_path) == ["a1.json", "state.json"]


def test_a_guest_that_measures_time_is_refused(
    guests: Guests, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    guests.counts = False
    assert play() == ExitCode.GUEST_FAILED
    assert "a1: the guest does not count instructions" in capsys.readouterr().err
    assert kept(tmp_path) == ["state.json"]


def test_unlike_machines_have_no_verdict(
    guests: Guests, capsys: pytest.CaptureFixture[str]
) -> None:
    guests.machine["6.12"] = "aarch64"
    assert play() == ExitCode.REFUSED
    assert "the machines differ" in capsys.readouterr().err


WRONG_PROFILE: list[tuple[list[str], list[str], str]] = [
    ([], RUN, "--function-profile needs --icount as well"),
    (["--icount"], ["devices"], "--function-profile is of a 'run', not of 'devices'"),
    (["--icount", "--exec"], ["true"], "--function-profile is of a 'run', not of 'true'"),
]
WRONG_COMPARISON: list[tuple[list[str], list[str], str]] = [
    (["--kernel", "6.1"], RUN, "--ab and --kernel exclude each other"),
    (["--exec"], RUN, "--ab and --exec exclude each other"),
    (["--no-load"], RUN, "--ab and --no-load exclude each other"),
    (["--console", "c"], RUN, "--ab and --console exclude each other"),
    (
        ["--function-profile", "p"],
        RUN,
        "--ab and --function-profile exclude each other; --functions makes",
    ),
    ([], ["devices"], "--ab compares results of 'run', not of 'devices'"),
    ([], [*RUN, "-o", "x"], "--ab names the results itself"),
    ([], [*RUN, "--output=x"], "--ab names the results itself"),
    (["--resume"], RUN, "out holds no test to resume"),
]


@pytest.mark.parametrize(
    ("start", "options", "run", "sentence"),
    [(alone, *wrong) for wrong in WRONG_PROFILE] + [(play, *wrong) for wrong in WRONG_COMPARISON],
)
def test_wrong_use_boots_nothing(
    guests: Guests,
    capsys: pytest.CaptureFixture[str],
    start: Callable[..., int],
    options: list[str],
    run: list[str],
    sentence: str,
) -> None:
    assert start(*options, run=run) == ExitCode.USAGE
    assert sentence in capsys.readouterr().err
    assert guests.booted == []


@pytest.mark.parametrize(
    ("disk", "run", "code", "sentence"),
    [
        ("null_blk", ["random-read-4k", "--dept", "4"], ExitCode.USAGE, "no such option '--dept'"),
        ("null_blk", ["random-read-4k", "--depth", "x"], ExitCode.USAGE, "--depth"),
        ("null_blk", ["randm-read-4k"], ExitCode.USAGE, "randm-read-4k"),
        ("null_blk", [], ExitCode.USAGE, "name a workload"),
        (
            "null_blk",
            ["random-read-4k", "--count", "1", "--passes", "1"],
            ExitCode.USAGE,
            "--count",
        ),
        ("null_blk", ["random-read-4k", "--cpus", "1"], ExitCode.USAGE, "CPU"),
        ("null_blk,bs=4096", ["--read", "100%", "--size", "512"], ExitCode.USAGE, "512"),
        ("null_blk", ["--read", "0%", "--size", "4KiB"], ExitCode.REFUSED, "this workload writes"),
        ("null_blk", ["random-read-4k", "--detach"], ExitCode.USAGE, "--detach leaves no result"),
        ("null_blk", ["random-read-4k", "--dry-run"], ExitCode.USAGE, "--dry-run leaves no result"),
        ("null_blk", ["--trace", "missing.csv"], ExitCode.USAGE, "missing.csv"),
        ("null_blk", ["--speed", "2", "random-read-4k"], ExitCode.USAGE, "needs --trace as well"),
    ],
)
def test_mistakes_in_the_run_boot_nothing(
    guests: Guests,
    capsys: pytest.CaptureFixture[str],
    disk: str,
    run: list[str],
    code: int,
    sentence: str,
) -> None:
    assert play("--disk", disk, run=["run", *run, "--device", "{disk1}"]) == code
    assert sentence in capsys.readouterr().err
    assert guests.booted == []


@pytest.mark.parametrize("disk", ["null_blk,zoned=1", "drive,model=barracuda-es"])
def test_what_only_the_guest_knows_of_a_disk_is_left_to_it(guests: Guests, disk: str) -> None:
    run = ["run", "--read", "0%", "--size", "4KiB", "--device", "{disk1}"]
    assert play("--disk", disk, run=run) in (ExitCode.OK, ExitCode.GUEST_FAILED)


@pytest.mark.parametrize(
    "option", [["--resume"], ["--repetitions", "2"], ["--folder", "x"], ["--functions"]]
)
def test_options_of_ab_need_it(
    guests: Guests, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    assert cli.run(["vm", *option, "--", *RUN]) == ExitCode.USAGE
    assert (
        "--repetitions, --folder, --functions and --resume are for --ab" in capsys.readouterr().err
    )


def test_a_folder_is_of_one_test(
    guests: Guests, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play() == ExitCode.OK
    assert play() == ExitCode.USAGE
    assert "out already holds a test: --resume continues it" in capsys.readouterr().err
    assert play("--resume", run=[*RUN, "--seed", "2"]) == ExitCode.USAGE
    assert "was started with another run" in capsys.readouterr().err
    (tmp_path / "vmlinuz-6.12").write_text("built again")
    assert play("--resume") == ExitCode.USAGE
    assert "was started with another kernel B" in capsys.readouterr().err
    assert len(guests.booted) == 4


def test_a_result_of_something_else_is_not_taken_for_one_of_this_test(
    guests: Guests, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").mkdir()
    put(tmp_path / "out/a1.json", measured(1, counts=True))
    assert play() == ExitCode.USAGE
    assert "out already holds a1.json" in capsys.readouterr().err


def test_runs_alternate_within_each_repetition() -> None:
    assert [name for _, name in ab.names(2)] == [
        f"{name}.json" for name in ("a1", "b1", "b2", "a2", "a3", "b3", "b4", "a4")
    ]
