# SPDX-License-Identifier: GPL-2.0
"""Kernels that tests build for, without a guest."""

from __future__ import annotations

import pytest
from lib.harness.kernels import NEWEST, are_named, source_of

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
        pytest.skip(f"the newest kernel cannot be downloaded: {error.message}")
