# SPDX-License-Identifier: GPL-2.0
"""The virtual rig without a guest: disks, kernels, the cache, what is refused and how."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lib.ordinary_user import call_as_ordinary_user

import spekctl
from spekctl import cli
from spekctl.commands import drive_kernel
from spekctl.errors import ExitCode, GuestError, UsageError
from spekctl.run.build import environment
from spekctl.vm import accel, apt, disks, guest_side, kernels, modules, toolchain
from spekctl.vm.apt import Apt
from spekctl.vm.disks import parse_disk, parse_disks
from spekctl.vm.kernels import Kernel, matches, version_key
from spekctl.vm.runner import (
    WATCHED,
    Guest,
    emulation,
    kept_folders,
    kernel_options,
    make_mount_point,
    mounted_folders,
)

MIB = 1 << 20


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of our own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "spek"


# ---- disks ----


@pytest.mark.parametrize(
    ("text", "bytes_", "block_size", "options"),
    [
        ("null_blk", 16 << 30, 512, {}),
        ("null_blk,size=1024,bs=4096", 1 << 30, 4096, {}),
        ("null_blk,completion_nsec=1000000,irqmode=2", 16 << 30, 512,
         {"completion_nsec": "1000000", "irqmode": "2"}),
        ("scsi_debug,dev_size_mb=64,sector_size=4096,delay=0", 64 * MIB, 4096, {"delay": "0"}),
        ("nvme,size=4G,queues=2", 4 << 30, 512, {"queues": "2"}),
        ("virtio,size=65536K", 64 * MIB, 512, {}),
        ("virtio,size=2GiB", 2 << 30, 512, {}),
        ("drive,model=./a.toml,arms=4", 0, 512, {"model": "./a.toml", "arms": "4"}),
    ],
)  # fmt: skip
def test_disk_is_understood(
    text: str, bytes_: int, block_size: int, options: dict[str, str]
) -> None:
    disk = parse_disk(text)

    assert (disk.bytes, disk.block_size, disk.options) == (bytes_, block_size, options)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nul_blk", "there is no disk type 'nul_blk'; did you mean 'null_blk'?"),
        ("", "there is no disk type ''"),
        ("null_blk,siz=1", "null_blk has no option 'siz'; did you mean 'size'?"),
        ("nvme,completion_nsec=1", "nvme has no option 'completion_nsec'"),
        ("null_blk,size", "disk option 'size' must have the form name=value"),
        ("null_blk,size=", "disk option 'size=' must have the form name=value"),
        ("null_blk,size=big", "disk size 'big' is not a size"),
        ("null_blk,size=-1", "disk size '-1' is not a size"),
        ("null_blk,size=0", "disk size '0' of null_blk is not a positive number of MiB"),
        ("nvme,size=1K", "disk size '1K' of nvme is not a positive number of MiB"),
        ("nvme,bs=513", "logical block size '513' is not one of 512, 1024, 2048, 4096"),
        ("nvme,queues=many", "queues=many is not a number of queues"),
        ("drive", "a drive needs a model: drive,model=barracuda-es"),
        ("drive,model=x,size=1G", "drive has no option 'size'"),
        ("drive,model=$(id)", "'$(id)' is not a valid value of the disk option model"),
        ("null_blk,irqmode=$(id)", "'$(id)' is not a valid value of the disk option irqmode"),
    ],
)
def test_wrong_disk_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_disk(text)

    assert refusal.value.message.startswith(sentence)


def test_a_modelled_drive_is_made_with_the_options_of_drive_new() -> None:
    text = "drive,model=mach2,queue_depth=8,max_wait=500ms,set.settle_ms=0.2,set.heads=8"
    (plan,) = (disk.plan(1) for disk in parse_disks([text]))
    assert plan["words"] == [
        *("mach2", "--queue-depth", "8", "--max-wait", "500ms"),
        *("--set", "settle_ms=0.2", "--set", "heads=8"),
    ]
    options = {option for one in drive_kernel.new.params for option in one.opts}
    assert {f"--{name.replace('_', '-')}" for name in disks.OPTIONS["drive"]} <= {
        *options, "--model"
    }  # fmt: skip


def test_second_scsi_debug_is_refused() -> None:
    with pytest.raises(UsageError, match="only one scsi_debug disk"):
        parse_disks(["scsi_debug", "null_blk", "scsi_debug"])


def test_emulated_disk_is_a_sparse_file(tmp_path: Path) -> None:
    arguments = parse_disk("nvme,size=1G,bs=4096,queues=3").qemu_arguments(2, tmp_path)

    image = tmp_path / "disk2.img"
    assert image.stat().st_size == 1 << 30
    assert image.stat().st_blocks == 0
    assert f"file={image}," in arguments[1]
    assert arguments[3] == (
        "nvme,drive=spekdrive2,serial=spekdisk2,logical_block_size=4096,"
        "physical_block_size=4096,max_ioqpairs=3"
    )


# ---- kernels ----


@pytest.mark.parametrize(
    ("release", "wanted", "expected"),
    [
        ("6.1.0-56-amd64", "6.1", True),
        ("6.1.0-56-amd64", "6.1.0-56", True),
        ("6.1.0-56-amd64", "6.1.0-56-amd64", True),
        ("6.12.117+deb12-amd64", "6.1", False),
        ("6.12.117+deb12-amd64", "6.12.117", True),
        ("6.1.0-56-amd64", "6.1.0-5", False),
    ],
)
def test_beginning_of_a_release_names_it(release: str, wanted: str, expected: bool) -> None:
    assert matches(release, wanted) is expected


def test_releases_sort_by_number() -> None:
    releases = ["6.9.1-amd64", "6.12.3-amd64", "6.1.0-5-amd64", "6.1.0-12-amd64"]

    assert sorted(releases, key=version_key, reverse=True) == [
        "6.12.3-amd64",
        "6.9.1-amd64",
        "6.1.0-12-amd64",
        "6.1.0-5-amd64",
    ]


def unpacked(root: Path, release: str, *, headers: bool = True) -> Path:
    """A tree as dpkg-deb leaves it: links and includes point to where packages are installed."""
    (root / "boot").mkdir(parents=True)
    (root / "boot" / f"vmlinuz-{release}").touch()
    module_folder = root / "lib/modules" / release
    (module_folder / "kernel").mkdir(parents=True)
    (module_folder / "build").symlink_to(f"/usr/src/linux-headers-{release}")
    for name in (release, "common"):
        (root / f"usr/src/linux-headers-{name}").mkdir(parents=True)
    if headers:
        makefile = root / f"usr/src/linux-headers-{release}/Makefile"
        makefile.write_text("include /usr/src/linux-headers-common/Makefile\n")
        common = root / "usr/src/linux-headers-common/Makefile"
        common.write_text("all:\n\t@echo common makefile found\n")
    return root


def test_unpacked_headers_work_where_they_are(tmp_path: Path) -> None:
    root = unpacked(tmp_path / "elsewhere", "6.77.1-test")

    kernels._make_relocatable(root, "6.77.1-test")

    root = root.rename(tmp_path / "moved")
    build = root / "lib/modules/6.77.1-test/build"
    done = subprocess.run(["make", "-C", build], capture_output=True, text=True, check=True)
    assert "common makefile found" in done.stdout
    assert (root / "lib/modules/6.77.1-test/modules.dep").exists()


def test_cached_kernel_is_found(cache: Path) -> None:
    release = "6.77.1-test"
    root = unpacked(cache / "kernels" / release, release)
    kernels._make_relocatable(root, release)

    kernel = kernels.find_kernel("6.77")

    assert (kernel.release, kernel.origin) == (release, "cache")
    assert kernel.headers == root / "usr/src/linux-headers-6.77.1-test"
    assert kernel.label == "6.77"


def test_kernel_without_headers_does_not_count(tmp_path: Path) -> None:
    unpacked(tmp_path, "6.77.1-test", headers=False)

    assert kernels.installed_kernels(tmp_path) == []


def test_kernel_closed_to_the_user_does_not_count(tmp_path: Path) -> None:
    """Its headers may be in root's home."""
    root = unpacked(tmp_path / "closed", "6.77.1-test")
    kernels._make_relocatable(root, "6.77.1-test")
    assert len(kernels.installed_kernels(root)) == 1

    def find() -> int:
        print(kernels.installed_kernels(root), kernels._kernel_in(root, "6.77.1-test", "installed"))
        return 0

    root.chmod(0)
    try:
        outcome = call_as_ordinary_user(tmp_path, find)
    finally:
        root.chmod(0o755)

    assert (outcome.code, outcome.out) == (0, "[] None\n")


