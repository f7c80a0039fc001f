# SPDX-License-Identifier: GPL-2.0
"""Traces in other forms: what a form can say survives, and what it cannot is counted."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.command_line import Spekctl
from lib.ctl.traces import mixed, read, read_text

from spekctl.errors import ExitCode, SpekError, UsageError
from spekctl.trace.columns import Batch
from spekctl.trace.convert import FORMS, check_output, convert, form_of
from spekctl.trace.formats.format import ReadOptions
from spekctl.trace.trace import Trace, open_trace


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return mixed(tmp_path)


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t"])
def test_everything_survives_a_conversion(
    name: str, spekctl: Spekctl, path: Path, tmp_path: Path
) -> None:
    out = tmp_path / name
    outcome = spekctl("trace", "convert", str(path), "-o", str(out))
    assert (outcome.code, outcome.out) == (ExitCode.OK, "")
    assert f"6 requests written to {out}" in outcome.err
    assert read(out)[0] == read(path)[0]


def gapped(tmp_path: Path) -> Path:
    """Requests after 0, 2 us, 10 s, 10.5 s and 12 s, of two devices."""
    path = tmp_path / "gapped.csv"
    times = (0, 2_000, 10_000_000_000, 10_500_000_000, 12_000_000_000)
    lines = [f"{at},d{place % 2},{place}0240,512,r" for place, at in enumerate(times)]
    path.write_text("at_ns,device,offset_bytes,bytes,op\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("form", "unit_ns"), [("csv", 1), ("spek-trace", 1), ("fio", 1000), ("blkparse", 1)]
)
def test_idle_times_are_cut_to_the_limit_and_counted(
    form: str, unit_ns: int, spekctl: Spekctl, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    options = ("--form", form, "--max-idle", "1s", "-o", str(out))
    outcome = spekctl("trace", "convert", str(gapped(tmp_path)), *options)
    assert outcome.code == ExitCode.OK
    # 8.999998 s of the second gap and 0.5 s of the last.
    assert "idle times cut to 1s: 2, by 9499998us in all" in outcome.err
    batches = list(open_trace([out]).batches())
    at_ns = [int(at) for batch in batches for at in batch.at_ns]
    assert at_ns == [0, 2_000, 1_000_002_000, 1_500_002_000, 2_500_002_000]
    assert all(at % unit_ns == 0 for at in at_ns)


def test_a_limit_above_all_idle_times_cuts_nothing(spekctl: Spekctl, tmp_path: Path) -> None:
    path, out = gapped(tmp_path), tmp_path / "out.csv"
    outcome = spekctl("trace", "convert", str(path), "--max-idle", "10s", "-o", str(out))
    assert "idle times cut to 10s: 0, by 0ns in all" in outcome.err
    assert read(out)[0] == read(path)[0]
    outcome = spekctl("trace", "convert", str(path), "-o", str(out))
    assert "idle times" not in outcome.err


def test_idle_times_of_a_part_are_those_between_its_requests(
    spekctl: Spekctl, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    options = ("--start", "1s", "--volume", "d0", "--max-idle", "1s", "-o", str(out))
    outcome = spekctl("trace", "cut", str(gapped(tmp_path)), *options)
    # Of d0 there are requests after 10 s and 12 s.
    assert "idle times cut to 1s: 1, by 1s in all" in outcome.err
    (batch,) = open_trace([out]).batches()
    assert batch.at_ns.tolist() == [0, 10**9]


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [("0s", "--max-idle must be more than 0"), ("5", "'5' has no unit")],
)
def test_a_limit_of_nothing_is_refused(
    limit: str, sentence: str, spekctl: Spekctl, tmp_path: Path
) -> None:
    path, out = gapped(tmp_path), tmp_path / "out.csv"
    refused = spekctl("trace", "convert", str(path), "--max-idle", limit, "-o", str(out))
    assert refused.code == ExitCode.USAGE
    assert sentence in refused.sentence
    assert not out.exists()


def test_fio_gets_what_it_knows(spekctl: Spekctl, path: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.iolog"
    outcome = spekctl("trace", "convert", str(path), "-o", str(out))
    assert "left out, not supported by the form: 1 zone-append" in outcome.err
    assert out.read_text().splitlines() == [
        "fio version 3 iolog",
        "0 sda add",
        "0 sda open",
        "0 sdb add",
        "0 sdb open",
        "0 sda read 0 4096",
        "1 sda write 4096 4096",
        "2 sdb write 8192 512",
        "3 sdb sync 0 0",
        "1000003 sda trim 65536 4096",
        "1000003 sda close",
        "1000003 sdb close",
    ]
    rows, trace = read(out)
    assert (len(rows), trace.parts[0].format.name) == (5, "fio")


def test_the_text_of_blkparse_holds_all_but_the_names(
    spekctl: Spekctl, path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "t.blkparse"
    spekctl("trace", "convert", str(path), "-o", str(out))
    rows, trace = read(out)
    assert (trace.parts[0].format.name, trace.faults.bad) == ("blkparse", 0)
    names = {"sda": "259,0", "sdb": "259,1"}
    assert rows == [(at, names[device], *rest) for at, device, *rest in read(path)[0]]


def test_odd_sizes_grow_to_sectors(spekctl: Spekctl, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("at_ns,offset_bytes,bytes,op\n1,100,512,read\n2,512,512,read\n")
    out = tmp_path / "t.blkparse"
    outcome = spekctl("trace", "convert", str(path), "-o", str(out))
    assert "requests rounded to whole sectors: 1" in outcome.err
    assert [row[2:4] for row in read(out)[0]] == [(0, 1024), (512, 512)]


def copied(trace: Trace, out: Path, form: str) -> tuple[list[str], list[int]]:
    """Devices of a copy, and of which of them each of its requests is."""
    convert(trace, trace.batches(), out, form)
    copy = open_trace([out], ReadOptions(format=form))
    devices = [int(number) for batch in copy.batches() for number in batch.device]
    assert copy.faults.bad == 0
    return copy.devices.names, devices


@pytest.mark.parametrize("form", FORMS)
def test_devices_stay_apart_however_alike_their_names(form: str, tmp_path: Path) -> None:
    """A quote, a blank and a comma become _ where the form has no place for them; numbers that are
    made up are not those of another device."""
    names = ['a"b', "a_b", "a,b", "259,3", "259,1", "8,0", "a b"]
    rows = "".join(f"{n};{name};0;512;read\n" for n, name in enumerate(names))
    _, trace = read_text(tmp_path, "at_ns;device;offset_bytes;bytes;op\n" + rows)
    copied_names, devices = copied(trace, tmp_path / "out", form)
    assert len(set(copied_names)) == len(names)
    assert devices == list(range(len(names)))
    if form == "blkparse":
        assert copied_names[3:6:2] == ["259,3", "8,0"]


def test_no_device_of_a_table_is_a_formula(tmp_path: Path) -> None:
    names = ["=1+1", "_1+1", "@SUM(A1)", "+a", "-2+3", "-2", "sda"]
    rows = "".join(f"{n};{name};0;512;read\n" for n, name in enumerate(names))
    _, trace = read_text(tmp_path, "at_ns;device;offset_bytes;bytes;op\n" + rows)
    expected = ["_1+1", "_1+1_2", "_SUM(A1)", "_a", "_2+3", "-2", "sda"]
    assert copied(trace, tmp_path / "out", "csv")[0] == expected
    assert copied(trace, tmp_path / "out", "fio")[0] == names


@given(names=st.lists(st.sampled_from(["a b", "a_b", "a_b_2", "_", "259,0", "259,2"]), min_size=1))
def test_names_do_not_change_while_more_devices_appear(
    names: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A text is written while the trace is read: a name in its first half is final."""
    folder = tmp_path_factory.mktemp("names")
    rows = "".join(f"{n};{name};0;512;read\n" for n, name in enumerate(names))
    _, trace = read_text(folder, "at_ns;device;offset_bytes;bytes;op\n" + rows)

    def one_by_one(whole: Trace) -> Iterator[Batch]:
        known = list(dict.fromkeys(names))
        for batch in whole.batches():
            for row in range(len(batch)):
                whole.devices.names = known[: int(batch.device[: row + 1].max()) + 1]
                yield batch.take(slice(row, row + 1))

    for form in ("csv", "fio", "blkparse"):
        convert(trace, one_by_one(trace), folder / "out", form)
        copy = open_trace([folder / "out"], ReadOptions(format=form))
        devices = [int(number) for batch in copy.batches() for number in batch.device]
        numbers = {name: place for place, name in enumerate(dict.fromkeys(names))}
        assert devices == [numbers[name] for name in names]


