# SPDX-License-Identifier: GPL-2.0
"""What compilers say of a file, asked again only once it, a header, or the compiler has changed."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from lib.build.compiled import version
from lib.build.sources import ROOT
from lib.kept import unless_refused

from spekctl.vm.cache import cache_dir, digest_of


def complaints(command: Sequence[str], source: Path) -> str:
    """What the compiler says of @source; empty if it is content, which is kept. @command compiles
    without the name of a source."""
    # Comments count: one of them says that a case falls through.
    words = [*command, "-E", "-P", "-CC", "-o", "-", str(source)]
    read = subprocess.run(words, capture_output=True, check=False)
    if read.returncode:
        return read.stderr.decode(errors="replace") or f"exit code {read.returncode}"
    own = [word.replace(str(ROOT), "") for word in command]
    name = digest_of(ROOT, [source], version(command[0]), *own, read.stdout.decode("latin-1"))
    with unless_refused():
        if (cache_dir("silent") / name).exists():
            return ""
    words = [*command, "-c", "-o", "/dev/null", str(source)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr or f"exit code {done.returncode}"
    with unless_refused():
        (cache_dir("silent") / name).touch()
    return ""
