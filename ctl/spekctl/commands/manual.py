# SPDX-License-Identifier: GPL-2.0-or-later
"""python -m spekctl.commands.manual DIRECTORY: man pages and shell completion, from the commands.

Below DIRECTORY they lie as `make install` puts them below its prefix.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from spekctl import __version__
from spekctl.cli import COMMANDS, cli
from spekctl.errors import EXIT_CODE_HELP

PAGES = "share/man/man1"
COMPLETIONS = {
    "bash": "share/bash-completion/completions/spekctl",
    "zsh": "share/zsh/site-functions/_spekctl",
    "fish": "share/fish/vendor_completions.d/spekctl.fish",
}
_VARIABLE = "_SPEKCTL_COMPLETE"


def files() -> dict[str, str]:
    """All files by their place."""
    pages = {f"{PAGES}/{name.replace(' ', '-')}.1": text for name, text in pages_of(cli, "spekctl")}
    return {**pages, **{place: completion(shell) for shell, place in COMPLETIONS.items()}}


def completion(shell: str) -> str:
    """The script that makes a shell complete spekctl's commands, options and values."""
    from click.shell_completion import get_completion_class

    completion_class = get_completion_class(shell)
    assert completion_class is not None
    completer = completion_class(cli, {}, "spekctl", _VARIABLE)
    script = completer.source_template % completer.source_vars()
    if shell != "zsh":
        return script
    # zsh turns the file into a function. click's script tests whether zsh is loading it, which is
    # true of the first call only: the second call would complete nothing.
    functions, found_end, _ = script.partition("\nif [[ $zsh_eval_context")
    assert found_end
    return f'{functions}\n_spekctl_completion "$@"\n'


def pages_of(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """A command's page and those of its commands."""
    context = click.Context(command, info_name=name)
    inner: dict[str, click.Command] = {}
    if isinstance(command, click.Group):
        for word in command.list_commands(context):
            subcommand = command.get_command(context, word)
            if subcommand is not None and not subcommand.hidden:
                inner[word] = subcommand
    yield name, _page(command, context, name, inner)
    for word, subcommand in inner.items():
        yield from pages_of(subcommand, f"{name} {word}")


def _page(
    command: click.Command, context: click.Context, name: str, inner: dict[str, click.Command]
) -> str:
    title = name.replace(" ", "-")
    words = command.get_short_help_str(200)
    if name.startswith("spekctl ") and name.removeprefix("spekctl ") in COMMANDS:
        words = COMMANDS[name.removeprefix("spekctl ")].help
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH "{title.upper()}" "1" "" "spek {__version__}" "spek"',
        ".SH NAME",
        f"{_escape(title)} \\- {_escape(words[:1].lower() + words[1:].rstrip('.'))}",
        ".SH SYNOPSIS",
        f"\\fB{_escape(name)}\\fR {_escape(usage)}",
        ".SH DESCRIPTION",
        *_text(command.help or words),
        ".SH OPTIONS",
    ]
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        # An argument has a record without words; DESCRIPTION explains it.
        if record is not None and isinstance(parameter, click.Option):
            lines += [".TP", f"\\fB{_escape(record[0])}\\fR", *_text(record[1])]
    if inner:
        lines.append(".SH COMMANDS")
        for word, subcommand in inner.items():
            page = f"{title}-{word}"
            lines += [
                ".TP",
                f"\\fB{_escape(page)}\\fR(1)",
                *_text(subcommand.get_short_help_str(200)),
            ]
    if command.epilog and command is not cli:
        lines += [".SH NOTES", *_text(command.epilog)]
    lines += [".SH EXIT STATUS"]
    for code, text in EXIT_CODE_HELP.items():
        lines += [".TP", str(code.value), _escape(text)]
    if " " in name:
        lines += [".SH SEE ALSO", f"\\fB{_escape(title.rpartition('-')[0])}\\fR(1)"]
    return "\n".join(lines) + "\n"


def _text(text: str) -> list[str]:
    """Paragraphs as roff; those marked by \\b keep their lines, as click does."""
    lines: list[str] = []
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip("\n"))):
        parts = [line.rstrip() for line in paragraph.strip("\n").split("\n")]
        if number:
            lines.append(".PP")
        if parts and parts[0].strip() == "\b":
            lines += [".nf", *(_escape(line) for line in parts[1:]), ".fi"]
        else:
            lines += [_escape(line.strip()) for line in parts]
    return lines


def _escape(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in (".", "'") else text


def main(directory: Path) -> None:
    """Write all files. Raises OSError."""
    for place, text in files().items():
        path = directory / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o644)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m spekctl.commands.manual DIRECTORY")
    try:
        main(Path(sys.argv[1]))
    except OSError as error:
        sys.exit(f"spek: cannot write {error.filename}: {error.strerror}")
