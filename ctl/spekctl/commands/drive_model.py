# SPDX-License-Identifier: GPL-2.0-or-later
"""MODEL and the options that change it: the same for every command of `spekctl drive`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spekctl.commands import options
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from spekctl.drive.model import Model

F = TypeVar("F", bound=Callable[..., Any])


def complete_model(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of models, and files."""
    from click.shell_completion import CompletionItem

    from spekctl.drive import file

    names = [name for name in file.names() if name.startswith(incomplete)]
    return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]


argument = click.argument("name", metavar="MODEL", shell_complete=complete_model)
changes: Callable[[F], F] = options.together(
    click.option(
        "--arms", type=click.IntRange(1, 8), metavar="N", help="Arm assemblies, equally spaced."
    ),
    click.option(
        "--dash",
        metavar="DkAlSmHn",
        help="Parallelism: k stacks of platters, l arm assemblies, m surfaces that transfer"
        " together, and n heads of an arm on a surface, where `--set head_angles=` gives n > 1.",
    ),
    click.option(
        "--channels",
        type=click.IntRange(1, 8),
        metavar="N",
        help="Maximum number of arms that work at the same time.  [default: the model's, else 1]",
    ),
    click.option(
        "--rpm",
        type=options.FiniteRange(60, 60000),
        metavar="N",
        help="Rotational speed; the spindle power scales with rpm^2.8.",
    ),
    click.option("--profile", metavar="NAME", help="Power profile.  [default: the model's first]"),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="FIELD=VALUE",
        help="Override a field of the model: settle_ms=0.2, power.NAME.hold=1.5. platters and"
        " diameter_in scale the spindle power. Repeatable.",
    ),
    click.option("--force", is_flag=True, help="Accept a seek curve that falls by more than 40 %."),
)


def schedule(help: str) -> Callable[[F], F]:
    """Order in which the drive serves its queued requests."""
    return click.option(
        "--schedule",
        type=click.Choice(["fcfs", "sstf", "sptf", "clook"]),
        default="sptf",
        show_default=True,
        help=help,
    )


max_wait = click.option(
    "--max-wait",
    "max_wait_ns",
    type=options.DURATION_WITH_UNIT,
    default="0",
    show_default=True,
    help="Serve requests that have waited longer than this first; 0: no limit.",
)


_DASH = re.compile(r"D([1-9]\d*)A([1-9]\d*)S([1-9]\d*)H([1-9]\d*)")


def _of_dash(dash: str) -> list[str]:
    """Settings of the degrees of a DASH name; the angles of its heads are none of them."""
    degrees = _DASH.fullmatch(dash)
    if degrees is None:
        raise UsageError(f"--dash {dash}: not of the form D1A2S1H1, with degrees of 1 or more")
    stacks, arms, surfaces, _ = degrees.groups()
    return [f"stacks={stacks}", f"arms.count={arms}", f"surfaces={surfaces}"]


def take(name: str, given: dict[str, Any]) -> Model:
    """The model of MODEL and what changes() has parsed, which is taken out of @given."""
    from spekctl.drive import file

    settings = list(given.pop("settings"))
    dash = given.pop("dash")
    if dash is not None:
        settings[:0] = _of_dash(dash)
    for key, field in (("arms", "arms.count"), ("channels", "arms.channels"), ("rpm", "rpm")):
        value = given.pop(key)
        if value is not None:
            settings.append(f"{field}={value}")
    profile = given.pop("profile")
    if profile is not None:
        settings.append(f"profile={profile}")
    model = file.load(name, settings, given.pop("force"))
    if dash is not None and model.dash != dash:
        heads = "; angles of several heads are given by --set head_angles=[0, 0.05]"
        only_heads = model.dash.partition("H")[0] == dash.partition("H")[0]
        raise UsageError(
            f"--dash {dash}: by its model and other options the drive is"
            f" {model.dash}{heads if only_heads else ''}"
        )
    for remark in model.remarks:
        click.echo(f"spekctl: {model.name}: {remark}", err=True)
    return model
