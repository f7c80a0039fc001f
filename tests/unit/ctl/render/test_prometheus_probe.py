# SPDX-License-Identifier: GPL-2.0
"""The probe's counters for Prometheus, read back by prometheus_client's own parsers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from lib.fakes.kernel import FakeKernel
from lib.fakes.prober import GIB, MIB, SECOND, FakeProber
from prometheus_client import parser as prometheus_parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from spekctl.kernel import prober
from spekctl.render import prometheus
from spekctl.run import scrape

READERS: dict[bool, Callable[[str], Iterable[Any]]] = {
    False: prometheus_parser.text_string_to_metric_families,
    True: openmetrics_parser.text_string_to_metric_families,
}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeProber:
    fake = FakeProber()
    monkeypatch.setattr(prober, "Prober", lambda: fake)
    fake.start(SECOND, detached=True)
    return fake


def text_of(fake: FakeProber, seq: int, openmetrics: bool = False) -> str:
    """Metrics of a probe whose latest row is number @seq; -1: there is no row yet."""
    fake.seq = seq
    return prometheus.text([], scrape.everything(FakeKernel).probe, openmetrics=openmetrics)


def read(fake: FakeProber, openmetrics: bool, seq: int) -> dict[str, dict[tuple[str, ...], float]]:
    """Values by family, and in it by the values of labels."""
    return {
        family.name: {
            tuple(value for key, value in sample.labels.items() if key != "probe"): sample.value
            for sample in family.samples
        }
        for family in READERS[openmetrics](text_of(fake, seq, openmetrics))
    }


@pytest.mark.parametrize("openmetrics", READERS)
def test_counters_and_levels_are_those_of_the_row(fake: FakeProber, openmetrics: bool) -> None:
    families = read(fake, openmetrics, 8)
    info = families["spek_probe" if openmetrics else "spek_probe_info"]
    assert info == {("spekctl", "running"): 1}
    assert families["spek_probe_active"] == {(): 1}
    assert families["spek_probe_rows"] == {(): 9}
    cpu = families["spek_machine_cpu_seconds"]
    assert (cpu["0", "user"], cpu["0", "idle"], cpu["0", "system"]) == (2, 6, 0)
    assert families["spek_machine_cpu_switches"] == {("0",): 4000}
    assert families["spek_machine_task_runtime_seconds"] == {("77",): 4}
    assert families["spek_machine_memory_available_bytes"] == {(): GIB - 8 * MIB}
    assert families["spek_machine_memory_swapped_out_bytes"] == {(): 8 * MIB}
    assert families["spek_machine_net_rx_bytes"] == {("eth0",): 16 * MIB}
    assert families["spek_machine_disk_busy_time_seconds"] == {("sda",): 2}
    assert families["spek_machine_power_known_seconds"][("psu", "12V")] == 8


@pytest.mark.parametrize("openmetrics", READERS)
def test_energy_may_be_negative_and_go_back(fake: FakeProber, openmetrics: bool) -> None:
    (before, after) = (read(fake, openmetrics, seq)["spek_machine_energy_joules"] for seq in (0, 1))
    assert (before["psu", "12V"], after["psu", "12V"]) == (-5, 7)
    assert (before["psu", "5V"], after["psu", "5V"]) == (0, -1)


@pytest.mark.parametrize("openmetrics", READERS)
def test_a_probe_without_a_row_says_that_it_is_there(fake: FakeProber, openmetrics: bool) -> None:
    families = read(fake, openmetrics, -1)
    assert families["spek_probe_rows"] == {(): 0}
    assert not [name for name in families if name.startswith("spek_machine")]


def test_a_level_is_no_counter(fake: FakeProber) -> None:
    text = text_of(fake, 3)
    assert "# TYPE spek_machine_memory_available_bytes gauge" in text
    assert "# TYPE spek_machine_memory_swapped_out_bytes_total counter" in text
