# SPDX-License-Identifier: GPL-2.0
"""The text of blkparse: any number of blanks, processes of any name, only the events asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.traces import read_text

from spekctl.errors import UsageError
from spekctl.trace.formats import blkparse

TEXT = """\
  8,0    3        1     0.000000000   697  A   W 223490 + 8 <- (8,1) 223482
  8,0    3        2     0.000001829   697  Q   W 223490 + 8 [kjournald]
  8,0    3        3     0.000005197   697  G   W 223490 + 8 [kjournald]
  8,0    3        4     0.000006000   697  P   N [kjournald]
  8,0    3        5     0.000009118   697  D   W 223490 + 8 [kjournald]
  8,16   1        1     0.500000000  4711  Q FWS [two words [and] brackets]
  8,16   1        2     0.600000000  4711  Q FWFSM 8 + 16 [jbd2/sda1-8]
  8,16  11      123  1000.700000000     0  Q  RA 18446744 + 8 [fio + 3]
  8,0    0        0  1000.800000000     0  m   N cfq workload slice:100
  8,0    3        6  1000.900000000   697  C   W 223490 + 8 [0]
  8,0    3        7  1001.000000000   697  U   N [kjournald] 1
CPU0 (sda):
 Reads Queued:           1,        4KiB\t Writes Queued:           2,        4KiB
  8,0    3        7  2000.000000000   697  Q   R 1 + 8 [x]
"""


def test_fields_and_units(tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, TEXT)
    assert trace.parts[0].format.name == "blkparse"
    assert rows == [
        (0, "8,0", 223490 * 512, 4096, "write"),
        (499_998_171, "8,16", 0, 0, "flush"),
        (599_998_171, "8,16", 4096, 8192, "write+^"),
        (1_000_699_998_171, "8,16", 18446744 * 512, 4096, "read"),
        (1_999_999_998_171, "8,0", 512, 4096, "read"),
    ]
    assert (trace.faults.bad, trace.faults.ignored) == (0, 7)


def test_outputs_behind_each_other_are_read_to_the_end(tmp_path: Path) -> None:
    """blkparse of several devices, or runs, into one file: each has a summary at its end."""
    event = "8,{0}  1  {1}  0.00000000{1}  7  Q  R {1} + 8 [x]\n"
    summary = (
        "CPU0 (sda):\n Reads Queued:  2,  8KiB\t Writes Queued:  0,  0KiB\n\n"
        "Total (sda):\n Reads Queued:  2,  8KiB\n\nThroughput (R/W): 1KiB/s / 0KiB/s\n"
        "Events (sda): 2 entries\nSkips: 0 forward (0 -   0.0%)\n"
    )
    first, second = ("".join(event.format(disk, number) for number in (1, 2)) for disk in (0, 16))
    rows, trace = read_text(tmp_path, first + summary + second + "nonsense\n" + summary)
    assert [row[1] for row in rows].count("8,16") == 2 and len(rows) == 4
    assert trace.faults.bad == 1
    assert trace.faults.first is not None and trace.faults.first.number == 14


@pytest.mark.parametrize("place", range(0, len(TEXT), 97))
def test_summaries_may_go_across_blocks(place: int) -> None:
    data = TEXT.encode()
    whole, _ = blkparse._without_summaries(data, False)
    # Blocks end at the end of a line.
    cut = data.rfind(b"\n", 0, place) + 1
    first, inside = blkparse._without_summaries(data[:cut], False)
    second, _ = blkparse._without_summaries(data[cut:], inside)
    assert first + second == whole
    assert whole.count(b"\n") == data.count(b"\n") and b"CPU" not in whole


def test_the_event_is_chosen(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, TEXT, event="issue")
    assert rows == [(0, "8,0", 223490 * 512, 4096, "write")]


def test_bad_lines_keep_their_numbers(tmp_path: Path) -> None:
    lines = TEXT.splitlines()
    lines[4:4] = [
        "nonsense",
        "  8,0    3        5     0.000009118   697  Q   X 223490 + 8 [kjournald]",
        "  8,0    3        5     0.000009118   697  Q   W 223490 * 8 [kjournald]",
        "  8,0    3        5     0.000009118   697  Q   W 22349a + 8 [kjournald]",
    ]
    rows, trace = read_text(tmp_path, "\n".join(lines) + "\n")
    assert (len(rows), trace.faults.bad) == (5, 4)
    assert trace.faults.first is not None
    assert trace.faults.first.number == 5


def test_commands_passed_through_are_left_out(tmp_path: Path) -> None:
    command = "  8,0    3        5     0.000009118   697  Q   R 36 (12 00 ..) [smartctl]\n"
    command += "  8,0    3        5     0.000009118   697  Q   N 0 [(sd-pam) [x]]\n"
    broken = "  8,0    3        5     0.000009118   697  Q   W 223490\n"
    wanted, plain = read_text(tmp_path, TEXT)
    rows, trace = read_text(tmp_path, command + TEXT.replace("CPU0", broken + command + "CPU0", 1))
    assert rows == wanted
    assert (trace.faults.bad, trace.faults.ignored) == (1, plain.faults.ignored + 4)
    assert trace.faults.first is not None
    assert trace.faults.first.number == 14


def test_a_trace_without_the_events_asked_for_names_those_there_are(tmp_path: Path) -> None:
    issued = TEXT.replace("  Q ", "  D ")
    sentence = (
        r"trace has no queue events \(Q\), but 1 A, 1 C, 6 D, 1 G, 1 P, 1 U; read it with"
        r" --event issue$"
    )
    with pytest.raises(UsageError, match=sentence):
        read_text(tmp_path, issued)
    assert len(read_text(tmp_path, issued, event="issue")[0]) == 6
    done = "".join(line for line in TEXT.splitlines(True) if "  C " in line)
    with pytest.raises(UsageError, match=r"has no issue events \(D\), but 1 C$"):
        read_text(tmp_path, done, event="issue")
    # A command that is passed through is an event of this kind.
    command = "  8,0    3        5     0.000009118   697  Q   R 36 (12 00 ..) [smartctl]\n"
    assert read_text(tmp_path, command + done, format="blkparse")[0] == []
