"""The benchmark's arithmetic: differences, agreement, ratios, and their text."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from bench import figures, notify, profile, raw, sharing, table
from bench.__main__ import wanted_points
from bench.cases import DEEP, DEEP_STATS, DISKS, ROWS, SINGLE, Point, points
from bench.counts import parse_stats
from bench.drivers import libraries_of
from bench.figures import BrokenMeasurementError, bench_of
from bench.result import Bench, Demand, Generation, figure
from lib.ctl.profiles import write_counts
from lib.fakes.qemu.plugin import VERSIONS, compile_driver
from rich.console import Console

from spekctl.errors import SpekError
from spekctl.vm.disks import OPTIONS

ENVIRONMENT = raw.Environment(
    release="6.1.0-1-amd64",
    clocksource="tsc",
    scheduler="[none]",
    nomerges="0",
    wbt_lat_usec="2000",
    cpus=1,
    inline_completions=True,
    fio="fio-3.33",
)


def runs(key: str, *costs: float, fixed_ns: int = 5_000_000) -> list[raw.AnyLine]:
    """Lines of a point whose I/Os cost so much in each pass; no switches, a call for each 16."""
    lines: list[raw.AnyLine] = []
    for number, cost in enumerate(costs, start=1):
        lines += [
            raw.Time(
                key, number, count, fixed_ns * number + round(cost * count), round(cost * count)
            )
            for count in (4_000, 44_000)
        ]
    return lines + [
        raw.Counts(key, count, switches=70, syscalls=500 + count // 16) for count in (1_600, 8_000)
    ]


def bench(lines: Sequence[raw.AnyLine], core: dict[str, float] | None = None) -> Bench:
    keys = {line.point for line in lines if isinstance(line, raw.Time)}
    complete = [ENVIRONMENT, *lines, raw.Done()]
    return bench_of(complete, sorted(keys), core=core or {}, created="now", commit="abc")


def printed(of: Bench) -> str:
    out = io.StringIO()
    table.show(of, Console(file=out, width=80))
    return out.getvalue()


def demand(of: Bench, text: str) -> Demand:
    return next(demand for demand in of.demands if text in demand.text)


# ---- figures ----


def test_what_a_run_costs_once_cancels_out() -> None:
    row = figure(bench(runs("floor-mq/d32", 2000.0, 2000.0)), "floor-mq")

    assert row is not None
    assert row.passes == [2000.0, 2000.0]
    assert (row.instructions, row.spread, row.agrees) == (2000.0, 0.0, True)
    assert (row.switches, row.syscalls) == (0.0, 1 / 16)


@pytest.mark.parametrize(("second", "agrees"), [(2009.0, True), (1991.0, True), (2011.0, False)])
def test_passes_agree_within_half_a_per_cent(second: float, agrees: bool) -> None:
    result = bench(runs("floor-mq/d32", 2000.0, second))

    (row,) = result.figures
    assert row.instructions == pytest.approx((2000 + second) / 2)
    assert row.agrees is agrees
    assert [bad.key for bad in result.disagreeing] == ([] if agrees else ["floor-mq/d32"])


def test_agreement_looks_at_all_passes() -> None:
    (row,) = bench(runs("floor-mq/d32", 2000.0, 2002.0, 2020.0)).figures

    assert row.spread == pytest.approx(20 / 2007.33, rel=1e-3)
    assert not row.agrees


def test_ratios_are_to_rows_under_the_same_conditions() -> None:
    lines = runs("floor-mq/d32", 2000.0, 2000.0) + runs("floor-mq/d1", 2500.0, 2500.0)
    lines += runs("spek-mq/d32", 2200.0, 2200.0) + runs("spek-mq/d1", 2750.0, 2750.0)
    lines += runs("spek-mq/d32s", 2300.0, 2300.0)
    result = bench(lines)

    ratios = {row.key: row.ratios for row in result.figures}
    assert ratios["spek-mq/d32"] == {"floor-mq": pytest.approx(1.1)}
    assert ratios["spek-mq/d1"] == {"floor-mq": pytest.approx(1.1)}
    assert ratios["spek-mq/d32s"] == {}


def test_figures_come_in_the_order_of_the_table() -> None:
    lines = runs("spek-mq/d32", 2200.0) + runs("floor-mq/d1", 2500.0) + runs("floor-mq/d32", 1.0)

    assert [row.key for row in bench(lines).figures] == [
        "floor-mq/d32",
        "floor-mq/d1",
        "spek-mq/d32",
    ]


def slow_runs(row: str, cost: float, switches: int, *responses: float) -> list[raw.AnyLine]:
    """Lines of a point on the disk that interrupts: a pass for each mean response time."""
    key = f"{row}/d1"
    lines: list[raw.AnyLine] = [
        raw.Time(key, number, count, round(cost * count), 0, response_ns / (44_000 // count))
        for number, response_ns in enumerate(responses, start=1)
        for count in (4_000, 44_000)
    ]
    return lines + [
        raw.Counts(key, count, switches=switches * count, syscalls=0) for count in (1_600, 8_000)
    ]


def test_response_is_that_of_the_long_runs_and_unknown_if_a_pass_has_none() -> None:
    known, unknown = (
        bench(slow_runs("slow-fio-psync", 9000.0, 2, 18_000.0, second)).figures[0].response_ns
        for second in (20_000.0, 0.0)
    )

    assert (known, unknown) == (19_000.0, 0.0)


@pytest.mark.parametrize(
    ("spek_ns", "met"), [(17_000.0, True), (18_000.0, True), (18_001.0, False)]
)
def test_spek_is_held_against_the_best_of_fio_on_a_disk_that_interrupts(
    spek_ns: float, met: bool
) -> None:
    lines = slow_runs("slow-spek-mq", 8000.0, 2, 16_000.0)
    lines += slow_runs("slow-spek-bio", 8900.0, 2, spek_ns)
    lines += slow_runs("slow-fio-uring", 9000.0, 2, 20_000.0)
    lines += slow_runs("slow-fio-psync", 9100.0, 4, 18_000.0)
    result = bench(lines)

    response = demand(result, "response time to fio")
    assert (response.value, response.met) == (spek_ns / 18_000.0, met)
    assert demand(result, "instructions to fio").value == pytest.approx(8900 / 9000)
    assert demand(result, "switches to fio").value == 1.0


# ---- measurements that are none ----


def test_a_guest_that_did_not_finish_is_no_measurement() -> None:
    lines = [ENVIRONMENT, *runs("floor-mq/d32", 2000.0)]
    with pytest.raises(BrokenMeasurementError, match="did not come to the end"):
        bench_of(lines, ["floor-mq/d32"], core={}, created="", commit="")


def test_a_figure_that_was_wanted_and_is_missing_is_named() -> None:
    lines = [ENVIRONMENT, *runs("floor-mq/d32", 2000.0), raw.Done()]
    with pytest.raises(BrokenMeasurementError, match=r"spek-mq/d1: not measured"):
        bench_of(lines, ["floor-mq/d32", "spek-mq/d1"], core={}, created="", commit="")


def test_a_pass_with_one_length_is_no_pass() -> None:
    _short, *lines = runs("floor-mq/d32", 2000.0, 2000.0)
    with pytest.raises(BrokenMeasurementError, match=r"pass 1: 1 run lengths instead of 2"):
        bench(lines)


def test_time_that_runs_backwards_is_refused() -> None:
    with pytest.raises(BrokenMeasurementError, match="more I/Os took less time"):
        bench(runs("floor-mq/d32", -1.0))


def test_lines_survive_the_file(tmp_path: Path) -> None:
    lines = [ENVIRONMENT, *runs("floor-mq/d32", 2000.0), raw.Idle(1, 4000, 10), raw.Done()]
    path = tmp_path / "lines"
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines) + b'{"what":')

    assert raw.read(path) == lines


# ---- extras ----


def test_a_sample_costs_what_the_busy_cpu_lost() -> None:
    # 200 intervals of 1 ms, 10,000 instructions lost in each
    sampling = [
        raw.Sampling(number, 1_000_000, 198_000_000, 200_000_000, 7000.0) for number in (1, 2)
    ]
    prober = figures.prober_of(sampling)

    assert prober is not None
    assert prober.instructions == pytest.approx(10_000)
    assert prober.share_at_10ms == pytest.approx(0.001)
    assert prober.inside == 7000.0


def test_open_loop_shows_the_steady_state() -> None:
    def run(seconds: float, ios: int) -> raw.OpenLoop:
        elapsed_ns = round(seconds * 1e9)
        return raw.OpenLoop(
            law="poisson",
            iops=1000,
            spin_ns=0,
            ios=ios,
            elapsed_ns=elapsed_ns,
            worker_ns=elapsed_ns // 100 + 12345,
            busy_ns=elapsed_ns // 50 + 99_000_000,
            switches=2 * ios + 100,
            slip_p50_ns=ios,
            slip_p99_ns=0,
            slip_max_ns=0,
        )

    (loop,) = figures.open_loops_of([run(2.5, 2500), run(0.5, 500)])

    assert loop.worker_share == pytest.approx(0.01)
    assert loop.busy_share == pytest.approx(0.02)
    assert (loop.switches, loop.slip_p50_ns) == (2.0, 2500)


def test_notifications_are_of_the_disk_and_of_its_queues(tmp_path: Path) -> None:
    """Also if the trace grows by parts of lines between two looks."""
    trace = """\
