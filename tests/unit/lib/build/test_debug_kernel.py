# SPDX-License-Identifier: GPL-2.0
"""Debug kernels without building one: what is asked for, what is found again, what is refused."""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lib.build import debug_kernel, debug_modules
from lib.build.debug_kernel import Ingredients
from lib.harness import kernels as guest_kernels
from lib.harness import leaks as guest_leaks

from spekctl.errors import SpekError
from spekctl.vm.cache import cache_dir, locked

CONFIG = """\
CONFIG_KASAN=y
# CONFIG_KASAN_STACK is not set
CONFIG_NULL_BLK=m
CONFIG_CMDLINE="one two"
"""


@pytest.mark.parametrize(
    ("asked", "lost"),
    [
        ("CONFIG_KASAN=y\nCONFIG_NULL_BLK=m\n", []),
        ('CONFIG_CMDLINE="one two"\n', []),
        ("CONFIG_KASAN_STACK=n\nCONFIG_ABSENT=n\n", []),
        ("CONFIG_KASAN=y\nCONFIG_KASAN=n\n", ["CONFIG_KASAN=n (is y)"]),
        ("CONFIG_ABSENT=y\n", ["CONFIG_ABSENT=y (is n)"]),
        ("CONFIG_KASAN_STACK=y\n", ["CONFIG_KASAN_STACK=y (is n)"]),
        ("CONFIG_NULL_BLK=y\n", ["CONFIG_NULL_BLK=y (is m)"]),
        ('CONFIG_CMDLINE="one"\n', ['CONFIG_CMDLINE="one" (is "one two")']),
    ],
)
def test_options_that_were_dropped_are_named(asked: str, lost: list[str]) -> None:
    assert debug_kernel.dropped(asked, CONFIG) == lost


@pytest.mark.parametrize("variant", debug_kernel.VARIANTS)
def test_fragments_ask_for_each_option_once(variant: str) -> None:
    text = debug_kernel.fragment(variant)
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r'CONFIG_\w+=([ymn]|\d+|".*")', line) for line in lines)
    assert len(debug_kernel.parse_options(text)) == len(lines)


def test_what_the_tests_rely_on_is_asked_for() -> None:
    asked = dict(debug_kernel.parse_options(debug_kernel.fragment("kasan")))
    needed = ["KASAN", "PROVE_LOCKING", "DEBUG_ATOMIC_SLEEP", "DEBUG_KMEMLEAK", "FAULT_INJECTION"]
    needed += ["FAILSLAB", "FAIL_PAGE_ALLOC", "KUNIT", "UBSAN"]
    assert {asked.get(f"CONFIG_{name}") for name in needed} == {"y"}


def test_each_debug_kernel_has_a_variant() -> None:
    checked = {
        name for name, variant in debug_kernel.VARIANTS.items() if "checks" in variant.fragments
    }
    assert set(guest_kernels.DEBUG_KERNELS.values()) == checked


def test_the_longer_kernel_differs_by_its_patch_alone() -> None:
    plain, longer = (
        dict(debug_kernel.parse_options(debug_kernel.fragment(name)))
        for name in ("plain", "longer")
    )
    assert plain.pop("CONFIG_LOCALVERSION") != longer.pop("CONFIG_LOCALVERSION")
    assert plain == longer
    (patch,) = debug_kernel.patches("longer")
    text = patch.read_text()
    assert [
        line[0] for line in text.splitlines() if line[:1] in "+-" and line[1:2] != line[:1]
    ] == ["+"]
    assert ".rept 15" in text
    assert debug_kernel.ingredients("longer").rest != debug_kernel.ingredients("plain").rest


class Marked:
    """A test with these marks."""

    def __init__(self, *names: str, file: str = "test_law.py") -> None:
        self.names = names
        self.path = guest_kernels.GUEST_TESTS / file

    def iter_markers(self) -> Iterator[pytest.Mark]:
        return (getattr(pytest.mark, name).mark for name in self.names)

    def get_closest_marker(self, name: str) -> pytest.MarkDecorator | None:
        marker: pytest.MarkDecorator = getattr(pytest.mark, name)("debug")
        return marker if name in self.names else None


@pytest.mark.parametrize(
    ("marks", "kernels", "wanted"),
    [
        ((), "6.1 6.12 debug", "6.1 6.12"),
        (("any_kernel",), "6.1 6.12 debug", "6.1"),
        (("debug_kernel",), "6.1 6.12 debug", "6.12 debug"),
        (("any_kernel", "debug_kernel"), "6.1 6.12 debug", "debug"),
        (("any_kernel", "debug_kernel"), "6.1 6.12", "6.1"),
        (("any_kernel", "debug_kernel"), "6.12 6.1 debug kcsan", "debug kcsan"),
        (("debug_kernel",), "6.1 6.12", "6.1 6.12"),
        (("debug_kernel",), "6.1", "6.1"),
        (("debug_kernel",), "6.1 kcsan", "kcsan"),
        (("debug_kernel_only",), "6.1 6.12 debug kcsan", "debug"),
    ],
)
def test_which_kernels_a_test_runs_on(marks: tuple[str, ...], kernels: str, wanted: str) -> None:
    given = kernels.split()
    test: Any = Marked(*marks)

    kernels_run = [kernel for kernel in given if guest_kernels.runs_on(kernel, given, test)]

    assert kernels_run == wanted.split()


