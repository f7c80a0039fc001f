# SPDX-License-Identifier: GPL-2.0
"""Names of devices of other hosts."""

from __future__ import annotations

import pytest

from spekctl.errors import UsageError
from spekctl.workload import selectors


@pytest.mark.parametrize(
    "selector",
    [
        *("/dev/sda", "/dev/disk/by-id/x"),
        *("wwn:0x5000c500a1b2c3d4", "wwn:naa.5000C500", "wwn:eui.0025385", "wwn:t10.ATA disk"),
        *("serial:Z1", "nqn:nqn.2014-08.org:uuid:1"),
    ],
)
def test_what_may_name_a_device(selector: str) -> None:
    selectors.check(selector)


@pytest.mark.parametrize(
    "selector", ["", "sda", "wwn:", "serial:", "serial:  ", "nqn:", "uuid:1", "WWN:0x1"]
)
def test_what_names_none(selector: str) -> None:
    with pytest.raises(UsageError, match="names no device; write wwn:"):
        selectors.check(selector)


@pytest.mark.parametrize("selector", ["wwn:0x", "wwn:naa.", "wwn:eui.", "wwn:0xg", "wwn:naa.1 "])
def test_a_wwn_has_digits(selector: str) -> None:
    with pytest.raises(UsageError, match="is not a WWN: "):
        selectors.check(selector)
