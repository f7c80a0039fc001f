# SPDX-License-Identifier: GPL-2.0
"""A short campaign of fuzzed netlink messages; make fuzz-netlink sends a million."""

from __future__ import annotations

import pytest
from fuzz import netlink_build
from fuzz.netlink_campaign import ANSWERED, Plan, campaign

pytestmark = pytest.mark.any_kernel

MESSAGES = 10_000
COMMANDS = (
    *("run-new", "run-get", "claim-new", "trace-feed", "probe-start", "feed-open"),
    *("energy-get", "drive-new", "drive-get"),
)
ACCEPTED, FED = 21, MESSAGES // 20 + 1
# Collected on the host, this compiles; in the guest it is there.
PROGRAM = netlink_build.program()
# Netlink itself says so, of every message that is not as its policy wants it.
USUAL = r"netlink: .*(invalid length|leftover after parsing)|callbacks suppressed"


@pytest.mark.allow_kernel_messages(USUAL)
def test_no_message_breaks_the_families() -> None:
    counts = campaign(Plan(MESSAGES, commands=COMMANDS))

    assert counts["sent"] >= MESSAGES
    # What lies behind the checks was reached, and not only the checks. How often depends on how
    # the threads of the program meet.
    for command in COMMANDS:
        assert counts["replies"][command] >= ANSWERED, command
    for family in ("spek", "spek_prober", "spek_drive"):
        assert counts[f"{family} errno"]["0"] > MESSAGES / 1000
    assert counts["abandoned"] > 10


@pytest.mark.allow_kernel_messages(USUAL)
def test_no_message_breaks_the_feed() -> None:
    counts = campaign(Plan(MESSAGES, feed=90, accepted=ACCEPTED, fed=FED))

    assert counts["asked"]["trace-feed"] > MESSAGES / 2
    # Some were for a run that could be fed, and found room in a ring.
    assert counts["replies"]["trace-feed"] >= ACCEPTED
    assert counts["fed"] >= FED
