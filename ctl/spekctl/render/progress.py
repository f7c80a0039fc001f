# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of a run on standard error, as lines or as a live table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from spekctl import units
from spekctl.kernel.records import Phase, RunState
from spekctl.render.console import errors
from spekctl.run.progress import Clock, Figures

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

MIN_LINE_GAP_S = 5.0


def phase_word(clock: Clock) -> str:
    """The phase in a word, as shown."""
    if clock.state is RunState.DONE:
        return "done"
    if clock.state is RunState.READY:
        return "ready"
    if clock.state is RunState.ARMED:
        return "armed"
    return {"ramp": "ramp-up", "measure": "measure", "drain": "drain"}[clock.phase]


def _share(share: float | None) -> str:
    """A share of CPU time; a dash: the interval is too short to know it."""
    return f"{share:.0%}" if share is not None else "-"


def format_line(figures: Figures) -> str:
    """One interval as one line."""
    phase = {"ramp": "ramp-up", "measure": "measure", "drain": "drain"}[figures.phase]
    parts = [
        f"{units.format_clock(figures.at_s):>6} {phase:<8}",
        f"{units.format_rate(figures.iops)} IOPS",
        f"{figures.mib_per_s:,.1f} MiB/s",
    ]
    for name, direction in (("read", figures.read), ("write", figures.write)):
        if direction.ios:
            parts.append(
                f"{name} p50 {units.format_ns(direction.p50_ns)}"
                f" p99 {units.format_ns(direction.p99_ns)}"
            )
    parts.append(f"queue {figures.outstanding}")
    if figures.backlog:
        parts.append(f"backlog {figures.backlog:,}")
    if figures.errors:
        parts.append(f"ERRORS {figures.errors:,}")
    if figures.machine is not None:
        parts.append(f"CPU {1 - figures.machine.idle:.0%}")
        if figures.machine.switches_per_io is not None:
            parts.append(f"{figures.machine.switches_per_io:.2f} switches/IO")
    else:
        parts.append(f"worker CPU {_share(figures.worker_cpu)}")
        if figures.worker_switches_per_io is not None:
            parts.append(f"{figures.worker_switches_per_io:.2f} switches/IO")
    if figures.watts is not None:
        parts.append(units.format_watts(figures.watts))
    return "  ".join(parts)


class LineProgress:
    """For logs: a line every few seconds at most, whatever the interval."""

    def __init__(
        self,
        stream: TextIO | None = None,
        min_gap_s: float = MIN_LINE_GAP_S,
        quiet: bool = False,
        label: str = "",
    ) -> None:
        """@label: begins each line, to tell runs side by side apart."""
        self._stream = stream or sys.stderr
        self._label = f"{label}: " if label else ""
        self._min_gap_s = min_gap_s
        self._quiet = quiet
        self._last_s: float | None = None
        self._phase: Phase | None = None
        self._is_armed = False

    def note(self, text: str) -> None:
        """Print a sentence."""
        print(f"spekctl: {self._label}{text}", file=self._stream, flush=True)

    def show(self, clock: Clock, news: list[Figures]) -> None:
        """Print the first interval of a phase, then one every few seconds."""
        if self._quiet:
            return
        if clock.starts_in_s is not None and not self._is_armed:
            self._is_armed = True
            self.note(f"armed, starts in {units.format_clock(clock.starts_in_s)}")
        for figures in news:
            new_phase = figures.phase is not self._phase
            if figures.phase is Phase.DRAIN:
                continue
            if (
                new_phase
                or self._last_s is None
                or figures.at_s - self._last_s >= self._min_gap_s - 1e-3
            ):
                print(self._label + format_line(figures), file=self._stream, flush=True)
                self._last_s, self._phase = figures.at_s, figures.phase

    def close(self) -> None:
        """Nothing to do."""