def test_kernel_tree_closed_to_the_user_is_refused(tmp_path: Path) -> None:
    tree = tmp_path / "closed" / "tree"
    tree.mkdir(parents=True)

    def find() -> int:
        with pytest.raises(UsageError) as refusal:
            kernels.find_kernel(str(tree))
        print(refusal.value.message)
        return 0

    tree.parent.chmod(0)
    try:
        outcome = call_as_ordinary_user(tmp_path, find)
    finally:
        tree.parent.chmod(0o755)

    assert outcome.out == f"cannot access {tree}: Permission denied\n", outcome.err


class Packages(Apt):
    """An apt with a few packages, whose mirror may be silent."""

    known: tuple[list[str], list[str], str | None]

    def __init__(
        self, suite: str, releases: list[str], calls: list[str], broken: str | None = None
    ) -> None:
        super().__init__((suite,) if suite else ())
        object.__setattr__(self, "known", (releases, calls, broken))

    def cache(self, *arguments: str) -> list[str]:
        releases, _, _ = self.known
        if arguments[0] == "search":
            return [f"linux-image-{release} - Linux" for release in releases]
        return ["  Candidate: 1"] if arguments[0] == "policy" else []

    def update(self) -> None:
        _, calls, broken = self.known
        calls.append(f"update {self}")
        if broken == "update":
            raise GuestError(f"reading the package lists of {self} failed: no route")

    def unpack(self, packages: list[str], tree: Path, scratch: Path) -> None:
        _, calls, broken = self.known
        calls.append(f"unpack {packages[0]} from {self}")
        if broken == "unpack":
            raise GuestError("downloading the kernel failed: 404")
        unpacked(tree, packages[0].removeprefix("linux-image-"))


