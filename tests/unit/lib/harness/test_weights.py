# SPDX-License-Identifier: GPL-2.0
"""Files of guest tests are shared out among the stock kernels by how long they take."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.harness import kernels, weights
from lib.harness.kernels import GUEST_TESTS, STOCK_KERNELS, kernel_of_file
from lib.harness.weights import Weights

OLD, NEW = STOCK_KERNELS


def loads(table: Weights) -> dict[str, float]:
    """Guest-seconds of each kernel."""
    places = table.split(STOCK_KERNELS)
    return {
        kernel: table.bound.get(kernel, 0.0)
        + sum(table.files[name] for name, place in places.items() if place == kernel)
        for kernel in STOCK_KERNELS
    }


def test_both_kernels_are_done_at_the_same_time() -> None:
    table = Weights({OLD: 700.0, NEW: 500.0}, {"a": 300.0, "b": 200.0, "c": 100.0})
    assert loads(table) == {OLD: 900.0, NEW: 900.0}


@pytest.mark.parametrize("seed", range(20))
def test_kernels_differ_by_a_file_at_most(seed: int) -> None:
    """Unless one has more to run that it is bound to than there is to share out."""
    chance = random.Random(seed)
    files = {f"test_{number}": float(chance.randrange(1, 200)) for number in range(40)}
    table = Weights({OLD: 600.0, NEW: 500.0 + 10 * seed}, files)
    old, new = loads(table).values()
    assert abs(old - new) <= max(files.values())
    assert old + new == sum(table.bound.values()) + sum(files.values())


def test_the_order_of_the_table_does_not_matter() -> None:
    names = [f"test_{number}" for number in range(30)]
    bound = {OLD: 0.0, NEW: 0.0}
    table = Weights(bound, {name: 7.0 for name in names})
    again = Weights(bound, {name: 7.0 for name in reversed(names)})
    assert table.split(STOCK_KERNELS) == again.split(STOCK_KERNELS)


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A table that says of two files how long they take."""
    path = tmp_path / "weights.json"
    path.write_text('{"bound": {"6.1": 5, "6.12": 0}, "files": {"test_long": 9, "test_short": 2}}')
    monkeypatch.setattr(weights, "TABLE", path)
    kernels.places_by_weight.cache_clear()
    yield path
    kernels.places_by_weight.cache_clear()


@pytest.mark.usefixtures("known")
def test_a_file_runs_where_its_weight_puts_it() -> None:
    both = [OLD, NEW, "debug"]
    assert kernel_of_file(Path("test_long.py"), both) == NEW
    assert kernel_of_file(Path("test_short.py"), both) == OLD
    # Those that were not measured have half each, and a kernel that is alone has all.
    fresh = {kernel_of_file(Path(f"test_fresh_{number}.py"), both) for number in range(20)}
    assert fresh == {OLD, NEW}
    for kernel in (OLD, "debug", "newest"):
        assert kernel_of_file(Path("test_long.py"), [kernel]) == kernel


def report(nodeid: str, duration: float, *keywords: str) -> str:
    data = {"nodeid": nodeid, "duration": duration, "keywords": dict.fromkeys(keywords, 1)}
    return json.dumps({"event": "report", "nodeid": nodeid, "data": data}) + "\n"


def write_results(folder: Path) -> None:
    a, b = "tests/guest/test_a.py::test_it", "tests/guest/test_b.py::test_it"
    of_guests: dict[str, list[str]] = {
        f"guest-{OLD}/results-1.jsonl": [
            json.dumps({"event": "start", "nodeid": f"{a}[{OLD}]"}) + "\n",
            report(f"{a}[{OLD}]", 3.2, "any_kernel"),
            report(f"{a}[{OLD}]", 20.2, "any_kernel"),
            '{"event": "rep',
        ],
        f"guest-{OLD}/results-2.jsonl": [report(f"{b}[bio-{OLD}]", 6.0)],
        f"guest-{NEW}/results-1.jsonl": [
            report(f"{b}[{NEW}-bio]", 4.0),
            report(f"tests/guest/test_c.py::test_it[{NEW}]", 11.0, "any_kernel"),
        ],
        "guest-debug/results-1.jsonl": [report(f"{a}[debug]", 500.0, "any_kernel")],
    }
    for name, lines in of_guests.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(lines))


def test_the_table_follows_from_the_results_of_a_run(
    tmp_path: Path, known: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_results(tmp_path)
    assert weights.main([str(tmp_path)]) == 0
    written = weights.load()
    assert written == Weights({OLD: 6.0, NEW: 4.0}, {"test_a": 23.0, "test_c": 11.0})
    assert capsys.readouterr().out == (
        f"{OLD}: 17 guest-seconds\n{NEW}: 27 guest-seconds\n"
        "files that move: test_long, test_short\n"
    )
    assert known.read_bytes().endswith(b"}\n")


def test_the_results_of_a_part_are_no_table(
    tmp_path: Path, known: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = known.read_bytes()
    part = tmp_path / f"guest-{NEW}"
    part.mkdir()
    (part / "results-1.jsonl").write_text(report(f"a.py::test_it[{NEW}]", 1.0, "any_kernel"))
    assert weights.main([str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"{tmp_path} has no results of both stock kernels\n"
    assert known.read_bytes() == before


def test_the_table_names_files_that_there_are() -> None:
    """One that was renamed has no weight."""
    table = weights.load()
    assert [name for name in table.files if not (GUEST_TESTS / f"{name}.py").exists()] == []
    assert set(table.bound) <= set(STOCK_KERNELS)
