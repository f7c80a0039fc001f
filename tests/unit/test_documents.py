# SPDX-License-Identifier: GPL-2.0
"""Documents name what is in the tree, also after a move."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from lib.build.sources import ROOT
from lib.ctl.command_line import options_are_known

from spekctl import cli

# Folders that make and tools fill, and the tests' own inputs.
NOT_OURS = {"node_modules", "out", "golden"}
DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for path in ROOT.rglob("README.md")
    if not any(
        part in NOT_OURS or (part.startswith(".") and part != ".ci")
        for part in path.relative_to(ROOT).parts
    )
)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
CODE = re.compile(r"`([^`\n]+)`")
# Options of other programs than spekctl, as they stand in our documents.
FOREIGN = {
    *("--client", "--eta", "--output-format", "--import", "--hypothesis-profile"),
    "--rereadpt",
}
DECLARED = re.compile(r'(?:(?:addoption|add_argument|option)\(\s*|^OPTION = )"(--[a-z-]+)"', re.M)
COMMAND = re.compile(r"^    (?:sudo )?(?:\.venv/bin/)?spekctl (.+?)(?:\s+#.*)?$", re.M)
NOT_TESTS = {"__pycache__"}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str) -> None:
    document = ROOT / name
    missing = [
        target
        for target in LINK.findall(document.read_text())
        if not (document.parent / target).exists()
    ]
    assert not missing


@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_have_the_options_that_they_are_given(name: str) -> None:
    for line in COMMAND.findall((ROOT / name).read_text()):
        options_are_known(cli.cli, shlex.split(line))


def flags_of(command: click.Command) -> set[str]:
    flags = {flag for option in command.params for flag in option.opts} | {"--help", "--version"}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            flags |= flags_of(inner)
    return flags


@pytest.mark.parametrize("name", DOCUMENTS)
def test_options_that_are_named_exist(name: str) -> None:
    known = flags_of(cli.cli) | FOREIGN
    daq = (ROOT / "daq/config/options.c").read_text()
    known |= {f"--{option}" for option in re.findall(r'^\t\{ "([a-z-]+)",', daq, re.M)}
    if name.startswith("tests/"):
        for path in (ROOT / "tests").rglob("*.py"):
            known |= set(DECLARED.findall(path.read_text()))
    named = {
        flag
        for code in CODE.findall((ROOT / name).read_text())
        for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", code)
    }
    assert sorted(named - known) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_targets_of_make_that_are_named_exist(name: str) -> None:
    rules = "".join((ROOT / path).read_text() for path in ("Makefile", "daq/Makefile"))
    heads = re.findall(r"(?m)^([a-z][a-z0-9 -]+):", rules)
    targets = {target for head in heads for target in head.split()}
    text = (ROOT / name).read_text()
    named = set(re.findall(r"(?m)(?:`|^    (?:sudo )?)make ([a-z][a-z0-9-]+)", text))
    assert sorted(named - targets) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_files_that_are_named_exist(name: str) -> None:
    folder = (ROOT / name).parent
    tops = {path.name for path in ROOT.iterdir()} - NOT_OURS
    named = {
        word.rstrip("/.,")
        for code in CODE.findall((ROOT / name).read_text())
        for word in re.findall(r"(?<![\w/.~$}-])[a-z][\w.-]*/[\w./-]+", code)
        if word.split("/")[0] in tops
    }
    assert [
        file for file in sorted(named) if not any((at / file).exists() for at in (ROOT, folder))
    ] == []


def test_options_that_do_not_exist_are_noticed() -> None:
    for line in ("run spc1 --bus 50", "vm -- run spc1 --bus 50", "energy dcse --bus"):
        with pytest.raises(click.UsageError):
            options_are_known(cli.cli, line.split())


def test_every_folder_of_tests_is_explained() -> None:
    text = (ROOT / "tests/README.md").read_text()
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()} - NOT_TESTS

    assert set(re.findall(r"(?m)^\| `(\w+)/` \|", text)) == folders


def test_test_files_that_are_named_exist() -> None:
    text = (ROOT / "tests/README.md").read_text()
    named = {word for word in re.findall(r"[\w/]+\.(?:py|c)\b", text)}

    def exists(word: str) -> bool:
        return any(Path(ROOT, folder, word).exists() for folder in ("", "tests"))

    assert named
    assert [word for word in sorted(named) if not exists(word)] == []
