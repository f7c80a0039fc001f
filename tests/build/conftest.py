# SPDX-License-Identifier: GPL-2.0
"""Building on the host, for each stock kernel: nothing here is loaded or run."""

from __future__ import annotations

import pytest
from lib.build.kernels import find
from lib.harness.kernels import NEWEST, STOCK_KERNELS

from spekctl.vm.kernels import Kernel, find_kernel


@pytest.fixture(scope="session", params=STOCK_KERNELS)
def kernel(request: pytest.FixtureRequest) -> Kernel:
    """A stock kernel with its headers: installed, or unpacked in the cache."""
    return find_kernel(request.param)


@pytest.fixture(scope="session", params=[*STOCK_KERNELS, NEWEST])
def label(request: pytest.FixtureRequest) -> str:
    """A stock kernel or the newest one, as in test ids."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def each_kernel(label: str, pytestconfig: pytest.Config) -> Kernel:
    """The kernel of @label with its headers."""
    return find(label, pytestconfig)