Setup = Callable[..., list[str]]


@pytest.fixture
def suites(monkeypatch: pytest.MonkeyPatch) -> Setup:
    """suites(own, *others) replaces apt; each is (releases, what is broken). Gives the calls."""

    def set_up(
        own: tuple[list[str], str | None],
        *others: tuple[list[str], str | None],
        user: int = 1000,
    ) -> list[str]:
        calls: list[str] = []
        monkeypatch.setattr(os, "geteuid", lambda: user)
        monkeypatch.setattr(kernels, "Apt", lambda: Packages("", own[0], calls, own[1]))
        monkeypatch.setattr(kernels, "architecture", lambda: "amd64")
        found = [
            Packages(name, releases, calls, broken)
            for name, (releases, broken) in zip(("backports", "sid"), others, strict=False)
        ]
        monkeypatch.setattr(kernels, "other_suites", lambda: found)
        return calls

    return set_up


def test_kernel_that_no_suite_has_is_refused(suites: Setup) -> None:
    calls = suites(([], None), ([], None), (["7.1.3-amd64"], None))

    with pytest.raises(GuestError) as refusal:
        kernels.find_kernel("6.99")

    assert refusal.value.message == (
        "no kernel 6.99 with headers is installed, cached or known to apt, nor part of "
        "Debian backports or Debian sid; name a built tree with --kernel"
    )
    assert calls == ["update Debian backports", "update Debian sid"]


def test_suite_out_of_reach_is_one_sentence(suites: Setup) -> None:
    suites(([], None), ([], "update"))

    with pytest.raises(GuestError) as refusal:
        kernels.find_kernel("7")

    assert refusal.value.message == (
        "no kernel 7 with headers is installed, cached or known to apt, and reading the package "
        "lists of Debian backports failed: no route"
    )


