# SPDX-License-Identifier: GPL-2.0
"""fio's options by what becomes of them."""

from __future__ import annotations

import pytest
from lib.ctl.fio_jobs import fio

from spekctl.fio import options
from spekctl.fio.options import ALIASES, ASYNCHRONOUS, MAPPED, NOT_NEEDED, REFUSED, SYNCHRONOUS

# Options that fio has since 3.33, those that it ignores, of profiles and of the command line.
OTHERS = frozenset(
    (
        *("comm", "dataplacement", "dp_scheme", "fdp", "plids", "plid_select", "priohint"),
        *("end_syncfs", "flow_watermark", "job_start_clock_id", "log_issue_time", "ramp_size"),
        *("log_window_value", "num_range", "random_sequence_stride", "thinkcycles"),
        *("steadystate_check_interval", "verify_header_seed", "verify_pattern_interval"),
        *("verify_write_sequence", "filetype", "percentage_sequential", "rwmixcycle"),
        *("verifysort", "verifysort_nr", "threads", "eta", "status-interval"),
        *("write_mode", "read_mode", "verify_mode", "verify_bytchk", "pi_act", "pi_chk", "apptag"),
        *("apptag_mask", "md_per_io_size", "sprandom", "spr_num_regions", "spr_op", "spr_cs"),
        *("recover_zbd_write_error", "write_zone_remainder", "cmdprio_hint", "deac", "cdb_len"),
        *("verify_policy", "libaio_vectored"),
    )
)


def known(option: str) -> bool:
    done = fio(f"--cmdhelp={option}")
    return "No such command" not in done.stdout + done.stderr


def test_every_option_is_one_of_fio() -> None:
    listed = {line.split(":")[0].strip() for line in fio("--cmdhelp").stdout.splitlines()}
    for engine in fio("--enghelp").stdout.split()[3:]:
        text = fio(f"--enghelp={engine}").stdout
        listed |= {line.split(":")[0].strip() for line in text.splitlines()}
    assert "cmdprio" in listed
    lists = {*MAPPED, *NOT_NEEDED, *REFUSED}
    # Some are not in the list of all, and explained by themselves.
    assert {option for option in lists - listed if not known(option)} == OTHERS
    assert not MAPPED & set(NOT_NEEDED) and not MAPPED & set(REFUSED)
    assert not set(NOT_NEEDED) & set(REFUSED)


def test_every_option_of_fio_is_in_a_list() -> None:
    listed = {line.split(":")[0].strip() for line in fio("--cmdhelp").stdout.splitlines()}
    unknown = listed - {*MAPPED, *NOT_NEEDED, *REFUSED, *ALIASES} - {""}
    assert "rw" in listed and unknown == set()


def test_a_long_name_is_listed_and_its_alias_is_not() -> None:
    lists = {*MAPPED, *NOT_NEEDED, *REFUSED}
    assert set(ALIASES.values()) <= lists
    assert not set(ALIASES) & lists


def test_an_alias_is_one_of_fio() -> None:
    later = ["ss_interval", "data_placement", "fdp_pli", "fdp_pli_select"]
    assert [alias for alias in ALIASES if not known(alias)] == later


def test_an_engine_waits_for_each_io_or_does_not() -> None:
    assert not SYNCHRONOUS & ASYNCHRONOUS
    listed = fio("--enghelp").stdout.split()
    assert {"psync", "libaio"} <= set(listed)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("iodepths", "iodepth"),
        ("block_size", "bs"),
        ("duration", "runtime"),
        ("device", "filename"),
        ("iops", "rate_iops"),
        # Of nothing that is like it: no name at all, not a far one.
        ("frobnicate", None),
        ("descr", None),
    ],
)
def test_a_hint_names_what_is_meant(wrong: str, meant: str | None) -> None:
    assert options.hint(wrong) == ("" if meant is None else f"; did you mean '{meant}'?")


@pytest.mark.parametrize("reason", sorted({*REFUSED.values()}))
def test_a_refusal_says_what_to_do(reason: str) -> None:
    verbs = ("leave it out", "give ", "make ", "convert ", "check ", "precondition ", "set ")
    assert any(verb in reason for verb in verbs)