@pytest.mark.parametrize(
    ("output", "name", "form"),
    [
        ("t.PARQUET", None, "spek-trace"),
        ("t.csv", None, "csv"),
        ("t.csv", "fio", "fio"),
        ("t.iolog", None, "fio"),
        ("t.txt", None, "spek-trace"),
    ],
)
def test_the_form_is_named_or_the_suffix_names_it(output: str, name: str | None, form: str) -> None:
    assert form_of(Path(output), name) == form


@pytest.mark.parametrize("form", FORMS)
def test_a_trace_that_breaks_off_leaves_nothing(form: str, path: Path, tmp_path: Path) -> None:
    trace = open_trace([path])
    out = tmp_path / "out"
    out.write_text("older")

    def broken() -> Iterator[Batch]:
        yield from trace.batches()
        raise UsageError("in.csv is damaged")

    with pytest.raises(UsageError, match="damaged"):
        convert(trace, broken(), out, form)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["in.csv", "out"]
    assert out.read_text() == "older"


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_is_one_sentence(form: str, path: Path, tmp_path: Path) -> None:
    trace = open_trace([path])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    usual = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, limits[1]))
    try:
        with pytest.raises(SpekError, match=r"cannot write .*out: File too large"):
            convert(trace, trace.batches(), tmp_path / "out", form)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, usual)
    assert [entry.name for entry in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize("form", FORMS)
def test_a_link_stays_and_its_file_is_written(form: str, path: Path, tmp_path: Path) -> None:
    trace = open_trace([path])
    (tmp_path / "real").write_text("older")
    link = tmp_path / "out"
    link.symlink_to("real")
    convert(trace, trace.batches(), link, form)
    assert link.is_symlink()
    assert (tmp_path / "real").read_bytes() != b"older"


@pytest.mark.parametrize("form", FORMS)
def test_a_signal_leaves_the_old_file_alone(form: str, path: Path, tmp_path: Path) -> None:
    trace = open_trace([path])
    out = tmp_path / "out"
    out.write_text("older")

    def ended() -> Iterator[Batch]:
        yield from trace.batches()
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(SystemExit) as end:
        convert(trace, ended(), out, form)
    assert end.value.code == 128 + signal.SIGTERM
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["in.csv", "out"]
    assert out.read_text() == "older"


def test_a_trace_is_not_its_own_output_by_another_name(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(UsageError, match="link is the trace that is read"):
        check_output(link, open_trace([path]))
    check_output(tmp_path / "new", open_trace([path]))


@pytest.mark.parametrize("form", FORMS)
def test_times_that_no_form_can_hold_are_refused(form: str, tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("at_s,offset_bytes,bytes,op\n-9e9,0,512,r\n9e9,0,512,r\n")
    trace = open_trace([path])
    with pytest.raises(UsageError, match="more than 292 years apart"):
        convert(trace, trace.batches(), tmp_path / "out", form)
    assert list(tmp_path.iterdir()) == [path]
