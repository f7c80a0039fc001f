# SPDX-License-Identifier: GPL-2.0
"""spekctl fio: a job file as a workload, with a report, or refused by its options' names."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.fio_jobs import HEAD, JOBS

from spekctl.errors import ExitCode
from spekctl.fio import convert
from spekctl.fio.plan import Asked
from spekctl.workload import file
from spekctl.workload.imported import Imported


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HEAD + "directory=/tmp\n", "[j] directory: spek loads block devices, not files"),
        ("[j]\ndirect=1\nnrfiles=4\n", "[j] nrfiles: spek loads block devices"),
        (HEAD + "iodpeth=4\n", "iodpeth: not an option that spek knows; did you mean 'iodepth'?"),
        (HEAD + "rw=randtrimwrite\n", "rw: randtrimwrite writes what it has discarded"),
        (HEAD + "fsync=often\nrw=write\n", "[j] fsync: 'often' is not a number"),
        (HEAD + "buffer_pattern='abcd'\n", "[j] buffer_pattern: ''abcd'' is not a fill; write 0x"),
        (HEAD + "rw=sideways\n", "rw: 'sideways' is not a kind of I/O"),
        (HEAD + "zonemode=zbd\nrw=trim\n", "[j] rw: a trim of a zone is its reset"),
        (HEAD + "flow=1\n[k]\nfilename=/dev/sdx\nflow=8\n", "flow: [j] does not end by the same"),
        (HEAD + "buffered=1\n", "buffered: it asks for the page cache"),
        ("[j]\ndirect=0\n", "direct: it asks for the page cache, which spek does not have"),
        (HEAD + "verify_only\n", "[j] verify_only: check what an earlier run"),
        (HEAD + "rw=randread:2\nrw_sequencer=identical\n", "rw_sequencer: identical has 2 I/Os"),
        ("[j]\nioengine=rbd\ndirect=1\n", "ioengine: rbd does not load a block device"),
        (HEAD + "[k]\nwait_for=z\n", "[k] wait_for: there is no job 'z' before it"),
        (HEAD + "[k]\nstonewall=x\n", "[k] stonewall: 'x' is not 0 or 1"),
        (HEAD + "bs=1000\n", "[j] bs: 1000 bytes are not a multiple of 512"),
        (HEAD + "bs=(4*1024\n", "[j] bs: '(4*1024' is not a size: a parenthesis is not closed"),
        (HEAD + "size=(1g-2g)\n", "[j] size: '(1g-2g)' is not a size: it is -1073741824"),
        (HEAD + "size=(1/0)\n", "[j] size: '(1/0)' is not a size: it divides by 0"),
        (HEAD + "runtime=(2k)\n", "[j] runtime: '(2k)' is not a time: the units are us"),
        (HEAD + "iodepth=(2k)\n", "iodepth: '(2k)' is not a whole number: it has the unit 'k'"),
        (HEAD + "size=(2^2^9)\n", "an exponent is a whole number from 0 to 64"),
        (HEAD + "bs=x4\n", "[j] bs: 'x4' is not a number"),
        (HEAD + "bssplit=4k/60:8k/60:1m\n", "bssplit: the shares of '4k/60:8k/60:1m' sum to 120"),
        (HEAD + "bsrange=100-1m\n", "bsrange: '100-1m' is not a range of multiples of 512"),
        (HEAD + "iodepth\n", "[j] iodepth has no value"),
        (HEAD + "time_based=x\n", "[j] time_based: 'x' is not 0 or 1"),
        (HEAD + "runtime=parsecs\n", "[j] runtime: 'parsecs' is not a number"),
        (HEAD + "[k]\nstartdelay=3\n", "startdelay: its jobs start at different times"),
        (HEAD + "rate=1m\nrate_iops=5\n", "[j] rate: it excludes rate_iops"),
        (HEAD + "rw=randread\nrandom_distribution=zipf:x\n", "random_distribution: 'x' is not a n"),
        (HEAD + "rw=randread\nrandom_distribution=zipf:0\n", "theta must be more than 0"),
        (HEAD + "rw=randread\nrandom_distribution=beta:2\n", "'beta' is not a distribution"),
        (HEAD + "rw=randread:8\nrandom_distribution=zipf\n", "random_distribution: runs start at"),
        (HEAD + "rw=read:4k\nbsrange=4k-8k\n", "[j] rw: a gap needs one block size"),
        (HEAD + "rwmixread=120\nrw=rw\n", "[j] rwmixread: '120' is more than 100 per cent"),
        (HEAD + "numjobs=99999999999\n", "iodepth, numjobs: its jobs have 99999999999 I/Os out"),
        (HEAD + "rw=randread\nnumjobs=999\niodepth=99\n", "its jobs have 98901 I/Os outstanding"),
        (HEAD + "[k]\nbs=4k\n" * 64, "its jobs need 65 arrival processes, one for each job"),
        (HEAD + "size=1024\n", "[j] size: 1024 bytes have no room for a block of 4 KiB"),
        (HEAD + "filesize=9k\noffset=8k\n", "filesize: 1024 bytes have no room for a block"),
        (
            HEAD + "bs=64m,32m\n",
            "[j] bs: an I/O of spek has at most 16 MiB, and it does not divide",
        ),
        (HEAD + "bssplit=4k/50:32m/50\n", "[j] bssplit: 32 MiB is more than an I/O of spek can"),
        (HEAD + "bsrange=1m-32m\n", "[j] bsrange: 32 MiB is more than an I/O of spek can have"),
        (HEAD + "startdelay=9-5\n", "[j] startdelay: '9-5' is not a range of times"),
        (HEAD + "startdelay=9-x\n", "[j] startdelay: 'x' is not a time"),
        (
            HEAD + HEAD.replace("sdx", "sdx:/dev/sdy").replace("j", "k"),
            "its jobs have different devices",
        ),
        (HEAD + "runtime=5\n[k]\nstartdelay=6\n", "startdelay: a job that ends by its size starts"),
        (HEAD + "rw=rw\nrate=1m\nfsync=2\n", "[j] fsync: reads and writes have rates of their own"),
    ],
)
def test_what_would_be_lost_is_refused_by_name(
    spekctl: Spekctl, tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "job.fio").write_text(text)
    outcome = spekctl("fio", "job.fio")
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert outcome.sentence.startswith("job.fio is not imported: ")
    assert sentence in outcome.sentence


def test_all_refusals_are_told_at_once(spekctl: Spekctl, tmp_path: Path) -> None:
    text = "[j]\ndirectory=/x\nuid=5\nwrite_barrier=1\ndirect=0\n"
    (tmp_path / "job.fio").write_text(text)
    sentence = spekctl("fio", "job.fio").sentence
    assert all(
        f"[j] {option}: " in sentence for option in ("directory", "uid", "write_barrier", "direct")
    )


def test_buffered_jobs_are_accepted_on_request(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[j]\nrw=randread\nbuffered=1\nruntime=5\n")
    assert spekctl("fio", "job.fio").code == ExitCode.USAGE
    assert spekctl("fio", "--accept", "direct", "job.fio").code == ExitCode.OK


def test_the_workload_is_a_file_and_the_report_is_not(spekctl: Spekctl, tmp_path: Path) -> None:
    outcome = spekctl("fio", JOBS / "oltp.fio", "-o", "oltp.toml")
    assert (outcome.code, outcome.out) == (ExitCode.OK, "")
    assert file.load("./oltp.toml") == convert.load(JOBS / "oltp.fio").workload
    assert "iodepth -> arrival.depth\n" in outcome.err
    assert "different from fio: arrivals keep their schedule" in outcome.err
    assert outcome.err.splitlines()[-1] == (
        "give to `spekctl run`: --device /dev/sdx --write --max-errors 1 --seed $RANDOM"
    )


def test_a_command_line_is_imported_as_a_file_is(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(HEAD + "rw=randread\niodepth=8\nruntime=5\n")
    words = "--name=j --direct=1 --ioengine libaio --filename=/dev/sdx --rw=randread --iodepth=8"
    from_file = spekctl("fio", "job.fio", "-o", "file.toml")
    from_words = spekctl("fio", "-o", "made.toml", "--", *words.split(), "--runtime=5")
    assert (from_words.code, from_words.out, from_words.err) == (ExitCode.OK, "", from_file.err)
    expected = (tmp_path / "file.toml").read_text().replace('"job"', '"j"')
    assert (tmp_path / "made.toml").read_text() == expected.replace("job.fio", "command line")
    mixed = spekctl("fio", "--section", "j", "--", "fio", "--rw=write", "job.fio")
    assert mixed.code == ExitCode.OK and 'pattern = "once"' in mixed.out
    over = spekctl("fio", "-o", "job.fio", "--", "--name=a", "job.fio")
    assert over.sentence == "--output job.fio would overwrite the input job.fio"


def test_a_command_line_is_run(spekctl: Spekctl, kernel: object) -> None:
    words = ("run", "fio:", "--device", "/dev/fake0", "--set", "stream.a.size=8KiB", "--dry-run")
    outcome = spekctl(
        *words, "--", "--name=a", "--rw=randread", "--iodepth", "4", "--ioengine=libaio"
    )
    assert outcome.code == ExitCode.OK, outcome.err
    assert 'size = "8KiB"' in outcome.out and "closed loop of depth 4" in outcome.out
    assert "spekctl: iodepth -> arrival.depth" in outcome.err
    two = ("--name=a", "--filename=/dev/a", "--name=b", "--filename=/dev/b")
    apart = spekctl(*words[:4], "--", *two)
    assert "its jobs run side by side on 2 devices (/dev/a, /dev/b)" in apart.err
    empty = spekctl(*words)
    assert (
        empty.sentence
        == "'fio:' names no file; write fio:FILE, or fio: -- and the arguments of fio"
    )
    named = spekctl("run", "oltp", "--device", "/dev/fake0", "--", "--name=a")
    assert named.code == ExitCode.USAGE and "arguments of fio are for `fio:`" in named.sentence


@pytest.mark.parametrize(
    ("options", "depths"),
    [
        ((), [1] * 8),
        (("--workers", "2"), [8]),
        (("--cpus", "0,1"), [8]),
        (("--depth", "6"), [6]),
        (("--rate", "100"), [0]),
    ],
)
def test_clones_are_one_process_where_the_command_line_needs_it(
    spekctl: Spekctl,
    kernel: object,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    depths: list[int],
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    words = ("run", "fio:", "--device", "/dev/fake0", *options, "--dry-run", "--json", "--")
    outcome = spekctl(*words, "--name=a", "--rw=randread", "--numjobs=8", "--size=1m", "--bs=4k")
    assert outcome.code == ExitCode.OK, outcome.err
    assert [arrival["depth"] for arrival in json.loads(outcome.out)["arrivals"]] == depths
    assert ("the run ends after the I/Os of all clones together" in outcome.err) == bool(options)


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (("sweep", "--depth", "1,2"), Asked(load=True)),
        (("sweep", "--over", "workers=1,2"), Asked(workers=2)),
        (("sweep", "--over", "size=4KiB,8KiB", "--workers", "2"), Asked(workers=2)),
        (("show", "--rate", "10"), Asked(load=True)),
        (("show",), Asked()),
    ],
)
def test_jobs_are_imported_for_what_the_command_asks(
    spekctl: Spekctl,
    kernel: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    asked: Asked,
) -> None:
    seen: list[Asked] = []
    load = convert.load

    def loaded(path: Path, sections: list[str], *, asked: Asked) -> Imported:
        seen.append(asked)
        return load(path, sections, asked=asked)

    monkeypatch.setattr(convert, "load", loaded)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    job = tmp_path / "job.fio"
    job.write_text(HEAD + "rw=randread\nnumjobs=2\nsize=1m\n")
    command, *options = words
    quiet = ("--progress", "none") if command == "sweep" else ()
    outcome = spekctl(command, f"fio:{job}", "--device", "/dev/fake0", *options, *quiet)
    assert outcome.code == ExitCode.OK, outcome.err
    assert seen == [asked]


def test_a_workload_is_exported(spekctl: Spekctl, tmp_path: Path) -> None:
    shown = spekctl("fio", "--export", "random-read-4k", "--device", "/dev/sdx")
    assert shown.code == ExitCode.OK and "filename=/dev/sdx\n" in shown.out
    written = spekctl("fio", "--export", "random-read-4k", "-o", "out.fio")
    assert (written.code, written.out) == (ExitCode.OK, "")
    assert convert.load(tmp_path / "out.fio").workload.arrival[0].depth == 32


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--section", "j"], "name a job file, or a workload with --export"),
        (["job.fio", "--device", "/dev/sdx"], "--device needs --export as well"),
        (["job.fio", "--export", "oltp"], "--export reads no job file"),
        (["--export", "oltp", "--accept", "direct"], "it reads no job file"),
        (["none.fio"], "there is no file none.fio"),
        (["job.fio", "-o", "job.fio"], "--output job.fio would overwrite the input job.fio"),
        (["job.fio", "-o", "no/x.toml"], "cannot write no/x.toml: there is no directory no"),
        (["--export", "oltp", "-o", "no/x.fio"], "cannot write no/x.fio: there is no directory no"),
        (["--export", "none"], "there is no workload 'none'"),
        (["--export", "oltp"], "oltp is not exported: stream 'data': "),
        (["job.fio", "--accept", "buffered"], "'buffered' is not"),
    ],
)
def test_wrong_words_are_refused(
    spekctl: Spekctl, tmp_path: Path, words: list[str], sentence: str
) -> None:
    (tmp_path / "job.fio").write_text(HEAD)
    outcome = spekctl("fio", *words)
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert sentence in outcome.sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("numjobs=8\nsize=1g\n", "it has 8 closed loops"),
        ("numjobs=2\nsize=1g\niodepth=4\n", "run it on 4 workers; for more"),
        ("numjobs=8\nruntime=9\ntime_based\n", None),
        ("iodepth=8\nsize=1g\n", None),
    ],
)
def test_a_file_says_how_many_workers_its_loops_have_work_for(
    spekctl: Spekctl, tmp_path: Path, text: str, sentence: str | None
) -> None:
    job = tmp_path / "job.fio"
    job.write_text(HEAD + "rw=randread\nbs=4k\n" + text)
    done = spekctl("fio", job)
    assert done.code == ExitCode.OK
    if sentence is None:
        assert "closed loops" not in done.err
    else:
        assert sentence in done.err
