# SPDX-License-Identifier: GPL-2.0
"""The profiler on the host: its plugin, the QEMU that it needs, counts and names."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import pytest
from lib.fakes.qemu.plugin import VERSIONS, compile_driver

from spekctl.errors import GuestError
from spekctl.vm import marks, profiler

DRIVER = Path(__file__).with_name("profile_driver.c")
KALLSYMS = """\
ffffffff81000000 T _text
ffffffff81000100 t null_queue_rq
ffffffff81000180 t null_queue_rq.cold
ffffffff81000200 D some_data
ffffffff81000300 T blk_mq_alloc_request.part.0.isra.0
ffffffffc0000000 t account\t[spek]
"""
KERNEL = 0xFFFFFFFF81000000
MODULES = "spek 131072 0 - Live 0xffffffffc0000000 (OE)\n"


def use_qemu(monkeypatch: pytest.MonkeyPatch, version: str, text: str = "-plugin") -> None:
    """Make @version the text of --version, and @text that of --help."""
    answers = {"--version": version, "--help": text}
    monkeypatch.setattr(profiler, "_answer", answers.__getitem__)


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ("6.0.0", 1),
        ("7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)", 1),
        ("8.2.4", 1),
        ("9.0.0", 2),
        ("9.1.0", 3),
        ("10.0.13 (Debian 1:10.0.13+ds-0+deb13u1)", 3),
        ("10.2.2", 3),
        ("11.0.1", 6),
        ("11.1.3 (Debian 1:11.1.3+ds-1~bpo13+1)", 7),
    ],
)
def test_the_plugin_compiles_once_and_has_the_interface_of_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, version: int
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    use_qemu(monkeypatch, f"QEMU emulator version {release}")
    path = profiler.plugin()
    assert profiler.plugin() == path
    # QEMU has what it calls: the symbols are resolved there.
    library = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL | 1)
    assert ctypes.c_int.in_dll(library, "qemu_plugin_version").value == version
    assert profiler.qemu_arguments(Path("/a,b"))[1].endswith(",dir=/a,,b")


def test_a_plugin_of_another_qemu_is_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    use_qemu(monkeypatch, "QEMU emulator version 7.2.22")
    old = profiler.plugin()
    use_qemu(monkeypatch, "QEMU emulator version 10.0.13")
    assert profiler.plugin() != old


@pytest.mark.parametrize("version", VERSIONS)
def test_executions_are_counted_through_the_interface(tmp_path: Path, version: int) -> None:
    program = tmp_path / "driver"
    compile_driver(DRIVER, [], version, program)
    subprocess.run([str(program), str(tmp_path)], check=True)
    assert profiler.counts_at(tmp_path, 0) == {1: 2, KERNEL: 3}
    assert profiler.counts_at(tmp_path, 1) == {
        1: 3,
        KERNEL: 5,
        KERNEL + 1: 1,
        KERNEL + 0x400000: 1,
        KERNEL + 0x800000: 2,
        KERNEL + 0xC00000: 3,
        KERNEL + 0x1000000: 4,
    }


def test_the_readme_names_the_releases() -> None:
    readme = profiler.SOURCE.parents[1] / "gate" / "README.md"
    assert f"{profiler.RELEASES} with plugins" in readme.read_text()


def test_plugins_know_the_mark() -> None:
    match = re.search(r"mark\[\] = \{([^}]*)\}", profiler.HEADER.read_text())
    assert match
    assert bytes(int(word, 16) for word in match[1].split(",")) == marks.MARK[:-1]


@pytest.mark.parametrize(
    ("version", "text", "sentence"),
    [
        (
            "QEMU emulator version 11.2.0",
            "-plugin",
            r"11\.1 with plugins; qemu-system-x86_64 is version 11\.2",
        ),
        ("QEMU emulator version 5.2.0", "-plugin", "is version 5.2.0"),
        ("QEMU emulator version 7.2.22 (Debian)", "", "was built without them"),
        ("", "-plugin", "is of an unknown version"),
    ],
)
def test_a_qemu_that_cannot_load_it_is_refused(
    monkeypatch: pytest.MonkeyPatch, version: str, text: str, sentence: str
) -> None:
    use_qemu(monkeypatch, version, text)
    with pytest.raises(GuestError, match=sentence):
        profiler.plugin()


def test_a_missing_qemu_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(GuestError, match="cannot run qemu-system-x86_64: No such file"):
        profiler.plugin()


def test_counts_are_summed_by_function_and_parts_belong_to_it(tmp_path: Path) -> None:
    (tmp_path / marks.KALLSYMS).write_text(KALLSYMS)
    (tmp_path / marks.MODULES).write_text(MODULES)
    (tmp_path / "profile.0").write_text(
        "1 7\nffffffff81000104 2\nffffffff81000184 3\nffffffff81000304 5\n"
        "ffffffffc0000010 11\nffffffffc0020010 13\nffffffff80000000 17\n"
    )
    counts = profiler.by_function(profiler.counts_at(tmp_path, 0), profiler.symbols_in(tmp_path))
    assert counts == {
        profiler.USER: 7,
        "null_queue_rq": 5,
        "blk_mq_alloc_request": 5,
        "account [spek]": 11,
        profiler.GONE: 13,
        profiler.UNKNOWN: 17,
    }