pci_nvme_mmio_doorbell_sq sqid 0 new_tail 3
pci_nvme_mmio_doorbell_sq sqid 1 new_tail 16
9@1.5:pci_nvme_mmio_doorbell_sq sqid 2 new_tail 7
virtio_queue_notify vdev 0x55aa n 0 vq 0x7f00
virtio_queue_notify vdev 0x55bb n 1 vq 0x7f08
virtio_blk_handle_read vdev 0x55bb req 0x1 sector 8 nsectors 8
virtio_queue_notify vdev 0x55bb n 1 vq 0x7f08
"""

    log = tmp_path / "trace"
    log.touch()
    counts = notify.Notifications(log)
    for start in range(0, len(trace), 50):
        with open(log, "a") as file:
            file.write(trace[start : start + 50])
        counts.count("nvme")

    assert (counts.count("nvme"), counts.count("virtio")) == (2, 2)


@pytest.mark.parametrize(("kicks", "met"), [(500, True), (8000, False)])
def test_notifications_are_held_against_the_batch(kicks: int, met: bool) -> None:
    lines = [
        raw.Kicks("nvme", "spek-mq", count, 7 + kicks * count // 8000) for count in (2000, 10_000)
    ]
    result = bench(lines)

    asked = demand(result, "notifications per I/O, mq")

    assert asked.value == pytest.approx(kicks / 8000)
    assert asked.met == met
    assert f"{kicks / 8000:.4f}" in printed(result)


def test_restarts_are_by_block_and_with_the_time_that_passed() -> None:
    result = bench([raw.Restart("writecache", 4096, 8_192_000, 8_450_000)])

    (restart,) = result.restarts
    assert (restart.instructions, restart.elapsed_ns) == (8_192_000, 8_450_000)
    text = printed(result)
    assert "4,096 blocks" in text
    for cell in ("writecache", "8,192,000", "2,000", "8.4 ms"):
        assert cell in text


@pytest.mark.parametrize(("auto", "met"), [(1700.0, True), (2300.0, False)])
@pytest.mark.parametrize("prefix", ["", "scsi-", "nvme-", "virtio-"])
def test_auto_is_held_against_the_cheaper(prefix: str, auto: float, met: bool) -> None:
    lines = runs(f"{prefix}spek-mq/d32", 1700.0) + runs(f"{prefix}spek-bio/d32", 2300.0)

    result = bench(lines + runs(f"{prefix}spek-auto/d32", auto))

    assert demand(result, "auto to the cheaper").met is met
    assert f"{auto:,.0f}" in printed(result)


@pytest.mark.parametrize(("ratio", "met"), [(1.95, True), (1.85, False)])
def test_scaling_is_the_median_of_the_pairs(ratio: float, met: bool) -> None:
    pairs = [raw.Scaling(1, 100.0, 50.0), raw.Scaling(2, 100.0, 100 * ratio)]
    pairs.append(raw.Scaling(3, 100.0, 300.0))

    asked = demand(bench(pairs), "two workers")

    assert asked.value == pytest.approx(ratio)
    assert (asked.at_least, asked.met) == (True, met)


def test_idle_floor_is_compared_with_the_floor() -> None:
    lines = [raw.Idle(1, 4_000, 8_000_000), raw.Idle(1, 44_000, 88_000_000)]
    result = bench([*lines, *runs("floor-mq/d32", 2002.0)])

    assert result.idle_floor == 2000.0
    assert demand(result, "idle module").value == pytest.approx(1.001)


def test_overwritten_events_count() -> None:
    text = "entries: 40\noverrun: 960\ncommit overrun: 0\nbytes: 1600\ndropped events: 1\n"
    assert parse_stats(text) == 1001


# ---- what is asked for ----


def test_demands_are_judged_by_their_own_floor() -> None:
    lines = runs("floor-mq/d32", 2000.0) + runs("floor-bio/d32", 2400.0)
    lines += runs("spek-mq/d32", 2161.0) + runs("spek-bio/d32", 2590.0)
    result = bench(lines)

    mq, bio = demand(result, "mq to the floor of requests"), demand(result, "bio to the floor")
    assert [mq.value, bio.value] == pytest.approx([1.0805, 2590 / 2400])
    assert (mq.met, bio.met) == (False, True)
    calls = demand(result, "system calls")
    assert (calls.value, calls.met) == (1 / 16, False)


def test_demands_about_what_was_not_measured_are_left_out() -> None:
    assert bench(runs("floor-mq/d32", 2000.0)).demands == []


def test_log_costs_the_difference() -> None:
    lines = runs("spek-mq/d32", 2200.0) + runs("spek-mq-log/d32", 2340.0)

    difference = demand(bench(lines), "log, instructions per I/O on mq")

    assert difference.value == pytest.approx(140.0)
    wanted = Demand("log, instructions per I/O on mq", difference.value, 150, False, True)
    assert difference == wanted


# ---- the table ----


def test_table_shows_figures_ratios_and_agreement() -> None:
    lines = runs("floor-mq/d32", 2157.0, 2157.0) + runs("spek-mq/d32", 2528.0, 2530.0)
    generated = [Generation(bsus=60_000, fastest_per_s=40.04e6, median_per_s=20e6)]
    measured = bench(lines, core={"uniform": 92.04})
    text = printed(msgspec.structs.replace(measured, generation=generated))

    (row,) = [line for line in text.splitlines() if line.startswith("spek mq ")]
    assert row.split() == ["spek", "mq", "2,529", "-", "-", "0.000", "0.062", "1.172", *"----"]
    assert "2 passes agree on all 2 figures within 0.5%" in text
    assert "uniform" in text and "92.0" in text
    assert ["60,000", "40.0", "20.0"] in [line.split() for line in text.splitlines()]
    assert "NOT MET" in text


def test_laws_are_compared_with_uniform_addresses() -> None:
    measured = bench([], core={"uniform": 88.0, "zipf": 110.0, "data": 4000.0})
    text = printed(msgspec.structs.replace(measured, core_misses={"uniform": 0.0, "zipf": 0.25}))
    rows = [line.split() for line in text.splitlines()]
    assert ["zipf", "110.0", "1.25", "0.250"] in rows
    assert ["data", "4,000.0", "-", "-"] in rows


def test_table_marks_what_does_not_agree() -> None:
    text = printed(bench(runs("spek-mq/d32", 2528.0, 2628.0)))

    assert "2,578!" in text
    assert "do NOT agree within 0.5% on those marked !: spek-mq/d32 (3.88%)" in text


def test_one_pass_claims_no_agreement() -> None:
    assert "whether the figures can be repeated was not tried" in printed(
        bench(runs("spek-mq/d32", 2528.0))
    )


def test_result_can_be_read_again() -> None:
    result = bench(runs("floor-mq/d32", 2157.0, 2157.0))
    assert msgspec.json.decode(msgspec.json.encode(result), type=Bench) == result


LDD = """\
\tlinux-vdso.so.1 (0x00007ffc8a1f2000)
\tlibaio.so.1 => /lib/x86_64-linux-gnu/libaio.so.1 (0x00007f0000000000)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f0000200000)
"""


def test_libraries_of_a_program_and_its_loader() -> None:
    assert libraries_of(LDD) == [
        "/lib/x86_64-linux-gnu/libaio.so.1",
        "/lib64/ld-linux-x86-64.so.2",
    ]


# ---- profiles ----


def write_profile(folder: Path, point: Point, counts: list[dict[int, int]]) -> None:
    write_counts(folder, *counts)
    (folder / profile.POINTS).write_bytes(msgspec.json.encode([point.key]))


def test_profile_is_the_long_run_less_the_short_one(tmp_path: Path) -> None:
    point = next(point for point in points() if point.key == "spek-mq/d32")
    ios = point.row.long - point.row.short
    before, account, gone = 0xFFFFFFFF81000104, 0xFFFFFFFFC0000040, 0xFFFFFFFFC0020010
    write_profile(
        tmp_path,
        point,
        [
            {0: 5, before: 10},
            {0: 10, before: 20, account: 7},
            {0: 10, before: 20, account: 7},
            {0: 15, before: 30 + 20 * ios, account: 14 + 30 * ios, gone: 50 * ios},
        ],
    )
    assert list(profile.show(tmp_path, {point.key: point})) == [
        "\nspek-mq/d32",
        "   100.0 instructions per I/O",
        "    50.0  50.00%  (a module that is gone)",
        "    30.0  30.00%  account [spek]",
        "    20.0  20.00%  null_queue_rq",
    ]


# ---- cache lines of two workers ----

DRIVER = Path(__file__).with_name("sharing_driver.c")


@pytest.mark.parametrize("version", VERSIONS)
def test_lines_that_go_to_and_fro_are_misses(tmp_path: Path, version: int) -> None:
    ios = sharing.LONG - sharing.SHORT
    program = tmp_path / "driver"
    compile_driver(DRIVER, [Path(sharing.__file__).parent], version, program)
    write_counts(tmp_path)

    subprocess.run([str(program), str(tmp_path), str(ios)], check=True)

    misses = sharing.of_functions(tmp_path)
    # all but the first use of the line by each CPU
    assert misses == {"account [spek]": pytest.approx(2 - 2 / ios)}
    assert sharing.of_spek(misses | {"null_queue_rq": 3.0}) == pytest.approx(2 - 2 / ios)


@pytest.mark.parametrize(("misses", "met"), [(0.0, True), (1.0, False)])
def test_misses_of_spek_are_held_against_none(misses: float, met: bool) -> None:
    of_functions = {"null_queue_rq": 0.5, "account [spek]": misses}
    result = bench_of(
        [ENVIRONMENT, raw.Done()], [], core={}, created="now", commit="abc", sharing=of_functions
    )

    assert demand(result, "two workers, misses").met is met
    assert "null_queue_rq" in printed(result)


# ---- what is measured ----


def test_points_have_names_of_their_own() -> None:
    keys = [point.key for point in points()]
    assert len(set(keys)) == len(keys)
    assert {row.key for row in ROWS} >= set(figures.REFERENCES)
    assert {point.name for point in (DEEP, DEEP_STATS, SINGLE)} == {"d32", "d32s", "d1"}


def test_disks_have_only_attributes_that_their_drivers_have() -> None:
    for kind, attributes in DISKS.items():
        assert set(attributes) <= OPTIONS["scsi_debug" if kind == "scsi" else "null_blk"]


def test_only_takes_rows_figures_and_patterns() -> None:
    assert wanted_points("spek-mq/d1,floor-mq") == [
        *("floor-mq/d32", "floor-mq/d32s", "floor-mq/d1"),
        "spek-mq/d1",
    ]
    assert set(wanted_points("*-spc1")) == {"spek-mq-spc1/d32", "spek-bio-spc1/d32"}
    assert wanted_points("") == [point.key for point in points()]


def test_only_refuses_what_there_is_not() -> None:
    with pytest.raises(SpekError, match="there is no figure 'spek-md'"):
        wanted_points("floor-mq,spek-md")
