# SPDX-License-Identifier: GPL-2.0
"""What SCSI devices say, in words."""

import pytest

from spekctl.kernel import sense
from spekctl.kernel.records import RunInfo, SenseInfo


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (SenseInfo(3, 0x11, 0), "medium error, ASC 0x11 ASCQ 0x00 (unrecovered read error)"),
        (SenseInfo(5, 0x20, 0), "illegal request, ASC 0x20 ASCQ 0x00 (invalid command operation"),
        (SenseInfo(4, 0x44, 0, deferred=1), "hardware error of an earlier command, ASC 0x44"),
        (SenseInfo(3, 0x11, 0x7E), "medium error, ASC 0x11 ASCQ 0x7e"),
        (SenseInfo(3, 0x11, 0x80), "medium error, ASC 0x11 ASCQ 0x80 (vendor specific)"),
        (SenseInfo(0xF, 0xFF, 0xFF), "completed, ASC 0xff ASCQ 0xff (vendor specific)"),
    ],
)
def test_sentence(said: SenseInfo, wanted: str) -> None:
    assert sense.sentence(said).startswith(wanted)
    assert sense.sentence(said).count("(") <= 1


def test_every_code_fits_its_field() -> None:
    assert len(sense.KEYS) == 16
    assert all(0 <= asc < 0x80 and 0 <= ascq <= 0xFF for asc, ascq in sense.CODES)


def test_a_first_error_without_sense_data_stays_as_it_is() -> None:
    info = RunInfo(id=1, first_error="read failed: errno 5")
    assert sense.first_error(info) == "read failed: errno 5"
