# SPDX-License-Identifier: GPL-2.0
"""Job files of ten kinds as workloads. fio itself reads each, and the same options in it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl.command_line import Spekctl
from unit.ctl.fio import corpus as fio_corpus

from spekctl.errors import ExitCode, UsageError
from spekctl.fio import convert, jobfile, values
from spekctl.fio.options import ALIASES, MAPPED, NOT_NEEDED, REFUSED
from spekctl.workload import file
from spekctl.workload.imported import Imported
from spekctl.workload.layout import Target
from spekctl.workload.options import Options
from spekctl.workload.resolve import resolve
from spekctl.workload.values import DATA_KEYS

JOBS = Path(__file__).parent / "jobs"
NAMES = sorted(path.stem for path in JOBS.glob("*.fio"))
HEAD = "[j]\ndirect=1\nioengine=libaio\nfilename=/dev/sdx\n"


def fio(*words: str | Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which("fio")
    if program is None:
        pytest.skip("fio is not installed; .ci/packages test names it")
    return subprocess.run(
        [program, *map(str, words)], capture_output=True, text=True, check=False, timeout=60
    )


def imported(tmp_path: Path, text: str, **options: Any) -> Imported:
    path = tmp_path / "job.fio"
    path.write_text(text)
    return convert.load(path, **options)


def tables(found: Imported) -> dict[str, Any]:
    made = msgspec.to_builtins(found.workload)
    assert isinstance(made, dict)
    return made


def stream(found: Imported) -> dict[str, Any]:
    (only,) = tables(found)["stream"]
    return {key: value for key, value in only.items() if key not in ("name", "arrival", "share")}


def shown(line: str) -> list[tuple[str, dict[str, str | None]]]:
    """Jobs with their options as fio's --showcmd prints those of a file."""
    defaults: dict[str, str | None] = {}
    found: list[tuple[str, dict[str, str | None]]] = []
    for word in shlex.split(line)[1:]:
        key, equals, value = word.removeprefix("--").partition("=")
        if key == "name":
            found.append((value, dict(defaults)))
            continue
        options = found[-1][1] if found else defaults
        options[ALIASES.get(key, key)] = value if equals else None
    return found


# --- fio reads what we read ----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_fio_takes_the_file(name: str) -> None:
    done = fio("--parse-only", JOBS / f"{name}.fio")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", NAMES)
def test_fio_sees_the_same_options_in_it(name: str) -> None:
    done = fio("--showcmd", JOBS / f"{name}.fio")
    assert done.returncode == 0
    ours = [(one.name, one.options) for one in jobfile.read(JOBS / f"{name}.fio")]
    assert ours == shown(done.stdout)


def test_every_option_is_one_of_fio() -> None:
    done = fio("--cmdhelp")
    listed = {line.split(":")[0].strip() for line in done.stdout.splitlines() if ":" in line}
    # Options of engines are listed by --enghelp; fio 3.33 is older than some others.
    of_engines = {"registerfiles", "fixedbufs", "sqthread_poll", "sqthread_poll_cpu"}
    of_engines |= {"nonvectored", "uncached", "userspace_reap", "nowait", "hipri"}
    of_engines |= {"cmdprio_percentage", "busy_poll", "port"}
    # Those of the command line only.
    of_engines |= {"eta", "status-interval"}
    lists = {*MAPPED, *NOT_NEEDED, *REFUSED}
    # Some are not in the list of all, and explained by themselves.
    rest = sorted(lists - listed - of_engines)
    unknown = [one for one in rest if "No such command" in fio(f"--cmdhelp={one}").stdout]
    assert unknown == []
    assert not MAPPED & set(NOT_NEEDED) and not MAPPED & set(REFUSED)
    assert not set(NOT_NEEDED) & set(REFUSED)


# --- what becomes of them ------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_workload_can_run(name: str) -> None:
    found = convert.load(JOBS / f"{name}.fio")
    config = resolve(
        found.workload,
        Options(write=True, available_cpus=[0, 1]),
        [Target("/dev/sdx", 8, 0, 100 << 30, 512)],
    )
    assert config.streams and config.max_outstanding
    options = {key for one in jobfile.read(JOBS / f"{name}.fio") for key in one.options}
    assert options == {*found.mapped, *found.not_needed}


