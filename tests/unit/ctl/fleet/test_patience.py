# SPDX-License-Identifier: GPL-2.0
"""Times that a controller waits, against each other."""

from __future__ import annotations

from spekctl.fleet import engine, member
from spekctl.fleet.patience import Patience


def test_a_host_hears_of_its_controller_before_it_takes_it_for_gone() -> None:
    usual = Patience()
    assert usual.status_s + usual.silent_s < member.LEASH_S
    assert usual.again_s + usual.status_s < member.LEASH_S


def test_a_start_is_called_off_before_it_comes() -> None:
    usual = Patience()
    assert member.UNCONFIRMED_S < usual.margin_s < usual.lead_s
    assert usual.silent_s >= engine.TTL_S