def test_newer_kernel_comes_from_another_suite(suites: Setup, cache: Path) -> None:
    calls = suites((["6.77.1-amd64"], None), (["7.0.9-amd64", "7.0.13-amd64"], None), ([], None))

    kernel = kernels.find_kernel("7")

    assert (kernel.release, kernel.origin) == ("7.0.13-amd64", "cache")
    assert kernel.headers.is_relative_to(cache / "kernels")
    assert calls == [
        "update Debian backports",
        "unpack linux-image-7.0.13-amd64 from Debian backports",
    ]
    assert kernels.find_kernel("7").release == "7.0.13-amd64"
    assert len(calls) == 2, "what is cached is not fetched again"


def test_own_suites_come_first(suites: Setup) -> None:
    calls = suites((["7.0.4-amd64"], None), (["7.0.13-amd64"], None))

    assert kernels.find_kernel("7").release == "7.0.4-amd64"
    assert calls == ["unpack linux-image-7.0.4-amd64 from apt"]


def test_old_package_lists_are_renewed_by_root(suites: Setup) -> None:
    calls = suites((["6.77.1-amd64"], "unpack"), user=0)

    with pytest.raises(GuestError, match="downloading the kernel failed"):
        kernels.find_kernel("6.77")
    fetch = "unpack linux-image-6.77.1-amd64 from apt"
    assert calls == [fetch, "update apt", fetch]


def test_newest_package_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "linux-image-6.12.9+deb12-amd64 - Linux 6.12 for 64-bit PCs (signed)",
        "linux-image-6.12.117+deb12-amd64 - Linux 6.12 for 64-bit PCs (signed)",
        "linux-image-6.12.200+deb12-cloud-amd64 - Linux 6.12 for x86-64 cloud (signed)",
        "linux-image-6.12.200+deb12-rt-amd64 - Linux 6.12, PREEMPT_RT",
        "linux-image-6.12.200+deb12-amd64-dbg - Debug symbols",
        "linux-image-6.12.200+deb12-amd64-unsigned - Linux 6.12 for 64-bit PCs",
        "linux-image-6.12-amd64 - Linux for 64-bit PCs (meta-package)",
        "linux-image-6.1.0-56-amd64 - Linux 6.1 for 64-bit PCs (signed)",
    ]
    monkeypatch.setattr(kernels, "architecture", lambda: "amd64")
    found: Any = SimpleNamespace(cache=lambda *arguments: lines)

    assert kernels._available_releases(found, "6.12")[:2] == [
        "6.12.117+deb12-amd64",
        "6.12.9+deb12-amd64",
    ]


def test_headers_name_their_compiler_and_libraries() -> None:
    """Direct dependencies are looked at; what they need in turn is apt's to find."""
    depends = {
        "linux-headers-7.0.1-amd64": ["gcc-14-for-host", "linux-base", "linux-kbuild-7.0.1"],
        "linux-kbuild-7.0.1": ["pahole", "libc6", "libelf1t64", "linux-base"],
    }
    asked: list[str] = []

    def dependencies(package: str, pattern: str) -> list[str]:
        return [name for name in depends.get(package, []) if re.fullmatch(pattern, name)]

    def closure(names: list[str]) -> list[str]:
        asked.extend(names)
        return [*names, "zlib1g"]

    suite: Any = SimpleNamespace(dependencies=dependencies, closure=closure)
    tools = kernels._build_tools(suite, ["linux-image-7.0.1-amd64", *depends])

    assert asked == ["gcc-14-for-host", "pahole", "libc6", "libelf1t64"]
    assert tools == [*asked, "zlib1g"]


def machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, targets: list[str]
) -> None:
    """This machine's /etc/os-release, and what apt-get indextargets prints."""
    (tmp_path / "os-release").write_text(release)
    monkeypatch.setattr(apt, "OS_RELEASE", tmp_path / "os-release")
    monkeypatch.setattr(Apt, "_lines", lambda self, *command: targets)