class LiveProgress:
    """For terminals: a panel that is redrawn; its title may change."""

    def __init__(self, title: str, console: Console | None = None) -> None:
        from rich.live import Live as RichLive

        self._console = console or errors()
        self.title = title
        self._figures: Figures | None = None
        self._clock = Clock(Phase.RAMP, RunState.READY, 0.0, None, None)
        self._live: Live = RichLive(
            get_renderable=self._render, console=self._console, auto_refresh=False, transient=True
        )
        self._live.start()

    def note(self, text: str) -> None:
        """Print a sentence above the panel."""
        self._console.print(f"spekctl: {text}", markup=False, highlight=False)

    def show(self, clock: Clock, news: list[Figures]) -> None:
        """Draw the newest figures."""
        self._clock = clock
        if news:
            self._figures = news[-1]
        self._live.refresh()

    def close(self) -> None:
        """Remove the panel; the summary follows."""
        self._live.stop()

    def _render(self) -> RenderableType:
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        parts: list[RenderableType] = [self._head()]
        if self._figures is not None:
            parts += [self._table(self._figures), self._foot(self._figures)]
        elif self._clock.starts_in_s is None:
            parts.append("no interval has ended yet")
        # A name in it must not be taken as markup.
        title = Text(self.title)
        return Panel(Group(*parts), title=title, title_align="left", width=self._width())

    def _width(self) -> int:
        # Not the whole line: the terminal's echo of ^C must not wrap, it would shift the panel.
        return max(40, min(84, self._console.width - 3))

    def _head(self) -> RenderableType:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        clock = self._clock
        left = "" if clock.left_s is None else f"{units.format_clock(clock.left_s)} left"
        if clock.starts_in_s is not None:
            left = f"starts in {units.format_clock(clock.starts_in_s)}"
        grid = Table.grid(padding=(0, 1), expand=True)
        grid.add_column(min_width=7)
        grid.add_column(justify="right", min_width=5)
        grid.add_column(ratio=1)
        grid.add_column(justify="right", min_width=10)
        bar = ProgressBar(total=1.0, completed=clock.share or 0.0, pulse=clock.share is None)
        grid.add_row(phase_word(clock), units.format_clock(clock.elapsed_s), bar, left)
        return grid

    def _table(self, figures: Figures) -> RenderableType:
        from rich.table import Table

        table = Table(box=None, padding=(0, 1), expand=True)
        for name in ("", "IOPS", "MiB/s", "response p50", "p99", "max"):
            table.add_column(name, justify="right" if name else "left", no_wrap=True)
        for name, direction in (("read", figures.read), ("write", figures.write)):
            times = [
                units.format_ns(value) if direction.ios else "-"
                for value in (direction.p50_ns, direction.p99_ns, direction.max_ns)
            ]
            table.add_row(
                name, units.format_rate(direction.iops), f"{direction.mib_per_s:,.1f}", *times
            )
        table.add_row("all", units.format_rate(figures.iops), f"{figures.mib_per_s:,.1f}")
        return table

    def _foot(self, figures: Figures) -> RenderableType:
        from rich.text import Text

        text = Text(f"queue {figures.outstanding}   backlog {figures.backlog:,}")
        workers = f"workers: CPU {_share(figures.worker_cpu)}"
        if figures.worker_switches_per_io is not None:
            workers += f", {figures.worker_switches_per_io:.2f} switches/IO"
        text.append(f"\n{workers}")
        machine = figures.machine
        if machine is not None:
            text.append(
                f"\nmachine: user {machine.user:.0%}, system {machine.system:.0%},"
                f" irq {machine.irq:.0%}, idle {machine.idle:.0%}"
            )
            if machine.switches_per_io is not None:
                text.append(f", {machine.switches_per_io:.2f} switches/IO")
            if machine.interrupts_per_io is not None:
                text.append(f", {machine.interrupts_per_io:.2f} irqs/IO")
        if figures.watts is not None:
            text.append(f"\npower: {units.format_watts(figures.watts)}")
            if figures.iops and figures.watts > 0:
                text.append(f", {units.format_rate(figures.iops / figures.watts)} IOPS/W")
        if figures.errors:
            text.append(f"\n{figures.errors:,} I/O errors in this interval", style="bold red")
        return text


def choose(
    mode: str, title: str, is_terminal: Callable[[], bool] | None = None
) -> LineProgress | LiveProgress:
    """The view for --progress: live on a terminal, lines elsewhere, none if asked for."""
    terminal = is_terminal or sys.stderr.isatty
    if mode == "live" or (mode == "auto" and terminal()):
        return LiveProgress(title)
    return labelled(mode)


def labelled(mode: str, label: str = "") -> LineProgress:
    """A view of lines, whatever the mode but none; @label: of one of several runs side by side."""
    gap_s = 0.0 if mode == "lines" else MIN_LINE_GAP_S
    return LineProgress(quiet=mode == "none", min_gap_s=gap_s, label=label)
