# SPDX-License-Identifier: GPL-2.0
"""Building on the host, for each stock kernel: nothing here is loaded or run."""

from __future__ import annotations

import pytest
from lib.guest_kernels import STOCK_KERNELS

from spekctl.vm.kernels import Kernel, find_kernel


@pytest.fixture(scope="session", params=STOCK_KERNELS)
def kernel(request: pytest.FixtureRequest) -> Kernel:
    """A stock kernel with its headers: installed, or unpacked in the cache."""
    return find_kernel(request.param)
