# SPDX-License-Identifier: GPL-2.0
"""A guest as it is started: what it shares and keeps in memory, its CPUs, how it ends."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lib.fakes.kernels import some_kernel
from lib.waiting import LONG_S

import spekctl
from spekctl.errors import GuestError
from spekctl.run.build import environment
from spekctl.vm import runner
from spekctl.vm.architecture import ARM64
from spekctl.vm.cache import cache_dir
from spekctl.vm.runner import (
    WATCHED,
    Guest,
    emulation,
    has_own_tmp,
    in_own_tmp,
    kept_folders,
    kernel_options,
    make_mount_point,
    mounted_folders,
)

# Kicks of virtio queues are taken as they come: an eventfd for each would be polled all the time.
QUEUES = ("-global", "virtio-serial-pci.ioeventfd=off", "-global", "virtio-9p-pci.ioeventfd=off")
# QEMU emulates rep movsb byte by byte, so that the CPU does not call it fast.
MODEL = ("-cpu", "max,-erms,-fsrm")


def test_a_share_inside_another_is_not_mounted_again() -> None:
    own, inner, outer = Path("/cache/1"), Path("/clone/out"), Path("/clone")
    assert mounted_folders(own, [inner, outer, inner]) == [own, outer]


def test_a_guest_that_may_write_to_tmp_sees_the_hosts() -> None:
    assert has_own_tmp([Path("/cache/1"), Path("/tmp/results")])
    assert not has_own_tmp([Path("/cache/1"), Path("/tmp")])
    assert not has_own_tmp([Path("/")])


def test_a_file_in_the_tmp_of_the_guest_is_not_the_hosts() -> None:
    assert in_own_tmp(Path("/tmp/r.json"), [Path("/clone"), Path("/tmp/results")])
    assert in_own_tmp(Path("/clone/../tmp/r.json"), [Path("/clone")])
    assert not in_own_tmp(Path("/tmp/results/r.json"), [Path("/clone"), Path("/tmp/results")])
    assert not in_own_tmp(Path("/tmp/r.json"), [Path("/tmp")])
    assert not in_own_tmp(Path("/elsewhere/r.json"), [Path("/clone")])


@pytest.mark.parametrize(
    ("choice", "processors", "arguments"),
    [
        ({"cpus": 2}, 2, [*QUEUES, *MODEL]),
        ({"cpus": 2}, 1, [*QUEUES, *MODEL, "-accel", "tcg,thread=single"]),
        ({"cpus": 8}, 4, [*QUEUES, *MODEL, "-accel", "tcg,thread=single"]),
        ({"cpus": 8, "accel": "kvm"}, 4, []),
        ({"icount": True}, 1, [*QUEUES, "-icount", "shift=0,sleep=off"]),
    ],
)
def test_emulated_cpus_take_turns_where_processors_are_few(
    monkeypatch: pytest.MonkeyPatch, choice: dict[str, Any], processors: int, arguments: list[str]
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(processors)))
    assert emulation(Guest(some_kernel(), ["true"], **choice)) == arguments


def test_a_writable_directory_stays_writable() -> None:
    """The guest would not see its own files behind one that is kept, and could not write."""
    assert Path("/usr/bin") not in kept_folders([Path("/usr/bin/here")])


def test_mount_point_is_made_where_it_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A machine without any kernel installed has no /lib/modules, and guests can't make it."""
    path = tmp_path / "lib" / "modules"
    make_mount_point(path)
    assert path.is_dir()
    assert str(path) in capsys.readouterr().err
    make_mount_point(path)
    assert not capsys.readouterr().err


def test_mount_point_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "lib").write_text("a file")
    with pytest.raises(GuestError, match="mkdir"):
        make_mount_point(tmp_path / "lib" / "modules")


def test_a_guest_keeps_programs_and_python() -> None:
    kept = kept_folders([])
    assert Path("/usr/bin") in kept
    stdlib, package = Path(os.__file__).resolve().parent, Path(spekctl.__file__).resolve().parent
    assert any(stdlib.is_relative_to(folder) for folder in kept)
    assert any(package.is_relative_to(folder) for folder in kept)
    assert all(folder.is_dir() for folder in kept)


def test_a_guest_keeps_what_it_is_told_to_but_not_around_what_it_may_write(tmp_path: Path) -> None:
    inner = tmp_path / "tests"
    inner.mkdir()
    assert inner in kept_folders([tmp_path], [inner])
    assert tmp_path not in kept_folders([inner], [tmp_path])


def test_a_cache_below_tmp_is_kept_but_for_the_guests_own_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    modules, own = cache_dir("modules"), cache_dir("vm")
    monkeypatch.setattr(runner, "GUESTS_OWN", tmp_path.parent)
    assert modules in kept_folders([]) and own not in kept_folders([])
    monkeypatch.setattr(runner, "GUESTS_OWN", Path("/nowhere"))
    assert modules not in kept_folders([])


