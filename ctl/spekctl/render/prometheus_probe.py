# SPDX-License-Identifier: GPL-2.0-or-later
"""The probe for Prometheus: the counters of its latest row.

They are the kernel's own, which go on from probe to probe, except for tasks and for energy, which
begin with their probe or feed. Energy is a gauge, for it goes back where power is negative.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from spekctl.kernel.records import Cells, ProbeCounters, ProbeState
from spekctl.render.metric_families import Family, Labels, Sample, seconds

# Label of the entities of a table; there is one memory.
_LABELS = {"task": "pid", "net": "interface", "disk": "disk"}
# The prober's energy before the first sample: see energy-nj in spek_prober.yaml.
_FIRST_NJ = 1 << 62
_HELP = {
    "cpu": "Counter of a CPU; it continues while the CPU is offline.",
    "task": "Counter of a thread that the probe watches.",
    "memory": "Memory, paging and swapping of the machine.",
    "net": "Counter of a network interface.",
    "disk": "Counter of a disk.",
}


def families(probe: ProbeCounters) -> Iterator[Family]:
    """State of the probe, and what its latest row says, if there is one yet."""
    of: Labels = {"probe": str(probe.probe)}
    info = {**of, "owner": probe.owner, "state": str(probe.state)}
    active = int(probe.state is not ProbeState.DONE)
    yield Family("spek_probe", "info", "The probe in the kernel.", [("_info", info, "1")])
    yield Family("spek_probe_active", "gauge", "1 while it samples.", [("", of, str(active))])
    for name, help, value in (
        ("spek_probe_rows", "Rows that it has made.", probe.rows),
        ("spek_probe_missed_rows", "Ticks of its schedule without a row.", probe.missed),
    ):
        yield Family(name, "counter", help, [("_total", of, str(value))])
    for table, entities in probe.tables.items():
        if table == "cpu":
            yield from _cpus(entities)
        elif table == "power":
            yield from _power(entities)
        else:
            yield from _table(table, entities, probe.levels.get(table, ()))


def _cpus(cpus: Mapping[str, Cells]) -> Iterator[Family]:
    times: list[Sample] = []
    counts: dict[str, list[Sample]] = {}
    for cpu, cells in cpus.items():
        for column, value in cells.items():
            if value is None:
                continue
            if column.endswith("_ns"):
                labels = {"cpu": cpu, "mode": column.removesuffix("_ns")}
                times.append(("_total", labels, seconds(value)))
            else:
                counts.setdefault(column, []).append(("_total", {"cpu": cpu}, str(value)))
    help = "Time of a CPU by what it did; guest is a part of user, and guest_nice of nice."
    yield Family("spek_machine_cpu_seconds", "counter", help, times, "seconds")
    for column, samples in counts.items():
        yield Family(f"spek_machine_cpu_{column}", "counter", _HELP["cpu"], samples)


def _table(table: str, entities: Mapping[str, Cells], levels: Collection[str]) -> Iterator[Family]:
    columns: dict[str, list[tuple[Labels, int]]] = {}
    for entity, cells in entities.items():
        labels = {_LABELS[table]: entity} if table in _LABELS else {}
        for column, value in cells.items():
            if value is not None:
                columns.setdefault(column, []).append((labels, value))
    for column, values in columns.items():
        timed = column.endswith("_ns")
        unit = "seconds" if timed else "bytes" if column.endswith("_bytes") else ""
        suffix = "" if column in levels else "_total"
        yield Family(
            f"spek_machine_{table}_{column.removesuffix('_ns')}{'_seconds' * timed}",
            "gauge" if column in levels else "counter",
            _HELP[table],
            [(suffix, labels, seconds(value) if timed else str(value)) for labels, value in values],
            unit,
        )


def _power(rails: Mapping[str, Cells]) -> Iterator[Family]:
    samples: dict[str, list[Sample]] = {"energy_nj": [], "known_ns": [], "gap_ns": []}
    for rail, cells in rails.items():
        feed, _, name = rail.partition("/")
        labels = {"feed": feed, "rail": name}
        for column, value in cells.items():
            if value is None:
                continue
            if column == "energy_nj":
                samples[column].append(("", labels, _joules(value)))
            else:
                samples[column].append(("_total", labels, seconds(value)))
    yield Family(
        *("spek_machine_energy_joules", "gauge", "Energy of a rail in the time that is known."),
        *(samples["energy_nj"], "joules"),
    )
    for column, name, help in (
        ("known_ns", "spek_machine_power_known_seconds", "Time for which power is known."),
        ("gap_ns", "spek_machine_power_gap_seconds", "Time for which it is not."),
    ):
        yield Family(name, "counter", help, samples[column], "seconds")


def _joules(energy_nj: int) -> str:
    """Of energy modulo 2^64 nJ that the prober counts from 2^62 nJ, exactly."""
    signed_nj = (energy_nj - _FIRST_NJ + (1 << 63)) % (1 << 64) - (1 << 63)
    return "-" * (signed_nj < 0) + seconds(abs(signed_nj))
