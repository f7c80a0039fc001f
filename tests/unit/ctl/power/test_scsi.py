# SPDX-License-Identifier: GPL-2.0
"""SCSI power commands byte by byte, and what REQUEST SENSE says."""

from __future__ import annotations

import pytest
from lib.fakes.power_disk import FakeChannel, fixed_sense, polled

from spekctl.documents.disk_states import PowerState
from spekctl.errors import SpekError, UsageError
from spekctl.power import scsi
from spekctl.power.passthrough import ScsiReply
from spekctl.power.scsi import Sense


def test_the_cdbs_are_those_of_spc_and_sbc() -> None:
    assert scsi.REQUEST_SENSE.hex(" ") == "03 00 00 00 fc 00"
    assert scsi.start_stop(scsi.STANDBY).hex(" ") == "1b 00 00 00 30 00"
    assert scsi.start_stop(scsi.IDLE).hex(" ") == "1b 00 00 00 20 00"
    assert scsi.start_stop(scsi.START_VALID, start=True).hex(" ") == "1b 00 00 00 01 00"


@pytest.mark.parametrize(
    ("key", "asc", "ascq", "state", "detail"),
    [
        (0, 0x00, 0x00, PowerState.ACTIVE_OR_IDLE, ""),
        (0, 0x5E, 0x00, PowerState.LOW_POWER, ""),
        (0, 0x5E, 0x01, PowerState.IDLE_A, "by timer"),
        (0, 0x5E, 0x02, PowerState.STANDBY, "by timer"),
        (0, 0x5E, 0x03, PowerState.IDLE_A, "by command"),
        (0, 0x5E, 0x04, PowerState.STANDBY, "by command"),
        (0, 0x5E, 0x05, PowerState.IDLE_B, "by timer"),
        (0, 0x5E, 0x06, PowerState.IDLE_B, "by command"),
        (0, 0x5E, 0x07, PowerState.IDLE_C, "by timer"),
        (0, 0x5E, 0x08, PowerState.IDLE_C, "by command"),
        (0, 0x5E, 0x09, PowerState.STANDBY_Y, "by timer"),
        (0, 0x5E, 0x0A, PowerState.STANDBY_Y, "by command"),
        (0, 0x5E, 0x7F, PowerState.LOW_POWER, "no sense, ASC 0x5e ASCQ 0x7f"),
        (2, 0x04, 0x02, PowerState.STOPPED, "not ready, initializing command required"),
        (2, 0x04, 0x01, PowerState.STARTING, "not ready, in process of becoming ready"),
        (2, 0x3A, 0x00, PowerState.UNKNOWN, "not ready, medium not present"),
        (0, 0x5D, 0x00, PowerState.UNKNOWN, "no sense, failure prediction threshold exceeded"),
        (3, 0x11, 0x00, PowerState.UNKNOWN, "medium error, unrecovered read error"),
    ],
)
def test_pollable_sense(key: int, asc: int, ascq: int, state: PowerState, detail: str) -> None:
    assert scsi.state_of(polled(asc, ascq, key)) == (state, detail)
    descriptor = ScsiReply(0, 0, b"", bytes([0x72, key, asc, ascq, 0, 0, 0, 0]))
    assert scsi.state_of(descriptor) == (state, detail)


@pytest.mark.parametrize(
    "reply",
    [
        ScsiReply(0, 0, b"", b""),
        ScsiReply(0, 0, b"", bytes(18)),
        ScsiReply(0, 1, b"", fixed_sense(0, 0x5E, 2)),
        ScsiReply(2, 0, fixed_sense(5, 0x20, 0), b""),
        ScsiReply(8, 0, b"", b""),
    ],
    ids=["empty", "zeros", "host byte", "refused", "busy"],
)
def test_no_answer_is_no_state(reply: ScsiReply) -> None:
    state, detail = scsi.state_of(reply)
    assert state is PowerState.UNKNOWN
    assert detail


def test_short_fixed_sense_has_no_codes() -> None:
    assert scsi.sense_of(fixed_sense(2, 4, 2)[:13]) == Sense(2, 4, 0)
    assert scsi.sense_of(fixed_sense(2, 4, 2)[:8]) == Sense(2, 0, 0)
    assert scsi.sense_of(b"\x70\x00\x02") is None


def test_a_unit_attention_hides_the_condition() -> None:
    assert scsi.is_attention(fixed_sense(6, 0x29, 0))
    assert not scsi.is_attention(fixed_sense(0, 0x5E, 2))
    assert not scsi.is_attention(b"")


PAGE = bytes([0x9A, 38, 0, 0x03, *range(100, 136)])


def page_answer(page: bytes, descriptors: int = 0) -> FakeChannel:
    """A disk whose MODE SENSE (10) returns this page."""

    def answer(cdb: bytes) -> ScsiReply:
        if cdb[0] != 0x5A:
            return ScsiReply(0, 0, b"", b"")
        body = bytes(descriptors) + page
        header = bytes([*(len(body) + 6).to_bytes(2), 0, 0x10, 0, 0, 0, descriptors])
        return ScsiReply(0, 0, b"", header + body)

    return FakeChannel(scsi_answer=answer)


@pytest.mark.parametrize("descriptors", [0, 8])
def test_the_timer_is_changed_and_nothing_else_of_the_page(descriptors: int) -> None:
    channel = page_answer(PAGE, descriptors)
    scsi.set_standby_timer(channel, 600 * 10**9)
    assert [cdb.hex(" ") for cdb in channel.sent] == [
        "5a 08 1a 00 00 00 00 00 fc 00",
        "55 10 00 00 00 00 00 00 30 00",
    ]
    (parameters,) = channel.data
    assert parameters[:8] == bytes(8)
    assert parameters[8:12] == bytes([0x1A, 38, 0, 0x03])
    assert parameters[16:20] == (6000).to_bytes(4)
    assert parameters[12:16] + parameters[20:] == PAGE[4:8] + PAGE[12:]


def test_no_timer_keeps_the_time_and_clears_the_bit() -> None:
    channel = page_answer(PAGE)
    scsi.set_standby_timer(channel, 0)
    assert channel.data[0][8:] == bytes([0x1A, 38, 0, 0x02]) + PAGE[4:]


@pytest.mark.parametrize("page", [b"", PAGE[:11], bytes([0x08, 18, *[0] * 18]), PAGE[:39]])
def test_a_disk_without_the_page_is_an_error(page: bytes) -> None:
    channel = page_answer(page)
    with pytest.raises(SpekError, match="no Power Condition mode page"):
        scsi.set_standby_timer(channel, 10**9)
    assert len(channel.sent) == 1


@pytest.mark.parametrize("time_ns", [1, 10**8 - 1, 10**8 << 32])
def test_times_that_the_page_cannot_say_are_refused(time_ns: int) -> None:
    with pytest.raises(UsageError, match="multiple of 100ms"):
        scsi.ticks_of(time_ns)


def test_a_refused_command_is_named() -> None:
    with pytest.raises(SpekError, match="refused START STOP UNIT: illegal request, invalid field"):
        scsi.check(ScsiReply(2, 0, fixed_sense(5, 0x24, 0), b""), "START STOP UNIT")
    with pytest.raises(SpekError, match="status 0x00, host byte 0x03"):
        scsi.check(ScsiReply(0, 3, b"", b""), "START STOP UNIT")
