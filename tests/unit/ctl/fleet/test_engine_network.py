# SPDX-License-Identifier: GPL-2.0
"""A network that is cut in mid-run: for a moment nobody minds, for ever the host is lost, and ends
by itself."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from lib.fakes.cut_network import Network
from lib.fakes.fleet_rig import PATIENCE, SOON_S, Fleet

from spekctl.errors import ExitCode


def joined(fleet: Fleet, network: Network) -> None:
    """Both hosts run; b is behind @network."""
    fleet.join(fleet.engine.address, "a")
    fleet.join(network.address, "b")
    fleet.start()
    fleet.wait_running()


def network_of(fleet: Fleet) -> Network:
    host, port = fleet.engine.address.removeprefix("tls://").rsplit(":", 1)
    return Network((host, int(port)))


def test_a_short_cut_loses_nothing(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a", "b"], time="80s") as fleet, network_of(fleet) as network:
        joined(fleet, network)
        network.cut()
        # Questions and answers are on their way, and late.
        for _ in range(2):
            assert network.held.acquire(timeout=SOON_S)
        network.mend()
        outcome = fleet.outcome()
        assert (outcome.code, outcome.losses) == (ExitCode.OK, []), outcome.text
        counts = [
            json.loads(bytes(part.collected.document))["totals"]["all"]["ios"]
            for part in outcome.parts
            if part.collected is not None
        ]
        assert len(counts) == 2 and counts[0] == counts[1] > 0


def test_hosts_behind_a_cut_for_ever_are_lost_and_end_by_themselves(tmp_path: Path) -> None:
    patience = dataclasses.replace(PATIENCE, silent_s=3.0)
    with (
        Fleet(tmp_path, ["a", "b"], time="1h", patience=patience) as fleet,
        network_of(fleet) as network,
    ):
        joined(fleet, network)
        network.cut()
        outcome = fleet.outcome()
        assert outcome.code is ExitCode.HOST_LOST
        assert [loss.host for loss in outcome.losses] == ["b"]
        # Its controller is silent for as long as its leash is, and the cable stays out.
        assert fleet.ended("b") != 0
        fleet.check_free("b")
        assert "the controller has not been heard of" in fleet.said("b")
        fleet.engine.close()
        fleet.check_free("a")
