# SPDX-License-Identifier: GPL-2.0
"""Output files: written whole or not at all, and checked before the measurement."""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import FakeKernel

from spekctl import entry, files
from spekctl.errors import ExitCode, NoKernelSideError, SpekError, UsageError
from spekctl.kernel import client

RUN = ("run", "random-read-4k", "--device", "/dev/fake0", "--progress", "none")
LONG = "x" * 300
VERIFIED = ("run", "mixed-70-30-8k", "--device", "/dev/fake0", "--write", "--verify")


@pytest.fixture
def block_device(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A path that leads to a block device."""
    look = files._look
    path = Path("/dev/fake9")
    status = os.stat_result((stat.S_IFBLK | 0o660, *[0] * 9))
    monkeypatch.setattr(files, "_look", lambda asked: status if asked == path else look(asked))
    return path


# --- whole or not at all -------------------------------------------------------------------------


def test_a_file_that_grows_too_large_leaves_the_old_one(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(SpekError, match=r"cannot write .*out\.json: File too large"):
            files.deliver(b"n" * 10000, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.json"]
    assert "n" * 4000 in capfd.readouterr().out


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_process_leaves_the_old_one(
    tmp_path: Path, signum: signal.Signals
) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    # nohup has SIGHUP ignored.
    usual = signal.signal(signum, signal.SIG_DFL)
    try:
        with pytest.raises(SystemExit) as end, files.replacing(path) as file:
            file.write(b"new")
            signal.raise_signal(signum)
        assert signal.getsignal(signum) is signal.SIG_DFL
    finally:
        signal.signal(signum, usual)
    assert end.value.code == 128 + signum
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.json"]


def test_a_signal_that_is_handled_or_ignored_ends_nothing(tmp_path: Path) -> None:
    seen: list[int] = []
    path = tmp_path / "out.json"
    usual = [
        signal.signal(signal.SIGTERM, lambda signum, _: seen.append(signum)),
        signal.signal(signal.SIGHUP, signal.SIG_IGN),
    ]
    try:
        with files.replacing(path) as file:
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGHUP)
            file.write(b"new")
    finally:
        signal.signal(signal.SIGTERM, usual[0])
        signal.signal(signal.SIGHUP, usual[1])
    assert (path.read_bytes(), seen) == (b"new", [signal.SIGTERM])


def test_a_thread_writes_a_file(tmp_path: Path) -> None:
    thread = threading.Thread(target=files.write, args=(tmp_path / "out.json", b"new"))
    thread.start()
    thread.join()
    assert (tmp_path / "out.json").read_bytes() == b"new"


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "out.json"
    link.symlink_to("there/real.json")
    for data in (b"first", b"second"):
        files.check_writable(link)
        files.deliver(data, link)
        assert link.is_symlink()
        assert (tmp_path / "there/real.json").read_bytes() == data


def test_who_may_read_a_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "fchown", lambda fd, uid, gid: given.append((uid, gid)))
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    files.write(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert given == [(path.stat().st_uid, path.stat().st_gid)]


def test_a_file_system_without_owners_and_modes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int, *values: int) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    monkeypatch.setattr(os, "fchmod", refuse)
    path = tmp_path / "out.json"
    for data in (b"old", b"new"):
        files.write(path, data)
        assert path.read_bytes() == data


def test_a_name_as_long_as_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    files.check_writable(path)
    files.deliver(b"all", path)
    assert path.read_bytes() == b"all"


# --- directories that others may write to --------------------------------------------------------


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory whose links belong to another user."""
    monkeypatch.setattr(entry, "trusted_users", lambda: {os.getuid() + 1})
    (tmp_path / "shared").mkdir()
    return tmp_path / "shared"


def test_the_name_of_the_new_file_is_not_foreseeable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.json"
    # A short number may be among random digits by chance.
    monkeypatch.setattr("os.getpid", lambda: 2**64)
    names = set()
    for _ in range(2):
        with files.replacing(path):
            names |= set(os.listdir(tmp_path)) - {"out.json"}
    assert len(names) == 2 and not any(str(2**64) in name for name in names)


def test_a_link_in_place_of_the_new_file_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"of root")
    victim.chmod(0o600)
    monkeypatch.setattr("secrets.token_hex", lambda _: "known")
    (tmp_path / ".spekctl.known").symlink_to(victim)
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    path.chmod(0o666)
    with pytest.raises(SpekError, match="File exists"):
        files.write(path, b"new")
    assert (victim.read_bytes(), stat.S_IMODE(victim.stat().st_mode)) == (b"of root", 0o600)


def test_a_link_of_another_user_is_refused_before_the_run_and_after_it(theirs: Path) -> None:
    victim = theirs.parent / "victim"
    victim.write_bytes(b"of root")
    link = theirs / "out.json"
    link.symlink_to(victim)
    told = r"cannot write .*out\.json: out\.json is a symbolic link that belongs to another user"
    with pytest.raises(UsageError, match=told):
        files.check_writable(link)
    with pytest.raises(SpekError, match=told):
        files.write(link, b"new")
    assert victim.read_bytes() == b"of root"