def test_random_reads(tmp_path: Path) -> None:
    found = convert.load(JOBS / "random-read.fio")
    made = tables(found)
    assert made["run"] == {"time": "1m", "ramp": "5s", "data": "random"}
    assert made["arrival"] == [{"name": "randread", "depth": 64}]
    assert [(one["pattern"], one["size"]) for one in made["stream"]] == [("once", 4096)] * 2
    assert found.command_line == ["--device /dev/sdx"]
    assert found.not_needed.keys() == {"group_reporting"}


def test_oltp_with_a_log() -> None:
    found = convert.load(JOBS / "oltp.fio")
    made = tables(found)
    data, log = made["stream"]
    assert (data["read"], data["size"], data.get("pattern")) == ("67%", 8192, None)
    assert (log["read"], log["pattern"], log["start"], log["range"]) == (
        *("0%", "sequential"),
        *("90%", "10%"),
    )
    assert log["sizes"] == [
        {"size": 4096, "share": 6},
        {"size": 8192, "share": 3},
        {"size": 16384, "share": 1},
    ]
    assert made["arrival"] == [
        {"name": "oltp", "depth": 16},
        {"name": "log", "law": "poisson", "rate": 500},
    ]
    assert found.command_line == ["--device /dev/sdx", "--write", "--seed $RANDOM"]


def test_sequential_reads_and_writes_have_a_place_each() -> None:
    found = convert.load(JOBS / "mixed-sequential.fio")
    reads, writes = tables(found)["stream"]
    assert (reads["read"], reads["share"], reads["size"]) == ("100%", 80, 65536)
    assert (writes["read"], writes["share"], writes["size"]) == ("0%", 20, 131072)
    assert any("ends by time only" in one for one in found.differences)


def test_distributions() -> None:
    made = tables(convert.load(JOBS / "distributions.fio"))
    zones, bell, selfsimilar = made["stream"]
    assert [(one["share"], one["size"]) for one in zones["zones"]] == [
        *(("60%", "10%"), ("30%", "20%"), ("10%", "70%")),
    ]
    assert (bell["pattern"], bell["deviation"]) == ("normal", "20%")
    assert (selfsimilar["h"], selfsimilar["center"]) == (0.3, "50%")
    (hot,) = tables(convert.load(JOBS / "zipf.fio"))["stream"]
    assert (hot["pattern"], hot["theta"], hot["range"], hot["start"]) == (
        *("zipf", 1.2),
        *(10 << 30, 1 << 30),
    )


def test_engines_that_wait_have_a_depth_of_one() -> None:
    found = convert.load(JOBS / "strided.fio")
    assert tables(found)["arrival"][0]["depth"] == 1
    assert stream(found)["stride"] == 64 << 10
    assert tables(found)["run"]["count"] == (1 << 30) // 4096
    assert any("psync ignores iodepth" in one for one in found.differences)


def test_clones_start_one_after_the_other() -> None:
    found = convert.load(JOBS / "clones.fio")
    made = tables(found)
    assert [one.get("start", 0) >> 30 for one in made["stream"]] == [0, 1, 2, 3]
    assert made["arrival"][0]["depth"] == 8
    assert (made["run"]["count"], made["run"]["batch"]) == (4 * 8192, 2)
    assert "--verify" in found.command_line


def test_the_others() -> None:
    runs = convert.load(JOBS / "runs.fio")
    assert stream(runs)["run_length"] == 64 << 10 and tables(runs)["run"]["count"] == 10000
    sizes = convert.load(JOBS / "sizes.fio")
    assert [one["size"] for one in stream(sizes)["sizes"]] == [4096, 8192, 12288, 16384]
    assert "pattern" not in stream(sizes) and stream(sizes)["align"] == 4096
    assert "--cpus 0-1,3" in sizes.command_line and "--seed 77" in sizes.command_line
    think = convert.load(JOBS / "think.fio")
    assert stream(think) == {"read": "100%", "sequential": "75%", "size": 4096}
    assert tables(think)["arrival"][0]["think"] == "500us"


