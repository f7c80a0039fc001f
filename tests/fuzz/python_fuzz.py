# SPDX-License-Identifier: GPL-2.0
"""One Python target under atheris: coverage of spekctl's own code and of the parsers in Python.

python -m fuzz.python_fuzz TARGET [libFuzzer's options] [folders of seeds]
"""

from __future__ import annotations

import contextlib
import sys


def main(words: list[str]) -> None:
    """Never returns: libFuzzer ends the process."""
    import atheris

    from fuzz.python_targets import TARGETS, run

    target = TARGETS[words[1]]
    with atheris.instrument_imports(include=["spekctl", "tomllib", "tomlkit"]):
        import tomllib  # noqa: F401

        import tomlkit  # noqa: F401

        # Targets import what they test when they run.
        with contextlib.suppress(Exception):
            run(target, b"")

    def try_input(data: bytes) -> None:
        run(target, data)

    atheris.Setup([words[0], *words[2:]], try_input, enable_python_coverage=True)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv)
