# SPDX-License-Identifier: GPL-2.0-or-later
"""fio's options by what becomes of them; job.py maps those of MAPPED.

An option that is in none of the sets is refused: its effect would be lost without a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spekctl.suggest import nearest

ALIASES = {
    "readwrite": "rw",
    "io_limit": "io_size",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "ba": "blockalign",
    "fileoffset": "offset",
    "timeout": "runtime",
    "wait_for_previous": "stonewall",
    "iodepth_batch_submit": "iodepth_batch",
    "allow_file_create": "create_on_open",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "fill_fs": "fill_device",
    "blocksize_unaligned": "bs_unaligned",
    "nr_files": "nrfiles",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
    "disable_bw": "disable_bw_measurement",
    "ss_interval": "steadystate_check_interval",
    "data_placement": "dataplacement",
    "fdp_pli": "plids",
    "fdp_pli_select": "plid_select",
}

# Where a device places writes; these options have no effect on other I/O.
PLACEMENT = ("dataplacement", "dp_scheme", "plids", "plid_select", "fdp")
# Metadata and protection information of engines that send commands.
INFORMATION = ("md_per_io_size", "pi_act", "pi_chk", "apptag", "apptag_mask")

MAPPED = frozenset(
    (
        *("rw", "bs", "bsrange", "bssplit", "blockalign", "iodepth", "numjobs", "filename"),
        *("size", "io_size", "offset", "offset_increment", "rwmixread", "rwmixwrite"),
        *("percentage_random", "random_distribution", "norandommap", "softrandommap"),
        *("randrepeat", "allrandrepeat", "randseed", "runtime", "time_based", "ramp_time"),
        *("number_ios", "rate", "rate_iops", "rate_process", "thinktime", "thinktime_blocks"),
        *("iodepth_batch", "cpus_allowed", "zero_buffers", "scramble_buffers", "refill_buffers"),
        *("ioengine", "direct", "buffered", "hipri", "verify", "kb_base", "stonewall", "loops"),
        *("startdelay", "filesize", "nrfiles", "sync", "fsync", "fdatasync", "zonemode"),
        *("wait_for", "do_verify", "verify_only", "rw_sequencer", "bs_unaligned", "cpumask"),
        *("buffer_compress_percentage", "dedupe_percentage", "buffer_pattern"),
        *("dedupe_mode", "dedupe_working_set_percentage", "dedupe_global"),
        *("trim_percentage", "rate_ignore_thinktime", "io_submit_mode", "experimental_verify"),
        *("bs_is_seq_rand", "write_hint", "prio", "prioclass", "numa_cpu_nodes", "cmd_type"),
        *("max_latency", "rate_min", "rate_iops_min", "rate_cycle", "num_range"),
        *("steadystate", "steadystate_duration", "steadystate_ramp_time", "thinktime_blocks_type"),
        *("steadystate_check_interval", "flow", "flow_id", "cmdprio"),
        *("cmdprio_percentage", "cmdprio_class", "cmdprio_bssplit", "atomic"),
        *("latency_target", "latency_window", "latency_percentile", "latency_run"),
        *("iodepth_low", "iodepth_batch_complete_min", "continue_on_error", "ignore_error", "name"),
        *("thinktime_iotime", "zonesize", "zonecapacity", "zonerange", "zoneskip"),
        *("max_open_zones", "job_max_open_zones", "read_beyond_wp", "file_service_type"),
        *("zone_reset_threshold", "zone_reset_frequency", *INFORMATION),
        *("readfua", "writefua", "sg_write_mode", "stream_id", "write_mode", "read_mode"),
        *("exec_prerun", "exec_postrun", "ioscheduler", "read_iolog", "read_iolog_chunked"),
        *("replay_no_stall", "replay_redirect", "replay_time_scale"),
    )
)

_MEMORY = "spek's buffers are memory of the kernel"
_FILES = "a block device is not created, filled, read ahead or removed"
_CACHE = "there is no page cache in between"
_REPORT = "a result has all streams, all percentiles and their sums"
_LOG = "`spekctl run --fio-logs PREFIX` writes fio's logs; --log FILE records every I/O"
_TIME = "every I/O is timed"
_EXIT = "the jobs that it ends are alike, or have the shortest of their times"
_THREAD = "the load is one kernel thread per CPU"
_RING = "there are no system calls to save"
STATE = "`spekctl run --verify-state FILE` saves it, for `spekctl verify`"
VERIFIED = "with --verify, blocks are stamped and checked wherever they are read, and at the end"
_LIMITS = "the device says how many zones may be open; leave it out"
_PROCESS = "the load is in the kernel, not in a process; leave it out"
_REPLAY = "convert the trace and replay it: spekctl run --trace"
_PLACEMENT = (
    "spek sends no placement identifiers, and on NVMe a write_hint becomes none; leave it out"
)
COMMANDS = (
    "spek reads, writes and discards, and sends no other NVMe or SCSI commands; leave it out for"
    " plain I/O"
)
_REGIONS = "spek does not spread invalid blocks over regions; precondition with rw=randwrite"
_FILES_ONLY = "spek loads block devices, not files; give the device as filename"
_LEVELS = "a priority has a class and a level only; leave it out"
_NO_TRIMS = "discards do not follow writes; make two jobs of it"

NOT_NEEDED: dict[str, str] = {
    **dict.fromkeys(
        ("mem", "iomem", "mem_align", "iomem_align", "lockmem", "hugepage-size"), _MEMORY
    ),
    **dict.fromkeys(
        ("create_serialize", "create_fsync", "create_on_open", "unlink", "pre_read"),
        _FILES,
    ),
    **dict.fromkeys(("fallocate", "overwrite", "openfiles"), _FILES),
    **dict.fromkeys(("invalidate", "fadvise_hint", "uncached"), _CACHE),
    **dict.fromkeys(("end_fsync", "fsync_on_close"), "a run sends the flushes of its streams only"),
    **dict.fromkeys(("group_reporting", "new_group", "percentile_list", "stats", "eta"), _REPORT),
    **dict.fromkeys(("clat_percentiles", "lat_percentiles", "slat_percentiles"), _REPORT),
    **dict.fromkeys(("significant_figures", "unified_rw_reporting", "description"), _REPORT),
    **dict.fromkeys(("status-interval", "unit_base", "per_job_logs"), _REPORT),
    **dict.fromkeys(
        ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "log_avg_msec"), _LOG
    ),
    **dict.fromkeys(("log_hist_msec", "log_hist_coarseness", "log_max_value", "log_offset"), _LOG),
    **dict.fromkeys(("log_unix_epoch", "log_compression", "log_store_compressed"), _LOG),
    **dict.fromkeys(("bwavgtime", "iopsavgtime", "log_entries", "log_prio"), _LOG),
    **dict.fromkeys(("log_alternate_epoch", "log_alternate_epoch_clock_id"), _LOG),
    "log_compression_cpus": _LOG,
    "block_error_percentiles": "errors are counted",
    **dict.fromkeys(("verify_fatal", "verify_dump", "verify_interval", "verify_offset"), VERIFIED),
    **dict.fromkeys(("verify_pattern", "verify_async", "verify_async_cpus"), VERIFIED),
    **dict.fromkeys(("verify_backlog", "verify_backlog_batch"), VERIFIED),
    "verify_state_save": STATE,
    "serialize_overlap": "with --verify, a block has one write in flight",
    "trim_verify_zero": "what a discarded block holds is not checked",
    **dict.fromkeys(("lockfile", "unique_filename", "unlink_each_loop"), _FILES),
    **dict.fromkeys(
        ("gtod_reduce", "gtod_cpu", "clocksource", "disable_lat", "disable_clat"), _TIME
    ),
    **dict.fromkeys(("disable_slat", "disable_bw_measurement"), _TIME),
    "disk_util": "statistics of the disk are in a result",
    **dict.fromkeys(("thread", "nice", "comm"), _THREAD),
    "cpus_allowed_policy": "each CPU has a thread, which carries a part of each clone",
    **dict.fromkeys(("registerfiles", "fixedbufs", "sqthread_poll", "nonvectored"), _RING),
    **dict.fromkeys(("sqthread_poll_cpu", "userspace_reap"), _RING),
    "force_async": _RING,
    "nowait": "an I/O waits for a free request of the device",
    "hipri_percentage": "with hipri, all I/Os are polled",
    "write_iolog": "`spekctl run --log` records every I/O, for `spekctl trace convert`",
    "thinktime_spin": "a pause takes no CPU",
    "threads": "fio takes it only with a profile",
    **dict.fromkeys(("rwmixcycle", "percentage_sequential"), "fio ignores it as well"),
    **dict.fromkeys(("verifysort", "verifysort_nr"), "fio ignores it as well"),
    **dict.fromkeys(("filetype", "end_syncfs"), _FILES),
    **dict.fromkeys(("log_issue_time", "log_window_value", "job_start_clock_id"), _LOG),
    **dict.fromkeys(("verify_header_seed", "verify_write_sequence"), VERIFIED),
    "verify_pattern_interval": VERIFIED,
    "verify_policy": VERIFIED,
    "libaio_vectored": _RING,
    "cdb_len": "an option of SCSI commands, which cmd_type=bsg sends",
    "exitall": _EXIT,
    "random_generator": "the random numbers are of spek's own generator",
    "offset_align": "a place in per cent is rounded down to a block in any case",
    "numa_mem_policy": _MEMORY,
    "busy_poll": "an option of network engines",
    "port": "an option of network engines",
    "error_dump": "errors are counted",
    "exit_what": _EXIT,
    "exitall_on_error": "all jobs end together; `--max-errors N` ends a run",
    "buffer_compress_chunk": "the share is that of each 4 KiB",
    "flow_sleep": "no job of a flow is ahead, as the I/Os of all are drawn by their weights",
    "iodepth_batch_complete_max": "completions are taken as they come",
    "fill_device": "a block device has a size, at which writes end without it as well, as in fio",
    "allow_mounted_write": "spek refuses devices that are in use",
}

REFUSED: dict[str, str] = {
    **dict.fromkeys(("directory", "filename_format", "file_append", "opendir"), _FILES_ONLY),
    "create_only": "fio creates files and sends no I/O; leave it out to run the job",
    **dict.fromkeys(("replay_scale", "replay_align", "replay_skip"), _REPLAY),
    "merge_blktrace_file": _REPLAY,
    **dict.fromkeys(("merge_blktrace_scalars", "merge_blktrace_iters"), _REPLAY),
    "ignore_zone_limits": _LIMITS,
    **dict.fromkeys(("profile", "uid", "gid"), _PROCESS),
    **dict.fromkeys(("cgroup", "cgroup_nodelete", "cgroup_weight"), _PROCESS),
    **dict.fromkeys(PLACEMENT, _PLACEMENT),
    **dict.fromkeys(("verify_mode", "verify_bytchk", "deac"), COMMANDS),
    **dict.fromkeys(("sprandom", "spr_num_regions", "spr_op", "spr_cs"), _REGIONS),
    "recover_zbd_write_error": (
        "spek does not move a write pointer after a failed write; leave it out"
    ),
    "write_zone_remainder": (
        "the rest of a zone that is smaller than a block is not written; leave it out"
    ),
    **dict.fromkeys(("cmdprio_hint", "priohint"), _LEVELS),
    "ramp_size": "give the ramp-up as ramp_time",
    "flow_watermark": "a flow has weights only, as in fio 3.33; leave it out",
    "thinkcycles": "a pause does not spin; leave it out",
    "random_sequence_stride": "the order of blocks is spek's own; leave it out",
    "verify_state_load": (
        "give the run that writes --verify-state FILE, and check it with `spekctl verify --from"
        " FILE`"
    ),
    "sync_file_range": "there is no page cache to write back; leave it out",
    "write_barrier": "give fsync=N for flushes",
    **dict.fromkeys(("trim_backlog", "trim_backlog_batch"), _NO_TRIMS),
}

# Values of rw.
RANDOM = ("randread", "randwrite", "randrw", "randtrim")
SEQUENTIAL = ("read", "write", "rw", "readwrite", "trim")
TRIM = ("trim", "randtrim")
TRIM_AND_WRITE = ("trimwrite", "randtrimwrite")

# Engines that complete an I/O before they send the next.
SYNCHRONOUS = frozenset(("sync", "psync", "vsync", "pvsync", "pvsync2"))
ASYNCHRONOUS = frozenset(
    ("libaio", "posixaio", "io_uring", "io_uring_cmd", "windowsaio", "solarisaio", "sg")
)
# Engines that send commands to the device, without a page cache in between.
PASSTHROUGH = frozenset(("io_uring_cmd", "sg"))


def engine_of(text: str | None) -> str:
    """The name of an engine, without its arguments; fio takes all that begin so for libaio."""
    name = (text or "psync").partition(",")[0]
    return "libaio" if name.startswith(("aio", "linuxaio")) else name


def last_of_cache(options: Mapping[str, str | None]) -> str | None:
    """The last given of direct and buffered: they are opposites, and fio uses the last one."""
    return next((name for name in reversed(list(options)) if name in ("direct", "buffered")), None)


def is_direct(options: Mapping[str, str | None]) -> bool:
    """Whether fio opens the device with O_DIRECT."""
    last = last_of_cache(options)
    return last is not None and ((options[last] or "1") == "0") == (last == "buffered")


def waiting(options: Mapping[str, str | None], paths: Sequence[str]) -> str:
    """What has one I/O outstanding, whatever the job's iodepth is, on devices at @paths; empty if
    nothing has: as with threads that submit for it, of which there are as many as its iodepth."""
    if options.get("io_submit_mode") == "offload":
        return ""
    engine = engine_of(options.get("ioengine"))
    if engine in SYNCHRONOUS:
        return f"ioengine {engine}"
    if engine != "sg":
        return ""
    # To a block device sg sends each command by an ioctl that waits for it.
    if not paths or not all(path.startswith("/dev/sg") for path in paths):
        return "ioengine sg on a block device"
    # To a character device it writes commands, and reads their ends; with either of these it reads
    # that of each command before it writes the next.
    causes = ["direct=1"] * is_direct(options) + ["sync"] * is_sync(options)
    return f"ioengine sg with {' and '.join(causes)}" if causes else ""


def is_sync(options: Mapping[str, str | None]) -> bool:
    """Whether fio opens the device with O_SYNC or O_DSYNC."""
    return (options.get("sync") or "0") not in ("0", "none")


# Names that other tools or people use, where the nearest spelling would be another option.
_MEANT = {
    **dict.fromkeys(("duration", "time", "seconds", "length"), "runtime"),
    **dict.fromkeys(("queue_depth", "queuedepth", "qd", "depth"), "iodepth"),
    **dict.fromkeys(("device", "disk", "dev", "lun", "path", "target"), "filename"),
    **dict.fromkeys(("jobs", "threads_per_job", "workers", "clients"), "numjobs"),
    **dict.fromkeys(("iops", "iorate"), "rate_iops"),
    **dict.fromkeys(("bandwidth", "bw"), "rate"),
    **dict.fromkeys(("block_size", "bssize", "xfersize"), "bs"),
    **dict.fromkeys(("pattern", "mode", "operation"), "rw"),
    **dict.fromkeys(("warmup", "warm_up", "ramp"), "ramp_time"),
    **{"job_name": "name", "jobname": "name", "rwmix": "rwmixread"},
}
_LIKE = 0.75


def hint(name: str) -> str:
    """Text to append to a sentence about an unknown option: the option that is probably meant."""
    known = (*MAPPED, *NOT_NEEDED, *REFUSED, *ALIASES)
    suggestion = _MEANT.get(name) or nearest(name, known, _LIKE)
    return f"; did you mean '{suggestion}'?" if suggestion is not None else ""
