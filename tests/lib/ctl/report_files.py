# SPDX-License-Identifier: GPL-2.0
"""A document of every kind that reports are made of."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
from lib.ctl import power_states, probes, verdicts
from lib.ctl.plot_files import (
    OPEN,
    facts,
    interval,
    intervals,
    records,
    write_curve,
    write_log,
    write_report,
    write_result,
    write_rounds,
    write_streams,
)
from lib.ctl.profiles import RUN_OF_1000
from lib.fakes.kernel import SECOND, START_NS

from spekctl import files
from spekctl.documents import (
    curve,
    drive,
    energy,
    exact,
    power,
    result,
    result_parts,
    spc1,
    spc2,
    times,
    trace,
    verify,
)
from spekctl.documents.document import Document
from spekctl.documents.profile import FunctionCost, Profile
from spekctl.documents.verification import VerifyCounts
from spekctl.gate import compare, judged, limits, metrics
from spekctl.kernel.records import Phase
from spekctl.trace import convert, figures
from spekctl.trace.trace import open_trace


def written(path: Path, document: Document) -> Path:
    path.write_bytes(files.encode(document))
    return path


def figure(value: int | str) -> exact.Figure:
    return exact.figure(Fraction(value), 2)


def rail(name: str, watts: float) -> result_parts.RailPower:
    return result_parts.RailPower(name, 10 * watts, watts, watts / 2, 2 * watts, 10.0, 0.0, 10)


def powered_result(path: Path) -> Path:
    """A run whose intervals have the power of two rails; the fifth one has none."""
    loaded = result.load_result(write_result(path, intervals()))
    rows = []
    for number, row in enumerate(loaded.intervals):
        rails = [rail("12V", 6.0 + number / 10), rail("5V", 2.0)]
        known = result_parts.IntervalPower(rails, power.total_of(rails))
        rows.append(msgspec.structs.replace(row, power=None if number == 4 else known))
    whole = power.figures(
        rows[-1].power or result_parts.IntervalPower([], rail("", 1)), 0.0, 700.0, 5e6
    )
    measured = result_parts.PowerResult([], 0.0, whole, 0, 0.0, 0.0)
    slices = [
        result_parts.Slice(row.start_ns, row.end_ns, times.Buckets(2, 40, 56 + at, [9, 90 + at, 5]))
        for at, row in enumerate(rows)
        if row.phase == Phase.MEASURE
    ]
    contents = msgspec.structs.replace(
        loaded, intervals=rows, power=measured, power_text="", slices=slices
    )
    return written(path, msgspec.structs.replace(contents, remarks=["the governor is powersave"]))


def checked_report(path: Path) -> Path:
    """An SPC-1-like report with power, a limit that is kept, and one that is missed."""
    watts = [
        msgspec.structs.replace(point, power=curve.Power(5 + point.iops / 1000, {"12V": 5.0}))
        for point in OPEN
    ]
    report = spc1.load_report(write_report(path, watts, OPEN))
    checks = [
        spc1.Check("response", "sustain", "", 13e6, 3e7, 3e7, True, "13 ms, 30 ms is allowed"),
        spc1.Check("errors", "ramp-90", "", 3, 0, 0, False, "3 errors, none is allowed"),
    ]
    missed = "a limit was missed: errors of ramp-90"
    return written(
        path, msgspec.structs.replace(report, checks=checks, passed=False, verdict=missed)
    )


def energy_spc1e(path: Path) -> Path:
    def profile(name: str, watts: int) -> energy.ProfileReport:
        return energy.ProfileReport(
            name, ["8", "8", "8"], figure(watts), figure(900), figure(90), figure(30)
        )

    levels = [
        energy.LevelReport("heavy", 80, 40, "2000.5", "9.5", None, None),
        energy.LevelReport("idle", 0, None, "0", "6", None, None),
    ]
    return written(
        path,
        energy.Spc1eReport(
            command=["energy", "spc1e"],
            notice=energy.SPC1E_NOTICE,
            complete=True,
            passed=True,
            verdict="all levels were measured",
            source="measured",
            levels=levels,
            profiles=[profile("low", 7), profile("high", 9)],
            composite=profile("composite", 8),
            annual_kwh=figure(70),
            price="0.12",
            annual_cost=figure("8.4"),
            site=None,
            targets=[facts("Disk")],
            environment=None,
            remarks=["a remark on energy"],
        ),
    )


def energy_spc2e(path: Path) -> Path:
    profile = spc2.RateProfile("low", ["8", "8", "8"], figure(7), figure(90), figure(9), figure(3))
    return written(
        path,
        spc2.Spc2eReport(
            notice=spc2.ENERGY_NOTICE,
            complete=True,
            passed=False,
            verdict="a limit was missed",
            levels=[
                spc2.RateLevel("heavy", "120", "9", [], None),
                spc2.RateLevel("idle", "0", "6", [], None),
            ],
            profiles=[profile],
            composite=msgspec.structs.replace(profile, name="composite", hours=[]),
            annual_kwh=None,
            price="0.1",
            annual_cost=None,
            targets=[facts()],
            environment=None,
            remarks=[],
        ),
    )


def energy_emerald(path: Path) -> Path:
    phase = energy.EmeraldPhase(
        "hot-band", "EP_1", "IOPS/W", 1, 8, None, 10**9, "1000", "8", figure(125), 2e6, 3e6, True,
        "", None, None,
    )  # fmt: skip
    late = msgspec.structs.replace(
        phase, name="random-read", passed=False, text="80 ms is too slow"
    )
    return written(
        path,
        energy.EmeraldReport(
            notice=energy.EMERALD_NOTICE,
            complete=True,
            passed=False,
            verdict="limits were missed: random-read",
            source="measured",
            raw_gigabytes="10",
            parameters=None,
            phases=[phase, late],
            trials=[energy.Trial("random-read", 1, 4, "900", "8", 2e6, True)],
            targets=[facts()],
            environment=None,
            remarks=[],
        ),
    )


def energy_dcse(path: Path) -> Path:
    return written(
        path,
        energy.DcseReport(
            notice=energy.DCSE_NOTICE,
            source="command line",
            given={"idle_watts": "6"},
            gb_per_watt=figure(100),
            iops_per_watt=figure(125),
            mb_per_s_per_watt=None,
            against={},
            remarks=[],
        ),
    )


def energy_capacity(path: Path) -> Path:
    steps = [
        energy.CapacityStep("incompressible", 64 << 20, 1 << 20, 65 << 20),
        energy.CapacityStep("compressible", 64 << 20, 65 << 20, 81 << 20),
        energy.CapacityStep("discard", 0, 81 << 20, 1 << 20),
    ]
    return written(
        path,
        energy.CapacityReport(
            notice=energy.CAPACITY_NOTICE,
            targets=[facts()],
            stored="bytes of zram",
            size=64 << 20,
            steps=steps,
            methods=[
                energy.CapacityMethod("compression", "yes", "75.0 % saved"),
                energy.CapacityMethod("deduplication", "no", "0.0 % saved"),
                energy.CapacityMethod("delta snapshots", "not tested", "zram has none"),
            ],
            remarks=["a remark on capacity"],
        ),
    )


def simulation(path: Path) -> Path:
    times = drive.Times(5e6, 4_000_000, 8_000_000, 20_000_000, 60_000_000)
    modes = {
        "idle": drive.Mode(6, 24),
        "seek": drive.Mode(3, 30),
        "rotation": drive.Mode(1, 8),
        "transfer": drive.Mode(0, 0),
    }
    return written(
        path,
        drive.DriveSimulation(
            model="barracuda-es",
            title="a disk",
            profile="measured",
            arms=2,
            rpm=7200,
            policy="sptf",
            window=16,
            max_wait_ns=0,
            closed=4,
            requests=1000,
            elapsed_ns=10**10,
            iops=100,
            response=times,
            seek=times,
            rotation=times,
            transfer=times,
            moved=0.9,
            served_by_arm=[400, 600],
            hits=0,
            modes=modes,
            joules_5v=20,
            joules_12v=42,
            watts=6.2,
        ),
    )


def study(path: Path) -> Path:
    system = drive.StudySystem(
        "HC-SD", 1, 7200, 1, 1.0, 1.0, False, 9, 8, 15, 30, 4, 4, 0.9, [0.1, 0.5, 1.0], [1.0],
        {"base": {"idle": 4, "seek": 2}},
    )  # fmt: skip
    full = msgspec.structs.replace(system, name="MD", saturated=True)
    more = [msgspec.structs.replace(system, name=f"SA({arms})", arms=arms) for arms in (2, 3, 4)]
    return written(
        path,
        drive.DriveStudy(
            model="barracuda-es",
            requests=1000,
            seed=1,
            profiles=["base"],
            edges_ms=[1, 10, 100],
            rotation_edges_ms=[0, 1],
            loads=[
                drive.StudyLoad(
                    "Financial-like", "known", "assumed", full, [system, *more], [system] * 6, []
                )
            ],
            arrays=[drive.StudyArrays(8, 0.5, [msgspec.structs.replace(system, drives=4)])],
            claims=[
                drive.Claim("Figure 2", "it is slower", "yes", "9 ms", True),
                drive.Claim("Table 3", "it needs less power", "3 W", "6 W", False, "why it is so"),
                drive.Claim("7.3", "it is described", "-", "-", None),
            ],
        ),
    )


def _csv(folder: Path) -> Path:
    rows = [
        f"{n * n},sd{'ab'[n % 2]},{n % 97 * 8192},{512 << n % 9},{'rw'[n % 2]}" for n in range(900)
    ]
    path = folder / "trace.csv"
    path.write_text("\n".join(["at_us,device,offset_bytes,bytes,op", *rows, ""]))
    return path


def figures_of(trace: Path) -> Document:
    """The figures of a trace."""
    return figures.info(open_trace([trace]))


def trace_info(path: Path) -> Path:
    return written(path, figures_of(_csv(path.parent)))


def stored_trace(path: Path) -> Path:
    opened = open_trace([_csv(path.parent)])
    convert.convert(opened, opened.batches(), path, "spek-trace")
    return path


def trace_fit(path: Path) -> Path:
    defects = trace.TraceDefects(1, "line 3: no number", 0, 0, 0, [])
    return written(
        path,
        trace.TraceFit(
            origins=[trace.TraceOrigin("t.csv", "csv")],
            workload="twin.toml",
            requests=900,
            twin_requests=890,
            properties=[trace.TraceProperty("read share", 0.5, 0.52, 0.02, "difference")],
            notes=["a note on the fit"],
            defects=defects,
        ),
    )


def verification(path: Path) -> Path:
    return written(
        path,
        verify.VerifyReport(
            written="2026-01-01T00:00:00Z",
            ok=False,
            text="2 of 100 blocks are wrong",
            stamp_id=1,
            grain_bytes=512,
            targets=[facts()],
            counts=VerifyCounts(100, 3, 0, 2, {"torn": 2}),
            complete=True,
            first=[],
        ),
    )


def judged_runs(first: int, values: list[float]) -> list[judged.Run]:
    return [
        judged.Run(Path(f"run-{first + 2 * at}.json"), verdicts.measured(first + 2 * at, iops))
        for at, iops in enumerate(values)
    ]


def gate_report(path: Path) -> Path:
    """One of two runs misses a limit, and neither has the power that is asked for."""
    text = """
    [[limit]]
    metric = "iops"
    min = 900
    [[limit]]
    metric = "response.p99"
    max = "2ms"
    [[limit]]
    metric = "power"
    max = "10W"
    """
    wanted = limits.parse(text, Path("limits.toml"))
    return written(path, limits.judge(wanted, judged_runs(0, [1000.0, 800.0])))


def comparison(path: Path) -> Path:
    """Six runs each, of which those of B are faster."""
    rules = compare.Rules(
        metrics.find("iops"),
        [metrics.find("response.p99"), metrics.find("bandwidth")],
        Fraction(1, 50),
        Fraction(1, 100),
    )
    faster = [1.2 * iops for iops in verdicts.A]
    return written(path, compare.compare(judged_runs(0, verdicts.A), judged_runs(1, faster), rules))


def profile_of_functions(path: Path) -> Path:
    """More functions than are shown as bars, and some that cost next to nothing."""
    functions = [FunctionCost(f"function_{n:02}", 60.0 - 2 * n) for n in range(30)]
    functions += [FunctionCost(f"rare_{n:02} [spek]", 0.25) for n in range(8)]
    whole = sum(function.per_io for function in functions)
    profile = Profile(run=RUN_OF_1000, per_io=whole, user_per_io=12.5, functions=functions)
    return written(path, profile)


# Of each kind: how it is written, and its suffix.
def machine_samples(path: Path) -> Path:
    """Samples of a prober without a run."""
    path.write_bytes(files.encode(probes.report()))
    return path


MAKERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "run": (powered_result, "json"),
    "curve": (lambda path: write_curve(path, OPEN), "json"),
    "spc1": (checked_report, "json"),
    "spc2": (write_streams, "json"),
    "pts": (write_rounds, "json"),
    "gate": (gate_report, "json"),
    "comparison": (comparison, "json"),
    "spc1e": (energy_spc1e, "json"),
    "spc2e": (energy_spc2e, "json"),
    "emerald": (energy_emerald, "json"),
    "dcse": (energy_dcse, "json"),
    "capacity": (energy_capacity, "json"),
    "simulation": (simulation, "json"),
    "study": (study, "json"),
    "info": (trace_info, "json"),
    "fit": (trace_fit, "json"),
    "verify": (verification, "json"),
    "profile": (profile_of_functions, "json"),
    "machine": (machine_samples, "json"),
    "states": (lambda path: path.write_bytes(files.encode(power_states.STATES)), "json"),
    "log": (lambda path: write_log(path, records(5000)), "parquet"),
    "stored": (stored_trace, "parquet"),
}


def make(folder: Path, name: str) -> Path:
    """Write the document of this name, as if always at the same time and by the same command."""
    write, suffix = MAKERS[name]
    path = folder / f"{name}.{suffix}"
    write(path)
    if suffix == "json":
        data = msgspec.json.decode(path.read_bytes())
        data |= {"created": "2026-01-01T00:00:00Z", "command": ["command", name]}
        path.write_bytes(files.pretty(msgspec.json.encode(data)))
    return path


def large_result(path: Path) -> Path:
    """A run of 10,000 intervals, and a million buckets in each direction."""
    rows = [
        interval(
            seq,
            START_NS + seq * SECOND,
            START_NS + (seq + 1) * SECOND,
            Phase.RAMP if seq < 200 else Phase.MEASURE,
            100 + seq * 7919 % 97 + 5000 * (seq == 7777),
        )
        for seq in range(10_000)
    ]
    loaded = result.load_result(write_result(path, rows))
    counts = [at * 7919 % 5 for at in range(1_000_000)]
    cells = []
    for cell in loaded.cells:
        response = cell.times.response
        if response is not None:
            buckets = times.Buckets(16, 40, 1000, counts)
            many = msgspec.structs.replace(
                response, count=sum(counts), max_ns=10**9, histogram=buckets
            )
            cell = msgspec.structs.replace(
                cell, times=msgspec.structs.replace(cell.times, response=many)
            )
        cells.append(cell)
    return written(path, msgspec.structs.replace(loaded, cells=cells))
