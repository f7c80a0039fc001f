# SPDX-License-Identifier: GPL-2.0
"""Workloads as job files: fio takes them, and the importer finds the same workload in them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.ctl.fio_jobs import fio

from spekctl.errors import UsageError
from spekctl.fio import convert
from spekctl.fio.export import export
from spekctl.workload import file
from spekctl.workload.model import WorkloadFile


def test_asus_on_devices_of_their_own_are_files_of_their_jobs() -> None:
    asus = "".join(
        f'[[asu]]\nname = "{name}"\nsize = "{size}"\n{device}'
        for name, size, device in (
            ("a", "60%", 'device = "/dev/x:1"\n'),
            ("b", "60%", ""),
            ("c", "40%", 'device = "/dev/x:1"\n'),
            ("d", "40%", ""),
        )
    )
    streams = "".join(f'[[stream]]\nname = "{n}"\nsize = "4KiB"\nasu = "{n}"\n' for n in "abcd")
    head = '[workload]\nname = "w"\nsummary = "s"\n'
    head += '[[arrival]]\nname = "x"\nlaw = "poisson"\nrate = 400\n'
    workload = file.parse(head + streams + asus)
    text = export(workload, ["/dev/y", "d=/dev/z"])
    sections = {part.split("]")[0]: part.splitlines() for part in text.split("[")[1:]}
    assert "filename=/dev/y" in sections["global"]
    files = {name: [line for line in sections[name] if "filename" in line] for name in "abcd"}
    own = ["filename=/dev/x\\:1"]
    assert files == {"a": own, "b": [], "c": own, "d": ["filename=/dev/z"]}
    offsets = {name: [line for line in sections[name] if "offset" in line] for name in "abcd"}
    assert offsets == {"a": [], "b": [], "c": ["offset=60%"], "d": []}
    with pytest.raises(UsageError, match="there is no asu 'e'"):
        export(workload, ["e=/dev/y"])


PER_CENT = st.integers(1, 99)
# Whole blocks of all SIZES, as of all that can run.
BYTES = st.integers(1, 1 << 12).map(lambda n: n << 20)
SIZES = st.sampled_from([512, 4096, 8192, 65536, 1 << 20])


def shares(count: int) -> st.SearchStrategy[list[int]]:
    """Whole percentages that sum to 100."""
    cuts = st.sets(st.integers(1, 99), min_size=count - 1, max_size=count - 1)
    return cuts.map(lambda edges: [b - a for a, b in pairwise([0, *sorted(edges), 100])])


CONTENTS = st.sampled_from(
    [
        {},
        {"compressible": "50%"},
        {"compressible": "20%", "duplicate": "30%", "fill": "0xdeadbeef"},
        {"duplicate": "1%"},
        {"fill": "0x00ff"},
    ]
)
PATTERNS = (*("uniform", "once", "sequential", "strided", "runs", "zipf", "pareto", "zoned"),)


@st.composite
def zones_with_gaps(draw: st.DrawFn, size: int) -> dict[str, Any]:
    """Zones as the importer writes those of several I/Os."""
    blocks, span = draw(st.integers(2, 40)), draw(st.integers(2, 40))
    order = draw(st.sampled_from([None, "random", "once"]))
    zones = {"stride": size * (span + draw(st.integers(0, 9))), "zone_size": size * blocks}
    if order is not None:
        return zones | {"zone_range": size * span, "zone_order": order}
    if blocks > span:
        return zones | {"zone_range": size * span}
    return zones if zones["stride"] > zones["zone_size"] else zones | {"stride": size * (span + 1)}


@st.composite
def streams(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A stream as the importer writes it."""
    stream: dict[str, Any] = {"name": name, "arrival": name, "share": 100}
    pattern = stream["pattern"] = draw(st.sampled_from(PATTERNS))
    if draw(st.booleans()) and pattern not in ("once", "strided", "runs"):
        # Weights as the importer reduces them.
        stream["sizes"] = [
            {"size": 4096, "share": draw(st.sampled_from([1, 3, 4, 9]))},
            {"size": 8192, "share": 1},
        ]
    else:
        stream["size"] = draw(SIZES)
    if draw(st.integers(0, 4)) == 0:
        stream["operation"] = "discard"
    elif pattern in ("sequential", "strided"):
        stream["read"] = draw(st.sampled_from(["0%", "100%"]))
    else:
        stream["read"] = f"{draw(st.integers(0, 100))}%"
    if stream.get("read", "100%") != "100%" and draw(st.booleans()):
        stream["fua"] = True
    if stream.get("read", "100%") != "100%":
        stream |= draw(CONTENTS)
        if stream.get("operation") is None and draw(st.booleans()):
            stream["atomic"] = True
        if stream.get("operation") is None and draw(st.booleans()):
            stream["write_hint"] = draw(
                st.sampled_from(["none", "short", "medium", "long", "extreme"])
            )
    if draw(st.booleans()):
        stream["priority"] = draw(st.sampled_from(["rt:0", "rt:7", "be:3", "idle"]))
    size = stream.get("size", 4096)
    if draw(st.booleans()) and pattern not in ("sequential", "strided"):
        aligns = [size] if pattern == "once" else [4096, 65536]
        stream["align"] = draw(st.sampled_from(aligns))
    if draw(st.booleans()):
        stream["start"] = draw(PER_CENT.map(lambda n: f"{n}%") | BYTES)
    if draw(st.booleans()):
        # As all that can run, it ends within the device.
        start = str(stream.get("start", "0%"))
        left = 100 - int(start.removesuffix("%")) if start.endswith("%") else 100
        stream["range"] = draw(st.integers(1, min(left, 99)).map(lambda n: f"{n}%") | BYTES)
    match pattern:
        case "uniform" if draw(st.booleans()):
            stream["sequential"] = f"{draw(PER_CENT)}%"
        case "strided" if draw(st.booleans()):
            stream |= draw(zones_with_gaps(size))
            stream.pop("range", None)
        case "strided":
            stream["stride"] = size + draw(st.integers(1, 100)) * 512
        case "runs":
            stream["run_length"] = size * draw(st.integers(3, 100))
        case "zipf":
            stream["theta"] = draw(st.sampled_from([0.5, 1.1, 1.25]))
        case "pareto":
            stream["h"] = draw(st.sampled_from([0.1, 0.2, 0.35]))
        case "zoned":
            parts = zip(draw(shares(3)), (20, 30, 50), strict=True)
            stream["zones"] = [{"share": f"{n}%", "size": f"{m}%"} for n, m in parts]
    return stream


