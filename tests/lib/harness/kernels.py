# SPDX-License-Identifier: GPL-2.0
"""What both halves of the guest plumbing must agree on: names, and one id for each test."""

from __future__ import annotations

import functools
import os
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest
from lib.harness import weights

from spekctl.vm.architecture import Architecture, named, native

# Labels of the debug kernels, built from the distribution's source with checks.
DEBUG_KERNELS = {"debug": "kasan", "kcsan": "kcsan"}
STOCK_KERNELS = ("6.1", "6.12")  # of the distribution that this is developed on
DEBUG_VERSION = "6.1"  # of the debug kernels
# The newest kernel of other suites, and the files of tests that run on it: what a kernel can break
# by itself. A machine that cannot reach these suites skips them, unless asked for them by name.
NEWEST = "newest"
NEWEST_RELEASE = "7"
NEWEST_FILES = (
    "test_plumbing.py",
    "test_device_agrees.py",
    "test_submission.py",
    "test_protection.py",
    "test_safety_matrix.py",
    "test_drive.py",
    "test_drive_tools.py",
)
# Those that it runs in make test.
NEWEST_IN_SHORT = (
    "test_plumbing.py",
    "test_submission.py",
    "test_drive.py",
    "test_drive_tools.py",
)
# The distribution's kernel for another architecture, emulated, and the files of tests that run on
# it: what an architecture can break by itself. Only if it is named.
ARM64 = "arm64"
ARM64_VERSION = "6.1"
ARM64_FILES = (
    "test_plumbing.py",
    "test_device_agrees.py",
    "test_submission.py",
    "test_verify.py",
    "test_netlink.py",
    "test_prober.py",
    "test_drive.py",
    "test_drive_tools.py",
    "test_replay.py",
    "test_sequence.py",
    "test_augment.py",
    "test_augment_reads.py",
)
# The distribution's PREEMPT_RT kernel, and the files of tests that run on it: submission, lifetime,
# and what sleeps, waits or allocates where locks and interrupts are other things. Only if named.
RT = "rt"
RT_VERSION = "6.12-rt"
RT_FILES = (
    "test_plumbing.py",
    "test_submission.py",
    "test_stalls.py",
    "test_faults.py",
    "test_netlink.py",
    "test_prober.py",
    "test_drive.py",
    "test_drive_tools.py",
    "test_augment.py",
    "test_augment_reads.py",
    "test_replay.py",
)
# Those whose tests are about what differs from kernel to kernel. Modelled drives meet the kernel in
# SCSI's mid-layer alone, and run on NEWEST as a whole.
KERNEL_FILES = (
    *(name for name in NEWEST_FILES if not name.startswith("test_drive")),
    "test_prober.py",
    "test_stalls.py",
    "test_tracepoints.py",
)
MANY_VARIANTS = 4
SHARING = (*STOCK_KERNELS, *DEBUG_KERNELS, NEWEST)  # variants, in make test
CHECKED = ("debug_kernel", "debug_kernel_at_length")  # marks
KERNELS = (*STOCK_KERNELS, "debug", NEWEST)  # unless --kernels says otherwise
GUEST_TESTS = Path(__file__).resolve().parents[2] / "guest"
FIXTURE = "guest_kernel"
AT_LENGTH = "SPEK_AT_LENGTH"  # in a guest's environment, with --every-kernel


@functools.cache
def is_guest_test(path: Path) -> bool:
    """True for a file of tests that runs in a guest. It is asked several times for each test, and
    looks at each directory above the file."""
    return GUEST_TESTS in path.resolve().parents


def source_of(word: str) -> str:
    """What spekctl vm --kernel takes for a @word of --kernels: 6.12, newest, LABEL=TREE."""
    source = word.rpartition("=")[2]
    return {NEWEST: NEWEST_RELEASE, ARM64: ARM64_VERSION, RT: RT_VERSION}.get(source, source)


def architecture_of(word: str) -> Architecture:
    """Of a kernel in --kernels: arm64 by its label, as arm64=6.12."""
    return named(ARM64) if word.partition("=")[0] == ARM64 else native()


def are_named(config: pytest.Config) -> bool:
    """True if the kernels to test were chosen explicitly."""
    return bool(config.getoption("--kernels"))


def runs_on(
    kernel: str, kernels: list[str], definition: pytest.Function, every_kernel: bool = False
) -> bool:
    """True if a test is meant for @kernel, one of @kernels.

    What a test marked any_kernel tests depends on the kernel only in what others test on each: it
    runs on one of them, the debug kernel if it is marked debug_kernel, otherwise the one that its
    file has; @every_kernel: on all of them. Debug kernels are ten times as slow, so they run what
    is marked debug_kernel, and with @every_kernel debug_kernel_at_length; a test marked
    debug_kernel_only("debug") needs that one. What they run need not run on the kernel of the same
    version that checks nothing, too. NEWEST runs NEWEST_FILES only, ARM64
    ARM64_FILES, RT RT_FILES.
    """
    for label, files in ((NEWEST, NEWEST_FILES), (ARM64, ARM64_FILES), (RT, RT_FILES)):
        if kernel == label and definition.path.name not in files:
            return False
    only = definition.get_closest_marker("debug_kernel_only")
    if only:
        return kernel in only.args
    # The closest of these marks counts.
    names = (mark.name for mark in definition.iter_markers())
    closest = next((name for name in names if name in CHECKED), None)
    checked = closest == "debug_kernel" or (every_kernel and closest is not None)
    if kernel in DEBUG_KERNELS:
        return checked
    has_debug_kernel = any(kernel in DEBUG_KERNELS for kernel in kernels)
    if definition.get_closest_marker("any_kernel") and not every_kernel:
        return kernel == kernel_of_file(definition.path, kernels) and not (
            checked and has_debug_kernel
        )
    return not (checked and has_debug_kernel and kernel == DEBUG_VERSION)


