# SPDX-License-Identifier: GPL-2.0
"""The modules build without a warning, rebuild only what changed, and never mix two kernels."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lib.build import checked as checked_modules
from lib.build.checked import Checked, warnings_for
from lib.build.sources import ROOT, copy_sources
from lib.harness.kernels import STOCK_KERNELS

from spekctl.vm.kernels import Kernel, find_kernel, version_key
from spekctl.vm.modules import AUGMENT, DRIVE, NAMES, WHERE_POSSIBLE, make_command

MODULES = (*NAMES, *WHERE_POSSIBLE)
PROBER = NAMES[1]
FOREIGN = Path(".venv/lib/libnpymath.a")  # not a build's, whatever it ends in
COMPLAINT = re.compile(r"warning:|error:|WARNING|ERROR")


def run(*command: str, cwd: Path | None = None) -> tuple[int, str]:
    """Exit code and everything that was printed."""
    done = subprocess.run(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


def make(tree: Path, kernel: Kernel, *words: str) -> tuple[int, str]:
    return run("make", f"KDIR={kernel.headers}", *words, cwd=tree)


CONTROLS = {"self_yes", "self_no", "self_no_export"}


def copy_with_probes(to: Path, *names: str) -> Path:
    """The sources with the controls and with @names alone of the probes."""
    tree = copy_sources(to)
    for path in (tree / "kmod/compat/probes").glob("*.c"):
        if path.stem not in (*CONTROLS, "needed_end_io", *names):
            path.unlink()
    return tree


@pytest.fixture(scope="session")
def built(label: str, each_kernel: Kernel) -> Checked:
    checked = checked_modules.build(each_kernel, label)
    assert checked.code == 0, checked.output
    return checked


def test_compiler_and_sparse_are_silent(built: Checked, label: str) -> None:
    assert [line for line in built.output.splitlines() if COMPLAINT.search(line)] == []
    assert ("CHECK " in built.output) == ("C=1" in warnings_for(label))
    assert all((built.tree / name).exists() for name in MODULES)


def test_modules_are_for_the_kernel_asked_for(built: Checked, each_kernel: Kernel) -> None:
    for name in MODULES:
        code, magic = run("/sbin/modinfo", "-F", "vermagic", str(built.tree / name))
        assert (code, magic.split()[0]) == (0, each_kernel.release)


def test_auto_may_choose_mq_on_the_kernels_of_the_tests(built: Checked) -> None:
    """With a newer series of the newest kernel this fails: run the guest tests on it with back end
    mq, then enter it into kmod/compat/series.h."""
    module = built.tree / "spek.ko"
    assert run("/sbin/modinfo", "-F", "mq_caveat", str(module)) == (0, "\n")
    assert b"The device is request-based (blk-mq)." in module.read_bytes()
    assert b"The configuration selects it. " not in module.read_bytes()


def test_auto_never_chooses_mq_on_a_vendor_kernel(tmp_path: Path) -> None:
    """The compiler then finds nobody who could say that the device is request-based."""
    tree = copy_sources(tmp_path / "tree")
    *words, _ = make_command(
        find_kernel(STOCK_KERNELS[1]), tree, "KCFLAGS=-DRHEL_RELEASE_CODE=2561"
    )

    code, output = run(*words, "kmod/load/submit.o")

    assert code == 0, output
    chooses = (tree / "kmod/load/submit.o").read_bytes()
    caveat = chooses.partition(b"mq_caveat=")[2].partition(b"\0")[0]
    assert b"untested on vendor kernels" in caveat
    assert b"The configuration selects it. " + caveat + b"\0" in chooses
    assert b"The device is request-based (blk-mq)." not in chooses


def test_modules_need_no_other_module(built: Checked, each_kernel: Kernel) -> None:
    """They load where there is no SCSI layer, for one; but drives are SCSI disks, and the cache is
    a target of device mapper, with checksums that were in a module before v6.15."""
    crc32c = ",libcrc32c" if version_key(each_kernel.label) < version_key("6.15") else ""
    needed = {DRIVE: "scsi_mod", AUGMENT: f"dm-mod{crc32c}"}
    for name in MODULES:
        depends = needed.get(name, "") + "\n"
        assert run("/sbin/modinfo", "-F", "depends", str(built.tree / name)) == (0, depends)


def test_second_make_rebuilds_nothing(built: Checked, each_kernel: Kernel, label: str) -> None:
    tree = built.tree
    before = {path: path.stat().st_mtime_ns for path in tree.rglob("*.[ok]*")}

    code, output = make(tree, each_kernel, *warnings_for(label))

    assert code == 0
    assert re.findall(r"(?m)^ +(?:CC|LD|PROBE|UPD|CHECK).*$", output) == []
    assert {path: path.stat().st_mtime_ns for path in tree.rglob("*.[ok]*")} == before


def test_probes_give_answers_and_keep_their_logs(built: Checked) -> None:
    probes = built.tree / "kmod/compat/probes"
    answers = {path.stem: path.read_text().strip() for path in probes.glob("*.answer")}

    assert answers.keys() == {path.stem for path in probes.glob("*.c")}
    assert set(answers.values()) == {"yes", "no"}
    assert answers["self_yes"] == "yes"
    assert "spek_compat_no_kernel_has_this_function" in (probes / "self_no.log").read_text()


# First version with a yes, and the first one with a no again; stable kernels may be ahead. A kernel
# in whose headers the answer is another one, or a probe that says no for its own fault, shows here.
ANSWERS: dict[str, tuple[str, str | None]] = {
    "alloc_disk_limits": ("6.9", None),
    "atomic_write": ("6.11", None),
    "bdev_file": ("6.9", None),
    "bdev_fput": ("6.9", None),
    "bdev_handle": ("6.7", "6.9"),
    "bio_write_hint": ("6.9", None),
    "blk_open_mode": ("6.5", None),
    "bvec_iter_offset": ("7.3", None),
    "class_interface_dev": ("6.4", None),
    "end_io_batch": ("7.0", None),
    "feat_poll": ("6.11", None),
    "fput_sync": ("5.18", None),
    "genl_info_dump": ("6.6", None),
    "genl_mcast_bit": ("6.7", "6.8"),
    "genl_mcast_flags": ("6.1", None),  # v6.8, and stable kernels since 6.1.68
    "holder_ops": ("6.5", None),
    "hrtimer_setup": ("6.13", None),
    "integrity_action": ("7.1", None),
    "irq_stat_counts": ("7.2", None),
    "mark_dead_surprise": ("6.6", None),
    "needed_end_io": ("6.1", None),
    "plug_time": ("6.9", None),
    "poll_nsec": ("5.0", "6.4"),
    "queue_hctx": ("6.19", None),
    "request_gap_bit": ("6.19", None),
    "request_ioprio": ("5.0", "6.12"),  # v6.13, and 6.12.y
    "request_sched_tags": ("6.5", None),
    "request_write_hint": ("5.0", "6.12"),  # v6.13, and 6.12.y
    "rq_list": ("6.12", None),  # v6.13, and 6.12.y
    "self_no": ("99", None),
    "self_no_export": ("99", None),
    "self_yes": ("5.0", None),
    "start_io_acct_op": ("6.3", None),
    "sts_zone_resource": ("5.0", "6.9"),
}


def test_each_probe_is_documented() -> None:
    """With its kernel API and what is lost without it."""
    text = (ROOT / "kmod/README.md").read_text()
    rows = [line.split("|")[1] for line in text.splitlines() if line.count("|") == 5]
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(set(named) & ANSWERS.keys()) == sorted(ANSWERS.keys() - CONTROLS)


def test_probes_answer_as_their_kernel_has_to(built: Checked, each_kernel: Kernel) -> None:
    here = version_key(each_kernel.label)
    wanted = {
        name: "yes"
        if version_key(first) <= here and (last is None or here < version_key(last))
        else "no"
        for name, (first, last) in ANSWERS.items()
    }
    probes = built.tree / "kmod/compat/probes"

    assert {path.stem: path.read_text().strip() for path in probes.glob("*.answer")} == wanted


def undefined_in(file: Path) -> set[str]:
    return set(run("nm", "-u", str(file))[1].split())


def test_a_device_is_closed_without_a_look_at_other_files(
    built: Checked, each_kernel: Kernel
) -> None:
    """flush_delayed_fput() closes what others have left to it, and does not wait for a file that
    the work item has already taken."""
    has_files = version_key(each_kernel.label) >= version_key("6.9")
    wanted = {"__fput_sync"} if has_files else set()
    assert undefined_in(built.tree / "spek.ko") & {"__fput_sync", "flush_delayed_fput"} == wanted


def test_a_function_that_is_not_exported_is_done_without(tmp_path: Path) -> None:
    """Its header declares it, so that the probe compiles."""
    tree = copy_sources(tmp_path / "tree")
    probe = tree / "kmod/compat/probes/fput_sync.c"
    text = probe.read_text()
    probe.write_text(text.replace("exported: __fput_sync", "exported: __fput_of_tomorrow"))
    *words, _ = make_command(find_kernel(STOCK_KERNELS[1]), tree, "W=1")

    code, output = run(*words, "kmod/compat/bdev.o")

    assert code == 0, output
    assert [line for line in output.splitlines() if COMPLAINT.search(line)] == []
    undefined = undefined_in(tree / "kmod/compat/bdev.o")
    assert undefined & {"__fput_sync", "flush_delayed_fput"} == {"flush_delayed_fput"}
    log = (tree / "kmod/compat/probes/fput_sync.log").read_text()
    assert log == "not exported to all modules: __fput_of_tomorrow\n"


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("#include <linux/blkdev.h>", "#include <linux/no_such.h>", "No such file or directory"),
        ("struct gendisk *probe(void);", "struct gendisk *probe(void)", "expected"),
        ("NUMA_NO_NODE", "NUMA_SOME_NODE", "'NUMA_SOME_NODE' undeclared"),
    ],
)
def test_a_probe_that_fails_for_another_reason_stops_the_build(
    tmp_path: Path, old: str, new: str, error: str
) -> None:
    """It would answer no on each kernel, and choose code for a kernel that has not got it."""
    tree = copy_with_probes(tmp_path / "tree", "alloc_disk_limits")
    probe = tree / "kmod/compat/probes/alloc_disk_limits.c"
    probe.write_text(probe.read_text().replace(old, new, 1))

    code, output = run(*make_command(find_kernel(STOCK_KERNELS[1]), tree))

    said = [line for line in output.splitlines() if line.startswith("spek: ")]
    assert code != 0
    assert len(said) == 1, output
    assert said[0].startswith(
        "spek: probe alloc_disk_limits failed for a reason it does not ask about (see "
    )
    assert error in said[0]
    assert not (tree / "kmod/compat/spek_have.h").exists()


def test_a_kernel_without_what_is_needed_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """No other probe is asked, whose sentences would hide it, and nothing is compiled."""
    tree = copy_sources(tmp_path / "tree")
    probe = tree / "kmod/compat/probes/needed_end_io.c"
    probe.write_text(probe.read_text().replace("rq_end_io_ret", "rq_end_io_of_tomorrow"))
    kernel = find_kernel(STOCK_KERNELS[1])

    code, output = run(*make_command(kernel, tree, "-k"))

    said = [line for line in output.splitlines() if line.startswith("spek: ")]
    assert code != 0
    assert said == [
        f"spek: kernel {kernel.release} has no rq_end_io_of_tomorrow, which Linux has since 6.1 and"
        " spek needs: nothing is built."
    ]
    assert "error:" not in output
    assert len(list(tree.rglob("*.answer"))) == 0
    assert list(tree.rglob("*.o")) == []


def test_compilers_that_refuse_the_flags_stop_the_build(tmp_path: Path) -> None:
    tree = copy_sources(tmp_path / "tree")

    code, output = run(*make_command(find_kernel(STOCK_KERNELS[1]), tree, "KCFLAGS=-fno-such-flag"))

    assert code != 0
    assert "failed for a reason it does not ask about" in output


STACKING = "CONFIG_BLK_MQ_STACKING"


@pytest.mark.at_length
def test_modules_build_without_stacking(tmp_path: Path) -> None:
    """A kernel without device mapper has no CONFIG_BLK_MQ_STACKING and does not export what puts
    requests into its queues: the module must load there all the same."""
    kernel = find_kernel(STOCK_KERNELS[1])
    headers = tmp_path / "headers" / kernel.headers.name
    shutil.copytree(
        kernel.headers, headers, symlinks=True, ignore=shutil.ignore_patterns("vmlinux")
    )
    for link in (path for path in headers.iterdir() if path.is_symlink()):
        target = (kernel.headers / link.name).resolve()
        link.unlink()
        link.symlink_to(target)
    makefile = headers / "Makefile"
    here = "$(dir $(realpath $(lastword $(MAKEFILE_LIST))))../"
    makefile.write_text(
        makefile.read_text().replace(f"include {here}", f"include {kernel.headers.parent}/")
    )
    for name in ("include/generated/autoconf.h", "include/config/auto.conf", ".config"):
        path = headers / name
        kept = [line for line in path.read_text().splitlines() if STACKING not in line]
        path.write_text("\n".join(kept) + "\n")
    # What such a kernel does not export; modpost refuses to link to anything else.
    symvers = headers / "Module.symvers"
    lines = symvers.read_text().splitlines(keepends=True)
    gone = {"blk_insert_cloned_request", "blk_rq_prep_clone", "blk_rq_unprep_clone"}
    symvers.write_text("".join(line for line in lines if line.split("\t")[1] not in gone))
    assert len(lines) - len(symvers.read_text().splitlines()) == len(gone)
    tree = copy_sources(tmp_path / "tree")
    bare = Kernel(kernel.release, kernel.image, headers, None, "test")

    *words, _ = make_command(bare, tree, "W=1")

    code, output = run(*words, "spek.ko")  # the only one that submits requests

    assert code == 0, output
    assert [line for line in output.splitlines() if COMPLAINT.search(line)] == []
    undefined = run("nm", "-u", str(tree / "spek.ko"))[1].split()
    assert not gone.intersection(undefined)
    strings = (tree / "spek.ko").read_bytes()
    assert STACKING.encode() in strings  # why mq and scsi refuse


def test_nothing_is_built_for_a_32_bit_kernel(tmp_path: Path) -> None:
    tree = copy_sources(tmp_path / "tree")

    _, output = run(*make_command(find_kernel(STOCK_KERNELS[1]), tree, "CONFIG_64BIT="))

    assert "spek: this kernel is a 32-bit one, and spek needs CONFIG_64BIT: nothing is built." in (
        re.sub(r"^[^ ]*Kbuild:\d+: ", "", line) for line in output.splitlines()
    )
    assert [path.name for path in tree.rglob("*.o")] == []
    assert [path.name for path in tree.glob("*.ko")] == []


def test_make_refuses_a_32_bit_kernel(tmp_path: Path) -> None:
    """What dkms runs where it does not know BUILD_EXCLUSIVE_CONFIG."""
    tree = copy_sources(tmp_path / "tree")
    headers = tmp_path / "headers"
    (headers / "include/config").mkdir(parents=True)
    (headers / "Makefile").touch()
    (headers / "include/config/auto.conf").write_text("CONFIG_MODULES=y\nCONFIG_X86_32=y\n")

    code, output = run("make", f"KDIR={headers}", "modules", cwd=tree)

    assert code != 0
    assert f"the kernel in {headers} is a 32-bit one, and spek needs CONFIG_64BIT." in output


@pytest.mark.parametrize(
    ("control", "replacement", "complaint"),
    [
        ("self_yes", "self_no", "probing is broken, see"),
        ("self_no", "self_yes", "a function that does not exist compiles"),
        ("self_no_export", "self_yes", "a function that does not exist is exported"),
    ],
)
def test_broken_probing_fails_the_build(
    kernel: Kernel, tmp_path: Path, control: str, replacement: str, complaint: str
) -> None:
    tree = copy_with_probes(tmp_path / "tree")
    probes = tree / "kmod/compat/probes"
    (probes / f"{control}.c").write_text((probes / f"{replacement}.c").read_text())

    code, output = run(*make_command(kernel, tree))

    assert code != 0
    assert complaint in output


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A tree in which a module was built for the first kernel and then for the second one, and what
    probes answered on each."""
    tree = copy_sources(tmp_path_factory.mktemp("rebuilt") / "tree")
    answers = []
    for label in STOCK_KERNELS:
        *words, _ = make_command(find_kernel(label), tree)
        code, output = run(*words, PROBER)
        assert code == 0, output
        answers.append((tree / "kmod/compat/spek_have.h").read_text())
    return tree, answers