def test_other_suites_are_of_the_machines_own_mirror(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    keyring = tmp_path / "keys.gpg"
    keyring.touch()
    monkeypatch.setattr(apt, "KEYRINGS", (tmp_path / "none.gpg", keyring))
    targets = [
        "http://security.invalid/debian-security/ bookworm-security main",
        "http://tools.invalid/apt/ nodistro main",
        "http://mirror.invalid/debian/ bookworm main",
    ]
    machine(tmp_path, monkeypatch, 'ID=debian\nVERSION_CODENAME="bookworm"\n', targets)

    first, last = apt.other_suites()

    assert (str(first), str(last)) == ("Debian trixie-backports", "Debian sid")
    sources = (cache / "apt" / "trixie-backports" / "sources.list").read_text().splitlines()
    assert sources == [
        f"deb [target=Packages signed-by={keyring}] http://mirror.invalid/debian/ {suite} main"
        for suite in ("trixie", "trixie-backports")
    ]
    settings = dict(word.split("=", 1) for word in first.options[1::2])
    for name in ("Dir::State::Lists", "Dir::Cache", "Dir::Etc::SourceList"):
        assert Path(settings[name]).is_relative_to(cache), "nothing of the machine's own apt"


@pytest.mark.parametrize(
    ("release", "targets", "sentence"),
    [
        ("ID=ubuntu\nVERSION_CODENAME=noble\n", ["http://a/ noble main"],
         "suites of Debian are not looked for on ubuntu"),
        ("ID=debian\nVERSION_CODENAME=bookworm\n", ["http://a/ nodistro main"],
         "apt's sources name no mirror of Debian bookworm"),
    ],
)  # fmt: skip
def test_machine_without_a_debian_mirror_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    release: str,
    targets: list[str],
    sentence: str,
) -> None:
    machine(tmp_path, monkeypatch, release, targets)

    with pytest.raises(GuestError) as refusal:
        apt.other_suites()

    assert refusal.value.message == sentence


# ---- programs of another suite ----


def foreign(tmp_path: Path) -> Path:
    """A kernel's tree with a program and what a C library's package holds, as if of another suite;
    both are this machine's own."""
    release = "7.0.1-test"
    tree = unpacked(tmp_path / "tree", release)
    (tree / "usr/lib").mkdir(exist_ok=True)
    kernels._make_relocatable(tree, release)
    headers = tree / f"usr/src/linux-headers-{release}"
    (headers / ".kernelvariables").write_text(
        "override ARCH = x86\nCC = $(CROSS_COMPILE)gcc-14\n"
        "override CROSS_COMPILE = x86_64-linux-gnu-\n"
    )
    root = tree / toolchain.FOLDER
    libraries = root / "usr/lib/x86_64-linux-gnu"
    for folder in (libraries, root / "usr/lib64", root / "usr/bin"):
        folder.mkdir(parents=True)
    loader = Path("/lib64/ld-linux-x86-64.so.2").resolve()
    shutil.copy2(loader, libraries)
    (root / "usr/lib64/ld-linux-x86-64.so.2").symlink_to(f"../lib/x86_64-linux-gnu/{loader.name}")
    for line in subprocess.run(
        ["ldd", "/bin/cat"], capture_output=True, text=True
    ).stdout.splitlines():
        if "=> /" in line:
            shutil.copy2(line.split()[2], libraries)
    for name in ("gcc-14", "ld.bfd"):
        shutil.copy2("/bin/cat", root / f"usr/bin/x86_64-linux-gnu-{name}")
    (root / "usr/bin/x86_64-linux-gnu-ld").symlink_to("x86_64-linux-gnu-ld.bfd")
    scripts = tree / "usr/lib/linux-kbuild-7.0.1/scripts/mod"
    scripts.mkdir(parents=True)
    shutil.copy2("/bin/cat", scripts / "modpost")
    (scripts / "helper.sh").write_text("#!/bin/sh\n")
    (headers / "scripts").symlink_to("../../lib/linux-kbuild-7.0.1/scripts")
    return tree


