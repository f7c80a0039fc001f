# SPDX-License-Identifier: GPL-2.0
"""Identifies files, describes wrong ones, and reads files of earlier versions."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.models import models

from spekctl import files
from spekctl.campaigns import idle
from spekctl.campaigns.emerald import test as emerald_test
from spekctl.campaigns.spc1 import test as spc1_test
from spekctl.documents import curve, document, energy, result, spc1, verify
from spekctl.documents.document import Document, Kind
from spekctl.errors import UsageError
from spekctl.log import file as log_file
from spekctl.run import verify_state

VERSION_1 = Path(__file__).parent / "version1"
MODELS: dict[str, type[Document]] = {
    "result": result.Result,
    "curve": curve.Curve,
    "spc1": spc1.Report,
    "spc1-state": spc1_test.State,
    "spc1e": energy.Spc1eReport,
    "emerald": energy.EmeraldReport,
    "emerald-state": emerald_test.State,
    "dcse": energy.DcseReport,
    "idle": idle.Idle,
    "verify": verify.VerifyReport,
    "verify-state": verify_state.SavedState,
}
IN_JSON = sorted(MODELS)


def whole(name: str) -> dict[str, Any]:
    data = json.loads((VERSION_1 / f"{name}.json").read_text())
    assert isinstance(data, dict)
    return data


def put(path: Path, fields: object) -> Path:
    path.write_text(json.dumps(fields))
    return path


# --- files of earlier versions -------------------------------------------------------------------


def test_every_kind_has_a_file_of_version_1() -> None:
    """But for the plan of a detached run, which does not outlive a boot, and for later kinds."""
    kinds = {document.kind_of(model) for model in MODELS.values()}
    later = {kind for kind, model in models().items() if document.version_of(model) == 1}
    assert kinds | {Kind.LOG, Kind.PLAN} | later == set(Kind)
    assert {path.stem for path in VERSION_1.iterdir()} == {*MODELS, "log"}


@pytest.mark.parametrize("name", IN_JSON)
def test_files_of_version_1_are_read(name: str) -> None:
    before = whole(name)
    model = MODELS[name]
    after = json.loads(files.encode(document.read(VERSION_1 / f"{name}.json", model)))

    renamed = {"schema", "schema_version", "kind", "version", "created", "command"}
    assert set(before) - renamed <= set(after)
    # Their values change, too.
    converted = {"curve", "search", *(["devices"] if name == "verify-state" else [])}
    for field in set(before) - renamed - converted:
        assert contains(after[field], before[field]), field
    assert after["kind"] == document.kind_of(model)
    assert after["version"] == document.version_of(model)
    assert after["created"] == before.get("created", "")
    assert after["command"] == before.get("command", [])


def contains(after: Any, before: Any) -> bool:
    """@after is @before, perhaps with more fields."""
    if isinstance(before, dict):
        return all(contains(after[name], value) for name, value in before.items())
    if isinstance(before, list):
        return len(after) == len(before) and all(map(contains, after, before))
    return bool(after == before)


def test_a_log_of_version_1_is_read() -> None:
    header = log_file.open_log(VERSION_1 / "log.parquet").header
    assert header.version == document.version_of(log_file.LogHeader)
    assert header.created == document.timestamp(header.start_real_ns)
    assert header.command == []
    assert header.records > 0


@pytest.mark.parametrize("name", IN_JSON)
def test_other_versions_are_refused(name: str, tmp_path: Path) -> None:
    model = MODELS[name]
    known = document.version_of(model)
    fields = {**whole(name), "kind": document.kind_of(model)}
    for wrong in (0, -1, known + 1):
        path = put(tmp_path / "x.json", {**fields, "version": wrong, "schema_version": 0})
        with pytest.raises(UsageError) as refusal:
            document.read(path, model)
        text = refusal.value.message
        assert text.startswith(f"{path} has version {wrong} of its format; this spekctl reads ")
        assert text.endswith(f" {known}")


# --- which file is which -------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*IN_JSON, "log"])
def test_a_file_is_told_by_its_contents(name: str) -> None:
    suffix = "parquet" if name == "log" else "json"
    kind = Kind.LOG if name == "log" else document.kind_of(MODELS[name])
    assert document.identify(VERSION_1 / f"{name}.{suffix}", list(Kind)) is kind


@pytest.mark.parametrize("name", [*IN_JSON, "log"])
def test_a_wrong_kind_is_named_beside_the_wanted_one(name: str) -> None:
    suffix = "parquet" if name == "log" else "json"
    path = VERSION_1 / f"{name}.{suffix}"
    kind = document.identify(path, list(Kind))
    for model in MODELS.values():
        if document.kind_of(model) is not kind:
            with pytest.raises(UsageError) as refusal:
                document.read(path, model)
            wanted = document.kind_of(model).text
            assert refusal.value.message == f"{path} is {kind.text}; expected {wanted}"


WRONG: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is not a spek file; expected a load curve"),
    "text": (b"hello", "is not a spek file; expected a load curve"),
    "a list": (b"[]", "is not a spek file; expected a load curve"),
    "a number as the kind": (b'{"kind": 3}', "is not a spek file; expected a load curve"),
    "of another program": (b'{"jobs": []}', "is not a spek file; expected a load curve"),
    "cut": (b'{"kind": "spek-cur', "is not valid JSON"),
    "no text": (b'{"kind": "\xe5"}', "is not valid JSON (it is not UTF-8 text)"),
    "of a later spekctl": (
        b'{"kind": "spek-dream"}',
        "is of kind 'spek-dream', which this spekctl does not know; expected a load curve",
    ),
    "without fields": (b'{"kind": "spek-curve", "version": 1}', "is damaged: Object missing"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_spek_file_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    data, text = WRONG[name]
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=re.escape(f"{path} {text}")):
        curve.load_curve(path)


def test_a_directory_and_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a file"):
        curve.load_curve(tmp_path)
    with pytest.raises(UsageError, match="there is no file"):
        curve.load_curve(tmp_path / "x")


@pytest.mark.parametrize("field", document.ENVELOPE)
def test_a_file_without_its_envelope_is_refused(field: str, tmp_path: Path) -> None:
    fields = whole("curve")
    del fields[field]
    with pytest.raises(UsageError):
        curve.load_curve(put(tmp_path / "x.json", fields))


def drop(fields: dict[str, Any]) -> None:
    del fields["totals"]


def mistype(fields: dict[str, Any]) -> None:
    fields["run"] = "one"


def add(fields: dict[str, Any]) -> None:
    fields["more"] = 1


@pytest.mark.parametrize("change", [drop, mistype, add])
def test_a_damaged_file_of_version_1_is_refused(
    change: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    fields = whole("result")
    change(fields)
    with pytest.raises(UsageError, match="is damaged: "):
        result.load_result(put(tmp_path / "x.json", fields))


# --- what is written -----------------------------------------------------------------------------


def test_the_envelope_comes_first_in_every_file() -> None:
    for name, model in MODELS.items():
        contents = document.read(VERSION_1 / f"{name}.json", model)
        assert tuple(json.loads(files.encode(contents)))[:4] == document.ENVELOPE


def test_the_schema_requires_the_envelope() -> None:
    schema = document.schema("A curve", curve.Curve)
    fields = schema["$defs"]["Curve"]
    assert schema["$id"] == "spek-curve-1"
    assert fields["required"][:4] == list(document.ENVELOPE)
    assert fields["properties"]["kind"] == {"enum": ["spek-curve"]}


def test_the_format_of_times_is_written_once() -> None:
    root = Path(importlib.import_module("spekctl").__file__ or "").parent
    users = [path.name for path in root.rglob("*.py") if "strftime" in path.read_text()]
    assert users == ["document.py"]
    assert document.timestamp(1_700_000_000_999_999_999) == "2023-11-14T22:13:20Z"


def test_text_of_an_older_version_that_is_not_utf_8_is_damage(tmp_path: Path) -> None:
    """Found by fuzzing: the fields that tell the kind are read without looking at the others."""
    path = tmp_path / "old"
    path.write_bytes(b'{"\xa4": 0, "schema": "spek-result", "schema_version": 1}')
    with pytest.raises(UsageError, match="old is damaged: it is not UTF-8 text"):
        document.read(path, result.Result)


def test_every_kind_has_a_struct_and_its_words() -> None:
    """The log's header is in the footer of a Parquet file."""
    assert set(models()) == set(Kind)
    assert all(kind.text and kind.value.startswith("spek-") for kind in Kind)
    assert len({kind.text for kind in Kind}) == len(Kind)