def test_another_kernel_starts_afresh(rebuilt: tuple[Path, list[str]]) -> None:
    tree, answers = rebuilt

    magic = run("/sbin/modinfo", "-F", "vermagic", str(tree / PROBER))[1]

    assert magic.split()[0] == find_kernel(STOCK_KERNELS[1]).release
    assert answers[0] != answers[1]


def files_in(tree: Path) -> set[Path]:
    return {path.relative_to(tree) for path in tree.rglob("*") if path.is_file()}


def test_clean_leaves_the_sources_only(rebuilt: tuple[Path, list[str]], tmp_path: Path) -> None:
    tree, _ = rebuilt
    (tree / FOREIGN).parent.mkdir(parents=True)
    (tree / FOREIGN).touch()

    assert run("make", "clean", cwd=tree)[0] == 0

    assert files_in(tree) == files_in(copy_sources(tmp_path / "tree")) | {FOREIGN}


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("debian", "apt-get install linux-headers-6.99.9-test"),
        ("fedora", "dnf install kernel-devel-6.99.9-test"),
        ("unknown", "install the headers of kernel 6.99.9-test"),
    ],
)
def test_missing_headers_are_named(name: str, command: str, tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text(f"ID={name}\n")
    words = ["KDIR=/nonexistent/build", "KVER=6.99.9-test", f"machine={tmp_path}"]
    code, output = run("make", *words, cwd=ROOT)

    assert code == 2
    assert "there are no headers of kernel 6.99.9-test" in output
    assert f"  Install them:           {command}\n" in output


def test_without_python_missing_headers_are_named_all_the_same(tmp_path: Path) -> None:
    for tool in ("make", "sh", "nproc", "uname", "sed", "cat", "tr"):
        path = shutil.which(tool)
        assert path
        (tmp_path / tool).symlink_to(path)
    words = ["KDIR=/nonexistent/build", "KVER=6.99.9-test", f"PATH={tmp_path}"]
    code, output = run("make", *words, cwd=ROOT)

    assert code == 2
    assert "  Install them:           they are a package of the distribution\n" in output


def test_modules_contain_every_source(built: Checked) -> None:
    tree = built.tree
    # Objects by their places, absolute or in the tree.
    linked = {
        os.path.relpath((tree / line).with_suffix(".c"), tree)
        for module in MODULES
        for line in (tree / module).with_suffix(".mod").read_text().split()
    }
    sources = {
        str(path.relative_to(tree))
        for folder in ("kmod", "prober")
        for path in (tree / folder).rglob("*.c")
        if path.parent.name != "probes"
    }

    assert linked == sources


def test_only_compat_knows_that_kernels_differ() -> None:
    pattern = re.compile(r"SPEK_HAVE_|LINUX_VERSION_CODE|KERNEL_VERSION\(")
    for path in [*(ROOT / "kmod").rglob("*.[ch]"), *(ROOT / "prober").rglob("*.[ch]")]:
        if "compat" not in path.parts and not path.name.endswith(".mod.c"):
            assert not pattern.search(path.read_text()), path


def test_each_probe_cites_its_commit() -> None:
    for path in (ROOT / "kmod/compat/probes").glob("*.c"):
        first = path.read_text().splitlines()[0]
        if not path.name.startswith("self_"):
            assert re.fullmatch(r'/\* .*v\d+\.\d+.*, [0-9a-f]{12} \(".+"\) \*/', first), path


def test_each_probe_names_what_it_asks_about() -> None:
    """Words of it: they are in the compiler's error, as fixed strings."""
    for path in (ROOT / "kmod/compat/probes").glob("*.c"):
        if path.name == "self_yes.c":
            continue  # no kernel may lack anything of it
        second = path.read_text().splitlines()[1]
        words = re.fullmatch(r"/\* asks about: ([\w ]+) \*/", second)
        assert words, path
