# SPDX-License-Identifier: GPL-2.0-or-later
"""JUnit XML as Jenkins, GitLab and GitHub read it: figures are properties of their test cases."""

from __future__ import annotations

from xml.etree import ElementTree

from spekctl.gate.cases import Case, Status, Suite
from spekctl.gate.formats.plain import one_line
from spekctl.gate.values import exact

_TAGS = {
    Status.FAIL: "failure",
    Status.ERROR: "error",
    Status.MISS: "error",
    Status.SKIP: "skipped",
}


def render(suite: Suite) -> str:
    """The suite as an XML document."""
    tags = [_TAGS.get(case.status) for case in suite.cases]
    counts = {
        "tests": str(len(suite.cases)),
        "failures": str(tags.count("failure")),
        "errors": str(tags.count("error")),
        "skipped": str(tags.count("skipped")),
    }
    root = ElementTree.Element("testsuites", {"name": "spek", **counts})
    timestamp = suite.created.removesuffix("Z")
    inner = ElementTree.SubElement(
        root, "testsuite", {"name": suite.name, **counts, "timestamp": timestamp}
    )
    _properties(inner, [("verdict", suite.verdict), ("text", suite.text)])
    for case in suite.cases:
        _case(inner, suite.name, case)
    if suite.remarks:
        ElementTree.SubElement(inner, "system-out").text = "\n".join(map(one_line, suite.remarks))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _properties(parent: ElementTree.Element, values: list[tuple[str, str]]) -> None:
    inner = ElementTree.SubElement(parent, "properties")
    for name, value in values:
        ElementTree.SubElement(inner, "property", {"name": name, "value": one_line(value)})


def _case(parent: ElementTree.Element, suite: str, case: Case) -> None:
    attributes = {"classname": suite, "name": case.path}
    if case.run is not None:
        attributes["time"] = f"{case.run.duration_ns / 1e9:.6f}"
    element = ElementTree.SubElement(parent, "testcase", attributes)
    values = [(name, exact(value)) for name, value in case.limits]
    if case.value is not None:
        values = [("value", exact(case.value)), ("unit", case.unit), *values]
    if case.run is not None:
        run = case.run
        values += [("file", run.file), ("host", run.hostname), ("kernel", run.kernel)]
    if values:
        _properties(element, values)
    tag = _TAGS.get(case.status)
    text = one_line(case.text)
    if tag is not None:
        ElementTree.SubElement(element, tag, {"message": text, "type": case.status.value})
    ElementTree.SubElement(element, "system-out").text = text