def test_programs_of_another_suite_run_by_its_loader(tmp_path: Path) -> None:
    tree = foreign(tmp_path)
    toolchain.set_up(tree)

    tree = tree.rename(tmp_path / "moved tree")
    (tmp_path / "text").write_text("ran\n")
    headers = tree / "usr/src/linux-headers-7.0.1-test"
    for program in (
        headers / "scripts/mod/modpost",
        tree / "toolchain/usr/bin/x86_64-linux-gnu-gcc-14",
        tree / "toolchain/usr/bin/x86_64-linux-gnu-ld",
        tree / "toolchain/usr/x86_64-linux-gnu/bin/ld",
    ):
        words = [str(program), "text"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", ""), program
        wrapped = program.resolve().read_bytes()
        assert wrapped.startswith(b"#!/bin/sh") and b"ld-linux-x86-64.so.2" in wrapped
    named = subprocess.run(
        [headers / "scripts/mod/modpost", "missing"], capture_output=True, text=True, check=False
    )
    assert named.stderr.startswith(f"{headers}/scripts/mod/modpost: "), "it knows its own name"
    assert (headers / "scripts/mod/helper.sh").read_text() == "#!/bin/sh\n"


def test_headers_use_the_compiler_that_came_with_them(tmp_path: Path) -> None:
    tree = foreign(tmp_path)
    toolchain.set_up(tree)

    tree = tree.rename(tmp_path / "moved")
    variables = tree / "usr/src/linux-headers-7.0.1-test/.kernelvariables"
    make = tmp_path / "Makefile"
    make.write_text(f"include {variables}\nall:\n\t@echo $(CC) $(PAHOLE) $(ARCH)\n")
    # Under another make it would name the directory as well.
    words = ["make", "--no-print-directory", "-f", str(make)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)

    compiler, pahole, arch = done.stdout.split()
    assert Path(compiler).resolve() == tree / "toolchain/usr/bin/x86_64-linux-gnu-gcc-14"
    assert Path(pahole).resolve() == tree / "toolchain/usr/bin/pahole"
    assert arch == "x86"


def test_suite_without_a_c_library_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GuestError, match="the C library of the kernel's suite has no usr/lib64/ld"):
        toolchain.set_up(tmp_path)


@pytest.mark.parametrize("name", ["missing/tree", "empty"])
def test_directory_that_is_no_kernel_tree_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(UsageError, match=r"there is no kernel tree|is not a built kernel tree"):
        kernels.find_kernel(str(tmp_path / name))


# ---- builds ----