def test_discards_have_the_third_block_size() -> None:
    trim, reads = tables(convert.load(JOBS / "trim.fio"))["stream"]
    assert (trim["operation"], trim["size"], trim["pattern"]) == ("discard", 1 << 20, "once")
    assert "read" not in trim
    assert (reads.get("operation"), reads["size"]) == (None, 4096)


def test_durable_writes_are_forced_or_flushed() -> None:
    found = convert.load(JOBS / "durable.fio")
    journal, data, flush = tables(found)["stream"]
    assert (journal["fua"], journal["read"]) == (True, "0%")
    assert "fua" not in data
    # A quarter of the I/Os are writes, and a flush follows every fourth of these.
    assert (data["share"], flush.get("share", 1)) == (16, 1)
    assert flush["operation"] == "flush" and "size" not in flush
    assert flush["arrival"] == data["arrival"] != journal["arrival"]
    assert any("flushes are drawn" in text for text in found.differences)


def test_flushes_count_as_ios(tmp_path: Path) -> None:
    """8 MiB in writes of 4 KiB, and a flush after every eighth."""
    text = HEAD + "rw=write\nbs=4k\nsize=8m\nfsync=8\n"
    made = tables(imported(tmp_path, text))
    assert made["run"]["count"] == 2048 + 256
    assert [one.get("share", 1) for one in made["stream"]] == [8, 1]


def test_reads_are_not_flushed_and_not_forced(tmp_path: Path) -> None:
    found = imported(tmp_path, HEAD + "rw=randread\nfsync=1\nsync=1\n")
    assert stream(found).keys() & {"operation", "fua"} == set()
    assert found.mapped.keys() >= {"fsync", "sync"}


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("buffer_compress_percentage=50\n", {"compressible": "50%"}),
        ("dedupe_percentage=30\n", {"duplicate": "30%"}),
        ("buffer_pattern=0xdeadbeef\n", {"fill": "0xdeadbeef"}),
        (
            "buffer_compress_percentage=40\ndedupe_percentage=30\nbuffer_pattern=0xff\n",
            {"compressible": "40%", "duplicate": "30%", "fill": "0xff"},
        ),
        # As fio: no place for the pattern, and duplicates of what is all fill.
        ("dedupe_percentage=30\nbuffer_pattern=0xff\n", {"duplicate": "30%"}),
        ("buffer_compress_percentage=100\ndedupe_percentage=3\n", {"compressible": "100%"}),
        ("buffer_compress_percentage=0\ndedupe_percentage=0\n", {}),
        ("buffer_compress_percentage=50\nverify=crc32c\n", {}),
    ],
)
def test_writes_have_data_as_asked(tmp_path: Path, options: str, found: dict[str, str]) -> None:
    made = imported(tmp_path, HEAD + "rw=randwrite\n" + options)
    assert {key: one for key, one in stream(made).items() if key in DATA_KEYS} == found
    reads = imported(tmp_path, HEAD + "rw=randread\n" + options)
    assert not stream(reads).keys() & set(DATA_KEYS)