def test_what_a_guest_keeps_is_mounted_once() -> None:
    kept = kept_folders([])
    assert not [(a, b) for a in kept for b in kept if a != b and a in b.parents]


def test_the_session_of_a_guest_ends_with_spekctl() -> None:
    descriptors = [os.open("/dev/null", os.O_RDONLY) for _ in range(10)]  # as below flock and make
    read_end, write_end = os.pipe()
    try:
        with subprocess.Popen(
            ["sh", "-c", WATCHED, "sh", "sh", "-c", "echo up; cat; exec sleep 600"],
            stdin=read_end,
            stdout=subprocess.PIPE,
            start_new_session=True,
            pass_fds=descriptors,
        ) as session:
            assert session.stdout
            assert session.stdout.readline() == b"up\n"
            os.close(read_end)
            assert session.poll() is None
            os.close(write_end)
            assert session.wait(LONG_S) == -signal.SIGKILL
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


@pytest.mark.parametrize("icount", [False, True])
def test_a_guest_that_counts_instructions_says_so_to_its_results(
    icount: bool, tmp_path: Path
) -> None:
    guest = Guest(some_kernel(), ["true"], accel="tcg", icount=icount)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cmdline").write_text(" ".join(["root=/dev/root", *kernel_options(guest)]))
    assert environment("0.1.0", tmp_path).counts_instructions == icount


@contextmanager
def composed(guest: Guest) -> Iterator[runner._Run]:
    """A guest that is not started."""
    run = runner._Run(guest, quiet=True, out_fd=None, err_fd=None)
    try:
        yield run
    finally:
        run.close()


def test_our_serial_device_has_as_many_ports_as_are_used() -> None:
    with composed(Guest(some_kernel(), ["true"])) as run:
        command = run._command()
    numbers = [
        int(number) for word in command for number in re.findall(r"bus=spek\.0,nr=(\d+)", word)
    ]
    assert sorted(numbers) == list(range(1, len(run.ports) + 1))
    assert f"virtio-serial-pci,id=spek,max_ports={max(numbers) + 1}" in command


def test_a_guest_of_another_architecture_has_its_own_root(tmp_path: Path) -> None:
    kernel = dataclasses.replace(some_kernel(), architecture=ARM64)
    kept = tmp_path / "kept"
    guest = Guest(kernel, ["true"], root=tmp_path, share=[Path("/clone")], keep=[kept])
    with composed(guest) as run:
        command, plan = run._command(), run._plan()
    root = command[command.index("--root") + 1]
    assert (command[command.index("--arch") + 1], root) == ("aarch64", str(tmp_path))
    assert "--rwdir=/clone=/clone" in command
    assert command[command.index("--script-sh") + 1].startswith("exec /usr/bin/python3 ")
    assert not plan["patches_text"], "only x86 has breakpoints there"
    assert str(kept) in plan["kept"] and "/usr/bin" not in plan["kept"]
    assert not [word for word in kernel_options(guest) if word.startswith("clearcpuid")]
    assert {"norandmaps", "mitigations=off"} <= {*kernel_options(guest)}
    assert "-cpu" not in emulation(guest), "virtme-ng chooses it"


def test_what_an_emulated_arm64_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path: None if "aarch64" in name else name)
    with pytest.raises(GuestError, match="qemu-system-aarch64, aarch64-linux-gnu-gcc: "):
        runner.check_tools(ARM64)
    runner.check_tools()


def test_a_guest_that_counts_instructions_has_a_processor_of_its_own() -> None:
    """Others stay where the scheduler puts them: their CPUs are threads."""
    with composed(Guest(some_kernel(), ["true"])) as ordinary:
        assert ordinary.processor is None
    with composed(Guest(some_kernel(), ["true"], icount=True)) as counting:
        assert counting.processor
        first = counting.processor.number
        with composed(Guest(some_kernel(), ["true"], icount=True)) as another:
            assert another.processor
            assert another.processor.number != first
    with composed(Guest(some_kernel(), ["true"], icount=True)) as later:
        assert later.processor
        assert later.processor.number == first


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 139", "QEMU was killed by SIGSEGV"),
        ("exit 3", "QEMU exited with status 3"),
        ("exit 0", "it was reset or switched off from inside"),
        ("echo Triple fault >{folder}/qemu.log", "a triple fault reset its CPU"),
    ],
)
def test_a_guest_that_ends_by_itself_says_how(
    script: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with composed(Guest(some_kernel(), ["true"])) as run:
        (run.folder / "status.json").write_text("{}")
        words = ["sh", "-c", script.format(folder=run.folder)]
        monkeypatch.setattr(run, "_command", lambda: words)
        outcome = run.run()
    assert outcome.failure == f"the guest ended before it had booted: {why}"
    assert outcome.exit_status is None
