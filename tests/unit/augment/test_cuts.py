# SPDX-License-Identifier: GPL-2.0
"""The cache of the energy relief under power cuts, losses of devices and failed I/O, on modelled
devices; and faults planted in its source, each of which the same driver has to find.

SPEK_CUTS=200000 makes that many cuts instead of 4,000; each 4,000 of them have a seed of their own.
`make augment-cuts` makes 100,000.
"""

from __future__ import annotations

import functools
import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.core.build import AUGMENT, SANITIZERS, WARNINGS

DRIVER = sorted(Path(__file__).with_name("cuts").glob("*.[ch]"))
CUTS = int(os.environ.get("SPEK_CUTS", "4000"))
CUTS_OF_A_SEED = 4000
SEEDS = max(1, CUTS // CUTS_OF_A_SEED)
FAST = ("-O2",)
# Of the CPU, so that other load does not count: 4,000 cuts take about 7. It ends endless loops.
SECONDS_OF_A_SEED = 120
SECONDS_FOR_A_FAULT = 20


def cut(
    program: Path, seed: int, cuts: int, seconds: int = SECONDS_OF_A_SEED
) -> subprocess.CompletedProcess[str]:
    limit = f'ulimit -t {seconds}; exec "$@"'
    command = ["sh", "-c", limit, "sh", str(program), str(seed), str(cuts)]
    return subprocess.run(command, capture_output=True, text=True)


def ran_out(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether its CPU time was over, which says nothing of what it found."""
    return done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)


def counted(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: int(number) for name, number in re.findall(r"(\w+) (\d+)", done.stdout)}


@pytest.fixture(scope="module")
def totals() -> Counter[str]:
    """Of all seeds so far."""
    return Counter()


@pytest.mark.parametrize("seed", range(1, 1 + SEEDS))
def test_what_was_flushed_survives(
    seed: int,
    totals: Counter[str],
    record_property: Callable[[str, object], None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    program = AUGMENT.build("cuts", FAST, DRIVER)
    cuts = min(CUTS, CUTS_OF_A_SEED)
    counts = counted(cut(program, seed, cuts))
    totals.update(counts, seeds=1)
    text = (
        f"{totals['cuts']:,} cuts of {totals['seeds']} of {SEEDS} seeds, {totals['losses']:,}"
        f" losses of a device under load, {totals['hits']:,} reads from the SSD; no acknowledged"
        " byte lost"
    )
    if SEEDS > 1:
        with capfd.disabled():
            print(f" seed {seed}: {text}", flush=True)
        if seed == SEEDS:
            record_property("count", text)

    assert counts["cuts"] == cuts
    # Everything that the driver is for has happened.
    assert counts["adopted"] > cuts
    assert counts["crashes"] > cuts / 10
    assert counts["mended"] > cuts / 5
    assert counts["garbled"] > cuts / 100
    assert counts["swapped"] > 0
    assert counts["kept"] > cuts / 10
    # In sets that live calmly.
    assert counts["crowded"] > 0
    assert counts["stale"] > cuts / 20
    assert counts["losses"] > cuts / 10
    assert counts["detached"] > cuts / 50
    assert counts["repeated"] > 0
    assert counts["several"] > cuts / 100
    assert counts["told"] > 0
    assert counts["ahead"] > cuts / 10
    assert min(counts[f"wakes{cause}"] for cause in range(5)) > 0
    assert counts["hits"] > 2 * cuts
    assert counts["retried"] > cuts / 200
    assert counts["late"] > cuts / 5
    # Where a device was lost; in all other lives no block was.
    assert counts["torn"] > cuts / 10
    assert counts["whole"] > cuts / 3


def test_trace_tells_of_a_block_and_changes_nothing() -> None:
    program = AUGMENT.build("cuts", FAST, DRIVER)
    silent = cut(program, 1, 60).stdout
    *lines, counts, ahead = subprocess.run(
        [program, "1", "60", "40", "9"], capture_output=True, text=True, check=True
    ).stdout.splitlines()

    assert f"{counts}\n{ahead}\n" == silent
    text = "\n".join(lines)
    for event in ("issue record", "complete flush", "issue superblock", "complete destage-write"):
        assert f" {event} " in text
    assert re.search(r"^59/\d+ cut \w+ generation", text, re.M)
    # From that cut on, and of no other block.
    assert min(int(line.split("/")[0]) for line in lines) == 40
    places = re.findall(r"^\S+ submit \d+ (?:read|write) (\d+)\+(\d+)", text, re.M)
    assert places and all(int(first) <= 9 < int(first) + int(n) for first, n in places)


def test_no_access_out_of_bounds() -> None:
    program = AUGMENT.build("cuts-sanitized", SANITIZERS, DRIVER)

    assert counted(cut(program, 1000, 300))["cuts"] == 300


# File, text, what stands in its place: the fault is in the comment.
FAULTS = {
    "early acknowledgement": (
        "record.c",
        "	if (record->pending)\n		return;\n	publish",
        "	if (record->pending & 1)\n		return;\n	publish",
    ),
    "flush of the mirror forgotten": (
        "flush.c",
        "if (!(devices & spek_augment_bit(device)))",
        "if (device || !(m->unflushed & 1))",
    ),
    "flush of the SSD forgotten": (
        "flush.c",
        "for (device = 0; device < SPEK_AUGMENT_RAID; device++) {",
        "for (device = 1; device < SPEK_AUGMENT_RAID; device++) {",
    ),
    "flush does not wait for earlier records": (
        "flush.c",
        "wanted |= request->target <= m->done_seq;",
        "wanted = true;\n		m->done_seq = m->issued_seq;",
    ),
    "FUA as any write": (
        "request.c",
        "(request->bio.fua || request->bio.preflush)",
        "request->bio.preflush",
    ),
    "preflush as any write": (
        "request.c",
        "(request->bio.fua || request->bio.preflush)",
        "request->bio.fua",
    ),
    "sequence not checked": (
        "recover.c",
        "header->seq == m->issued_seq + 1",
        "header->seq",
    ),
    "generation not checked": (
        "recover.c",
        "header->generation == spek_augment_generation_of(m, m->issued_seq + 1) &&",
        "header->generation &&",
    ),
    "generation not renewed": (
        "super.c",
        "	m->generation++;\n",
        "",
    ),
    "oldest superblock chosen": (
        "recover.c",
        "return super->generation > than->generation;",
        "return !than->generation || super->generation < than->generation;",
    ),
    "generation begun with a device that is lost": (
        "destage.c",
        "if (d->failed || d->devices != m->live)",
        "if (d->failed)",
    ),
    "generation begun before it is announced": (
        "destage.c",
        "	m->destage.step = SPEK_AUGMENT_ANNOUNCE;\n	m->destage.failed = false;\n"
        "	spek_augment_super_announce(m);\n",
        "	m->destage.failed = false;\n	begin_generation(m);\n",
    ),
    "records of earlier generations forgotten": (
        "super.c",
        "		m->nr_spans++;\n",
        "		;\n",
    ),
    "generation forgotten before its records": (
        "super.c",
        "m->spans[dropped + 1].first_seq <= tail_seq)",
        "m->spans[dropped + 1].first_seq <= tail_seq + 1)",
    ),
    "generation begins too late": (
        "super.c",
        "	m->spans[m->nr_spans - 1].first_seq = next_seq;",
        "	m->spans[m->nr_spans - 1].first_seq = next_seq + 1;",
    ),
    "log kept in memory but for its tail": (
        "device.c",
        "	m->tail = m->super.tail;\n	m->tail_seq = m->super.tail_seq;",
        "	m->tail = m->head;\n	m->tail_seq = m->issued_seq + 1;",
    ),
    "log kept after a loss in recovery": (
        "device.c",
        "	m->keeps_log = false;\n",
        "",
    ),
    "log kept without the SSD": (
        "recover.c",
        "	m->keeps_log = has_log(m->live);",
        "	m->keeps_log = true;",
    ),
    "log kept of more generations than fit": (
        "destage.c",
        "	if (!spek_augment_has_span(m))\n		m->keeps_log = false;\n",
        "",
    ),
    "record left on one device": (
        "mend.c",
        "	if (!(m->entries[header].state & (SPEK_AUGMENT_NO_SSD | SPEK_AUGMENT_NO_MIRROR)))",
        "	if (header != SPEK_AUGMENT_NONE)",
    ),
    "record copied but for its header": (
        "mend.c",
        "	m->entries[header].next = SPEK_AUGMENT_NONE;\n",
        "	m->entries[header].next = SPEK_AUGMENT_NONE;\n	mend->begun = 1;\n",
    ),
    "last part of a record is not copied": (
        "mend.c",
        "	if (mend->begun <= header->low)",
        "	if (mend->begun < header->low)",
    ),
    "copies of records not checked": (
        "mend.c",
        "		if (crc[i] != header.crc[done + i - 1])",
        "		if (crc[i] == header.crc[done + i - 1] + 1)",
    ),
    "older record taken for the copy": (
        "mend.c",
        " || (u16)header.seq != m->entries[part->header].high ||",
        " ||",
    ),
    "record of an earlier life taken for the copy": (
        "mend.c",
        "header.generation != spek_augment_generation_of(m, header.seq))",
        "!header.generation)",
    ),
    "copies of records not flushed": (
        "destage.c",
        "	if (m->keeps_log && spek_augment_mend_step(m))",
        "	if (!m->wants_flush && m->keeps_log && spek_augment_mend_step(m))",
    ),
    "log of a crash not flushed": (
        "recover.c",
        "	m->wants_flush = true;",
        "	m->wants_flush = m->mend.first != SPEK_AUGMENT_NONE || m->has_passed;",
    ),
    "writes that passed before a crash not flushed": (
        "recover.c",
        "	m->has_passed = !has_log(scan->super.devices);",
        "	m->has_passed = false;",
    ),
    "tail told to the SSD alone": (
        "destage.c",
        "spek_augment_bit(spek_augment_any_mirror(m))",
        "spek_augment_bit(m->mirror)",
    ),
    "superblock without FUA": (
        "super.c",
        "slot->io.fua = true;",
        "slot->io.fua = false;",
    ),
    "tail passes dirty blocks": (
        "destage.c",
        "if (spek_augment_state(&m->entries[d->tail + i]) == SPEK_AUGMENT_DIRTY ||",
        "if (",
    ),
    "tail moves before the log is flushed": (
        "destage.c",
        "} else if (d->barrier > m->flushed_seq) {",
        "} else if (d->tail == m->tail && d->barrier > m->flushed_seq) {",
    ),
    "blocks move before the log is flushed": (
        "destage.c",
        "} else if (d->barrier > m->flushed_seq) {",
        "} else if (d->tail != m->tail && d->barrier > m->flushed_seq) {",
    ),
    "batch kept when a device is lost": (
        "destage.c",
        "		end_items(m, 0, d->nr_items, false);\n",
        "",
    ),
    "tail moves before its superblocks are written": (
        "destage.c",
        "		d->failed = false;\n		spek_augment_super_write",
        "		d->failed = false;\n		m->tail = d->tail;\n"
        "		m->tail_seq = d->tail_seq;\n		spek_augment_super_write",
    ),
    "clean before the RAID has it": (
        "destage.c",
        "	end_items(m, 0, d->nr_items, !error);",
        "	end_items(m, 0, d->nr_items, true);",
    ),
    "RAID not flushed": (
        "destage.c",
        "SPEK_AUGMENT_FOR_DESTAGE_FLUSH, SPEK_AUGMENT_FLUSH,\n			    SPEK_AUGMENT_RAID",
        "SPEK_AUGMENT_FOR_DESTAGE_FLUSH, SPEK_AUGMENT_FLUSH,\n			    SPEK_AUGMENT_SSD",
    ),
    "failed destage counted as done": (
        "destage.c",
        "	end_items(m, run->first, run->items, false);\n	spek_augment_stage_put",
        "	spek_augment_stage_put",
    ),
    "log written over its tail": (
        "record.c",
        "u32 room = m->config.log_blocks - 1 - spek_augment_used(m);",
        "u32 room = m->config.log_blocks;",
    ),
    "log written under a read": (
        "record.c",
        "if (m->entries[entry + i].member & SPEK_AUGMENT_PINS)",
        "if (0)",
    ),
    "reads go before a write that waits for them": (
        "record.c",
        "		if (spek_augment_state(&m->entries[entry + i]) == SPEK_AUGMENT_CLEAN)",
        "		if (m->entries[entry + i].member & SPEK_AUGMENT_PINS)\n			return false;\n"
        "		if (spek_augment_state(&m->entries[entry + i]) == SPEK_AUGMENT_CLEAN)",
    ),
    "no pause after a destage that failed": (
        "destage.c",
        "bool is_pause = m->destage.stuck && m->now_ns < m->destage.retry_at_ns;",
        "bool is_pause = spek_augment_is_stuck(m);",
    ),
    "copy evicted under a read": (
        "map.c",
        "if (taken->member & SPEK_AUGMENT_PINS)",
        "if (0)",
    ),
    "hit is not held": (
        "read.c",
        "	pin(m, entry, blocks);\n	spek_augment_is_sequential",
        "	spek_augment_is_sequential",
    ),
    "hit while writes pass by": (
        "read.c",
        "	if ((m->mode != SPEK_AUGMENT_NORMAL && m->mode != SPEK_AUGMENT_DRAINING) ||",
        "	if (",
    ),
    "hit of what the SSD has not got": (
        "read.c",
        "spek_augment_source(m, entry) != SPEK_AUGMENT_SSD ||\n	    hit",
        "hit",
    ),
    "hit of a copy under way": (
        "read.c",
        "	if (!is_readable(m, entry) || m->entries[entry].member >= MAX_PINS ||",
        "	if (entry == SPEK_AUGMENT_NONE || m->entries[entry].member >= MAX_PINS ||",
    ),
    "hit of more than lies in a row": (
        "read.c",
        "	    hit_length(m, entry, SPEK_AUGMENT_SSD, block, blocks) < blocks)",
        "	    entry + blocks > m->nr_entries)",
    ),
    "failed hit stays held": (
        "read.c",
        "	for (i = 0; i < hit->blocks; i++)\n		unpin(m, entry + i);\n}",
        "	for (i = error ? 1 : 0; i < hit->blocks; i++)\n		unpin(m, entry + i);\n}",
    ),
    "older record wins": (
        "record.c",
        "is_newer(m, old, entry))",
        "0 * is_newer(m, old, entry))",
    ),
    "copy hides a newer write": (
        "read.c",
        "if (spek_augment_state(copied) != SPEK_AUGMENT_FILLING)\n		return;",
        "if (spek_augment_state(copied) == SPEK_AUGMENT_FREE)\n		return;",
    ),
    "writes go on after a loss": (
        "record.c",
        "if (m->mode != SPEK_AUGMENT_NORMAL ||",
        "if (m->mode == SPEK_AUGMENT_RECOVERING ||",
    ),
    "writes pass by before the log is empty": (
        "device.c",
        "		m->mode = SPEK_AUGMENT_DRAINING;\n",
        "		m->mode = SPEK_AUGMENT_PASSING;\n",
    ),
}
CUTS_FOR_A_FAULT = 1500
# The first seed finds most faults within few cuts. Those below need an order of events that few
# seeds have, and the seed named here comes to it soonest.
SEEDS_FOR_A_FAULT = (2, 1, 3, 4, 5, 6, 7, 8, 13)
FIRST_SEED = {
    "generation begun with a device that is lost": 1,
    "generation begun before it is announced": 13,
    "last part of a record is not copied": 4,
    "older record taken for the copy": 1,
    "hit of what the SSD has not got": 4,
}


@functools.cache
def objects(folder: Path) -> dict[str, Path]:
    """The core and the driver, compiled file by file."""
    compiled_files = {}
    for source in (*AUGMENT.sources, *(path for path in DRIVER if path.suffix == ".c")):
        compiled_files[source.name] = folder / f"{source.stem}.o"
        compile_to(compiled_files[source.name], source)
    return compiled_files


def compile_to(target: Path, source: Path) -> None:
    includes = [f"-I{AUGMENT.folder}", f"-I{AUGMENT.folder.parents[1] / 'core'}"]
    command = ["gcc", "-std=gnu11", "-O1", *WARNINGS, "-Wno-error", "-w", *includes]
    subprocess.run([*command, "-c", "-o", target, source], check=True)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for objects()."""
    return tmp_path_factory.mktemp("objects")


def linked(program: Path, parts: dict[str, Path]) -> Path:
    subprocess.run(["gcc", "-o", program, *parts.values()], check=True)
    return program


@functools.cache
def complaint(compiled: Path, seed: int) -> str:
    """What the driver says with @seed where no fault is, with the objects in @compiled; empty if
    nothing, as it has to be: else every planted fault would be found, whatever it does."""
    done = cut(linked(compiled / "cuts", objects(compiled)), seed, CUTS_FOR_A_FAULT)
    return f"{done.stdout}{done.stderr}" if done.returncode else ""


@pytest.mark.parametrize("seed", sorted({SEEDS_FOR_A_FAULT[0], *FIRST_SEED.values()}))
def test_nothing_is_found_where_no_fault_is(seed: int, compiled: Path) -> None:
    assert complaint(compiled, seed) == ""


def test_a_program_whose_time_is_over_has_found_nothing(tmp_path: Path) -> None:
    endless, faulty, crashing = (tmp_path / name for name in ("endless", "faulty", "crashing"))
    ends = {endless: "while :; do :; done", faulty: "exit 1", crashing: "kill -ABRT $$"}
    for program, text in ends.items():
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    assert [ran_out(cut(program, 1, 1, seconds=1)) for program in ends] == [True, False, False]


def test_seeds_are_of_faults_that_are_planted() -> None:
    """After a fault is renamed, its seed would be looked up in vain, and all seeds be tried."""
    assert FIRST_SEED.keys() <= FAULTS.keys()
    assert set(FIRST_SEED.values()) <= set(SEEDS_FOR_A_FAULT)


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_found(fault: str, compiled: Path, tmp_path: Path) -> None:
    name, text, instead = FAULTS[fault]
    source = (AUGMENT.folder / name).read_text()
    assert source.count(text) == 1
    (tmp_path / name).write_text(source.replace(text, instead))
    compile_to(tmp_path / "faulty.o", tmp_path / name)
    program = linked(tmp_path / "cuts", {**objects(compiled), name: tmp_path / "faulty.o"})

    first = FIRST_SEED.get(fault, SEEDS_FOR_A_FAULT[0])
    seeds = sorted(SEEDS_FOR_A_FAULT, key=lambda seed: seed != first)
    runs = ((seed, cut(program, seed, CUTS_FOR_A_FAULT, SECONDS_FOR_A_FAULT)) for seed in seeds)
    finders = ((seed, run) for seed, run in runs if run.returncode and not ran_out(run))
    seed, finder = next(finders, (0, None))
    assert finder, "the fault was not found"
    assert complaint(compiled, seed) == ""
    print(seed, finder.stdout)