@st.composite
def workloads(draw: st.DrawFn) -> WorkloadFile:
    names = ["a", "b", "c"][: draw(st.integers(1, 3))]
    drawn = [draw(streams(name)) for name in names]
    arrivals = []
    for stream in drawn:
        laws = ["closed", "think"]
        if stream.get("read", "0%") in ("0%", "100%"):
            laws += ["poisson", "constant"]
        law = draw(st.sampled_from(laws))
        arrival: dict[str, Any] = {"name": stream["name"]}
        if law == "think":
            arrival |= {"law": "closed", "depth": 1, "think": f"{draw(st.integers(1, 999))}us"}
        elif law == "closed":
            arrival |= {"law": law, "depth": draw(st.integers(1, 256))}
        else:
            arrival |= {"law": law, "rate": draw(st.integers(1, 10**6))}
        arrivals.append(arrival)
    run: dict[str, Any] = {"data": draw(st.sampled_from(["zero", "random"]))}
    if len(names) > 1 or draw(st.booleans()):
        run["time"] = draw(st.sampled_from(["1s", "1m", "500ms"]))
    else:
        run["count"] = draw(st.integers(1, 10**9))
    if draw(st.booleans()):
        run["ramp"] = "5s"
    if draw(st.booleans()):
        run["batch"] = draw(st.integers(1, 64))
    header = {"name": "made", "summary": "Imported from fio's made.fio"}
    return file.check({"workload": header, "run": run, "arrival": arrivals, "stream": drawn})


