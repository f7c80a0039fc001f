# SPDX-License-Identifier: GPL-2.0
"""What both halves of the guest plumbing must agree on: names, and one id for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

KERNELS = ("6.1", "6.12")
GUEST_TESTS = Path(__file__).resolve().parents[1] / "guest"
FIXTURE = "guest_kernel"


def is_guest_test(path: Path) -> bool:
    """True for a file of tests that runs in a guest."""
    return GUEST_TESTS in path.resolve().parents


def parametrize(metafunc: pytest.Metafunc, kernels: list[str]) -> None:
    """Give each guest test the kernel as its first parameter, here and there alike."""
    if is_guest_test(metafunc.definition.path):
        metafunc.parametrize(FIXTURE, kernels, indirect=True, scope="session")


@pytest.fixture(scope="session", autouse=True)
def guest_kernel(request: pytest.FixtureRequest) -> str | None:
    """Kernel of the guest a test runs in, as in its id (6.12); None for other tests."""
    kernel: str | None = getattr(request, "param", None)
    return kernel
