# SPDX-License-Identifier: GPL-2.0
"""Pauses of closed loops: what a file says in numbers, and what it refuses."""

from __future__ import annotations

import pytest
from lib.core.config import core_of

from spekctl.errors import UsageError
from spekctl.workload import file
from spekctl.workload.config import RunConfig
from spekctl.workload.model import Arrival
from spekctl.workload.pauses import Pauses, pauses_of
from spekctl.workload.resolve import Options, Target, resolve

MS = 10**6


def text(*keys: str, law: str = "closed") -> str:
    return "\n".join(
        [
            '[workload]\nname = "w"\nsummary = "bursts"',
            f'[[arrival]]\nname = "a"\nlaw = "{law}"',
            *keys,
            '[[stream]]\nname = "s"\nsize = "4KiB"\n',
        ]
    )


def resolved(content: str, **options: object) -> RunConfig:
    disk = Target("/dev/x", 8, 0, 1 << 30, 512, 5)
    asked = Options(available_cpus=(0, 1), count=1, **options)  # type: ignore[arg-type]
    return resolve(file.parse(content), asked, [disk])


def test_pauses_are_numbers_of_the_kernel() -> None:
    def of(**fields: object) -> Pauses:
        return pauses_of(Arrival(name="a", **fields))  # type: ignore[arg-type]

    assert of() == (0, 0, 0, 0)
    assert of(pause="10ms", pause_every=16) == (10 * MS, 16, 0, 0)
    assert of(pause="10ms", pause_every=16, pause_counts="issued") == (10 * MS, 16, 0, 0)
    assert of(pause="1s", pause_every=2, pause_counts="completed") == (1000 * MS, 2, 1, 0)
    assert of(pause="1s", pause_after="9s") == (1000 * MS, 0, 0, 9000 * MS)
    assert of(pause="1s", pause_every=5, pause_after="1us") == (1000 * MS, 5, 0, 1000)


def test_the_core_takes_them() -> None:
    config = resolved(text("depth = 8", 'pause = "10ms"', "pause_every = 16"), workers=2)
    (arrival,) = config.arrivals
    assert (arrival.depth, arrival.pause_ns, arrival.pause_every) == (8, 10 * MS, 16)
    core_of(config).check(2)


def test_a_depth_of_the_command_line_keeps_them() -> None:
    (arrival,) = resolved(text('pause = "10ms"', "pause_every = 16"), depth=3).arrivals
    assert (arrival.depth, arrival.pause_ns) == (3, 10 * MS)


REFUSED = {
    "'pause' needs 'pause_every', 'pause_after' or both": ['pause = "1s"'],
    "'pause_every' belongs to a 'pause'": ["pause_every = 2"],
    "'pause_after' belongs to a 'pause'": ['pause_after = "1s"'],
    "'pause_counts' belongs to 'pause_every'": [
        *('pause = "1s"', 'pause_after = "1s"', 'pause_counts = "issued"'),
    ],
    "pause must be 1ns to": ['pause = "0s"', "pause_every = 2"],
    "pause_after must be 1ns to": ['pause = "1s"', 'pause_after = "1000001s"'],
    "pause_every must be 1 to 4294967295, not 0": ['pause = "1s"', "pause_every = 0"],
    "has no unit": ['pause = "5"', "pause_every = 2"],
}


@pytest.mark.parametrize("words", REFUSED)
def test_refused(words: str) -> None:
    with pytest.raises(UsageError, match=words):
        file.parse(text(*REFUSED[words]))


@pytest.mark.parametrize(
    "key", ['pause = "1s"', "pause_every = 2", 'pause_counts = "issued"', 'pause_after = "1s"']
)
def test_only_closed_loops_pause(key: str) -> None:
    with pytest.raises(UsageError, match=r"belongs to law closed, not to poisson"):
        file.parse(text("rate = 5", key, law="poisson"))
