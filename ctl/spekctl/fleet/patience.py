# SPDX-License-Identifier: GPL-2.0-or-later
"""Time limits of the controller of a fleet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """Times to wait, s."""

    join_s: float = 60.0
    check_s: float = 60.0
    claim_s: float = 120.0
    collect_s: float = 60.0  # without data of any result that is collected
    release_s: float = 30.0
    silent_s: float = 10.0  # a host that has been silent for this long is lost
    status_s: float = 1.0  # between two questions for the status
    again_s: float = 5.0  # from a question that is not answered to the next
    lead_s: float = 2.0  # least time from arming to the start
    round_trips: float = 20.0  # least lead as a multiple of the longest round trip
    rounds: float = 4.0  # least lead as a multiple of the time to ask all hosts
    margin_s: float = 0.5  # an answer that is missing this long before the start cancels it
    look_s: float = 0.2
    others_s: float = 15.0  # for the other hosts, once a host cannot join
