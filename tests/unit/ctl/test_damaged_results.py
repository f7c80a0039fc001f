# SPDX-License-Identifier: GPL-2.0
"""Result files that were edited by hand or damaged: a command succeeds or says what is wrong."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from lib.ctl import report_files
from lib.ctl.command_line import Spekctl
from lib.ctl.documents import put

from spekctl.errors import ExitCode

HUGE = 2**63 - 1
DELETED = object()
# Of every kind of document: all together take seconds.
MUTATIONS = 20
DOCUMENTS = [name for name, (_, suffix) in report_files.MAKERS.items() if suffix == "json"]


@pytest.mark.parametrize(
    ("name", "place", "value", "sentence"),
    [
        ("run", "cells.0.stream", 7, r"cells\[0\]\.stream is 7; config has 1 streams"),
        ("run", "config.streams.0.arrival", HUGE, r"streams\[0\]\.arrival is"),
        ("run", "config.streams.0.asu", -1, r"streams\[0\]\.asu is -1"),
        ("run", "config.arrivals", [], r"config has 0 arrivals"),
        ("pts", "tests.0.window.values", [], r"window has no values - at `\$\.tests"),
        ("pts", "tests.0.cells.0.bytes", 0, r"cells has none of"),
        ("pts", "tests.0.rounds.0.values", [], r"rounds\[0\] has 0 values"),
        ("gate", "runs", [], r"checks\[0\]\.run is 0; there are 0 runs"),
        ("info", "origins", [], r"length >= 1 - at `\$\.origins`"),
        ("fit", "origins", [], r"length >= 1 - at `\$\.origins`"),
        ("run", "totals.all.times.response.percentiles_ns", {}, r"percentiles_ns has no p50"),
        ("run", "slices.0.response.first", HUGE, r"first and counts name buckets"),
        ("run", "slices.0.response.bits", -1, r"bits and max_bits have to be"),
        ("run", "slices.0.response.counts", [-1], r"counts have to be 0 or more"),
        ("comparison", "b", [], r"length >= 1 - at `\$\.b`"),
        ("simulation", "requests", 0, r">= 1 - at `\$\.requests`"),
        ("study", "profiles", [], r"length >= 1 - at `\$\.profiles`"),
        ("study", "loads.0.single.0.cdf", [], r"cdf of .* has 0 values for"),
    ],
)
def test_a_contradiction_is_named(
    spekctl: Spekctl, tmp_path: Path, name: str, place: str, value: object, sentence: str
) -> None:
    path = report_files.make(tmp_path, name)
    fields = json.loads(path.read_bytes())
    put(fields, place, value)
    path.write_text(json.dumps(fields))
    for command in (["show", path], ["report", path, "-o", tmp_path / "page.html"]):
        outcome = spekctl(*command)
        assert outcome.code == ExitCode.USAGE
        assert path.name in outcome.sentence
        assert re.search(sentence, outcome.sentence)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_changed_field_ends_no_command_in_a_traceback(
    spekctl: Spekctl, tmp_path: Path, name: str
) -> None:
    path = report_files.make(tmp_path, name)
    whole = json.loads(path.read_bytes())
    unchanged = tmp_path / f"unchanged-{path.name}"
    path.rename(unchanged)
    commands = [["show", path], ["report", path, "-o", tmp_path / "page.html"]]
    if name == "run":
        commands += [["compare", path, "--", unchanged]]
        commands += [["show", path, "--fio-json", tmp_path / "fio.json"]]
    chance = Random(name)
    places = list(_places(whole))
    for place in chance.sample(places, min(MUTATIONS, len(places))):
        changed = copy.deepcopy(whole)
        value = _change(changed, place, chance)
        path.write_text(json.dumps(changed))
        for command in commands:
            # What is not refused raises.
            outcome = spekctl(*command)
            if outcome.code == ExitCode.USAGE:
                assert path.name in outcome.sentence, (place, value)


def _places(node: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Fields of a document; of a list, the first elements, as the others are alike."""
    if before:
        yield before
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _places(value, (*before, key))
    elif isinstance(node, list):
        for index, value in enumerate(node[:3]):
            yield from _places(value, (*before, index))


def _change(fields: Any, place: tuple[Any, ...], chance: Random) -> object:
    """Delete the field, or give it a value that is of its type and wrong, or null."""
    for key in place[:-1]:
        fields = fields[key]
    last = place[-1]
    usual = fields[last]
    values: list[object] = [DELETED, None]
    if isinstance(usual, bool):
        values += [not usual]
    elif isinstance(usual, int):
        values += [0, -1, HUGE]
    elif isinstance(usual, float):
        values += [0.0, -1.0, 1e308]
    elif isinstance(usual, str):
        values += ["", "nonsense"]
    elif isinstance(usual, list):
        values += [[], usual + usual]
    else:
        values += [{}]
    value = chance.choice(values)
    if value is DELETED:
        del fields[last]
    else:
        fields[last] = value
    return value
