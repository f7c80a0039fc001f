# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of `spekctl run` that another program's file sets; those of the command line replace
them."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import click
from click.core import ParameterSource

from spekctl.errors import UsageError
from spekctl.workload.imported import NEVER

SEED_BITS = 32


@dataclass(slots=True)
class Taken:
    """@values: by the names of parameters; @words: the same as a part of a command line."""

    values: dict[str, Any] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)


def of(command_line: Sequence[str], unset: Collection[str] = ()) -> Taken:
    """What the running command takes from @command_line, an option with its value in each text:
    all that its own command line does not have. @unset: parameters that its own does not set in
    this step."""
    context = click.get_current_context()
    parameters = {
        flag: parameter for parameter in context.command.params for flag in parameter.opts
    }
    texts: dict[str, list[str]] = {}
    for text in command_line:
        flag, *words = shlex.split(text)
        name = parameters[flag].name or ""
        given_here = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if flag in NEVER or (given_here and name not in unset):
            continue
        given = texts.setdefault(flag, [])
        if words:
            given.append(_expanded(flag, words))
    taken = Taken()
    for flag, given in texts.items():
        parameter = parameters[flag]
        single: str | bool = given[-1] if given else True
        value = given if parameter.multiple else single
        taken.values[parameter.name or ""] = parameter.process_value(context, value)
        for text in given if parameter.multiple else given[-1:]:
            taken.words += [flag, text]
        if not given:
            taken.words.append(flag)
    return taken


def _expanded(flag: str, words: Sequence[str]) -> str:
    """The value of an option: a seed or CPUs may be an expression of the shell that the importer
    wrote; what begins like it in the others, such as the path of a device, is from the file."""
    text = " ".join(words)
    if flag == "--seed" and text == "$RANDOM":
        return str(secrets.randbits(SEED_BITS))
    if flag == "--cpus" and text.startswith("$("):
        raise UsageError(f"{flag}: this machine lacks what the file names ({text}); give {flag}")
    return text