def test_a_new_file_that_somebody_replaced_does_not_get_the_name(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    with (
        pytest.raises(SpekError, match="somebody has replaced the file"),
        files.replacing(path) as file,
    ):
        file.write(b"new")
        (new,) = tmp_path.glob(".spekctl.*")
        new.unlink()
        new.write_bytes(b"forged")
    assert path.read_bytes() == b"old"


def test_a_directory_that_is_exchanged_meanwhile_gets_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "elsewhere").mkdir()
    with files.replacing(folder / "out.json") as file:
        file.write(b"new")
        folder.rename(tmp_path / "moved")
        folder.symlink_to("elsewhere")
    assert os.listdir(tmp_path / "elsewhere") == []
    assert (tmp_path / "moved/out.json").read_bytes() == b"new"


def test_a_new_file_is_private_until_it_has_the_permissions_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    path.chmod(0o4640)
    seen = []
    adopt = files._adopt

    def see(fd: int, old: os.stat_result) -> None:
        seen.append(stat.S_IMODE(os.fstat(fd).st_mode))
        adopt(fd, old)

    monkeypatch.setattr(files, "_adopt", see)
    files.write(path, b"new")
    assert (seen, stat.S_IMODE(path.stat().st_mode)) == ([0o600], 0o640)


def test_a_file_in_place_of_a_pipe_is_neither_written_nor_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pipe"
    path.write_bytes(b"of root")
    monkeypatch.setattr(os.path, "isfile", lambda _: False)  # it was a pipe at the look
    with pytest.raises(SpekError, match=r"cannot write .*pipe: it is a file"):
        files.put(path, b"new")
    assert path.read_bytes() == b"of root"


