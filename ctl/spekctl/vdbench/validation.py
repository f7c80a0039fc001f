# SPDX-License-Identifier: GPL-2.0-or-later
"""validate and journal: what vdbench checks of the data that it has written, and when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spekctl.vdbench.parmfile import Definition

KEYS = ("validate", "journal")
READ_BACK = (
    "{}: blocks are checked when they are read, and all that were written are read back at"
    " the end; vdbench checks those that it reads"
)
PRE_READ = READ_BACK + ", and reads a block before it writes it again"
NOT_KEPT = (
    "journal: the state of the blocks is not kept for a later run: add --verify-state FILE, or, to"
    " survive a loss of power, --state-on DEV"
)
NOTHING = "nothing is written, so that there is nothing to check"
_AT_THE_END = "all blocks are read back at the end of the run; leave it out"
# Values of a parameter and why each is refused; empty: it is imported. vdbench takes the first
# value that begins with what the file has.
_VALUES: dict[str, dict[str, str]] = {
    "validate": {
        "no": "",
        "continue_old_map": "vdbench has no longer such a run",
        "yes": "",
        "read_after_write": _AT_THE_END,
        "no_preread": "",
        "time": "",
        "ignore_zero_reads": "a block of zeroes that was not written as such is an error",
    },
    "journal": {
        "no": "",
        "yes": "",
        "recover": "check what an earlier run wrote with `spekctl verify`",
        "noflush": "",
        "maponly": "it is for the journal's own tests; leave it out",
        "only": "check what an earlier run wrote with `spekctl verify`",
        "skip_read_all": "it is for the recovery of a journal; leave it out",
        "ignore_pending": "it is for the recovery of a journal; leave it out",
    },
}
# Not to be abbreviated: journal=n is noflush, and validate=n is no.
_WHOLE = {"validate": ("time",), "journal": ("no", "maponly", "only")}


def refusals(key: str, given: Sequence[str]) -> Iterator[str]:
    """A sentence for each value of @key that is not imported."""
    for text in given:
        value = _value(key, text)
        if value == "no":
            return
        if value is None:
            yield f"{key}: '{text}' is not {', '.join(_VALUES[key])}"
        elif _VALUES[key][value]:
            yield f"{key}: {value}: {_VALUES[key][value]}"


def is_on(whole: Definition) -> bool:
    """Whether a file has its data validated: a journal implies it."""
    return bool(asked_by(whole))


def asked_by(whole: Definition) -> str:
    """The parameter by which a file has its data validated; empty: it has not."""
    validated = _values_of(whole, "validate")
    if validated and "no" not in validated:
        return "validate"
    # What stands before a no has turned validation on, if not the journal.
    journal = _values_of(whole, "journal")
    return "journal" if journal and journal[0] != "no" else ""


def not_needed(key: str, given: Sequence[str]) -> str:
    """Why a run without --verify does not need a parameter."""
    values = [_value(key, text) for text in given]
    off = "no" in (values if key == "validate" else values[:1])
    return "it is off" if off else NOTHING


def differences(whole: Definition) -> Iterator[str]:
    """What a run with --verify does otherwise."""
    yield (READ_BACK if "no_preread" in _values_of(whole, "validate") else PRE_READ).format(
        asked_by(whole)
    )
    journal = _values_of(whole, "journal")
    if journal and "no" not in journal:
        yield NOT_KEPT


def _values_of(whole: Definition, key: str) -> list[str | None]:
    return [_value(key, text) for text in whole.given.get(key, ())]


def _value(key: str, text: str) -> str | None:
    """The value that a file means; None: there is none."""
    word = text.lower()
    return next(
        (
            value
            for value in _VALUES[key]
            if word and (value == word if value in _WHOLE[key] else value.startswith(word))
        ),
        None,
    )