# --- refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HEAD + "directory=/tmp\n", "[j] directory: spek loads block devices, not files"),
        (HEAD + "nrfiles=4\n", "[j] nrfiles: spek loads block devices"),
        (HEAD + "iodpeth=4\n", "iodpeth: not an option that spek knows; did you mean 'iodepth'?"),
        (HEAD + "rw=randtrimwrite\n", "rw: randtrimwrite writes what it has discarded"),
        (HEAD + "rw=randtrim\nverify=crc32c\n", "verify: what was discarded is not verified"),
        (HEAD + "fsync=often\nrw=write\n", "[j] fsync: 'often' is not a whole number"),
        (HEAD + "buffer_pattern='abcd'\n", "[j] buffer_pattern: ''abcd'' is not taken; write 0x"),
        (HEAD + "rw=sideways\n", "rw: 'sideways' is not a kind of I/O"),
        (HEAD + "zonemode=zbd\n", "zonemode: zones are not imported"),
        (HEAD + "rate_min=1m\n", "rate_min: give it as a limit of `spekctl gate`"),
        (HEAD + "buffered=1\n", "buffered: it asks for the page cache"),
        ("[j]\ndirect=0\n", "direct: it asks for the page cache, which spek does not have"),
        (HEAD + "verify_only\n", "[j] verify_only: spek has 0 only"),
        (HEAD + "rw_sequencer=identical\n", "[j] rw_sequencer: spek has sequential only"),
        ("[j]\nioengine=rbd\ndirect=1\n", "ioengine: rbd does not load a block device"),
        (HEAD + "[k]\nwait_for=z\n", "[k] wait_for: there is no job 'z' before it"),
        (HEAD + "[k]\nstonewall=x\n", "[k] 'x' is not 0 or 1"),
        (HEAD + "bs=1000\n", "[j] bs: 1000 bytes are not a multiple of 512"),
        (HEAD + "bs=(4*1024\n", "[j] bs: '(4*1024' is not a size: a parenthesis is not closed"),
        (HEAD + "size=(1g-2g)\n", "[j] size: '(1g-2g)' is not a size: it is -1073741824"),
        (HEAD + "size=(1/0)\n", "[j] size: '(1/0)' is not a size: it divides by 0"),
        (HEAD + "runtime=(2k)\n", "[j] runtime: '(2k)' is not a time: the units are us"),
        (HEAD + "iodepth=(2k)\n", "iodepth: '(2k)' is not a whole number: it has the unit 'k'"),
        (HEAD + "size=(2^2^9)\n", "an exponent is a whole number from 0 to 64"),
        (HEAD + "bs=4x\n", "[j] bs: '4x' is not a size"),
        (HEAD + "bssplit=4k/60:8k/60\n", "bssplit: the shares of '4k/60:8k/60' sum to 120"),
        (HEAD + "bsrange=512-1m\n", "bsrange: '512-1m' has 2048 sizes; at most 64"),
        (HEAD + "iodepth\n", "[j] iodepth has no value"),
        (HEAD + "time_based\n", "[j] time_based: there is no runtime"),
        (HEAD + "time_based=x\n", "[j] time_based: 'x' is not 0 or 1"),
        (HEAD + "runtime=3 parsecs\n", "[j] runtime: '3 parsecs' is not a time"),
        (HEAD + "[k]\nstartdelay=3\n", "startdelay: its jobs start at different times"),
        (HEAD + "thinktime=1\niodepth=2\n", "[j] thinktime: fio with a depth of more than 1"),
        (HEAD + "rw=randrw\nrate_iops=5\n", "[j] rate_iops: fio has a rate for each direction"),
        (HEAD + "rate=1m\nrate_iops=5\n", "[j] rate: it excludes rate_iops"),
        (HEAD + "rw=randread\nrandom_distribution=zipf:x\n", "random_distribution: 'x' is not a n"),
        (HEAD + "rw=randread\nrandom_distribution=zipf:0\n", "theta must be more than 0"),
        (HEAD + "rw=randread\nrandom_distribution=beta:2\n", "'beta' is not a distribution"),
        (HEAD + "rw=randread:8\nrandom_distribution=zipf\n", "random_distribution: runs start at"),
        (HEAD + "rw=read:4k\nbsrange=4k-8k\n", "[j] rw: a gap needs one block size"),
        (HEAD + "rwmixread=120\nrw=rw\n", "[j] rwmixread: '120' is more than 100 per cent"),
        (HEAD + "numjobs=65\n", "[j] numjobs: its clones need 65 streams; at most 64 are"),
        (HEAD + "numjobs=99999999999\n", "[j] numjobs: its clones need 99999999999 streams"),
        (HEAD + "numjobs=40\n[k]\ndirect=1\nnumjobs=40\n", "its jobs need 80 streams; at most 64"),
        (
            HEAD + HEAD.replace("sdx", "sdy").replace("j", "k"),
            "its jobs have different devices",
        ),
        (HEAD + "runtime=5\n[k]\ndirect=1\nruntime=6\n", "different values for time of the run"),
        (HEAD + "size=1g\n[k]\ndirect=1\nsize=1g\n", "several jobs that end by their size need"),
    ],
)
def test_what_would_be_lost_is_refused_by_name(
    spekctl: Spekctl, tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "job.fio").write_text(text)
    found = spekctl("fio", "job.fio")
    assert (found.code, found.out) == (ExitCode.USAGE, "")
    assert found.sentence.startswith("job.fio is not imported: ")
    assert sentence in found.sentence