def test_files_that_any_kernel_could_run_are_shared_out_among_stock_kernels() -> None:
    files = [f"test_{number}.py" for number in range(100)]
    for given, kernels in (
        ("6.1 6.12 debug newest", {"6.1", "6.12"}),
        ("debug 6.12", {"6.12"}),
        ("mine newest", {"mine"}),
    ):
        chosen = []
        for file in files:
            test: Any = Marked("any_kernel", file=file)
            runs = [
                kernel
                for kernel in given.split()
                if guest_kernels.runs_on(kernel, given.split(), test)
            ]
            chosen += runs
        assert len(chosen) == len(files) and set(chosen) == kernels
        assert all(chosen.count(kernel) >= 80 // len(kernels) for kernel in kernels)


def test_every_kernel_is_for_all_that_debug_kernels_do_not_run_in_its_place() -> None:
    given = ["6.1", "6.12", "debug"]
    plain: Any = Marked("any_kernel")
    checked: Any = Marked("any_kernel", "debug_kernel")
    at_length: Any = Marked("any_kernel", "debug_kernel_at_length")

    assert [kernel for kernel in given if guest_kernels.runs_on(kernel, given, at_length)] == given[
        :1
    ]
    assert [
        kernel for kernel in given if guest_kernels.runs_on(kernel, given, at_length, True)
    ] == given[1:]
    assert [
        kernel for kernel in given if guest_kernels.runs_on(kernel, given, plain, True)
    ] == given[:2]
    assert [
        kernel for kernel in given if guest_kernels.runs_on(kernel, given, checked, True)
    ] == given[1:]


@pytest.mark.parametrize(
    ("file", "marks", "wanted"),
    [
        ("test_submission.py", (), "6.1 6.12 newest"),
        ("test_submission.py", ("debug_kernel",), "6.12 debug newest"),
        ("test_submission.py", ("any_kernel",), "6.1"),
        ("test_limits.py", (), "6.1 6.12"),
    ],
)
def test_the_newest_kernel_runs_some_files(file: str, marks: tuple[str, ...], wanted: str) -> None:
    given = list(guest_kernels.KERNELS)
    test: Any = Marked(*marks, file=file)

    kernels_run = [kernel for kernel in given if guest_kernels.runs_on(kernel, given, test)]

    assert kernels_run == wanted.split()
    for name in guest_kernels.NEWEST_FILES:
        assert (guest_kernels.GUEST_TESTS / name).exists()


def test_debug_kernels_have_the_version_that_they_stand_for() -> None:
    assert debug_kernel.SOURCE.endswith(guest_kernels.DEBUG_VERSION)


# ---- the cache ----


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return cache_dir("debug")


def keep(home: Path, made_of: Ingredients, used_s: int) -> Path:
    path = home / made_of.name
    path.mkdir()
    about = {"variant": made_of.variant, "version": made_of.version, "rest": made_of.rest}
    (path / "ingredients.json").write_text(json.dumps(about))
    os.utime(path, (used_s, used_s))
    return path


def test_a_kernel_is_found_by_all_that_it_is_made_of(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = Ingredients("kasan", "6.1.2-1", "a")
    for ingredients in (
        Ingredients("kasan", "6.1.1-1", "a"),
        Ingredients("kasan", "6.1.2-1", "b"),
        Ingredients("kcsan", "6.1.2-1", "a"),
    ):
        keep(home, ingredients, 1000)
    monkeypatch.setattr(debug_kernel, "ingredients", lambda _variant: same)
    monkeypatch.setattr(debug_kernel, "_make", lambda _home, wanted: keep(home, wanted, 1000))

    kernel_folder = debug_kernel.find("kasan")
    monkeypatch.setattr(debug_kernel, "_make", lambda _home, _wanted: pytest.fail("made twice"))

    assert kernel_folder.name == same.name
    assert debug_kernel.find("kasan") == kernel_folder


def test_trees_of_builds_that_were_killed_are_removed_under_the_lock_of_builds(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody builds then: whose tree it was is gone."""
    tree = home / ".build-abc" / "linux-source-6.1"
    tree.mkdir(parents=True)
    (tree / "vmlinux").write_text("half of it")
    was_there: list[bool] = []

    @contextmanager
    def waiting(name: str) -> Iterator[None]:
        was_there.append(tree.exists())
        with locked(name):
            yield

    def make(_home: Path, wanted: Ingredients) -> Path:
        was_there.append(tree.exists())
        return keep(home, wanted, 1000)

    same = Ingredients("kasan", "6.1.2-1", "a")
    monkeypatch.setattr(debug_kernel, "ingredients", lambda _variant: same)
    monkeypatch.setattr(debug_kernel, "locked", waiting)
    monkeypatch.setattr(debug_kernel, "_make", make)
    kernel_folder = debug_kernel.find("kasan")
    assert was_there == [True, False]
    assert list(home.iterdir()) == [kernel_folder]


def test_without_package_lists_the_last_used_kernel_serves(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(home, Ingredients("kasan", "6.1.1-1", "a"), 1000)
    last = keep(home, Ingredients("kasan", "6.1.2-1", "a"), 2000)
    keep(home, Ingredients("kasan", "6.1.3-1", "b"), 3000)
    keep(home, Ingredients("kcsan", "6.1.4-1", "a"), 4000)
    wanted = Ingredients("kasan", None, "a")
    monkeypatch.setattr(debug_kernel, "ingredients", lambda _variant: wanted)

    assert debug_kernel.find("kasan") == last


def test_a_configuration_that_is_not_taken_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a source tree whose make knows nothing of our options."""
    (tmp_path / "Makefile").write_text(
        "tinyconfig:\n\t@echo CONFIG_64BIT=y > .config\n"
        "olddefconfig:\n\t@sed -i /CONFIG_KUNIT=/d .config\n"
    )
    with pytest.raises(SpekError, match=r"does not take CONFIG_KUNIT=y \(is n\)$"):
        debug_kernel.configure(tmp_path, "kasan")


# ---- what goes with it ----

# Some kernels leave the age out.
REPORT = """\
unreferenced object 0xffff888105d0a000 (size 4096):
  comm "python3", pid 123, jiffies 4294901234 (age 12.500s)
  hex dump (first 32 bytes):
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  ................
  backtrace:
    [<ffffffffc0000123>] spek_run_new+0x12/0x34 [spek]
unreferenced object 0xffff888105d0b000 (size 64):
  comm "spek/1/0", pid 124, jiffies 4294901300
  backtrace:
    [<ffffffffc0000456>] 0xffffffffc0000456
"""


def test_leaks_are_read_with_their_times() -> None:
    first, second = guest_leaks.parse(REPORT)
    assert (first.size, first.comm, first.allocated) == (4096, "python3", 4294901234)
    assert (second.size, second.comm, second.allocated) == (64, "spek/1/0", 4294901300)
    assert "spek_run_new" in first.text and "spek_run_new" not in second.text


def test_a_report_that_nobody_can_read_is_not_taken_for_none() -> None:
    with pytest.raises(AssertionError, match="nobody here can read"):
        guest_leaks.parse(REPORT.replace("jiffies", "ticks"))


def test_a_leak_belongs_to_the_test_that_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kmemleak = tmp_path / "kmemleak"
    kmemleak.write_text("")
    clock = iter([4294901000, 4294901100, 4294901200, 4294901300])
    leaks = guest_leaks.Leaks(kmemleak, lambda: next(clock))
    for nodeid in ("one", "two", "three"):
        leaks.begin(nodeid)
    monkeypatch.setattr(time, "sleep", lambda _s: None)
    monkeypatch.setattr(Path, "write_text", lambda *_: 0)
    monkeypatch.setattr(Path, "read_text", lambda *_: REPORT)

    guilty = leaks.by_test()

    assert {test: [leak.size for leak in lost] for test, lost in guilty.items()} == {
        "two": [4096],
        "three": [64],
    }
    assert leaks.find() == []


def test_leaks_of_the_boot_are_ignored_without_a_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first object is older than the watch, the second as old."""
    kmemleak = tmp_path / "kmemleak"
    kmemleak.write_text("")
    written: list[str] = []
    monkeypatch.setattr(time, "sleep", lambda _s: None)
    monkeypatch.setattr(Path, "write_text", lambda _path, text: written.append(text))
    leaks = guest_leaks.Leaks(kmemleak, lambda: 4294901300)
    assert written == []
    leaks.begin("the first test")
    monkeypatch.setattr(Path, "read_text", lambda *_: REPORT)

    guilty = leaks.by_test()

    assert {test: [leak.size for leak in lost] for test, lost in guilty.items()} == {
        "the first test": [64]
    }
    assert written == ["scan", "scan"]


def test_the_kernel_is_given_the_recorded_sequences() -> None:
    text = debug_modules.vectors()
    recorded = json.loads(
        (debug_modules.SEQUENCES.parent / "vectors" / "core_sequences.json").read_text()
    )
    # On the only worker, and on the second of three.
    assert text.count("static const struct vector_word") == len(recorded) // 2
    assert '"spc1 classic 1/3"' in text
    assert debug_modules.fnv(bytes(8)) == debug_modules.FNV_START * debug_modules.FNV_PRIME % 2**64
