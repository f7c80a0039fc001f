# SPDX-License-Identifier: GPL-2.0
"""The profiler on the host: its plugin, the QEMU that it needs, counts and names."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest

from spekctl.errors import GuestError
from spekctl.vm import marks, profiler

KALLSYMS = """\
ffffffff81000000 T _text
ffffffff81000100 t null_queue_rq
ffffffff81000180 t null_queue_rq.cold
ffffffff81000200 D some_data
ffffffff81000300 T blk_mq_alloc_request.part.0.isra.0
ffffffffc0000000 t account\t[spek]
"""
MODULES = "spek 131072 0 - Live 0xffffffffc0000000 (OE)\n"


def test_the_plugin_compiles_once_and_has_the_interface(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = profiler.plugin()
    assert profiler.plugin() == path
    # QEMU has what it calls: the symbols are resolved there.
    library = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL | 1)
    assert ctypes.c_int.in_dll(library, "qemu_plugin_version").value == 1
    assert profiler.qemu_arguments(Path("/a,b"))[1].endswith(",dir=/a,,b")


def test_plugins_know_the_mark() -> None:
    found = re.search(r"mark\[\] = \{([^}]*)\}", profiler.HEADER.read_text())
    assert found
    assert bytes(int(word, 16) for word in found[1].split(",")) == marks.MARK[:-1]


@pytest.mark.parametrize(
    ("version", "text", "sentence"),
    [
        ("QEMU emulator version 9.1.2", "-plugin", r"4\.2 to 8\.2 with plugins; this is version 9"),
        ("QEMU emulator version 4.1.0", "-plugin", "this is version 4.1.0"),
        ("QEMU emulator version 7.2.22 (Debian)", "", "was built without them"),
        ("", "-plugin", "this is an unknown version"),
    ],
)
def test_a_qemu_that_cannot_load_it_is_refused(
    monkeypatch: pytest.MonkeyPatch, version: str, text: str, sentence: str
) -> None:
    answers = {"--version": version, "--help": text}
    monkeypatch.setattr(profiler, "_answer", answers.__getitem__)
    with pytest.raises(GuestError, match=sentence):
        profiler.check_qemu()


@pytest.mark.parametrize("version", ["4.2.0", "7.2.22 (Debian 1:7.2)", "8.2.1"])
def test_a_qemu_that_can_is_taken(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    answers = {"--version": f"QEMU emulator version {version}", "--help": "-plugin [file=]<file>"}
    monkeypatch.setattr(profiler, "_answer", answers.__getitem__)
    profiler.check_qemu()


def test_a_missing_qemu_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(GuestError, match="cannot run qemu-system-x86_64: No such file"):
        profiler.check_qemu()


def test_counts_are_summed_by_function_and_parts_belong_to_it(tmp_path: Path) -> None:
    (tmp_path / marks.KALLSYMS).write_text(KALLSYMS)
    (tmp_path / marks.MODULES).write_text(MODULES)
    (tmp_path / "profile.0").write_text(
        "0 7\nffffffff81000104 2\nffffffff81000184 3\nffffffff81000304 5\n"
        "ffffffffc0000010 11\nffffffffc0020010 13\nffffffff80000000 17\n"
    )
    found = profiler.by_function(profiler.counts_at(tmp_path, 0), profiler.symbols_in(tmp_path))
    assert found == {
        profiler.USER: 7,
        "null_queue_rq": 5,
        "blk_mq_alloc_request": 5,
        "account [spek]": 11,
        profiler.GONE: 13,
        profiler.UNKNOWN: 17,
    }
