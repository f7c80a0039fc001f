# SPDX-License-Identifier: GPL-2.0
"""What the kernel modules conclude from the version and the vendor of a kernel, by its compiler."""

from __future__ import annotations

import ast
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from lib.harness.kernels import NEWEST_RELEASE, STOCK_KERNELS

from spekctl.kernel.gen.series import MQ_SERIES

ROOT = Path(__file__).resolve().parents[3]
VERSION_H = """
#define KERNEL_VERSION(a,b,c) (((a) << 16) + ((b) << 8) + ((c) > 255 ? 255 : (c)))
#define LINUX_VERSION_CODE KERNEL_VERSION({version})
{in_version}
"""
PROGRAM = """
#include <stdio.h>
#include "series.h"
int main(void)
{
    printf("(%r, %d, %d, %d)", SPEK_COMPAT_MQ_CAVEAT, SPEK_COMPAT_KNOWS_ACCOUNTING,
           SPEK_COMPAT_KNOWS_MARK_DEAD, SPEK_COMPAT_MARK_DEAD_UNLOCKS);
}
""".replace("%r", '\\"%s\\"')
RED_HAT = "#define RHEL_RELEASE_CODE 2561"
SUSE = "#define CONFIG_SUSE_VERSION 15"
UBUNTU = "#define UTS_UBUNTU_RELEASE_ABI 31"


@dataclass(frozen=True)
class Says:
    """@caveat: words of what speaks against back end mq; @accounting, @mark_dead: known; @unlocks:
    the callee of mark_dead drops the lock."""

    caveat: str
    accounting: bool = True
    mark_dead: bool = True
    unlocks: bool = False


UNTESTED, UNKNOWN, VENDOR = "untested on this series", "is not known", "untested on vendor kernels"
KERNELS: dict[tuple[str, str], Says] = {
    ("6,0,19", ""): Says(UNKNOWN, accounting=False),
    ("6,1,0", ""): Says(""),
    ("6,1,192", ""): Says(""),
    ("6,1,300", ""): Says(""),  # LINUX_VERSION_CODE stops at 255
    ("6,2,0", ""): Says(UNKNOWN, accounting=False),
    ("6,6,30", ""): Says(UNKNOWN, accounting=False),
    ("6,7,0", ""): Says(UNKNOWN, accounting=False, unlocks=True),
    ("6,9,12", ""): Says(UNKNOWN, accounting=False, unlocks=True),
    ("6,10,0", ""): Says(UNTESTED, unlocks=True),
    ("6,11,11", ""): Says(UNTESTED, unlocks=True),
    ("6,12,0", ""): Says("", unlocks=True),
    ("6,12,117", ""): Says("", unlocks=True),
    ("6,13,0", ""): Says(UNTESTED, unlocks=True),
    ("7,3,4", ""): Says("", unlocks=True),
    ("7,4,0", ""): Says(UNTESTED, unlocks=True),
    ("16,1,0", ""): Says(UNTESTED, unlocks=True),
    ("6,12,0", RED_HAT): Says(VENDOR, unlocks=True),
    ("6,1,0", UBUNTU): Says(UNKNOWN, accounting=False, mark_dead=False),
    ("6,4,0", SUSE): Says(UNKNOWN, accounting=False, mark_dead=False),
    ("6,5,0", UBUNTU): Says(UNKNOWN, accounting=False, mark_dead=False),
    ("6,8,0", UBUNTU): Says(UNKNOWN, accounting=False, unlocks=True),
    ("6,14,0", UBUNTU): Says(VENDOR, unlocks=True),
}


@pytest.mark.parametrize(("version", "vendor"), KERNELS)
def test_what_a_kernel_does_is_concluded_from_its_version_and_vendor(
    version: str, vendor: str, tmp_path: Path
) -> None:
    in_utsrelease = vendor if vendor == UBUNTU else ""
    for name, text in {
        "linux/version.h": VERSION_H.format(
            version=version, in_version=vendor if vendor == RED_HAT else ""
        ),
        "generated/utsrelease.h": in_utsrelease,
        "test.c": (vendor if vendor == SUSE else "") + PROGRAM,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    program = tmp_path / "test"
    subprocess.run(
        ["gcc", "-Wall", "-Wextra", "-Werror", "-I", str(tmp_path), "-I", str(ROOT / "kmod/compat"),
         str(tmp_path / "test.c"), "-o", str(program)],
        check=True,
    )  # fmt: skip
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout

    caveat, accounting, mark_dead, unlocks = ast.literal_eval(printed)
    says = KERNELS[version, vendor]
    assert says.caveat in caveat and bool(says.caveat) == bool(caveat)
    assert (accounting, mark_dead, unlocks) == (says.accounting, says.mark_dead, says.unlocks)


def test_back_end_mq_is_for_the_kernels_of_the_tests() -> None:
    """auto takes it on no series that the tests do not run, and on each that they do."""
    stock = {tuple(map(int, label.split("."))) for label in STOCK_KERNELS}
    newest = set(MQ_SERIES) - stock
    assert stock < set(MQ_SERIES)
    assert {str(major) for major, _ in newest} == {NEWEST_RELEASE} and len(newest) == 1
