# SPDX-License-Identifier: GPL-2.0
"""Sections and options of job files. fio itself reads each, and the same options in it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.fio_jobs import JOBS, NAMES, fio

from spekctl.errors import ExitCode, UsageError
from spekctl.fio import jobfile
from spekctl.fio.options import ALIASES


@pytest.mark.parametrize("name", NAMES)
def test_fio_takes_the_file(name: str) -> None:
    done = fio("--parse-only", JOBS / f"{name}.fio")
    assert (done.returncode, done.stderr) == (0, "")


def shown(line: str) -> list[tuple[str, dict[str, str | None]]]:
    """Jobs with their options as fio's --showcmd prints those of a file."""
    defaults: dict[str, str | None] = {}
    jobs: list[tuple[str, dict[str, str | None]]] = []
    for word in shlex.split(line)[1:]:
        key, equals, value = word.removeprefix("--").partition("=")
        if key == "name":
            jobs.append((value, dict(defaults)))
            continue
        options = jobs[-1][1] if jobs else defaults
        options[ALIASES.get(key, key)] = value if equals else None
    return jobs


@pytest.mark.parametrize("name", NAMES)
def test_fio_sees_the_same_options_in_it(name: str) -> None:
    done = fio("--showcmd", JOBS / f"{name}.fio")
    assert done.returncode == 0
    ours = [(job.name, job.options) for job in jobfile.read(JOBS / f"{name}.fio")]
    assert ours == shown(done.stdout)


def test_fio_takes_the_corpus_and_sees_the_same_options(corpus: list[Path]) -> None:
    # Debian's fio is built without arithmetic.
    files = [path for path in corpus if "=(" not in path.read_text()]
    assert len(files) > 150
    done = fio("--parse-only", *files)
    assert (done.returncode, done.stderr) == (0, "")
    lines = fio("--showcmd", *files).stdout.splitlines()
    for path, line in zip(files, lines, strict=True):
        assert [(job.name, job.options) for job in jobfile.read(path)] == shown(line), path.name


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
    outcome = spekctl("fio", "job.fio")
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert sentence in outcome.sentence


def test_variables_includes_and_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOCK", "8k")
    (tmp_path / "more.fio").write_text("rw=write\n")
    text = "# c\n[global]\ndirect=1\nBLOCKSIZE=${BLOCK}\n[j]\ninclude more.fio\n[k]\nrw=read\n"
    path = tmp_path / "job.fio"
    path.write_text(text)
    first, second = jobfile.read(path)
    assert (first.name, first.options) == ("j", {"direct": "1", "bs": "8k", "rw": "write"})
    assert (second.name, second.options["rw"], second.options["bs"]) == ("k", "read", "8k")


def job(tmp_path: Path, text: str) -> dict[str, str | None]:
    (tmp_path / "job.fio").write_text(text)
    (only,) = jobfile.read(tmp_path / "job.fio")
    return only.options


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("bs=4k", "bs", "4k"),
        ("  bs = 4k  ", "bs", "4k"),
        ("blocksize=4k", "bs", "4k"),
        ("BS=4k", "bs", "4k"),
        ("time_based", "time_based", None),
        ("filename=", "filename", ""),
        ("filename=/dev/a=b", "filename", "/dev/a=b"),
        ("iodepth=$ncpus", "iodepth", str(os.cpu_count())),
        ("iodepth=2*$ncpus", "iodepth", f"(2*{os.cpu_count()})"),
        ("bs=$pagesize", "bs", str(os.sysconf("SC_PAGE_SIZE"))),
        ("name=$ncpusx", "name", "$ncpusx"),
        ("name=a-$other", "name", "a-$other"),
        ("filename=${D}${D}", "filename", "/dev/x/dev/x"),
        ("filename=${D", "filename", "${D"),
    ],
)
def test_an_option_and_its_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, key: str, value: str | None
) -> None:
    monkeypatch.setenv("D", "/dev/x")
    assert job(tmp_path, f"[j]\n{line}\n") == {key: value}


