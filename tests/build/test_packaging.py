# SPDX-License-Identifier: GPL-2.0
"""What packages are made of, without making one: tests/packages builds and installs them."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from lib.build.sources import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import spekctl
from spekctl.errors import GuestError
from spekctl.vm import runner

PACKAGING = ROOT / ".ci/packaging"
DEBIAN = PACKAGING / "debian"
VERSIONED = ("dkms.conf", "kmod/version.h", "ctl/spekctl/__init__.py", ".ci/version")
SCRIPTS = sorted(
    path
    for path in (*PACKAGING.iterdir(), *DEBIAN.iterdir(), *(DEBIAN / "tests").iterdir())
    if path.is_file() and path.read_text().startswith("#!/bin/sh")
)
SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
KERNEL = "6.1.0-9-amd64"


def call(*words: str | Path, **variables: str) -> tuple[int, str]:
    """Exit code and everything that was printed."""
    done = subprocess.run(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", **variables},
    )
    return done.returncode, done.stdout


# --- one version ---------------------------------------------------------------------------------


@pytest.fixture
def versioned(tmp_path: Path) -> Path:
    """A tree of the files that state a version, of which dkms.conf has another one."""
    for name in VERSIONED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    conf = tmp_path / "dkms.conf"
    conf.write_text(conf.read_text().replace(f'"{spekctl.__version__}"', '"7.8.9"', 1))
    return tmp_path


def test_all_parts_have_the_version_of_dkms_conf() -> None:
    assert call(ROOT / ".ci/version", "--check") == (0, "")
    assert call(ROOT / ".ci/version") == (0, f"{spekctl.__version__}\n")
    for folder in ("kmod/load", "kmod/drive", "prober"):
        text = (ROOT / folder / "main.c").read_text()
        assert re.findall(r"MODULE_VERSION\((.*)\)", text) == ["SPEK_VERSION"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "spekctl.__version__"}


def test_another_version_is_noticed_and_spread(versioned: Path) -> None:
    script = versioned / ".ci/version"

    assert call(script, "--check") == (
        1,
        "version: kmod/version.h is not that of dkms.conf (7.8.9); run make gen\n",
    )
    assert call(script, "--write") == (0, "")
    assert call(script, "--check") == (0, "")
    assert '"7.8.9"' in (versioned / "kmod/version.h").read_text()
    assert '__version__ = "7.8.9"' in (versioned / "ctl/spekctl/__init__.py").read_text()


def test_a_dkms_conf_without_a_version_is_refused(versioned: Path) -> None:
    (versioned / "dkms.conf").write_text('PACKAGE_NAME="spek"\n')

    code, said = call(versioned / ".ci/version")
    assert (code, said) == (1, 'version: dkms.conf has no line PACKAGE_VERSION="X.Y.Z"\n')


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_clean(path: Path) -> None:
    assert call("shellcheck", path) == (0, "")


def control() -> dict[str, dict[str, str]]:
    """Fields by package; those of the source package by the empty name."""
    packages = {}
    for block in (DEBIAN / "control").read_text().strip().split("\n\n"):
        fields = dict(re.findall(r"(?ms)^(\S+):(.*?)(?=^\S|\Z)", block + "\n"))
        fields = {name: value.strip() for name, value in fields.items()}
        packages[fields.get("Package", "")] = fields
    return packages


def test_there_are_the_three_packages() -> None:
    packages = control()

    assert {name: fields.get("Architecture") for name, fields in packages.items()} == {
        "": None,
        "spek-dkms": "all",
        "spekctl": "any",
        "spek-daq": "any",
    }
    # Headers are recommended only: Proxmox and others have theirs in packages of other names.
    assert "linux-headers" not in packages["spek-dkms"]["Depends"]
    assert "linux-headers" in packages["spek-dkms"]["Recommends"]


def is_essential(package: str) -> bool:
    """Whether each Debian system has @package, so that no other package names it."""
    return call("dpkg-query", "-W", "-f", "${Essential}", package) == (0, "yes")


def test_what_a_guest_needs_is_suggested_and_there_for_the_demo(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *words, **more: None)
    with pytest.raises(GuestError, match=r"a guest needs .*: apt-get install ") as refusal:
        runner.check_tools()
    match = re.search(r"apt-get install (.*)$", refusal.value.message)
    assert match
    needed = {name for name in match[1].split() if not is_essential(name)}
    tests = dict(
        re.findall(r"(?m)^Tests: (\w+)\nDepends: (.*)$", (DEBIAN / "tests/control").read_text())
    )

    assert needed <= set(control()["spekctl"]["Suggests"].split(", "))
    assert needed <= set(tests["demo"].split(", "))


def test_the_package_is_built_with_what_make_deps_installs() -> None:
    script = (ROOT / ".ci/packages").read_text()
    match = re.search(r'(?m)^daq="(.*)"$', script)
    assert match
    needed = {word for word in match[1].split() if word.endswith("-dev")}

    assert needed <= set(re.findall(r"[\w+.-]+", control()[""]["Build-Depends"]))


def test_pins_are_what_pyproject_allows() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    match = re.search(r"(?m)^extras = (.*)$", (DEBIAN / "rules").read_text())
    assert match
    text = (PACKAGING / "requirements.txt").read_text()
    pinned = {canonicalize_name(n): v for n, v in re.findall(r"(?m)^([\w.-]+)==(\S+) \\$", text)}
    extras = project["optional-dependencies"]
    wanted = [
        *project["dependencies"],
        *(extra for name in match[1].split(",") for extra in extras[name]),
    ]

    assert set(match[1].split(",")) == set(extras) - {"test"}
    for requirement in map(Requirement, wanted):
        assert pinned[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_an_rpm_is_built_in_a_clone_with_a_space_in_its_path(tmp_path: Path) -> None:
    """rpm splits the paths that it is given: they have none."""
    clone = tmp_path / "my clone"
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    shutil.copy2(PACKAGING / "build", clone / ".ci/packaging/build")
    (tmp_path / "bin").mkdir()
    rpmbuild = tmp_path / "bin/rpmbuild"
    rpmbuild.write_text(
        """#!/bin/sh
        for word; do :; done
        [ -e $word ] || exit 1
        while [ "$1" != --define ]; do shift; done
        top=${2#_topdir }
        mkdir -p $top/RPMS/noarch && touch $top/RPMS/noarch/spek-dkms.rpm
        """
    )
    rpmbuild.chmod(0o755)

    code, said = call(clone / ".ci/packaging/build", "rpm", PATH=f"{tmp_path}/bin:/usr/bin:/bin")

    assert code == 0, said
    assert [path.name for path in (clone / "out/packages/rpm").iterdir()] == ["spek-dkms.rpm"]


# --- refusals ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of the last commit."""
    path = tmp_path_factory.mktemp("packaging") / "clone"
    subprocess.run(["git", "clone", "-q", ROOT, path], check=True)
    return path


def test_a_package_that_does_not_exist_is_refused() -> None:
    assert call(PACKAGING / "build", "snap") == (
        2,
        "packaging: there is no package 'snap' (wheel, deb, rpm)\n",
    )


def test_packages_need_a_commit(tmp_path: Path) -> None:
    shutil.copytree(PACKAGING, tmp_path / ".ci/packaging")

    code, said = call(tmp_path / ".ci/packaging/build", "deb")
    assert code == 2
    assert said == (
        f"packaging: packages are built from a commit, and {tmp_path} is not a clone of the"
        " repository\n"
    )


def test_a_release_of_uncommitted_changes_is_refused(clone: Path) -> None:
    (clone / "new").write_text("")
    try:
        code, said = call(clone / ".ci/packaging/release")
    finally:
        (clone / "new").unlink()

    assert (code, said) == (
        1,
        "release: the tree has changes that no commit has (git status);"
        " commit them or remove them first\n",
    )
    assert not (clone / "out").exists()


def test_a_release_that_exists_is_refused(clone: Path) -> None:
    tag = f"v{spekctl.__version__}"
    subprocess.run(["git", "-C", clone, "tag", tag], check=True)
    try:
        code, said = call(clone / ".ci/packaging/release", DRY_RUN="1")
    finally:
        subprocess.run(["git", "-C", clone, "tag", "-d", tag], check=True, capture_output=True)

    assert code == 1
    assert said == (
        f"release: the tag {tag} exists already; the next release needs another PACKAGE_VERSION in"
        " dkms.conf (then make gen)\n"
    )


def test_the_changelog_has_the_commits_since_the_last_release(clone: Path) -> None:
    git: list[str | Path] = [
        "git",
        "-C",
        clone,
        "-c",
        "user.name=test",
        "-c",
        "user.email=test@example.org",
    ]
    subprocess.run([*git, "tag", "v0.0.1"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "load: go faster"], check=True)

    code, said = call(clone / ".ci/packaging/changelog", "text")
    assert code == 0
    assert said.splitlines()[0].endswith(", since v0.0.1")
    assert said.splitlines()[-2:] == ["", "- load: go faster"]
    assert "\n  * load: go faster\n" in call(clone / ".ci/packaging/changelog", "debian")[1]
    assert call(clone / ".ci/packaging/changelog", "rpm")[1].splitlines()[2:] == [
        "- load: go faster"
    ]
    assert call(clone / ".ci/packaging/changelog", "html") == (
        2,
        "changelog: there is no form 'html' (text, debian, rpm)\n",
    )


def test_the_maintainer_has_one_home(clone: Path) -> None:
    """Release notes name it, and say so where it is no real address."""
    home = clone / ".ci/packaging/maintainer"
    text = home.read_text()
    stated = dict(re.findall(r"(?m)^(\w+): (.*)$", text))
    notes = call(clone / ".ci/packaging/changelog", "text")[1]
    assert f"\nMaintainer: {stated['Maintainer']}\nHome page: {stated['Homepage']}\n" in notes
    assert ("placeholders" in notes) == ("example.org" in "".join(stated.values()))
    try:
        home.write_text("Maintainer: A B <a@b.test>\nHomepage: https://b.test\n")
        notes = call(clone / ".ci/packaging/changelog", "text")[1]
        assert "\nMaintainer: A B <a@b.test>\nHome page: https://b.test\n\n" in notes
        for form in ("debian", "rpm"):
            assert "A B <a@b.test>" in call(clone / ".ci/packaging/changelog", form)[1]
    finally:
        home.write_text(text)
    others = [*(PACKAGING / "rpm").iterdir(), *DEBIAN.iterdir(), *PACKAGING.iterdir()]
    named = {path.name for path in others if path.is_file() and "example.org" in path.read_text()}
    assert named - {"changelog"} <= {"maintainer"}  # which knows placeholders by it


def test_packages_that_are_not_there_are_not_linted(tmp_path: Path) -> None:
    assert call(PACKAGING / "lint", tmp_path) == (
        2,
        f"lint: {tmp_path} has no packages of Debian; make deb builds them\n",
    )


# --- what the modules lack -----------------------------------------------------------------------


class Box:
    """A directory like a machine's root, with a mokutil that knows some keys."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.put("proc/sys/kernel/osrelease", f"{KERNEL}\n")
        self.put("etc/debian_version", "12.1\n")
        self.knows("is not enrolled")

    def put(self, name: str, text: str = "") -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def knows(self, answer: str) -> None:
        self.put("bin/mokutil", f'#!/bin/sh\necho "$2 {answer}"\n')
        (self.root / "bin/mokutil").chmod(0o755)

    def says(self) -> str:
        words = (PACKAGING / "check-modules", "0.1.0", self.root)
        code, said = call(*words, PATH=f"{self.root}/bin:/usr/bin:/bin")
        assert code == 0
        return said


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """A machine on which all is well."""
    box = Box(tmp_path)
    box.put(f"lib/modules/{KERNEL}/build/Makefile")
    box.put(f"lib/modules/{KERNEL}/updates/dkms/spek.ko.xz")
    return box


def test_where_all_is_well_nothing_is_said(box: Box) -> None:
    assert box.says() == ""
    box.put(SECURE_BOOT, "\6\0\0\0\0")
    assert box.says() == ""


def test_missing_headers_are_named(box: Box) -> None:
    (box.root / f"lib/modules/{KERNEL}/build/Makefile").unlink()
    assert f"    apt-get install linux-headers-{KERNEL}\n" in box.says()
    (box.root / "etc/debian_version").unlink()
    assert f"    dnf install kernel-devel-{KERNEL}\n" in box.says()


def test_a_failed_build_is_told_from_missing_headers(box: Box) -> None:
    (box.root / f"lib/modules/{KERNEL}/updates/dkms/spek.ko.xz").unlink()
    said = box.says()
    assert "/var/lib/dkms/spek/0.1.0/build/make.log" in said
    assert "headers" not in said


def test_the_key_to_enrol_is_the_one_that_dkms_signs_with(box: Box) -> None:
    box.put(SECURE_BOOT, "\6\0\0\0\1")
    assert "dkms makes that key when it builds" in box.says()
    box.put("var/lib/dkms/mok.pub")
    assert "    mokutil --import /var/lib/dkms/mok.pub\n" in box.says()
    assert "dkms makes that key" not in box.says()
    box.put("var/lib/shim-signed/mok/MOK.der")
    assert "    mokutil --import /var/lib/shim-signed/mok/MOK.der\n" in box.says()
    box.put("etc/dkms/framework.conf.d/key.conf", 'mok_certificate="/root/mine.der"\n')
    assert "    mokutil --import /root/mine.der\n" in box.says()


def test_an_enrolled_key_is_no_matter(box: Box) -> None:
    box.put(SECURE_BOOT, "\6\0\0\0\1")
    box.knows("is already enrolled")
    assert box.says() == ""