def test_build_is_kept_by_content(tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    headers.mkdir()
    (headers / "Module.symvers").write_text("0x1 a vmlinux\n")
    kernel = Kernel("6.77.1-test", tmp_path / "vmlinuz", headers, None, "test")
    tree = tmp_path / "tree"
    (tree / "kmod").mkdir(parents=True)
    (tree / "Kbuild").write_text("obj-m := spek.o\n")
    source = tree / "kmod/main.c"
    source.write_text("int x;\n")

    def digest() -> str:
        return modules.key_of(tree, modules._sources(tree), kernel)

    first = digest()
    (tree / "kmod/main.o").touch()
    (tree / "kmod/spek_have.h").touch()
    assert digest() == first, "what a build leaves behind is no source"
    source.write_text("int y;\n")
    second = digest()
    (headers / "Module.symvers").write_text("0x2 a vmlinux\n")
    assert len({first, second, digest()}) == 3


def test_modules_that_do_not_build_are_no_guest(tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    headers.mkdir()
    kernel = Kernel("6.77.1-test", tmp_path / "vmlinuz", headers, None, "test")
    tree = tmp_path / "tree"
    (tree / "kmod").mkdir(parents=True)
    (tree / "Kbuild").write_text("obj-m := spek.o\n")
    with pytest.raises(GuestError, match=r"^the modules do not build for 6\.77\.1-test: "):
        modules.build_modules(kernel, tree)


# ---- KVM or TCG ----


def some_kernel() -> Kernel:
    return Kernel("6.77.1-test", Path("/vmlinuz"), Path("/headers"), None, "test")


def test_mount_point_is_made_where_it_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A machine without any kernel installed has no /lib/modules, and guests can't make it."""
    path = tmp_path / "lib" / "modules"
    make_mount_point(path)
    assert path.is_dir()
    assert str(path) in capsys.readouterr().err
    make_mount_point(path)
    assert not capsys.readouterr().err


def test_mount_point_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "lib").write_text("a file")
    with pytest.raises(GuestError, match="mkdir"):
        make_mount_point(tmp_path / "lib" / "modules")


def test_shares_below_tmp_are_found(tmp_path: Path) -> None:
    table = tmp_path / "mounts"
    table.write_text(
        "root / 9p ro 0 0\n"
        "one /tmp/x 9p rw 0 0\n"
        "inner /tmp/x/out 9p rw 0 0\n"
        "other /tmp/a\\040b/c\303\244 9p rw 0 0\n"
        "not /tmpfs 9p rw 0 0\n",
        encoding="latin-1",
    )
    assert guest_side.mounts_below(Path("/tmp"), table) == [Path("/tmp/x"), Path("/tmp/a b/cä")]


def test_a_share_inside_another_is_not_mounted_again() -> None:
    own, inner, outer = Path("/cache/1"), Path("/clone/out"), Path("/clone")
    assert mounted_folders(own, [inner, outer, inner]) == [own, outer]


def test_environment_decides_on_kvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accel, "_may_use_kvm", lambda: True)
    for answer in ("kvm", "tcg"):
        monkeypatch.setenv("SPEK_ACCEL", answer)
        assert accel.choose_accel(some_kernel()) == answer
    monkeypatch.setenv("SPEK_ACCEL", "xen")
    with pytest.raises(UsageError, match="SPEK_ACCEL is 'xen'; it must be kvm or tcg"):
        accel.choose_accel(some_kernel())


def test_kvm_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    boots: list[str] = []

    def boot(kernel: Kernel) -> bool:
        boots.append(kernel.release)
        return len(boots) == 1

    monkeypatch.delenv("SPEK_ACCEL", raising=False)
    monkeypatch.setattr(accel, "_may_use_kvm", lambda: True)
    monkeypatch.setattr(accel, "_boots_with_kvm", boot)

    assert [accel.choose_accel(some_kernel()) for _ in range(3)] == ["kvm"] * 3
    assert len(boots) == 1


def test_no_kvm_device_means_tcg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPEK_ACCEL", raising=False)
    monkeypatch.setattr(accel, "_may_use_kvm", lambda: False)

    assert accel.choose_accel(some_kernel()) == "tcg"
    monkeypatch.setenv("SPEK_ACCEL", "kvm")
    with pytest.raises(UsageError, match="/dev/kvm is missing or not open to this user"):
        accel.choose_accel(some_kernel())


# ---- the command line ----


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--", "rum"], "there is no command 'rum' to run in the guest; did you mean 'run'?"),
        (["--", "vm", "--", "run"], "a guest cannot start guests: leave out the second 'vm'"),
        (["--disk", "foo", "--", "devices"], "there is no disk type 'foo'"),
        (["--disk", "nvme", "--", "show", "{disk2}"], "'{disk2}' names a disk that does not exist"),
        (["--", "show", "{disk1}"], "'{disk1}' names a disk that does not exist: no --disk"),
        (["--memory", "lots", "--", "devices"], "memory 'lots' is not a size"),
        (["--timeout", "0", "--", "devices"], "a time limit of 0 leaves no time to boot"),
        (["--timeout", "soon", "--", "devices"], "'soon' is not a duration"),
        (["--kernel", "./nowhere", "--", "devices"], "there is no kernel tree"),
    ],
)
def test_wrong_use_is_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["vm", *arguments]) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"spekctl: {sentence}")
    assert printed.err.count("\n") == 1


def test_a_guest_that_cannot_be_set_up_has_its_own_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert cli.run(["vm", "--", "devices"]) == ExitCode.GUEST_FAILED
    printed = capsys.readouterr().err
    assert printed.startswith("spekctl: a guest needs ") and printed.count("\n") == 1