def kernel_of_file(path: Path, kernels: list[str]) -> str:
    """Which of @kernels runs the tests of a file that any could run. Both stock kernels are done
    at the same time, as far as it has been measured how long such files take; of others they have
    half each."""
    stock = [kernel for kernel in kernels if kernel in STOCK_KERNELS] or kernels[:1]
    if len(stock) > 1 and (place := places_by_weight(tuple(stock)).get(path.stem)):
        return place
    return stock[zlib.crc32(path.stem.encode()) % len(stock)]


@functools.cache
def places_by_weight(stock: tuple[str, ...]) -> dict[str, str]:
    """Kernel of each file whose weight is known."""
    return weights.load().split(stock)


def parametrize(metafunc: pytest.Metafunc, kernels: list[str], every_kernel: bool = False) -> None:
    """Give each guest test the kernel as its first parameter, here and there alike."""
    if is_guest_test(metafunc.definition.path):
        mine = [
            kernel
            for kernel in kernels
            if runs_on(kernel, kernels, metafunc.definition, every_kernel)
        ]
        metafunc.parametrize(FIXTURE, mine, indirect=True, scope="session")


def repeated(times: int, at_length: int) -> int:
    """How often a guest test does what it does again and again: @at_length with --every-kernel."""
    return at_length if os.environ.get(AT_LENGTH) else times


def drawn(names: Iterable[str]) -> list[str]:
    """@names in an order that has nothing to do with what they mean, and is always the same."""
    return sorted(names, key=lambda name: (zlib.crc32(name.encode()), name))


def left_to_test_kernels(items: Iterable[pytest.Item]) -> set[str]:
    """Node ids of @items, each of which has a kernel, that `make test` leaves to `make
    test-kernels`.

    A test marked at_length, of a test marked sampled every second variant, and what NEWEST runs
    beyond NEWEST_IN_SHORT. Of what then would
    run on both stock kernels, one of the two: half of the variants of a test run on either, and so
    do half of the tests without variants; in KERNEL_FILES only tests with MANY_VARIANTS are shared
    out like that. Of a test with MANY_VARIANTS, NEWEST runs those of the first stock kernel, and
    a stock kernel half of those that a debug kernel runs; of one with twice as many, a debug kernel
    runs the other half only.
    """
    tests: defaultdict[str, defaultdict[str, dict[str, str]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    sampled = set()
    left_out = set()
    for item in items:
        if item.get_closest_marker("at_length"):
            left_out.add(item.nodeid)
            continue
        test, _, identity = item.nodeid.rstrip("]").partition("[")
        words = identity.split("-")
        kernel = next((word for word in words if word in SHARING), "")
        if kernel == NEWEST and file_of(test) not in NEWEST_IN_SHORT:
            left_out.add(item.nodeid)
        elif kernel:
            words.remove(kernel)
            tests[test]["-".join(words)][kernel] = item.nodeid
            if item.get_closest_marker("sampled"):
                sampled.add(test)
    shared = [
        test
        for test, variants in tests.items()
        if any(labels.keys() & set(STOCK_KERNELS) for labels in variants.values())
    ]
    for turn, test in enumerate(drawn(shared)):
        variants = drawn(tests[test])
        if test in sampled:
            for name in variants[1::2]:
                left_out |= labels_on(tests[test][name], STOCK_KERNELS)
            variants = variants[::2]
        both = [name for name in variants if tests[test][name].keys() >= set(STOCK_KERNELS)]
        if not is_of_the_kernel(test) or len(both) >= MANY_VARIANTS:
            for place, name in enumerate(both, start=turn):
                kept = STOCK_KERNELS[place % len(STOCK_KERNELS)]
                others = {*STOCK_KERNELS} - {kept}
                if kept != STOCK_KERNELS[0] and len(both) >= MANY_VARIANTS:
                    others.add(NEWEST)
                left_out |= labels_on(tests[test][name], others)
        checked = [
            name
            for name in variants
            if name not in both and tests[test][name].keys() & DEBUG_KERNELS
        ]
        if len(checked) >= MANY_VARIANTS:
            for name in checked[1::2]:
                left_out |= labels_on(tests[test][name], STOCK_KERNELS)
        if len(checked) >= 2 * MANY_VARIANTS:
            for name in checked[::2]:
                if tests[test][name].keys() & set(STOCK_KERNELS):
                    left_out |= labels_on(tests[test][name], DEBUG_KERNELS)
    return left_out


def labels_on(labels: dict[str, str], kernels: Collection[str]) -> set[str]:
    """Those of @labels, by kernel, that belong to one of @kernels."""
    return {label for kernel, label in labels.items() if kernel in kernels}


def file_of(test: str) -> str:
    """The name of a test's file."""
    return test.partition("::")[0].rpartition("/")[2]


def is_of_the_kernel(test: str) -> bool:
    """Whether a test is in one of KERNEL_FILES."""
    return file_of(test) in KERNEL_FILES


@pytest.fixture(scope="session", autouse=True)
def guest_kernel(request: pytest.FixtureRequest) -> str | None:
    """Kernel of the guest a test runs in, as in its id (6.12); None for other tests."""
    kernel: str | None = getattr(request, "param", None)
    return kernel
