# SPDX-License-Identifier: GPL-2.0
"""The tests that a change can break at once: what `make quick` runs.

    python .ci/changed.py [COMMIT]

prints the test files for what differs from COMMIT, or from where this branch left main, and for
what is not committed: those of the changed modules, those that import them, those of documents, and
those that name a changed file.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNIT = Path("tests/unit")
# Tests of .ci/ that take a second.
SCRIPTS = (Path("tests/build/test_packages.py"), Path("tests/build/test_packaging.py"))
# Folders without modules of spekctl, and where their tests are.
HOMES = {
    "kmod/core": UNIT / "core",
    "kmod/load/core": UNIT / "core",
    "kmod/augment/core": UNIT / "augment",
    "kmod/drive/core": UNIT / "drive",
    "kmod/drive/scsi": UNIT / "drive",
    "kmod/compat": UNIT / "compat",
    "kmod/genl": UNIT / "genl",
    "prober/core": UNIT / "prober",
    "daq": UNIT / "daq",
    "tests/lib": UNIT / "lib",
    ".ci/packaging": SCRIPTS[1],
}
PACKAGE = Path("ctl/spekctl")
DOCUMENTS = UNIT / "test_documents.py"
IMPORTERS_MAX = 30


def chosen_tests(
    changed: Iterable[Path], tests: Iterable[Path], text_of: Callable[[Path], str]
) -> tuple[list[Path], list[Path]]:
    """Of @tests, all files that there are to choose from, those of the @changed files. Return: also
    the modules that more than IMPORTERS_MAX of them import, of which only their own tests are
    among these."""
    known = set(tests)
    chosen: set[Path] = set()
    crowded = []
    for path in changed:
        if path in known:
            chosen.add(path)
        elif path.is_relative_to(PACKAGE) and path.suffix == ".py":
            inside = path.relative_to(PACKAGE)
            home = UNIT / "ctl" / inside.parent
            name = re.compile(rf"test_{re.escape(inside.stem)}(_\w+)?\.py")
            chosen |= {test for test in known if test.parent == home and name.fullmatch(test.name)}
            imports = importing(inside)
            importers = {test for test in known if imports.search(text_of(test))}
            if len(importers) > IMPORTERS_MAX:
                crowded.append(path)
            else:
                chosen |= importers
        else:
            homes = [home for folder, home in HOMES.items() if path.is_relative_to(folder)]
            chosen |= {test for test in known if any(test.is_relative_to(home) for home in homes)}
            if path.suffix == ".md":
                chosen |= known & {DOCUMENTS}
            names = naming(path)
            chosen |= {test for test in known if names.search(text_of(test))}
    return sorted(chosen), sorted(crowded)


def importing(module: Path) -> re.Pattern[str]:
    """What a file has that imports a @module of spekctl."""
    *packages, name = "spekctl", *module.with_suffix("").parts
    package, dotted = ".".join(packages), ".".join((*packages, name))
    return re.compile(
        rf"^\s*(from {re.escape(dotted)} import|import {re.escape(dotted)}\b"
        rf"|from {re.escape(package)} import \(?[\w\s,]*\b{re.escape(name)}\b)",
        re.MULTILINE,
    )


def naming(path: Path) -> re.Pattern[str]:
    """What a test has that reads or runs the file at @path, or one of the same name in another
    folder: its last two parts in a string or in two, or the name alone if it is in no folder."""
    joined = r'(?:/|" / ")'.join(map(re.escape, path.parts[-2:]))
    return re.compile(rf'["/]{joined}"')


def git(*words: str) -> list[str]:
    """The lines that git prints."""
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()


def changed_since(commit: str) -> list[Path]:
    """Files that differ from @commit, those that are new and not committed included."""
    new = git("ls-files", "--others", "--exclude-standard")
    return [Path(line) for line in [*git("diff", "--name-only", commit), *new]]


def main(words: list[str]) -> int:
    """The program."""
    try:
        since = words[0] if words else git("merge-base", "HEAD", "main")[0]
        changed = changed_since(since)
    except subprocess.CalledProcessError:
        missing = words[0] if words else "main"
        print(f"quick: git knows no commit {missing}; name one: SINCE=HEAD~3", file=sys.stderr)
        return 2
    tests = [path.relative_to(ROOT) for path in sorted((ROOT / UNIT).rglob("test_*.py"))]
    tests += SCRIPTS
    chosen, crowded = chosen_tests(changed, tests, lambda path: (ROOT / path).read_text())
    for path in crowded:
        print(
            f"quick: {path} has more than {IMPORTERS_MAX} importers: only its tests",
            file=sys.stderr,
        )
    print(*chosen, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