def test_results_of_the_readme_need_no_folder_that_a_clean_clone_lacks() -> None:
    readme = (Path(__file__).resolve().parents[4] / "README.md").read_text()
    written = re.findall(r"^    .* (?:-o|--output|--log|--verify-state) (\S+)", readme, re.M)
    assert "nvme.json" in written
    assert {str(Path(path).parent) for path in written} == {"."}


# ---- a guest's kernel and processor ----


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ({"accel": "kvm"}, False),
        ({"accel": "tcg"}, True),
        ({"accel": "tcg", "icount": True}, False),
    ],
)
def test_only_an_emulated_kernel_does_without_cmpxchg16b(
    choice: dict[str, Any], told: bool
) -> None:
    options = kernel_options(Guest(some_kernel(), ["true"], **choice))
    assert ("clearcpuid=141" in options) == told


@pytest.mark.parametrize("icount", [False, True])
def test_a_guest_that_counts_instructions_says_so_to_its_results(
    icount: bool, tmp_path: Path
) -> None:
    guest = Guest(some_kernel(), ["true"], accel="tcg", icount=icount)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cmdline").write_text(" ".join(["root=/dev/root", *kernel_options(guest)]))
    assert environment("0.1.0", tmp_path).counts_instructions == icount


@pytest.mark.parametrize(
    ("choice", "processors", "arguments"),
    [
        ({"cpus": 2}, 2, []),
        ({"cpus": 2}, 1, ["-accel", "tcg,thread=single"]),
        ({"cpus": 8}, 4, ["-accel", "tcg,thread=single"]),
        ({"cpus": 8, "accel": "kvm"}, 4, []),
        ({"icount": True}, 1, ["-icount", "shift=0,sleep=off"]),
    ],
)
def test_emulated_cpus_take_turns_where_processors_are_few(
    monkeypatch: pytest.MonkeyPatch, choice: dict[str, Any], processors: int, arguments: list[str]
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(processors)))
    assert emulation(Guest(some_kernel(), ["true"], **choice)) == arguments


# ---- what a guest keeps in memory ----


def test_a_guest_keeps_programs_and_python() -> None:
    kept = kept_folders([])
    assert Path("/usr/bin") in kept
    stdlib, package = Path(os.__file__).resolve().parent, Path(spekctl.__file__).resolve().parent
    assert any(stdlib.is_relative_to(folder) for folder in kept)
    assert any(package.is_relative_to(folder) for folder in kept)
    assert all(folder.is_dir() for folder in kept)


def test_what_a_guest_keeps_is_mounted_once() -> None:
    kept = kept_folders([])
    assert not [(a, b) for a in kept for b in kept if a != b and a in b.parents]


def test_the_session_of_a_guest_ends_with_spekctl() -> None:
    descriptors = [os.open("/dev/null", os.O_RDONLY) for _ in range(10)]  # as below flock and make
    read_end, write_end = os.pipe()
    try:
        with subprocess.Popen(
            ["sh", "-c", WATCHED, "sh", "sh", "-c", "echo up; cat; exec sleep 600"],
            stdin=read_end,
            stdout=subprocess.PIPE,
            start_new_session=True,
            pass_fds=descriptors,
        ) as session:
            assert session.stdout
            assert session.stdout.readline() == b"up\n"
            os.close(read_end)
            assert session.poll() is None
            os.close(write_end)
            assert session.wait(60) == -signal.SIGKILL
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def test_a_writable_directory_stays_writable() -> None:
    """The guest would not see its own files behind one that is kept, and could not write."""
    assert Path("/usr/bin") not in kept_folders([Path("/usr/bin/here")])


def test_the_help_says_the_size_of_each_kind_of_disk() -> None:
    text = " ".join(disks.HELP.split())
    for kind, size in disks.DEFAULT_BYTES.items():
        if not size:  # the model's
            continue
        gib, mib = size >> 30, size >> 20
        assert f"{gib}G" if gib else f"{mib}M" in text
        clause = next(part for part in text.split("default: ")[1].split(", ") if kind in part)
        assert clause.split(")")[0].endswith(f"{gib}G" if gib else f"{mib}M")