def test_the_later_of_two_options_counts(tmp_path: Path) -> None:
    assert job(tmp_path, "[global]\nbs=1k\niodepth=2\n[j]\nbs=4k\nblocksize=8k\n") == {
        "bs": "8k",
        "iodepth": "2",
    }


def test_defaults_are_those_of_the_jobs_after_them(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[a]\n[global]\nbs=4k\n[b]\n[global]\nbs=8k\n[c]\n")
    assert [job.options for job in jobfile.read(path)] == [{}, {"bs": "4k"}, {"bs": "8k"}]


@pytest.mark.parametrize("line", ["bs=8k # c", "bs=8k ; c", "bs=8k;c # d", "bs=8k\t#", "bs=8k#;"])
def test_a_comment_ends_a_value_as_in_fio(tmp_path: Path, line: str) -> None:
    text = f"; a\n# b\n[j] ; c\n\n  ; d\n{line}\n"
    assert job(tmp_path, text) == {"bs": "8k"}
    assert shown(fio("--showcmd", tmp_path / "job.fio").stdout) == [("j", {"bs": "8k"})]


def test_files_add_up_and_other_options_do_not(tmp_path: Path) -> None:
    """fio writes to as many files as the job has here."""
    names = [str(tmp_path / name) for name in ("a", "b", "c")]
    text = "[global]\nfilename={}\nbs=4k\n[j]\nfilename={}\nfilename={}\nbs=1k\n".format(*names)
    assert job(tmp_path, text) == {"filename": ":".join(names), "bs": "1k"}
    (tmp_path / "job.fio").write_text(text + "rw=write\nsize=12k\n")
    assert fio(tmp_path / "job.fio").returncode == 0
    assert [Path(name).stat().st_size for name in names] == [4096] * 3


def test_a_section_is_global_by_the_start_of_its_name(tmp_path: Path) -> None:
    text = "[global-defaults]\nbs=4k\n[j]\nrw=read\n"
    assert job(tmp_path, text) == {"bs": "4k", "rw": "read"}
    assert shown(fio("--showcmd", tmp_path / "job.fio").stdout) == [
        ("j", {"bs": "4k", "rw": "read"})
    ]


def test_an_included_file_has_no_sections(tmp_path: Path) -> None:
    (tmp_path / "more.fio").write_text("bs=4k\n[k]\n")
    (tmp_path / "job.fio").write_text("[j]\ninclude more.fio\n")
    with pytest.raises(UsageError, match=r"more\.fio:2: a section in an included file"):
        jobfile.read(tmp_path / "job.fio")
    assert "No new sections in included files" in fio("--parse-only", tmp_path / "job.fio").stderr


def test_an_include_of_the_working_folder_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/job.fio").write_text("[j]\ninclude more.fio\n")
    (tmp_path / "in/more.fio").write_text("bs=4k\n")
    monkeypatch.chdir(tmp_path)
    assert jobfile.read(Path("in/job.fio"))[0].options == {"bs": "4k"}
    (tmp_path / "more.fio").write_text("bs=8k\n")
    assert jobfile.read(Path("in/job.fio"))[0].options == {"bs": "8k"}
    assert "--bs=8k" in fio("--showcmd", "in/job.fio").stdout


def test_an_include_is_relative_to_its_file_and_names_its_own_lines(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/more.fio").write_text("include last.fio\n")
    (tmp_path / "in/last.fio").write_text("bs=4k\n???\n")
    (tmp_path / "job.fio").write_text("[j]\ninclude in/more.fio\n")
    with pytest.raises(UsageError, match=r"in/last\.fio:2: '\?\?\?' is not an option"):
        jobfile.read(tmp_path / "job.fio")
    (tmp_path / "in/last.fio").write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"cannot read .*in/last\.fio: it is not UTF-8 text"):
        jobfile.read(tmp_path / "job.fio")