def test_passes_are_loops() -> None:
    text = """
run = {passes = 3}
[workload]
name = "w"
summary = "s"
[[stream]]
name = "a"
size = "4KiB"
"""
    workload = file.parse(text)
    assert "loops=3" in export(workload).splitlines()
    for old, new, why in (
        ("3}", "1.5}", "fio's loops are whole"),
        ('"4KiB"', '"4KiB"\npattern = "strided"\nstride = "8KiB"', "fio does not stop a stride"),
        ("[[stream]]", '[[stream]]\nname = "b"\nsize = "4KiB"\n[[stream]]', "of each job"),
    ):
        with pytest.raises(UsageError, match=why):
            export(file.parse(text.replace(old, new)))


def test_zones_of_a_stride_are_those_of_fio() -> None:
    text = """
[workload]
name = "w"
summary = "s"
[[stream]]
name = "a"
size = "4KiB"
pattern = "strided"
stride = "128KiB"
zone_size = "32KiB"
"""
    written = export(file.parse(text)).splitlines()
    zones = {"zonemode=strided", "zonesize=32768", "zonerange=32768", "zoneskip=98304"}
    assert zones | {"rw=read"} <= set(written) and "norandommap" not in written
    random = export(file.parse(text + 'zone_range = "128KiB"\nzone_order = "random"\n'))
    zones = {"zonemode=strided", "zonesize=32768", "zonerange=131072", "rw=randread"}
    assert zones | {"norandommap"} <= set(random.splitlines()) and "zoneskip" not in random
    once = export(file.parse(text + 'zone_order = "once"\n')).splitlines()
    assert "rw=randread" in once and "norandommap" not in once


def again(workload: WorkloadFile, folder: Path) -> WorkloadFile:
    path = folder / "made.fio"
    path.write_text(export(workload))
    return convert.load(path).workload


@settings(max_examples=60, deadline=None)
@given(workloads())
def test_the_importer_finds_the_same_workload(workload: WorkloadFile) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert again(workload, Path(folder)) == workload


