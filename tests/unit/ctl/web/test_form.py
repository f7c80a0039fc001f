# SPDX-License-Identifier: GPL-2.0
"""The form has what the command line and workload files have, and nothing that they refuse."""

from __future__ import annotations

import click
import pytest

from spekctl.commands import run
from spekctl.web import form
from spekctl.workload import file, options

DECLARED = {**options.OPTIONS, **options.MEASURING}


def test_every_option_has_a_field_with_its_help() -> None:
    fields = {field.name: field for field in form.option_fields(DECLARED)}
    assert set(fields) == {option.flag_text[2:] for option in DECLARED.values()}
    assert fields["time"].hint == "60s" and fields["write"].control == "check"
    assert fields["backend"].choices == ["auto", "bio", "mq", "scsi"]
    assert fields["power-feed"].control == "lines" and fields["prober-interval"].hint == "1s"
    assert all(field.help for field in fields.values())


def test_the_form_has_all_options_of_a_run_that_are_not_of_its_files() -> None:
    whole = form.form()
    names = {field.name for field in (*whole.options, *whole.measuring)}
    flags = {
        max(parameter.opts, key=len)[2:]
        for parameter in run.command.params
        if isinstance(parameter, click.Option)
    }
    # The form's other parts, the command line's own output, and what a host cannot do.
    others = {"device", "destroy", "set", "read", "size", "pattern", "json", "progress", "dry-run"}
    others |= {"output", "fio-json", "fio-logs", "hdr-log", "csv", "detach"}
    others |= {"verify-state", "state-on", "state-apart", "start-at"}
    others |= {"trace", "speed", "bursts", "closed", "think", "max-idle", "share-by", "map"}
    # A run on the hosts of a plan.
    others |= {"fleet", "keys", "wait"}
    assert flags - others == names


@pytest.mark.parametrize("field", form.option_fields(DECLARED), ids=lambda field: field.name)
def test_a_choice_can_be_read(field: form.Field) -> None:
    lines = ["errors > 0"] if field.name == "stop-when" else ["board", "wall"]
    others: dict[str, list[object]] = {"check": [True], "lines": [lines]}
    for value in [*field.choices, *others.get(field.control, [])]:
        options.read({field.name: value})


@pytest.mark.parametrize("field", form.stream_fields(), ids=lambda field: field.name)
def test_a_field_of_a_stream_is_one_that_can_be_set(field: form.Field) -> None:
    assert field.help
    for value in field.choices or ["nonsense"]:
        try:
            file.one_stream({}, [f"stream.main.{field.name}={value}"])
        except Exception as error:
            assert f"stream.main.{field.name}" in str(error)
            assert "there is no field" not in str(error)
            assert "is a section" not in str(error)


def test_what_one_stream_cannot_have_is_left_out() -> None:
    names = {field.name for field in form.stream_fields()}
    assert {"size", "read", "pattern", "theta", "stride", "fua", "spread"} <= names
    assert not names & {"name", "asu", "arrival", "share", "sizes", "zones", "fixed"}
