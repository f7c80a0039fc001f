# SPDX-License-Identifier: GPL-2.0
"""Every field of a workload can be set by --set, and a dry run shows it in the file that results.

The fields are those that model.py declares: one that is added needs an entry in VALUES.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import FakeKernel
from msgspec import inspect

from spekctl.settings import plain
from spekctl.workload import options
from spekctl.workload.model import RunDefaults, WorkloadFile

RUN = ("run", "--device", "/dev/fake0", "--dry-run")
SEEDS = Path(__file__).parents[3] / "fuzz" / "seeds" / "py-trace_text"
NAMES = {"stream": "main", "asu": "all", "arrival": "default"}

blocks = st.integers(1, 64).map(lambda n: f"{4 * n}KiB")
numbers = st.integers(1, 64).map(lambda n: 4096 * n)
sizes = st.one_of(blocks, numbers)
percents = st.integers(1, 99).map(lambda n: f"{n}%")
lengths = st.builds(lambda n, unit: f"{n}{unit}", st.integers(1, 50), st.sampled_from(["s", "ms"]))
words = st.text("abcdefghijklmnop -", min_size=1, max_size=20).map(str.strip).filter(bool)
names = st.from_regex(r"[a-z][a-z0-9_-]{0,20}", fullmatch=True)
# Where the table of numbers begins, behind the file.
NUMBERS = re.compile(r"^asu +(?!=)", re.MULTILINE)
POISSON = ("arrival.default.law=poisson", "arrival.default.rate=1000")
RAMP = ("arrival.default.shape=ramp", "arrival.default.to=7")
PERIOD = "arrival.default.period=10s"
RUNS = ("stream.main.pattern=runs", "stream.main.run_length=1MiB")


def mix(part: str) -> st.SearchStrategy[list[dict[str, str]]]:
    """Two parts that sum to 100 %; @part: what the size of one is like."""
    return st.integers(1, 99).map(
        lambda n: [{"size": part, "share": f"{n}%"}, {"size": "8KiB", "share": f"{100 - n}%"}]
    )


TRACED = (
    *("stream.main.size=", "stream.main.pattern=trace", "stream.main.trace.map=wrap"),
    f"stream.main.trace.files={[str(SEEDS / 'csv')]}",
)


# The values of each field, and the settings that it needs beside it.
VALUES: dict[str, tuple[st.SearchStrategy[Any], tuple[str, ...]]] = {
    "workload.name": (names, ()),
    "workload.summary": (words, ()),
    "workload.doc": (words, ()),
    "workload.scale": (st.just("none"), ()),
    "workload.iops_per_bsu": (st.integers(1, 1000), ()),
    "run.time": (lengths, ()),
    "run.count": (st.integers(1, 10**9), ()),
    "run.passes": (st.one_of(st.integers(1, 100), st.floats(0.01, 100)), ()),
    "run.ramp": (lengths, ()),
    "run.ramp_count": (st.integers(1, 10**6), ("run.count=1000",)),
    "run.interval": (st.integers(1, 50).map(lambda n: f"{n}s"), ()),
    "run.max_outstanding": (st.integers(1, 65536), ()),
    "run.batch": (st.integers(1, 64), ()),
    "run.data": (st.sampled_from(["zero", "random"]), ()),
    "asu.all.name": (names, ()),
    "asu.all.size": (st.one_of(sizes, percents), ("stream.main.size=4KiB",)),
    "asu.all.start": (st.one_of(sizes, percents), ("asu.all.size=1MiB",)),
    "asu.all.block": (sizes, ()),
    "asu.all.min": (sizes, ()),
    "asu.all.fixed.min": (sizes, ()),
    "asu.all.device": (st.just("/dev/fake0"), ()),
    "arrival.default.name": (names, ()),
    "arrival.default.law": (st.sampled_from(["poisson", "constant"]), POISSON[1:]),
    "arrival.default.depth": (st.integers(1, 256), ()),
    "arrival.default.think": (lengths, ("arrival.default.depth=2",)),
    "arrival.default.pause": (lengths, ("arrival.default.pause_every=2",)),
    "arrival.default.pause_every": (st.integers(1, 10**6), ("arrival.default.pause=5ms",)),
    "arrival.default.pause_counts": (
        st.sampled_from(["issued", "completed"]),
        ("arrival.default.pause=5ms", "arrival.default.pause_every=3"),
    ),
    "arrival.default.pause_after": (lengths, ("arrival.default.pause=5ms",)),
    "arrival.default.count": (st.integers(1, 10**9), ()),
    "arrival.default.passes": (st.one_of(st.integers(1, 100), st.floats(0.01, 100)), ()),
    "arrival.default.limit": (st.one_of(st.integers(1, 10**6), st.floats(0.5, 1e6)), ()),
    "arrival.default.burst": (st.integers(1, 256), ("arrival.default.limit=100",)),
    "arrival.default.rate": (st.one_of(st.integers(1, 10**6), st.floats(0.5, 1e6)), POISSON[:1]),
    "arrival.default.curve": (
        st.just([{"at": "0s", "rate": 1}, {"at": "1s", "rate": 2.5}]),
        ("arrival.default.law=poisson",),
    ),
    "arrival.default.repeat": (st.booleans(), (*POISSON, *RAMP, PERIOD)),
    "arrival.default.shape": (st.just("diurnal"), POISSON),
    "arrival.default.to": (st.integers(1, 10**6), (*POISSON, *RAMP[:1], PERIOD)),
    "arrival.default.period": (lengths, (*POISSON, *RAMP)),
    "arrival.default.swing": (percents, (*POISSON, "arrival.default.shape=diurnal")),
    "arrival.default.on": (st.sampled_from(["10ms", "3s"]), (*POISSON, "arrival.default.off=1s")),
    "arrival.default.off": (st.sampled_from(["10us", "2h"]), (*POISSON, "arrival.default.on=1s")),
    "arrival.default.tail": (
        st.one_of(st.integers(2, 16), st.sampled_from([1.001, 1.5])),
        (*POISSON, "arrival.default.on=1s", "arrival.default.off=1s"),
    ),
    "arrival.default.length": (
        st.integers(1, 100),
        ("arrival.default.law=burst", "arrival.default.interval=1s"),
    ),
    "arrival.default.interval": (
        lengths,
        ("arrival.default.law=burst", "arrival.default.length=4"),
    ),
    "stream.main.name": (names, ()),
    "stream.main.asu": (st.just("all"), ("asu.all.size=50%",)),
    "stream.main.arrival": (st.just("default"), ("arrival.default.depth=2",)),
    "stream.main.share": (st.one_of(st.integers(1, 1000), st.just("100%")), ()),
    "stream.main.rate": (st.one_of(st.integers(1, 10**6), st.floats(0.5, 1e6)), ()),
    "stream.main.read_rate": (st.integers(1, 10**6), ("stream.main.write_rate=10.5",)),
    "stream.main.write_rate": (st.integers(1, 10**6), ("stream.main.read_rate=10.5",)),
    "stream.main.read": (percents, ()),
    "stream.main.operation": (st.sampled_from(["discard", "write-zeroes"]), ()),
    "stream.main.priority": (st.sampled_from(["rt", "be:0", "idle"]), ()),
    "stream.main.write_hint": (
        st.sampled_from(["none", "short", "extreme"]),
        ("stream.main.read=50%",),
    ),
    "stream.main.compressible": (percents, ("stream.main.read=50%",)),
    "stream.main.duplicate": (percents, ("stream.main.read=50%",)),
    "stream.main.fill": (
        st.sampled_from(["0x00", "0xdeadbeef", "0X0123456789abcdef01"]),
        ("stream.main.read=50%",),
    ),
    "stream.main.atomic": (st.booleans(), ("stream.main.read=50%",)),
    "stream.main.fua": (st.booleans(), ("stream.main.read=50%",)),
    "stream.main.size": (sizes, ()),
    "stream.main.sizes": (mix("4KiB"), ("stream.main.size=",)),
    "stream.main.pattern": (st.sampled_from(["sequential", "once", "backward", "hotband"]), ()),
    "stream.main.start": (st.one_of(sizes, percents), ()),
    "stream.main.range": (st.one_of(numbers, percents), ()),
    "stream.main.align": (st.sampled_from([512, 4096, "8KiB"]), ()),
    "stream.main.sequential": (percents, ()),
    "stream.main.stride": (sizes, ("stream.main.pattern=strided",)),
    "stream.main.jitter": (
        sizes,
        ("stream.main.pattern=strided", "stream.main.stride=1MiB"),
    ),
    "stream.main.zone_size": (
        sizes,
        ("stream.main.pattern=strided", "stream.main.stride=1MiB"),
    ),
    "stream.main.zone_range": (
        sizes,
        (
            "stream.main.pattern=strided",
            "stream.main.stride=1MiB",
            "stream.main.zone_size=1MiB",
        ),
    ),
    "stream.main.zone_order": (
        st.sampled_from(["sequential", "random", "once"]),
        (
            "stream.main.pattern=strided",
            "stream.main.stride=1MiB",
            "stream.main.zone_size=64KiB",
        ),
    ),
    "stream.main.theta": (
        st.one_of(st.integers(1, 3), st.floats(0.1, 4)),
        ("stream.main.pattern=zipf",),
    ),
    "stream.main.h": (st.floats(0.05, 0.45), ("stream.main.pattern=pareto",)),
    "stream.main.deviation": (percents, ("stream.main.pattern=normal",)),
    "stream.main.width": (
        percents,
        ("stream.main.pattern=normal", "stream.main.deviation=10%"),
    ),
    "stream.main.center": (
        percents,
        ("stream.main.pattern=normal", "stream.main.deviation=10%"),
    ),
    "stream.main.spread": (st.booleans(), ("stream.main.pattern=zipf", "stream.main.theta=1.1")),
    "stream.main.zones": (mix("10%"), ("stream.main.pattern=zoned",)),
    "stream.main.open_zones": (
        st.integers(1, 128),
        ("stream.main.pattern=write-pointer",),
    ),
    "stream.main.replicas": (st.integers(1, 1000), RUNS),
    "stream.main.run_length": (st.one_of(sizes, percents), RUNS[:1]),
    "stream.main.restart": (st.one_of(numbers.map(lambda n: 64 * n), percents), RUNS),
    "stream.main.run_align": (st.sampled_from([4096, "8KiB", "64KiB"]), RUNS),
    "stream.main.walk": (
        st.sampled_from(["classic", "fixed"]),
        ("stream.main.pattern=walk", "stream.main.range=1GiB"),
    ),
    "stream.main.trace.files": (st.just([str(SEEDS / "csv")]), TRACED[:3]),
    "stream.main.trace.speed": (st.one_of(st.integers(1, 9), st.floats(0.01, 100)), TRACED),
    "stream.main.trace.rate": (st.one_of(st.integers(1, 10**6), st.floats(0.5, 1e6)), TRACED),
    "stream.main.trace.bursts": (st.booleans(), (*TRACED, "stream.main.trace.rate=2")),
    "stream.main.trace.closed": (st.integers(1, 256), TRACED),
    "stream.main.trace.max_idle": (lengths, TRACED),
    "stream.main.trace.think": (st.booleans(), (*TRACED, "stream.main.trace.closed=2")),
    "stream.main.trace.share": (st.just("time"), TRACED),
    "stream.main.trace.map": (st.sampled_from(["scale", "pack"]), (*TRACED[:2], *TRACED[3:])),
    "stream.main.fixed.align": (st.sampled_from([4096, "8KiB"]), ()),
    "stream.main.fixed.run_align": (st.sampled_from([4096, "8KiB"]), RUNS),
}


def fields_of(info: inspect.Type, above: str = "") -> Iterator[tuple[str, inspect.Field]]:
    """Every field that --set can name, with sections by the names that they have by default."""
    assert isinstance(info, inspect.StructType)
    for field in info.fields:
        place, inner = f"{above}{field.encode_name}", plain(field.type)
        if isinstance(inner, inspect.ListType) and field.encode_name in NAMES:
            yield from fields_of(plain(inner.item_type), f"{place}.{NAMES[field.encode_name]}.")
        elif isinstance(inner, inspect.StructType):
            yield from fields_of(inner, f"{place}.")
        else:
            yield place, field


FIELDS = dict(fields_of(inspect.type_info(WorkloadFile)))


def test_every_field_has_values() -> None:
    assert set(VALUES) == set(FIELDS)


def test_every_key_of_an_option_is_a_field() -> None:
    keys = {option.key for option in options.OPTIONS.values() if option.key}
    assert keys == set(RunDefaults.__struct_fields__)


def typed(value: object) -> str:
    """A value as a user writes it behind the = sign."""
    if isinstance(value, list) and isinstance(value[0], str):
        return str(value)
    if isinstance(value, list):
        rows = [", ".join(f"{key} = {text!r}" for key, text in row.items()) for row in value]
        return f"[{', '.join('{' + row + '}' for row in rows)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def shown(text: str, field: str, renamed: str) -> object:
    """The value of @field in a file; None if it is left out. @renamed: the section's new name."""
    node: Any = tomllib.loads(text)
    for key in field.split("."):
        if isinstance(node, list):
            (node,) = (entry for entry in node if entry["name"] in (key, renamed))
        else:
            node = node.get(key)
    return node


@pytest.mark.parametrize("field", sorted(VALUES))
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_field_is_in_the_file_that_results(
    field: str, data: st.DataObject, spekctl: Spekctl, kernel: FakeKernel
) -> None:
    values, beside = VALUES[field]
    value = data.draw(values)
    first = [] if field.startswith("run.") else ["run.time=3s"]
    given_settings = [*first, *beside, f"{field}={typed(value)}"]
    changes = [word for setting in given_settings for word in ("--set", setting)]
    outcome = spekctl(*RUN, "--size", "4KiB", *changes)
    assert outcome.code == 0, outcome.err
    written = shown(NUMBERS.split(outcome.out)[0], field, str(value))
    # A file leaves out what is the default.
    assert written == value or (written is None and value == FIELDS[field].default)
    assert "run-new" not in kernel.calls