def test_fio_takes_what_is_exported(tmp_path: Path) -> None:
    program = shutil.which("fio")
    if program is None:
        pytest.skip("fio is not installed; .ci/packages test names it")
    exported = []
    for workload in file.iter_shipped():
        name = workload.workload.name
        try:
            text = export(workload, ["/dev/sdx"])
        except UsageError as error:
            assert error.message.startswith(f"{name} is not exported: ")
            continue
        path = tmp_path / f"{name}.fio"
        path.write_text(text)
        exported.append(path)
    assert {"random-read-4k", "sequential-write-128k"} <= {path.stem for path in exported}
    done = subprocess.run(
        [program, "--parse-only", *map(str, exported)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_asu_without_a_device_beside_one_that_has_its_own_is_refused() -> None:
    text = '[workload]\nname = "t"\nsummary = "s"\n'
    for name, device in (("a", ""), ("b", 'device = "/dev/x"\n')):
        text += f'[[stream]]\nname = "{name}"\nasu = "{name}"\nsize = "4KiB"\n'
        text += f'[[asu]]\nname = "{name}"\nsize = "50%"\n{device}'
    with pytest.raises(UsageError, match=r"asu 'a' has no device: give one with --device DEV"):
        export(file.parse(text))


def test_asus_become_places_of_the_device() -> None:
    text = """
[workload]
name = "w"
summary = "s"
[[asu]]
name = "a"
size = "40%"
[[asu]]
name = "b"
size = "60%"
[[arrival]]
name = "x"
law = "poisson"
rate = 400
[[stream]]
name = "s1"
share = "25%"
size = 4096
[[stream]]
name = "s2"
asu = "b"
share = "75%"
size = 4096
start = "50%"
read = "0%"
"""
    jobs = export(file.parse(text), ["/dev/a:b"]).split("\n\n")
    assert "filename=/dev/a\\:b" in jobs[1] and "; open loops wait at iodepth=256" in jobs[0]
    assert jobs[2].splitlines()[-4:] == [
        *("size=40%", "iodepth=256", "rate_iops=100", "rate_process=poisson"),
    ]
    assert {"offset=70%", "rate_iops=300"} <= set(jobs[3].splitlines())


def jobs_of(text: str) -> list[str]:
    """The jobs of a workload, without what comes before them."""
    return export(file.parse(text)).split("\n\n")[2:]


def test_rates_of_streams_are_those_of_their_jobs() -> None:
    streams = """
[workload]
name = "w"
summary = "s"
[[stream]]
name = "a"
size = 4096
rate = 100
[[stream]]
name = "b"
size = 4096
read_rate = 30
write_rate = 20
[[stream]]
name = "c"
size = 4096
"""
    jobs = {job.splitlines()[0]: job.splitlines() for job in jobs_of(streams)}
    assert list(jobs) == ["[a]", "[b-read]", "[b-write]", "[c]"]
    for name, rate in ("[a]", 100), ("[b-read]", 30), ("[b-write]", 20):
        assert jobs[name][-2:] == [f"rate_iops={rate}", "rate_process=poisson"]
    assert [jobs[name][1] for name in ("[b-read]", "[b-write]")] == ["rw=randread", "rw=randwrite"]
    assert jobs["[c]"][-1] == "iodepth=1"


TRACE = """[workload]
name = "w"
summary = "s"
[[stream]]
name = "t"
pattern = "trace"
trace = { files = ["io.csv"] }
"""


@pytest.mark.parametrize(
    "more",
    [
        "",
        '[[stream]]\nname = "m"\nsize = 4096\n',
        '[[stream]]\nname = "m"\nsize = 4096\nrate = 9\n',
    ],
    ids=["alone", "closed loop", "rate"],
)
def test_a_trace_is_the_only_reason_against_it(more: str) -> None:
    """Streams beside it do not share their arrivals with it."""
    with pytest.raises(UsageError) as refusal:
        export(file.parse(TRACE + more))
    assert refusal.value.message == (
        "w is not exported: stream 't': traces are not exported; fio replays an iolog (read_iolog),"
        " which `spekctl trace convert` writes"
    )


BASE = '[workload]\nname="w"\nsummary="s"\n[[stream]]\nname="m"\nsize=4096\n'


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ('pattern="hotband"\n', "stream 'm': fio has no hot band"),
        ('pattern="backward"\n', "stream 'm': going backwards, fio begins with"),
        ('pattern="sequential"\nread="50%"\n', "fio keeps a place for each direction"),
        ('read="12.5%"\n', "read: fio has whole numbers, not 12.5"),
        ('pattern="once"\nalign=65536\n', "align: with blockalign fio keeps no map"),
        ('pattern="sequential"\nalign=65536\n', "align: fio's blockalign has no effect on jobs"),
        ('pattern="strided"\nstride=8192\njitter=4096\n', "jitter: fio's gaps are all alike"),
        (
            'pattern="strided"\nstride=8192\nzone_size=16384\nzone_order="random"\n',
            "zone_range: fio's zones do not overlap",
        ),
        (
            'pattern="strided"\nstride=8192\nzone_size=8192\nzone_order="once"\nrange="1MiB"\n',
            "range: zones of fio continue to the end of the device",
        ),
        ('pattern="zipf"\ntheta=1.1\nspread=false\n', "spread: fio scatters frequent addresses"),
        ('pattern="pareto"\nh=0.1\ncenter="30%"\n', "center: fio scatters frequent addresses"),
        ('pattern="normal"\ndeviation="5%"\n', "spread: fio scatters frequent addresses"),
        (
            'pattern="normal"\ndeviation="5%"\nspread=true\n',
            "deviation: that of fio's normal distribution is 8.3333%",
        ),
        (
            'pattern="normal"\ndeviation="8.3333%"\nwidth="60%"\nspread=true\n',
            "width: that of fio's normal distribution is at most 50%",
        ),
        ('[[stream]]\nname="n"\nsize=4096\n', "it shares the closed loop 'default'"),
        ('[[arrival]]\nname="b"\nlaw="burst"\nlength=4\ninterval="1s"\n', "fio has no bursts"),
        ('[[arrival]]\nname="b"\ndepth=4\nthink="1ms"\n', "think: fio with a depth of more than 1"),
        ('[[arrival]]\nname="b"\nlaw="poisson"\nrate=0.5\n', "rate: fio has whole numbers"),
        (
            '[[arrival]]\nname="b"\nlimit=100\ndepth=4\n',
            "limit: it is not exported; give the job fio's rate_iops",
        ),
        (
            '[[arrival]]\nname="b"\nlaw="poisson"\ncurve=[{at="0s",rate=5},{at="9s",rate=9}]\n',
            "curve: fio's rates do not change over time",
        ),
        (
            '[[arrival]]\nname="b"\nlaw="poisson"\nrate=5\nshape="diurnal"\n',
            "shape: fio's rates do not change over time",
        ),
        (
            '[[arrival]]\nname="b"\nlaw="poisson"\nrate=500\non="1s"\noff="9s"\n',
            "on: fio's rates have no periods without I/O",
        ),
        ('operation="write-zeroes"\n', "fio has no stream of operation write-zeroes"),
        (
            'pattern="write-pointer"\noperation="zone-append"\n',
            "fio has no stream of operation zone-append",
        ),
        ("[run]\nramp_count=5\n", "run: fio's ramp-up is a time"),
        ('start=4096\n[[asu]]\nname="a"\nstart="10%"\nsize="50%"\n', "in per cent and in bytes"),
    ],
)
def test_what_fio_cannot_say_is_refused(more: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        export(file.parse(BASE + more))
    assert refusal.value.message.startswith("w is not exported: ")
    assert sentence in refusal.value.message


@pytest.mark.parametrize(
    ("keys", "asu", "lines"),
    [
        ({"read": "0%", "open_zones": 8}, None, ["rw=randwrite", "max_open_zones=8"]),
        ({"read": "100%"}, None, ["rw=randread"]),
        (
            {"read": "30%"},
            {"start": 1 << 30, "size": 2 << 30},
            ["rw=randrw", "rwmixread=30", "offset=1073741824", "size=2147483648"],
        ),
    ],
)
def test_writes_at_pointers_are_those_of_zonemode_zbd(
    tmp_path: Path, keys: dict[str, Any], asu: dict[str, Any] | None, lines: list[str]
) -> None:
    stream = {"name": "a", "arrival": "a", "share": 100, "size": 65536, **keys}
    sections: dict[str, Any] = {
        "workload": {"name": "made", "summary": "Imported from fio's made.fio"},
        "run": {"time": "5s", "data": "random"},
        "arrival": [{"name": "a", "depth": 4}],
        "stream": [{**stream, "pattern": "write-pointer"}],
    }
    if asu is not None:
        sections["asu"] = [{"name": "zones", **asu}]
        sections["stream"][0]["asu"] = "zones"
    workload = file.check(sections)
    text = export(workload).splitlines()
    assert {"zonemode=zbd", *lines} <= set(text)
    (tmp_path / "made.fio").write_text("\n".join(text) + "\n")
    assert fio("--parse-only", tmp_path / "made.fio").returncode == 0
    assert again(workload, tmp_path) == workload
