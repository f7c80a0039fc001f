# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts in the formats of their consumers, by name; `text` is for people (render/verdict.py)."""

from __future__ import annotations

from spekctl.documents.verdict import Comparison, GateReport

NAMES = ("text", "json", "ktap", "junit", "lava", "kcidb", "keyval")


def render(document: GateReport | Comparison, name: str, build: str | None = None) -> str:
    """@document in the format @name, all but text. @build: for KCIDB, the id of the build."""
    from spekctl import files
    from spekctl.gate.cases import suite_of

    if name == "json":
        return files.encode(document).decode()
    suite = suite_of(document)
    if name == "kcidb":
        from spekctl.gate.formats import kcidb

        assert build is not None
        return kcidb.render(suite, build)
    from spekctl.gate.formats import junit, keyval, ktap, lava

    return {
        "ktap": ktap.render,
        "junit": junit.render,
        "lava": lava.render,
        "keyval": keyval.render,
    }[name](suite)
