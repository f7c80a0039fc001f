# SPDX-License-Identifier: GPL-2.0-or-later
"""fio's options by what becomes of them; job.py maps those of MAPPED.

An option that is in none of the sets is refused: its effect would be lost without a word.
"""

from __future__ import annotations

ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "ba": "blockalign",
    "fileoffset": "offset",
    "timeout": "runtime",
    "wait_for_previous": "stonewall",
    "iodepth_batch_submit": "iodepth_batch",
    "allow_file_create": "create_on_open",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
}

MAPPED = frozenset(
    (
        *("rw", "bs", "bsrange", "bssplit", "blockalign", "iodepth", "numjobs", "filename"),
        *("size", "io_size", "offset", "offset_increment", "rwmixread", "rwmixwrite"),
        *("percentage_random", "random_distribution", "norandommap", "softrandommap"),
        *("randrepeat", "allrandrepeat", "randseed", "runtime", "time_based", "ramp_time"),
        *("number_ios", "rate", "rate_iops", "rate_process", "thinktime", "thinktime_blocks"),
        *("iodepth_batch", "cpus_allowed", "zero_buffers", "scramble_buffers", "refill_buffers"),
        *("ioengine", "direct", "buffered", "hipri", "verify", "kb_base", "stonewall", "loops"),
        *(
            "startdelay",
            "filesize",
            "nrfiles",
            "sync",
            "fsync",
            "fdatasync",
            "zonemode",
            "wait_for",
        ),
    )
)

_MEMORY = "spek's buffers are memory of the kernel"
_FILES = "a block device is not created, filled, read ahead or removed"
_CACHE = "there is no page cache in between"
_REPORT = "a result has all streams, all percentiles and their sums"
_LOG = "`spekctl run --log FILE` logs every I/O"
_TIME = "every I/O is timed"
_THREAD = "the load is one kernel thread per CPU"
_RING = "there are no system calls to save"

NOT_NEEDED: dict[str, str] = {
    **dict.fromkeys(
        ("mem", "iomem", "mem_align", "iomem_align", "lockmem", "hugepage-size"), _MEMORY
    ),
    **dict.fromkeys(
        ("create_serialize", "create_fsync", "create_on_open", "create_only", "unlink", "pre_read"),
        _FILES,
    ),
    **dict.fromkeys(
        ("fallocate", "overwrite", "openfiles", "file_service_type", "opendir"), _FILES
    ),
    **dict.fromkeys(("invalidate", "fadvise_hint", "end_fsync", "fsync_on_close"), _CACHE),
    **dict.fromkeys(("group_reporting", "new_group", "percentile_list", "stats", "eta"), _REPORT),
    **dict.fromkeys(("clat_percentiles", "lat_percentiles", "slat_percentiles"), _REPORT),
    **dict.fromkeys(("significant_figures", "unified_rw_reporting", "description"), _REPORT),
    **dict.fromkeys(("status-interval", "name", "unit_base", "per_job_logs"), _REPORT),
    **dict.fromkeys(
        ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "log_avg_msec"), _LOG
    ),
    **dict.fromkeys(("log_hist_msec", "log_hist_coarseness", "log_max_value", "log_offset"), _LOG),
    **dict.fromkeys(("log_unix_epoch", "log_compression", "log_store_compressed"), _LOG),
    **dict.fromkeys(("bwavgtime", "iopsavgtime"), _LOG),
    **dict.fromkeys(
        ("gtod_reduce", "gtod_cpu", "clocksource", "disable_lat", "disable_clat"), _TIME
    ),
    **dict.fromkeys(("disable_slat", "disable_bw_measurement", "disk_util"), _TIME),
    **dict.fromkeys(("thread", "nice", "prio", "prioclass", "cpus_allowed_policy"), _THREAD),
    **dict.fromkeys(("registerfiles", "fixedbufs", "sqthread_poll", "nonvectored"), _RING),
    **dict.fromkeys(("sqthread_poll_cpu", "uncached", "userspace_reap", "nowait"), _RING),
    "exitall": "all jobs end together",
    "random_generator": "the random numbers are of spek's own generator",
    "iodepth_low": "the depth is kept: completions are not waited for in batches",
    "iodepth_batch_complete_min": "completions are taken as they come",
    "iodepth_batch_complete_max": "completions are taken as they come",
    "allow_mounted_write": "spek refuses devices that are in use",
    "continue_on_error": "errors are counted; `--max-errors N` ends a run",
    "ignore_error": "errors are counted",
}

REFUSED: dict[str, str] = {
    "directory": "spek loads block devices, not files",
    "filename_format": "spek loads block devices, not files",
    "file_append": "spek loads block devices, not files",
    "fill_device": "there is no end of a run by place; give a count",
    "read_iolog": "convert the trace and replay it: spekctl run --trace",
    "write_iolog": "log with `spekctl run --log`, and convert with `spekctl trace convert`",
    "replay_no_stall": "convert the trace and replay it: spekctl run --trace",
    "rate_min": "give it as a limit of `spekctl gate`",
    "rate_iops_min": "give it as a limit of `spekctl gate`",
    "max_latency": "give it as `spekctl run --stop-when 'max > TIME'`",
    "latency_target": "search for the load with `spekctl sweep --within`",
    "latency_window": "search for the load with `spekctl sweep --within`",
    "latency_percentile": "search for the load with `spekctl sweep --within`",
    "steadystate": "give it as `spekctl run --until steady`",
    "buffer_pattern": "written data are zeros or random",
    "buffer_compress_percentage": "written data are zeros or random",
    "dedupe_percentage": "written data are zeros or random",
    "cmdprio_percentage": "I/Os have no priorities",
    "thinktime_spin": "a pause does not spin",
    "thinktime_iotime": "pauses are after each I/O",
    "flow": "jobs are not coupled",
}

# The engines for which iodepth has no effect: one I/O at a time.
SYNCHRONOUS = frozenset(("sync", "psync", "vsync", "pvsync", "pvsync2"))
ASYNCHRONOUS = frozenset(("libaio", "posixaio", "io_uring", "windowsaio", "solarisaio", "sg"))
