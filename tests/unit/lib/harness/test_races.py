# SPDX-License-Identifier: GPL-2.0
"""KCSAN's reports: whose a race is."""

from __future__ import annotations

import re

import pytest
from lib.harness.races import accesses, races_of_others

END = "=" * 66


def report(first: list[str], second: list[str]) -> list[str]:
    """A report as the kernel prints it; stacks are functions, innermost first."""

    def frames(stack: list[str]) -> list[str]:
        return [re.sub(r"^\S+", r" \g<0>+0x12/0x340", function) for function in stack]

    second_access = [
        "",
        "read to 0xffff888004a4c0e8 of 8 bytes by interrupt on cpu 0:",
        *frames(second),
    ]
    return [
        END,
        f"BUG: KCSAN: data-race in {first[0].partition(' ')[0]}",
        "",
        "write to 0xffff888004a4c0e8 of 8 bytes by task 93 on cpu 1:",
        *frames(first),
        *(second_access if second else []),
        "",
        "value changed: 0x0000000000000001 -> 0x0000000000000002",
        "",
        "Reported by Kernel Concurrency Sanitizer on:",
        "CPU: 1 PID: 93 Comm: spek/1 Not tainted",
        END,
    ]


KERNEL = ["virtqueue_get_buf_ctx", "virtio_queue_rq", "spek_submit [spek]", "kthread"]


@pytest.mark.parametrize(
    ("first", "second", "ours"),
    [
        (["spek_worker_run [spek]", "kthread"], KERNEL, True),
        (KERNEL, ["spek_sample [spek_prober]", "kthread"], True),
        (["memcpy", "spek_stats_collect [spek]", "kthread"], KERNEL, True),
        (["__nla_put", "nla_put", "spek_put_run [spek]"], [], True),
        (KERNEL, KERNEL, False),
        (["sbitmap_get", "blk_mq_get_tag", "spek_submit_mq [spek]"], KERNEL, False),
        (["null_handle_cmd [null_blk]", "spek_submit_mq [spek]"], KERNEL, False),
        (["memset", "bio_init", "spek_submit_bio [spek]"], KERNEL, False),
    ],
)
def test_a_race_is_whose_access_it_is(first: list[str], second: list[str], ours: bool) -> None:
    lines = ["something before", *report(first, second), "something after"]
    head = next(at for at, line in enumerate(lines) if "BUG: KCSAN" in line)

    assert races_of_others(lines) == (set() if ours else {head})


def test_each_of_many_reports_is_judged_by_itself() -> None:
    mine = report(["spek_worker_run [spek]"], KERNEL)
    lines = [*report(KERNEL, KERNEL), *mine, *report(KERNEL, KERNEL)]

    heads = [at for at, line in enumerate(lines) if "BUG: KCSAN" in line]
    assert races_of_others(lines) == {heads[0], heads[2]}


def test_a_report_that_is_not_understood_may_be_ours() -> None:
    assert races_of_others(["BUG: KCSAN: data-race in somewhere", "", "torn off"]) == set()


def test_accesses_of_unknown_origin_count() -> None:
    lines = [
        "BUG: KCSAN: data-race in spek_run_view",
        "",
        "race at unknown origin, with read to 0xffff888004a4c0e8 of 4 bytes by task 9 on cpu 1:",
        " spek_run_view+0x12/0x340 [spek]",
        "",
    ]
    assert list(accesses(lines)) == [("spek_run_view", "spek")]
    assert races_of_others(lines) == set()
