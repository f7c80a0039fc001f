# SPDX-License-Identifier: GPL-2.0-or-later
"""Options that a job gives without effect: off, at fio's default, or without the option that they
refine. Only those matter here whose other values are refused or imported with a difference."""

from __future__ import annotations

from spekctl.errors import UsageError
from spekctl.fio import values
from spekctl.fio.jobfile import Job

# What fio does without the option, by its own list; 0 is off for a number without a default.
DEFAULTS = {
    **dict.fromkeys(("file_append", "replay_no_stall", "read_iolog_chunked"), "0"),
    **dict.fromkeys(("ignore_zone_limits", "cgroup_nodelete", "readfua", "writefua"), "0"),
    **dict.fromkeys(("write_barrier", "stream_id", "uid", "gid"), "0"),
    **dict.fromkeys(("verify_state_load", "replay_align", "create_only"), "0"),
    **dict.fromkeys(("trim_backlog", "trim_backlog_batch", "sync_file_range", "ramp_size"), "0"),
    **dict.fromkeys(
        ("zone_reset_threshold", "zone_reset_frequency", "random_sequence_stride"), "0"
    ),
    **dict.fromkeys(("flow_watermark", "thinkcycles", "fdp", "priohint"), "0"),
    **dict.fromkeys(("sprandom", "recover_zbd_write_error", "write_zone_remainder"), "0"),
    **dict.fromkeys(("cmdprio_hint", "deac", "md_per_io_size", "verify_bytchk"), "0"),
    **dict.fromkeys(("trim_percentage", "bs_unaligned", "verify_only"), "0"),
    "replay_scale": "1",
    "replay_time_scale": "100",
    "num_range": "1",
    "sg_write_mode": "write",
    "dataplacement": "none",
    "filename_format": "$jobname.$jobnum.$filenum",
    "cmd_type": "nvme",
    "write_mode": "write",
    "read_mode": "read",
    "verify_mode": "read",
    "pi_act": "1",
    "apptag": "0x1234",
    "apptag_mask": "0xffff",
}

_REPLAYED = ("read_iolog",)
_PLACED = ("fdp", "dataplacement")
_PRIORITIES = ("cmdprio_percentage", "cmdprio_bssplit")
# Option -> those of which the job has to have one, not off, for the option to have an effect.
NEEDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("replay_no_stall", "replay_redirect", "replay_scale"), _REPLAYED),
    **dict.fromkeys(("replay_align", "replay_time_scale", "replay_skip"), _REPLAYED),
    **dict.fromkeys(("read_iolog_chunked", "merge_blktrace_file"), _REPLAYED),
    **dict.fromkeys(("merge_blktrace_scalars", "merge_blktrace_iters"), ("merge_blktrace_file",)),
    **dict.fromkeys(("plids", "plid_select", "dp_scheme"), _PLACED),
    **dict.fromkeys(("cmdprio", "cmdprio_class", "cmdprio_hint"), _PRIORITIES),
    **dict.fromkeys(("spr_num_regions", "spr_op", "spr_cs"), ("sprandom",)),
    **dict.fromkeys(("cgroup_nodelete", "cgroup_weight"), ("cgroup",)),
    **dict.fromkeys(("dedupe_mode", "dedupe_global"), ("dedupe_percentage",)),
    "dedupe_working_set_percentage": ("dedupe_percentage",),
    "flow_watermark": ("flow",),
    **dict.fromkeys(("trim_backlog", "trim_backlog_batch"), ("trim_percentage",)),
    "zone_reset_threshold": ("zone_reset_frequency",),
    "zone_reset_frequency": ("zone_reset_threshold",),
    "verify_mode": ("verify",),
    "thinkcycles": ("thinktime",),
    **dict.fromkeys(("thinktime_blocks", "thinktime_blocks_type"), ("thinktime",)),
    "thinktime_iotime": ("thinktime",),
    "verify_state_load": ("verify",),
}
# An amount of 0 is one that is not given.
_AMOUNTS = ("size", "io_size", "filesize")

# Mapped options that 0 turns off.
_OFF_AT_0 = frozenset(
    (
        *("stonewall", "time_based", "hipri", "atomic", "zero_buffers", "refill_buffers", "sync"),
        *("fsync", "fdatasync", "rate", "rate_iops", "rate_min", "rate_iops_min", "thinktime"),
        *("runtime", "ramp_time", "startdelay", "number_ios", "iodepth_batch", "max_latency"),
        *("offset", "offset_increment", "latency_target", "steadystate_duration"),
        *("dedupe_percentage", "buffer_compress_percentage", "norandommap", "flow"),
    )
)

OFF = "nothing: it has fio's default, or is off"
ALL = "nothing: 0 is the whole device, as in fio"


def effective(job: Job) -> tuple[Job, dict[str, str]]:
    """The job without options that have no effect, and why each has none."""
    kept = dict(job.options)
    notes: dict[str, str] = {}
    for name, text in job.options.items():
        if name in _AMOUNTS and _is(text, "0"):
            notes[name] = ALL
        elif name in DEFAULTS and _is("1" if text is None else text, DEFAULTS[name]):
            notes[name] = OFF
    for name in notes:
        del kept[name]
    # An option that is needed may need another one itself.
    while useless := [
        name
        for name in kept
        if name in NEEDS
        and not any(need in kept and not _is(kept[need], "0") for need in NEEDS[name])
    ]:
        for name in useless:
            del kept[name]
            notes[name] = "no effect without " + " or ".join(NEEDS[name]) + ", as in fio"
    return Job(job.name, kept), notes


def is_off(name: str, text: str | None) -> bool:
    """Whether an option of a job has a value that turns it off."""
    return name in _OFF_AT_0 and _is(text, "0")


def _is(text: str | None, usual: str) -> bool:
    """True for the value @usual in any of fio's notations."""
    if text is None:
        return False
    if not usual.isdecimal():
        return text == usual
    if text.endswith("%"):
        return False
    try:
        return all(values.size(word or "0") == int(usual) for word in text.split(":"))
    except UsageError:
        return False
