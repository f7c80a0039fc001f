# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of several consecutive runs: the current one, and the time left."""

from __future__ import annotations

from spekctl import units
from spekctl.render.progress import LineProgress, LiveProgress, choose
from spekctl.run.progress import Clock, Figures


class SeriesProgress:
    """The view of consecutive runs, with the total time left."""

    def __init__(self, mode: str, name: str) -> None:
        self._mode = mode
        self._name = name
        self._view: LineProgress | LiveProgress | None = None
        self._title = ""
        self._run_s = 0.0
        self._rest_s = 0.0
        self._noted: set[str] = set()

    def begin(self, title: str, run_s: float, rest_s: float) -> None:
        """The next run: it should take @run_s, and all that follow @rest_s."""
        self.close()
        self._title, self._run_s, self._rest_s = title, run_s, rest_s
        self._view = choose(self._mode, self._panel_title(run_s))
        if isinstance(self._view, LineProgress):
            self.tell(f"{self._name}: {self._news(run_s)}")

    def rest(self, title: str, span_s: float, rest_s: float) -> None:
        """Time without I/O comes next: @span_s, and everything after it takes @rest_s."""
        self.close()
        self.tell(f"{self._name}: {title}, {units.format_clock(span_s + rest_s)} left in all")

    def tell(self, text: str) -> None:
        """News of the series, unless the user wants no view."""
        if self._mode != "none":
            self.note(text)

    def note(self, text: str) -> None:
        """A message; one that every run repeats is shown once."""
        if text not in self._noted:
            self._noted.add(text)
            view = self._view or LineProgress()
            view.note(text)

    def show(self, clock: Clock, news: list[Figures]) -> None:
        """Called several times a second; @news are intervals that were closed since."""
        assert self._view is not None
        if isinstance(self._view, LiveProgress):
            left_s = clock.left_s
            if left_s is None:
                left_s = max(0.0, self._run_s - clock.elapsed_s)
            self._view.title = self._panel_title(left_s)
        self._view.show(clock, news)

    def close(self) -> None:
        """The run is over."""
        if self._view is not None:
            self._view.close()
        self._view = None

    def _panel_title(self, left_s: float) -> str:
        # What does not fit into the panel is cut: the names of many devices, not the time.
        return f"{self._news(left_s)}: {self._name}"

    def _news(self, left_s: float) -> str:
        return f"{self._title}, {units.format_clock(left_s + self._rest_s)} left in all"