# --- outputs that are not files ------------------------------------------------------------------


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    files.check_writable(path)
    files.deliver(b"result", path)
    reader.join()
    assert read == [b"result"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_standard_output_may_be_a_file(capfd: pytest.CaptureFixture[str]) -> None:
    """A shell has redirected it there, and continues to write to it."""
    path = Path("/dev/stdout")
    print("before")
    files.check_writable(path)
    files.deliver(b"result\n", path)
    print("after")
    assert capfd.readouterr().out == "before\nresult\nafter\n"


def test_null_and_full(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    files.check_writable(Path("/dev/null"))
    files.deliver(b"result", Path("/dev/null"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    files.check_writable(Path("/dev/full"))
    with pytest.raises(SpekError, match="cannot write /dev/full: No space left on device"):
        files.deliver(b"result", Path("/dev/full"))
    (kept,) = tmp_path.iterdir()
    assert (kept.read_bytes(), capfd.readouterr().out) == (b"result", "")


@pytest.mark.parametrize("room", [True, False])
def test_all_parts_of_what_cannot_be_written_are_kept(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: bool
) -> None:
    """The first of them may have left already."""

    def refuse(**options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    if not room:
        monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    parts = [b"1\n" * (1 << 20), b"2\n"]
    with pytest.raises(SpekError, match="cannot write /dev/full: No space left on device"):
        files.deliver(parts, Path("/dev/full"))
    kept = [path.read_bytes() for path in tmp_path.iterdir()] or [capfd.readouterr().out.encode()]
    assert kept == [b"".join(parts)]


@pytest.mark.parametrize(
    "command",
    [
        (*RUN, "-o"),
        (*RUN, "--log"),
        (*VERIFIED, "--verify-state"),
        ("sweep", "random-read-4k", "--depth", "1", "--device", "/dev/fake0", "-o"),
        ("watch", "-o"),
        ("energy", "dcse", "--iops", "1", "--load-watts", "1", "-o"),
        ("vm", "--console"),
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
def test_a_block_device_is_never_overwritten(
    command: tuple[str, ...], spekctl: Spekctl, kernel: FakeKernel, block_device: Path
) -> None:
    more = ("--", "status") if command[0] == "vm" else ()
    outcome = spekctl(*command, block_device, *more)
    assert outcome.code == ExitCode.USAGE
    assert f"cannot write {block_device}: it is a block device" in outcome.sentence
    assert kernel.calls == []


@pytest.mark.parametrize("option", ["--log", "--verify-state"])
def test_nothing_but_a_file_is_replaced(
    option: str, spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    outcome = spekctl(*VERIFIED, option, "pipe")
    assert outcome.code == ExitCode.USAGE
    assert "it is a pipe, not a file" in outcome.sentence
    assert kernel.calls == []


# --- checked beforehand --------------------------------------------------------------------------


def test_a_file_that_is_read_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("in")
    (tmp_path / "again").hardlink_to(tmp_path / "in")
    inputs = [tmp_path / "none", tmp_path / "in"]
    with pytest.raises(UsageError, match=r"^--to \S*/again would overwrite the input \S*/in$"):
        files.check_apart(tmp_path / "again", inputs, "--to")
    files.check_apart(tmp_path / "out", inputs)
    files.check_apart(None, inputs)
    # Of a terminal there is nothing to lose.
    files.check_apart(Path("/dev/null"), [Path("/dev/null")])


@pytest.mark.parametrize(("option", "hint"), [("-o", "-o' / '--output"), ("--log", "--log")])
def test_an_empty_name_is_refused_before_the_run(
    option: str, hint: str, spekctl: Spekctl, kernel: FakeKernel
) -> None:
    outcome = spekctl(*RUN, option, "")
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence == (
        f"invalid value for '{hint}': the name is empty (see spekctl run --help)"
    )
    assert kernel.calls == []


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.mkdir(), "it is a directory"),
        (lambda path: path.symlink_to("no/where"), "there is no directory"),
    ],
)
def test_what_can_not_be_written(
    tmp_path: Path, make: Callable[[Path], None], sentence: str
) -> None:
    path = tmp_path / "x"
    make(path)
    with pytest.raises(UsageError, match=sentence):
        files.check_writable(path)


@pytest.mark.parametrize(
    "command",
    [
        ("show", f"{LONG}.toml"),
        ("run", f"./{LONG}", "--device", "/dev/fake0"),
        (*RUN, "-o", LONG),
        (*RUN, "--power-baseline", LONG),
        ("plot", LONG),
        ("plot", "timeline", LONG),
        ("spc1", "--device", "/dev/fake0", "--write", "--folder", LONG),
        ("energy", "spc1e", "--device", "/dev/fake0", "--write", "--folder", LONG),
        ("energy", "emerald", "--device", "/dev/fake0", "--write", "--folder", LONG),
    ],
    ids=lambda words: " ".join(words).replace(LONG, "LONG"),
)
def test_a_name_that_is_too_long_gets_a_sentence(
    command: tuple[str, ...], spekctl: Spekctl, kernel: FakeKernel
) -> None:
    outcome = spekctl(*command)
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence.startswith("cannot access ")
    assert outcome.sentence.endswith(": File name too long")
    assert kernel.calls == []


def test_what_may_not_be_seen_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> os.stat_result:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refuse)
        with pytest.raises(UsageError, match="cannot access hidden/x: Permission denied"):
            files.exists(Path("hidden/x"))


def test_the_folder_of_many_devices_has_a_name_that_may_be() -> None:
    few = files.folder_name("spc1", ["/dev/sda", "/dev/sdb"])
    many = [f"/dev/disk/by-id/scsi-{'3' * 60}{number}" for number in range(6)]
    first, second = files.folder_name("spc1", many), files.folder_name("spc1", many[::-1])
    assert few == "spc1-sda-sdb"
    assert first.startswith("spc1-scsi-333") and len(first) < 255
    assert first == files.folder_name("spc1", many) != second


@pytest.mark.parametrize(
    "command",
    [
        ("spc1", "--write", "--folder", "t"),
        ("energy", "spc1e", "--write", "--folder", "t"),
        ("energy", "emerald", "--write", "--folder", "t"),
        ("sweep", "random-read-4k", "--depth", "1", "--folder", "t"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_no_folder_is_made_without_the_module(
    command: tuple[str, ...],
    spekctl: Spekctl,
    kernel: FakeKernel,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def missing() -> FakeKernel:
        raise NoKernelSideError("the kernel module spek is not loaded")

    monkeypatch.setattr(client, "connect", missing)
    assert spekctl(*command, "--device", "/dev/fake0").code == ExitCode.NO_KERNEL_SIDE
    assert not (tmp_path / "t").exists()


def test_watch_looks_at_its_file_first(spekctl: Spekctl, kernel: FakeKernel) -> None:
    outcome = spekctl("watch", "-o", "nodir/x.json")
    assert outcome.code == ExitCode.USAGE
    assert "there is no directory nodir" in outcome.sentence
    assert kernel.calls == []


def test_a_console_that_is_lost_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The guest has run by then: its command's exit code counts."""
    from spekctl.commands import vm

    vm._keep_console("text", tmp_path / "nodir/x")
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("spekctl: cannot write ") and "No such file" in line


def test_files_that_can_not_be_read_are_told(tmp_path: Path) -> None:
    path = tmp_path / "it.toml"
    with pytest.raises(UsageError, match=r"^there is no file .*it\.toml$"):
        files.read_text(path)
    path.write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"it\.toml: it is not UTF-8 text$"):
        files.read_text(path)
    with pytest.raises(UsageError, match=r"Is a directory$"):
        files.read_text(tmp_path)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("reslt.json", "there is no file {}/reslt.json; did you mean '{}/result.json'?"),
        ("b.json", "there is no file {}/b.json"),
        ("trace.csv", "there is no file {}/trace.csv"),
        ("folder/result.json", "there is no file {}/folder/result.json"),
        (
            "r\udc80esult.json",
            "there is no file {}/r\ufffdesult.json; did you mean '{}/result.json'?",
        ),
    ],
)
def test_of_a_missing_file_the_nearest_is_named(tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / "result.json").touch()
    with pytest.raises(UsageError) as caught:
        files.read_text(tmp_path / name)
    assert caught.value.message == sentence.replace("{}", str(tmp_path))
