# SPDX-License-Identifier: GPL-2.0-or-later
"""The controller of one run: it listens, starts the hosts with `ssh`, and ends with them."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path

from spekctl import extras, units
from spekctl.errors import UsageError
from spekctl.fleet.coordinator import Coordinator
from spekctl.fleet.keys import Bundle
from spekctl.fleet.launch import Launcher
from spekctl.fleet.patience import Patience
from spekctl.fleet.plan import Plan
from spekctl.run.beside import View
from spekctl.run.job import Interrupts


def need_engine() -> None:
    """UsageError if the package that carries a fleet's messages is missing."""
    if importlib.util.find_spec("distributed") is None:
        raise UsageError(
            f"a fleet needs the Python package distributed; install it: {extras.install('fleet')}"
        )


def _patience(wait_s: float) -> Patience:
    """A longer --wait also allows slow hosts more time in the phases before the start."""
    usual = Patience()
    return Patience(
        join_s=wait_s,
        check_s=max(usual.check_s, wait_s),
        claim_s=max(usual.claim_s, wait_s),
    )


@contextlib.contextmanager
def started(
    planned: Plan,
    bundle: Bundle,
    wait_ns: int,
    interrupts: Interrupts,
    view: View,
    folder: Path | None,
    command: Sequence[str],
) -> Iterator[Coordinator]:
    """A listening controller, and the hosts that it starts; both end with the block. @folder: the
    result's, for intervals that do not fit into memory. @command: for the result."""
    from spekctl.fleet.engine import DaskEngine

    names = frozenset(host.name for host in planned.hosts)
    engine = DaskEngine(planned.listen, bundle, names)
    launcher = coordinator = None
    try:
        launcher = Launcher(planned, engine.address, wait_ns)
        view.note(f"waiting for {units.format_count(len(names), 'host')} at {engine.address}")
        coordinator = Coordinator(
            *(planned, engine, view, interrupts, bundle.own.fleet, command),
            patience=_patience(wait_ns / 1e9),
            started=launcher,
            folder=folder,
        )
        yield coordinator
    finally:
        engine.close()
        if launcher is not None:
            launcher.close()
        if coordinator is not None:
            coordinator.close()
    for part in coordinator.parts.values():
        if part.loss is not None and (output := launcher.said(part.name)):
            view.note(f"{part.name} has said: {output}")
