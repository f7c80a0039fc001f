# SPDX-License-Identifier: GPL-2.0
"""Where the verdicts of spekctl gate and of spekctl compare go, and in what form."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.verdicts import (
    IOPS_900,
    STRANGE_NAMES,
    A,
    measured,
    put,
    put_with_strange_names,
    sides,
)

from spekctl.commands.verdict import complete_metric
from spekctl.errors import ExitCode
from spekctl.gate.metrics import METRICS


@pytest.fixture(params=["gate", "compare"])
def words(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """A command with a verdict: all is well."""
    if request.param == "compare":
        return ["compare", *sides(tmp_path, A, A)]
    (tmp_path / "limits.toml").write_text(IOPS_900)
    put(tmp_path / "good.json", measured(1))
    return ["gate", "limits.toml", "good.json"]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--format", "html"], "'html' is not one of"),
        (["--format", "kcidb"], "--format kcidb needs --kcidb-build"),
        (["--kcidb-build", "x:1"], "--kcidb-build is for --format kcidb"),
        (
            ["--format", "kcidb", "--kcidb-build", "Big Co"],
            "'Big Co' is not the id of a build in KCIDB",
        ),
        (["-o", "x"], "-o needs a --format other than text"),
        (["--format", "junit", "-o", "no/x"], "cannot write no/x: there is no directory no"),
    ],
)
def test_an_output_that_cannot_be_is_refused(
    spekctl: Spekctl, words: list[str], more: list[str], sentence: str
) -> None:
    outcome = spekctl(*words, *more)
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert sentence in outcome.sentence


def test_no_input_is_overwritten(spekctl: Spekctl, tmp_path: Path, words: list[str]) -> None:
    for name in [word for word in words[1:] if word != "--"]:
        before = (tmp_path / name).read_bytes()
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(name)
        for output in (name, "link"):
            outcome = spekctl(*words, "--format", "json", "-o", output)
            assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
            assert outcome.sentence == f"--output {output} would overwrite the input {name}"
            assert (tmp_path / name).read_bytes() == before


def test_it_is_refused_before_anything_is_read(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    for words in (["gate", "bad.json", "bad.json"], ["compare", "bad.json", "--", "bad.json"]):
        assert "--format kcidb needs" in spekctl(*words, "--format", "kcidb").sentence
        assert "bad.json" in spekctl(*words).sentence


def test_a_file_leaves_the_text_to_people(
    spekctl: Spekctl, tmp_path: Path, words: list[str]
) -> None:
    text = spekctl(*words)
    both = spekctl(*words, "--format", "keyval", "-o", "verdict")
    alone = spekctl(*words, "--format", "keyval")
    assert {text.code, both.code, alone.code} == {ExitCode.OK}
    assert both.out == text.out != alone.out
    assert (tmp_path / "verdict").read_text() == alone.out


def test_json_takes_all_file_names(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text(IOPS_900)
    put_with_strange_names(tmp_path)
    outcome = spekctl("gate", "limits.toml", *STRANGE_NAMES, "--format", "json", "-o", "seen")
    assert outcome.code == ExitCode.LIMIT_MISSED
    assert len(json.loads((tmp_path / "seen").read_text())["runs"]) == len(STRANGE_NAMES)


def test_metrics_complete_with_their_meaning() -> None:
    context, parameter = click.Context(click.Command("x")), click.Option(["--primary"])
    items = complete_metric(context, parameter, "read.response.p9")
    assert items and all(item.value.startswith("read.response.p9") for item in items)
    assert all(item.help == METRICS[item.value].help for item in items)
    assert len(complete_metric(context, parameter, "")) == len(METRICS)
    assert complete_metric(context, parameter, "zz") == []