def test_all_refusals_are_told_at_once(spekctl: Spekctl, tmp_path: Path) -> None:
    text = "[j]\ndirectory=/x\nzonemode=zbd\nrate_min=1\ndirect=0\n"
    (tmp_path / "job.fio").write_text(text)
    sentence = spekctl("fio", "job.fio").sentence
    assert all(
        f"[j] {one}: " in sentence for one in ("directory", "zonemode", "rate_min", "direct")
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "job.fio: there is no job: no section but [global]"),
        ("[global]\nbs=4k\n", "job.fio: there is no job"),
        ("bs=4k\n", "job.fio:1: an option before the first [section]"),
        ("[j\n", "job.fio:1: '[j' is not a section"),
        ("[j]\n\n= 5\n", "job.fio:3: '= 5' is not an option"),
        ("[j]\nbs=${NO_SUCH_VARIABLE}\n", "job.fio:2: the variable NO_SUCH_VARIABLE is not set"),
        ("include none.fio\n", "there is no file none.fio"),
        ("include job.fio\n", "job.fio is included more than 16 deep"),
    ],
)
def test_a_file_that_is_none_is_refused(
    spekctl: Spekctl, tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "job.fio").write_text(text)
    found = spekctl("fio", "job.fio")
    assert (found.code, found.out) == (ExitCode.USAGE, "")
    assert sentence in found.sentence


