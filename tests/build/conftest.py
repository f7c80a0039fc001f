# SPDX-License-Identifier: GPL-2.0
"""Building on the host, for each stock kernel: nothing here is loaded or run."""

from __future__ import annotations

import pytest
from lib.guest_kernels import NEWEST, STOCK_KERNELS, are_named, source_of

from spekctl.errors import GuestError
from spekctl.vm.kernels import Kernel, find_kernel


def find(label: str, config: pytest.Config) -> Kernel:
    """The kernel of a @label, fetched if need be. The newest one may be out of reach: then this
    skips, unless kernels were asked for by name."""
    try:
        return find_kernel(source_of(label))
    except GuestError as error:
        if label != NEWEST or are_named(config):
            raise
        pytest.skip(error.message)


@pytest.fixture(scope="session", params=[*STOCK_KERNELS, NEWEST])
def label(request: pytest.FixtureRequest) -> str:
    """A stock kernel, as in test ids."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def kernel(label: str, pytestconfig: pytest.Config) -> Kernel:
    """A stock kernel with its headers: installed, or unpacked in the cache."""
    return find(label, pytestconfig)
