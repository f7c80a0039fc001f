# SPDX-License-Identifier: GPL-2.0
"""NVMe power states by a controller that answers as the specification says."""

from __future__ import annotations

import pytest
from lib.fakes.power_disk import FakeChannel, NvmeAnswer

from spekctl.documents.disk_states import PowerState
from spekctl.errors import SpekError, UsageError
from spekctl.power import nvme
from spekctl.power.nvme import Level, Levels
from spekctl.power.passthrough import NvmeReply

# Maximum power, flags: MXPS is bit 0, NOPS bit 1.
DESCRIPTORS = [(900, 0), (450, 0), (500, 3), (25, 3)]
LEVELS = Levels((Level(9, True), Level(4.5, True), Level(0.05, False), Level(0.0025, False)), True)


def controller(
    number: int = 0, autonomous: int | None = 1, apsta: int = 1, set_status: int = 0
) -> NvmeAnswer:
    def answer(opcode: int, dwords: tuple[int, ...]) -> NvmeReply:
        if opcode == 0x06:
            assert dwords == (1,)
            data = bytearray(4096)
            data[263], data[265] = len(DESCRIPTORS) - 1, apsta
            for index, (power, flags) in enumerate(DESCRIPTORS):
                at = 2048 + 32 * index
                data[at : at + 4] = bytes([*power.to_bytes(2, "little"), 0, flags])
            return NvmeReply(0, 0, bytes(data))
        if opcode == 0x0A and dwords == (0x0C,):
            return (
                NvmeReply(0x4002, 0, b"") if autonomous is None else NvmeReply(0, autonomous, b"")
            )
        if opcode == 0x0A:
            assert dwords == (0x02,)
            return NvmeReply(0, 3 << 5 | number, b"")  # with a workload hint
        assert (opcode, dwords[0]) == (0x09, 0x02)
        return NvmeReply(set_status, 0, b"")

    return answer


def test_the_states_and_their_power_come_from_identify() -> None:
    assert nvme.levels_of(FakeChannel(nvme_answer=controller())) == LEVELS


@pytest.mark.parametrize(
    ("autonomous", "apsta", "known"), [(0, 1, False), (None, 1, None), (1, 0, False)]
)
def test_whether_it_changes_them_by_itself(
    autonomous: int | None, apsta: int, known: bool | None
) -> None:
    channel = FakeChannel(nvme_answer=controller(autonomous=autonomous, apsta=apsta))
    assert nvme.levels_of(channel).is_autonomous is known
    assert len(channel.sent) == nvme.LEVELS_COMMANDS


@pytest.mark.parametrize(
    ("number", "state", "detail"),
    [
        (0, PowerState.ACTIVE_OR_IDLE, "PS0, at most 9 W, changes by itself"),
        (3, PowerState.NON_OPERATIONAL, "PS3, at most 0.0025 W, changes by itself"),
        (7, PowerState.UNKNOWN, "PS7, which the controller does not describe"),
    ],
)
def test_the_present_state(number: int, state: PowerState, detail: str) -> None:
    channel = FakeChannel(nvme_answer=controller(number))
    assert nvme.state_of(channel, LEVELS) == (state, detail)


def test_a_failed_get_features_is_no_state() -> None:
    channel = FakeChannel(nvme_answer=lambda opcode, dwords: NvmeReply(0x2002, 0, b""))
    state, detail = nvme.state_of(channel, LEVELS)
    assert (state, detail) == (PowerState.UNKNOWN, "Get Features failed with status 0x2002")


@pytest.mark.parametrize(("target", "number"), [("active", 0), ("idle", 2), ("standby", 3)])
def test_targets_are_power_states(target: str, number: int) -> None:
    assert nvme.level_for(target, LEVELS) == number


def test_what_a_controller_has_not_is_refused() -> None:
    with pytest.raises(UsageError, match="an NVMe disk has no sleep"):
        nvme.level_for("sleep", LEVELS)
    with pytest.raises(UsageError, match="no non-operational power state for idle"):
        nvme.level_for("idle", Levels((Level(25, True),), False))


def test_a_refused_set_features_is_an_error() -> None:
    nvme.set_level(FakeChannel(nvme_answer=controller()), 2)
    channel = FakeChannel(nvme_answer=controller(set_status=0x410E))
    with pytest.raises(SpekError, match="power state cannot be changed"):
        nvme.set_level(channel, 2)
    channel = FakeChannel(nvme_answer=controller(set_status=0x4002))
    with pytest.raises(SpekError, match="refused Set Features with status 0x4002"):
        nvme.set_level(channel, 2)
