# SPDX-License-Identifier: GPL-2.0-or-later
"""KCIDB, version 5.3 of its schema: test runs of a build, with their figures as numbers."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from spekctl.errors import UsageError
from spekctl.gate.cases import Case, Status, Suite
from spekctl.gate.formats.plain import one_line

VERSION = {"major": 5, "minor": 3}
# KCIDB scales these units by the prefixes of this system.
_PREFIXES = {"B/s": "binary", "IOPS": "metric"}
# Surrogates stand for bytes of a command line that are not text.
_BUILD = re.compile(r"([a-z0-9_]+):[^\0\s\ud800-\udfff]+", re.ASCII)


def origin_of(build: str) -> str:
    """The CI system that submits the build @build, the start of its id."""
    match = _BUILD.fullmatch(build)
    if match is None:
        raise UsageError(
            f"'{build}' is not the id of a build in KCIDB; write ORIGIN:ID, with an origin of"
            " lower-case letters, digits and _"
        )
    return match[1]


def render(suite: Suite, build: str) -> str:
    """The suite as JSON; UsageError for the id of a build that cannot be one."""
    origin = origin_of(build)
    tests = [_test(suite, case, build, origin) for case in suite.cases]
    return json.dumps({"version": VERSION, "tests": tests}, indent=1) + "\n"


def _test(suite: Suite, case: Case, build: str, origin: str) -> dict[str, Any]:
    run = case.run
    started = run.started if run is not None else suite.created
    identity = "\n".join((build, suite.name, case.path, started, suite.created))
    fields: dict[str, Any] = {
        "id": f"{origin}:{hashlib.sha256(identity.encode()).hexdigest()[:32]}",
        "origin": origin,
        "build_id": build,
        "path": f"{suite.name}.{case.path}",
        "status": case.status.value.upper(),
        "comment": one_line(case.text),
        "start_time": started,
    }
    if run is not None:
        fields["duration"] = run.duration_ns / 1e9
        fields["environment"] = {
            "comment": one_line(f"{run.hostname}, {', '.join(run.devices)}"),
            "misc": {"kernel": run.kernel, "workload": run.workload},
        }
    if case.value is not None and case.status is not Status.MISS:
        fields["number"] = {"value": case.value}
        if case.unit:
            fields["number"]["unit"] = case.unit
        if case.unit in _PREFIXES:
            fields["number"]["prefix"] = _PREFIXES[case.unit]
    if case.limits:
        fields["misc"] = dict(case.limits)
    return fields