def test_buffered_jobs_are_accepted_on_request(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[j]\nrw=randread\nbuffered=1\nruntime=5\n")
    assert spekctl("fio", "job.fio").code == ExitCode.USAGE
    assert spekctl("fio", "--accept", "direct", "job.fio").code == ExitCode.OK


def test_a_job_without_direct_is_imported_and_told(tmp_path: Path) -> None:
    found = imported(tmp_path, "[j]\nrw=randread\nruntime=5\n")
    assert any("page cache" in one for one in found.differences)
    assert not any("page cache" in one for one in imported(tmp_path, HEAD).differences)


def test_sections_are_chosen(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(HEAD + "[k]\ndirect=1\nstonewall\nrw=write\n")
    found = spekctl("fio", "job.fio", "--section", "k")
    assert found.code == ExitCode.OK
    assert [one.name for one in file.parse(found.out).stream] == ["k"]
    found = spekctl("fio", "job.fio", "--section", "kk")
    assert found.sentence == "there is no job 'kk' in job.fio; did you mean 'k'?"


def test_variables_includes_and_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOCK", "8k")
    (tmp_path / "more.fio").write_text("[k]\nrw=write\n")
    text = "# c\n[global]\ndirect=1\nBLOCKSIZE=${BLOCK}\n[j]\ninclude more.fio\n[global]\nbs=1m\n"
    path = tmp_path / "job.fio"
    path.write_text(text)
    first, second = jobfile.read(path)
    assert (first.name, first.options) == ("j", {"direct": "1", "bs": "8k"})
    assert (second.name, second.options["rw"], second.options["bs"]) == ("k", "write", "8k")


def test_arithmetic_has_the_order_of_fios_grammar() -> None:
    for text, value in (
        ("((1+2)*4k)", 12 << 10),
        ("(1+2)*4k", 12 << 10),
        ("(2+3*4)", 14),
        ("(2*3^2)", 18),
        ("(2^3^2)", 512),
        ("(7+10%4)", 9),
        ("(2*9%4)", 2),
        ("(10-4-3)", 3),
        ("(7/2)", 3),
        ("(1.5*2)k", 3072),
        ("(-2+0x10)", 14),
        ("(2*(1+1))mib", 4_000_000),
    ):
        assert values.size(text) == value, text
    assert values.duration_ns("(2*30)", "s") == 60 * 10**9
    assert values.duration_ns("(1m+30s)", "us") == 90 * 10**9
    assert values.duration_ns("(2*30)", "us") == 60_000
    assert values.whole("(3*4)") == 12


def test_numbers_of_the_machine(tmp_path: Path) -> None:
    found = imported(tmp_path, HEAD + "rw=randread\nnorandommap\niodepth=$ncpus\nbs=$pagesize*2\n")
    assert tables(found)["arrival"][0]["depth"] == os.cpu_count()
    assert stream(found)["size"] == 2 * os.sysconf("SC_PAGE_SIZE")


def test_several_devices_have_a_part_of_the_size_each(tmp_path: Path) -> None:
    text = HEAD + "filename=/dev/a:/dev/b\nrw=randread\nsize=1g\noffset=4k\n"
    found = imported(tmp_path, text)
    assert found.command_line == ["--device /dev/a", "--device /dev/b"]
    assert (stream(found)["start"], stream(found)["range"]) == (8192, 1 << 30)
    assert any("striped" in one for one in found.differences)


def test_jobs_that_wait_are_steps(spekctl: Spekctl, tmp_path: Path) -> None:
    text = HEAD + "rw=write\nsize=1m\n[k]\nruntime=5\n[l]\nruntime=5\nwait_for=k\nstartdelay=3\n"
    (tmp_path / "job.fio").write_text(text.replace("[k]", "[k]\nstonewall"))
    found = spekctl("fio", "job.fio", "-o", "made.toml")
    assert found.code == ExitCode.OK, found.err
    names = [file.load(f"./made.{number}.toml").stream[0].name for number in (1, 2, 3)]
    assert names == ["j", "k", "l"]
    assert "step 3 of 3: job.3: made.3.toml" in found.err and "--start-at +3s" in found.err
    whole = spekctl("fio", "job.fio")
    assert (whole.code, whole.out.count("[workload]")) == (ExitCode.OK, 3)
    refused = spekctl("run", "fio:job.fio", "--device", "/dev/fake0", "--dry-run")
    assert (refused.code, refused.out) == (ExitCode.USAGE, "")
    assert "run in 3 steps, one after the other" in refused.sentence
    one = spekctl("run", "fio:job.fio#k", "--device", "/dev/fake0", "--dry-run")
    assert one.code != ExitCode.OK or 'name = "k"' in one.out


def test_an_amount_of_several_sizes_is_a_count_of_their_mean(tmp_path: Path) -> None:
    found = imported(tmp_path, HEAD + "rw=randread\nbssplit=4k/50:12k/50\nsize=8m\n")
    assert tables(found)["run"]["count"] == 1024
    assert any("mean block size" in one for one in found.differences)


# --- the corpus ----------------------------------------------------------------------------------


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    for name, value in fio_corpus.VARIABLES.items():
        monkeypatch.setenv(name, value)
    return fio_corpus.write(tmp_path / "corpus")


def test_ninety_five_per_cent_of_the_corpus_is_imported_whole(corpus: list[Path]) -> None:
    refused = {}
    for path in corpus:
        given = {name for one in jobfile.read(path) for name in one.options}
        try:
            steps = convert.load_steps(path)
        except UsageError as error:
            refused[path.name] = error.message.partition("is not imported: ")[2]
            continue
        reported = {name for one in steps for name in (*one.mapped, *one.not_needed)}
        assert given <= reported, (path.name, given - reported)
    share = 1 - len(refused) / len(corpus)
    print(f"imported whole: {len(corpus) - len(refused)} of {len(corpus)} files ({share:.1%})")
    print("\n".join(f"{name}: {why}" for name, why in refused.items()))
    assert len(corpus) == 200 and share >= 0.95
    # What is refused is refused by a name or by what its jobs do.
    assert all(re.search(r"\[\w+\] \w+: |its jobs|several jobs", why) for why in refused.values())


def test_fio_takes_the_corpus_and_sees_the_same_options(corpus: list[Path]) -> None:
    # Debian's fio is built without arithmetic.
    files = [path for path in corpus if "=(" not in path.read_text()]
    assert len(files) > 150
    done = fio("--parse-only", *files)
    assert (done.returncode, done.stderr) == (0, "")
    lines = fio("--showcmd", *files).stdout.splitlines()
    for path, line in zip(files, lines, strict=True):
        assert [(one.name, one.options) for one in jobfile.read(path)] == shown(line), path.name


# --- the command ---------------------------------------------------------------------------------


def test_the_workload_is_a_file_and_the_report_is_not(spekctl: Spekctl, tmp_path: Path) -> None:
    found = spekctl("fio", JOBS / "oltp.fio", "-o", "oltp.toml")
    assert (found.code, found.out) == (ExitCode.OK, "")
    assert file.load("./oltp.toml") == convert.load(JOBS / "oltp.fio").workload
    assert "iodepth -> arrival.depth\n" in found.err
    assert "different from fio: arrivals keep their schedule" in found.err
    assert found.err.splitlines()[-1] == (
        "give to `spekctl run`: --device /dev/sdx --write --seed $RANDOM"
    )


def test_a_job_can_be_run_as_it_is(spekctl: Spekctl, kernel: object, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(HEAD + "rw=randread\niodepth=4\nruntime=3\ntime_based\n")
    words = ("run", "fio:job.fio", "--set", "stream.j.size=8KiB", "--device", "/dev/fake0")
    found = spekctl(*words, "--dry-run")
    assert found.code == ExitCode.OK, found.err
    assert 'size = "8KiB"' in found.out and "closed loop of depth 4" in found.out
    assert "spekctl: iodepth -> arrival.depth" in found.err
    missing = spekctl("run", "fio:none.fio", "--device", "/dev/fake0")
    assert (missing.code, missing.sentence) == (ExitCode.USAGE, "there is no file none.fio")


def test_names_of_any_kind_become_words(tmp_path: Path) -> None:
    found = imported(tmp_path, HEAD.replace("[j]", "[a b/ü]") + HEAD.replace("[j]", "[a b?ü]"))
    assert [one.name for one in found.workload.stream] == ["a-b--", "a-b--.2"]
    long = imported(tmp_path, HEAD.replace("[j]", f"[{'x' * 80}]") + "numjobs=3\n")
    assert len({one.name for one in long.workload.stream}) == 3


SIZES = ["4k", "4K", "4ki", "4kb", "4KiB", "0x200", "512", "1M", "1mib", "2g"]


@pytest.mark.parametrize("base", [1000, 1024])
@pytest.mark.parametrize("text", SIZES)
def test_sizes_are_those_of_fio(text: str, base: int) -> None:
    """The size of one write that goes nowhere."""
    if text == "2g":
        assert values.size(text, base) == 2 * base**3
        return
    words = [f"--kb_base={base}", "--ioengine=null", "--size=8m", "--rw=write", "--number_ios=1"]
    done = fio("--name=a", *words, f"--bs={text}", "--output-format=json")
    (told,) = json.loads(done.stdout)["jobs"]
    assert told["write"]["total_ios"] == 1
    assert values.size(text, base) == told["write"]["io_bytes"]


def test_sizes_that_are_none() -> None:
    for text in ("", "-4k", "4.5k", "k", "99999999999p", "1" * 200):
        with pytest.raises(UsageError):
            values.size(text)


# --- fio goes where the workload says ------------------------------------------------------------


def places(tmp_path: Path, text: str) -> list[list[tuple[str, int]]]:
    """(direction, first byte) of each I/O of fio itself, for each clone, in the order of the first
    ones; nothing is touched."""
    path, log = tmp_path / "job.fio", tmp_path / "log"
    options = {"filename=/dev/sdx": "thread=0", "ioengine=libaio": "ioengine=null"}
    options["direct=1"] = f"write_iolog={log}"
    path.write_text("\n".join(options.get(one, one) for one in text.splitlines()) + "\n")
    log.unlink(missing_ok=True)
    done = fio(path)
    assert done.returncode == 0, done.stderr
    found: list[list[tuple[str, int]]] = []
    for line in log.read_text().splitlines():
        words = line.split()
        if words[-1] == "open":
            found.append([])
        elif words[2:3] in (["read"], ["write"]):
            found[-1].append((words[2], int(words[3])))
    return sorted(found, key=lambda clone: clone[0][1])


def test_fio_leaves_the_gap_that_the_stride_has(tmp_path: Path) -> None:
    text = HEAD + "rw=read:60k\nbs=4k\nsize=10m\noffset=1m\nnumber_ios=50\n"
    table = stream(imported(tmp_path, text))
    (seen,) = places(tmp_path, text)
    expected = [table["start"] + index * table["stride"] for index in range(50)]
    assert [place for _, place in seen] == expected


def test_fio_has_a_place_for_each_direction(tmp_path: Path) -> None:
    text = HEAD + "rw=rw\nbs=4k\nsize=10m\nnumber_ios=200\n"
    assert len(tables(imported(tmp_path, text))["stream"]) == 2
    (seen,) = places(tmp_path, text)
    for direction in ("read", "write"):
        own = [place for one, place in seen if one == direction]
        assert own == [index * 4096 for index in range(len(own))] and len(own) > 50


def test_fio_starts_clones_where_the_streams_start(tmp_path: Path) -> None:
    text = HEAD + "rw=write\nbs=4k\nsize=1m\noffset=4k\noffset_increment=2m\nnumjobs=3\n"
    text += "number_ios=3\n"
    starts = [one["start"] for one in tables(imported(tmp_path, text))["stream"]]
    assert [clone[0][1] for clone in places(tmp_path, text)] == starts


def test_fio_makes_runs_of_the_length_that_they_have(tmp_path: Path) -> None:
    text = HEAD + "rw=randread:8\nbs=4k\nsize=100m\nnumber_ios=80\n"
    assert stream(imported(tmp_path, text))["run_length"] == 8 * 4096
    (seen,) = places(tmp_path, text)
    breaks = [index for index in range(1, len(seen)) if seen[index][1] != seen[index - 1][1] + 4096]
    assert breaks == list(range(8, 80, 8))


def test_fio_touches_each_block_once_as_the_pattern_does(tmp_path: Path) -> None:
    text = HEAD + "rw=randread\nbs=4k\nsize=1m\n"
    assert stream(imported(tmp_path, text))["pattern"] == "once"
    (seen,) = places(tmp_path, text)
    assert sorted(place for _, place in seen) == [index * 4096 for index in range(256)]
    with_repeats = places(tmp_path, text + "norandommap\n")
    assert len({place for _, place in with_repeats[0]}) < 256


def test_a_file_size_is_the_region_and_the_size_an_amount(tmp_path: Path) -> None:
    text = HEAD + "rw=randread\nbs=4k\nfilesize=4m\noffset=1m\nsize=512k\n"
    made = imported(tmp_path, text)
    assert (stream(made)["start"], stream(made)["range"]) == (1 << 20, 3 << 20)
    (seen,) = places(tmp_path, text)
    assert len(seen) == 128 == tables(made)["run"]["count"]
    assert all(1 << 20 <= place < 4 << 20 for _, place in seen)
    assert max(place for _, place in seen) - min(place for _, place in seen) > 1 << 20
    for wrong in ("offset=10%\nfilesize=4m\n", "offset=4m\nfilesize=4m\n"):
        with pytest.raises(UsageError, match="filesize: the offset is"):
            imported(tmp_path, HEAD + wrong)
