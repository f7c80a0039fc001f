# SPDX-License-Identifier: GPL-2.0
"""ATA power commands byte by byte, and what disks and their translation layers answer."""

from __future__ import annotations

import pytest
from lib.fakes.power_disk import ata_reply, ata_sense, fixed_sense

from spekctl.documents.disk_states import PowerState
from spekctl.errors import SpekError, UsageError
from spekctl.power import ata
from spekctl.power.ata import MINUTE, SECOND, Registers
from spekctl.power.passthrough import ScsiReply


def test_the_cdbs_are_those_of_sat() -> None:
    assert ata.command(0xE5).hex(" ") == "85 06 20 00 00 00 00 00 00 00 00 00 00 00 e5 00"
    assert ata.command(0xE5, length=12).hex(" ") == "a1 06 20 00 00 00 00 00 00 e5 00 00"
    assert ata.command(0xE3, 242).hex(" ") == "85 06 20 00 00 00 f2 00 00 00 00 00 00 00 e3 00"
    assert ata.command(0xE2, 12, 12).hex(" ") == "a1 06 20 00 0c 00 00 00 00 e2 00 00"


@pytest.mark.parametrize("fixed", [False, True], ids=["descriptor", "fixed"])
@pytest.mark.parametrize(
    ("count", "state"),
    [
        (0x00, PowerState.STANDBY),
        (0x01, PowerState.STANDBY_Y),
        (0x40, PowerState.STANDBY),
        (0x41, PowerState.ACTIVE_OR_IDLE),
        (0x80, PowerState.IDLE),
        (0x81, PowerState.IDLE_A),
        (0x82, PowerState.IDLE_B),
        (0x83, PowerState.IDLE_C),
        (0xFF, PowerState.ACTIVE_OR_IDLE),
        (0x02, PowerState.UNKNOWN),
        (0x7F, PowerState.UNKNOWN),
    ],
)
def test_counts_mean_what_acs_says(count: int, state: PowerState, fixed: bool) -> None:
    assert ata.state_of(ata_reply(count, fixed=fixed))[0] is state


# Of a USB enclosure, and of an HBA in standby.
@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("f0 00 01 00 50 00 ff 0a 00 00 00 00 00 1d 00 00 00 00", PowerState.ACTIVE_OR_IDLE),
        ("f0 00 01 00 50 40 00 0a 00 00 00 00 00 1d 00 00 00 00", PowerState.STANDBY),
        ("72 01 00 1d 00 00 00 0e 09 0c 00 00 00 00 00 00 00 00 00 00 40 50", PowerState.STANDBY),
    ],
)
def test_answers_of_real_translation_layers(text: str, state: PowerState) -> None:
    assert ata.state_of(ScsiReply(2, 0, bytes.fromhex(text), b""))[0] is state


@pytest.mark.parametrize(
    ("reply", "detail"),
    [
        (ScsiReply(0, 0, b"", b""), "the answer has no ATA registers"),
        (ScsiReply(2, 0, b"", b""), "the answer has no ATA registers"),
        (ScsiReply(2, 0, bytes(18), b""), "the answer has no ATA registers"),
        (ScsiReply(0, 3, b"", b""), "no answer (host byte 0x03)"),
        (
            ScsiReply(2, 0, fixed_sense(5, 0x20, 0), b""),
            "illegal request, invalid command operation code",
        ),
        # Sense data without the descriptor, or with one that is cut short.
        (ScsiReply(2, 0, bytes([0x72, 1, 0, 0x1D, 0, 0, 0, 0]), b""), "recovered error, "),
        (ScsiReply(2, 0, ata_sense(0)[:-1], b""), "recovered error, "),
        (ata_reply(0, status=0x51, error=4), "the disk aborted CHECK POWER MODE"),
    ],
)
def test_an_answer_without_registers_is_not_standby(reply: ScsiReply, detail: str) -> None:
    state, words = ata.state_of(reply)
    assert state is PowerState.UNKNOWN
    assert words.startswith(detail)


def test_registers_are_found_behind_other_descriptors() -> None:
    information = bytes([0x00, 0x0A, 0x80, 0, *[7] * 8])
    whole = ata_sense(0x82)
    sense = bytes([*whole[:7], len(information) + 14]) + information + whole[8:]
    assert ata.registers_of(sense) == Registers(error=0, status=0x50, count=0x82)


def test_only_a_layer_without_the_command_is_asked_by_the_short_form() -> None:
    assert ata.is_unknown(ScsiReply(2, 0, fixed_sense(5, 0x20, 0), b""))
    assert not ata.is_unknown(ata_reply(0))
    assert not ata.is_unknown(ScsiReply(0, 0, b"", b""))


def test_a_failed_command_is_an_error_and_one_with_registers_is_none() -> None:
    ata.check(ata_reply(0), "STANDBY")
    ata.check(ScsiReply(0, 0, b"", b""), "STANDBY")
    with pytest.raises(SpekError, match="does not have SLEEP"):
        ata.check(ata_reply(0, status=0x51, error=4), "SLEEP")
    with pytest.raises(SpekError, match="failed in SLEEP"):
        ata.check(ata_reply(0, status=0x51, error=0x40), "SLEEP")
    with pytest.raises(SpekError, match="refused SLEEP: illegal request"):
        ata.check(ScsiReply(2, 0, fixed_sense(5, 0x20, 0), b""), "SLEEP")


@pytest.mark.parametrize(
    ("time_ns", "count"),
    [
        (0, 0),
        (5 * SECOND, 1),
        (10 * MINUTE, 120),
        (20 * MINUTE, 240),
        (21 * MINUTE, 252),
        (1275 * SECOND, 255),
        (30 * MINUTE, 241),
        (330 * MINUTE, 251),
    ],
)
def test_standby_timers_are_those_of_acs(time_ns: int, count: int) -> None:
    assert ata.standby_count(time_ns) == count


@pytest.mark.parametrize("time_ns", [1, SECOND, 7 * SECOND, 25 * MINUTE, 360 * MINUTE])
def test_times_without_a_value_are_refused(time_ns: int) -> None:
    with pytest.raises(UsageError, match=r"no standby timer of .*; allowed are 0"):
        ata.standby_count(time_ns)
