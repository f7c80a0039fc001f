# SPDX-License-Identifier: GPL-2.0
"""fio's options by what becomes of them."""

from __future__ import annotations

from lib.ctl.fio_jobs import fio

from spekctl.fio.options import ALIASES, ASYNCHRONOUS, MAPPED, NOT_NEEDED, REFUSED, SYNCHRONOUS


def test_every_option_is_one_of_fio() -> None:
    done = fio("--cmdhelp")
    listed = {line.split(":")[0].strip() for line in done.stdout.splitlines() if ":" in line}
    # Options of engines are listed by --enghelp; fio 3.33 is older than some others.
    of_engines = {"registerfiles", "fixedbufs", "sqthread_poll", "sqthread_poll_cpu"}
    of_engines |= {"nonvectored", "uncached", "userspace_reap", "nowait", "hipri"}
    of_engines |= {"cmdprio_percentage", "busy_poll", "port"}
    # Those of the command line only.
    of_engines |= {"eta", "status-interval"}
    lists = {*MAPPED, *NOT_NEEDED, *REFUSED}
    # Some are not in the list of all, and explained by themselves.
    rest = sorted(lists - listed - of_engines)
    unknown = [one for one in rest if "No such command" in fio(f"--cmdhelp={one}").stdout]
    assert unknown == []
    assert not MAPPED & set(NOT_NEEDED) and not MAPPED & set(REFUSED)
    assert not set(NOT_NEEDED) & set(REFUSED)


def test_a_long_name_is_listed_and_its_alias_is_not() -> None:
    lists = {*MAPPED, *NOT_NEEDED, *REFUSED}
    assert set(ALIASES.values()) <= lists
    assert not set(ALIASES) & lists


def test_an_alias_is_one_of_fio() -> None:
    unknown = [one for one in ALIASES if "No such command" in fio(f"--cmdhelp={one}").stdout]
    assert unknown == []


def test_an_engine_waits_for_each_io_or_does_not() -> None:
    assert not SYNCHRONOUS & ASYNCHRONOUS
    listed = fio("--enghelp").stdout.split()
    assert {"psync", "libaio"} <= set(listed)
