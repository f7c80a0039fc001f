# SPDX-License-Identifier: GPL-2.0-or-later
"""The device of `--state-on` during a run: claimed, checked, and written by a thread of its own.

The thread takes the records of all I/Os out of the kernel's buffers, as the per-I/O log does, and
appends those of writes and flushes to the log (state_log.py). The workers never wait for it. A log
that cannot keep up, is full or cannot be written ends the run: a run without it would prove
nothing after a power cut.

The claim is a descriptor opened with O_EXCL for reading; the one for writing is opened after the
device was found to be unused, so that it does not count as a user itself.
"""

from __future__ import annotations

import dataclasses
import errno
import fcntl
import os
import secrets
import threading
from collections.abc import Callable, Sequence

from msgspec import structs

from spekctl import files, units
from spekctl.block import drives, opening, safety
from spekctl.block.device import Device
from spekctl.errors import NotPermittedError, RefusedError, SpekError, UsageError
from spekctl.kernel.gen.spek_records import LOG_RECORD_BYTES
from spekctl.kernel.records import RunInfo
from spekctl.log import recorder
from spekctl.log.buffer import Buffer
from spekctl.run import candidates, opens, state_log
from spekctl.run.collector import Claimed, Collector, Ended, Look, Sections
from spekctl.run.job import Request
from spekctl.run.state_log import BLOCK, HEAD, RECORDS, SUBJECT, Subject
from spekctl.run.verify_state import DeviceState, SavedState
from spekctl.workload.config import ResolvedStream, RunConfig

PAUSE_S = 0.02
BLKFLSBUF = 0x1261  # linux/fs.h
_READ_BYTES = (state_log.CONTENT_MAX - HEAD.size) // LOG_RECORD_BYTES * LOG_RECORD_BYTES


# --- before the run ------------------------------------------------------------------------------


def with_state_on(request: Request, device: Device, is_apart: bool = False) -> Request:
    """The request with a log of acknowledged writes on @device; UsageError if that cannot work.
    @is_apart: the user says that it is on another drive than the devices of the request, whatever
    they share."""
    config = request.config
    if config.data != "stamped":
        raise UsageError("--state-on needs --verify as well")
    if request.log is not None:
        raise UsageError("--state-on takes the records that --log would write: give one of them")
    remarks = [
        text for target in request.devices if (text := _check_apart(target, device, is_apart))
    ]
    _check_workload(request)
    _check_device(device, config)
    records = recorder.default_buffer(len(config.cpus))
    config = structs.replace(config, log_records=records)
    return dataclasses.replace(
        request, config=config, state_on=device, remarks=[*request.remarks, *remarks]
    )


def _check_apart(target: Device, device: Device, is_apart: bool) -> str:
    """UsageError if a power cut may hit the log on @device with its @target; a remark if only the
    user says that it would not, else empty."""
    common = drives.in_common(target, device)
    if not common:
        return ""
    name = common[0]
    if name.certain:
        raise UsageError(
            f"--state-on {device.path} is on the same disk as {target.path}: a power cut would"
            " hit both; give another disk"
        )
    shared = f"{device.path} and {target.path} have {name.text} in common"
    if not is_apart:
        raise UsageError(
            f"--state-on: {shared}: a power cut would hit both if they are one drive; give another"
            " disk, or --state-apart if they are on different drives"
        )
    return f"{shared}, and are on different drives according to --state-apart"


def _check_workload(request: Request) -> None:
    config = request.config
    for stream in config.streams:
        if stream.pattern == "trace":
            raise UsageError(
                f"stream '{stream.name}' replays a trace, and --state-on follows workloads only"
            )
        if stream.operation not in ("transfer", "flush"):
            raise UsageError(
                f"stream '{stream.name}': the data after {stream.operation} and a power cut are"
                " unknown; --state-on needs a workload that only reads, writes and flushes"
            )
    for asu in config.asus:
        if len(asu.extents) > 1:
            raise UsageError("--state-on needs address ranges that are on one device each")
    for target in request.devices:
        if target.zone_bytes:
            raise UsageError(f"{target.path} has zones; --state-on needs disks without zones")
    through = [is_write_through(target) for target in request.devices]
    for index in sorted(
        {config.asus[stream.asu].extents[0].target for stream in config.streams if _writes(stream)}
    ):
        if not through[index] and not _is_flushed(config, index):
            raise UsageError(
                f"nothing flushes {request.devices[index].path}, so a power cut may take"
                ' everything: give the workload a stream with operation = "flush", or one that'
                " writes with fua = true"
            )


def _writes(stream: ResolvedStream) -> bool:
    return stream.operation == "transfer" and stream.read_ppm < 1_000_000


def _is_flushed(config: RunConfig, target: int) -> bool:
    return any(
        config.asus[stream.asu].extents[0].target == target
        and (stream.operation == "flush" or (stream.fua and _writes(stream)))
        for stream in config.streams
    )


def is_write_through(device: Device) -> bool:
    """True if the block layer sends no flushes: it assumes that no cache is volatile."""
    disk = device.sysfs.parent if device.partition else device.sysfs
    try:
        return (disk / "queue" / "write_cache").read_text().strip() == "write through"
    except OSError:
        return False


def _check_device(device: Device, config: RunConfig) -> None:
    if text := safety.unwritable(device):
        raise RefusedError(f"{device.path} {text}")
    if device.zone_bytes:
        raise UsageError(f"--state-on {device.path} has zones: a log needs a disk without zones")
    if device.logical_block > BLOCK:
        raise UsageError(
            f"--state-on {device.path} has logical blocks of {device.logical_block} bytes; the log"
            f" has blocks of {BLOCK}"
        )
    most = state_log.most_records(device.bytes - state_log.frame_bytes(state_log.CONTENT_MAX))
    if most <= 0:
        raise UsageError(
            f"--state-on {device.path} has {units.format_bytes(device.bytes)}, which is too small"
            " for a log: it needs at least 4 MiB"
        )
    # With reads in between it is not known how many are writes.
    only_writes = all(each.operation == "flush" or not each.read_ppm for each in config.streams)
    if only_writes and config.count + config.ramp_count > most:
        raise UsageError(
            f"--state-on {device.path} has room for at most {most:,} writes, and the run has"
            f" {config.count + config.ramp_count:,} I/Os"
        )


# --- the device ----------------------------------------------------------------------------------


class Log:
    """A device that is claimed and has been checked, with the log on it."""

    def __init__(self, device: Device, destroy: Sequence[str], write_allowed: bool) -> None:
        self._device = device
        self.remark = ""
        self._claim = _open(device, os.O_RDONLY | os.O_EXCL)
        self._fd = -1
        self.used = 0  # bytes
        self._number = 0
        self._log = secrets.randbits(64)
        try:
            remark = safety.check_write(
                device, device.diskseq, destroy, write_allowed, known=candidates.runs_and_claims
            )
            self.remark = remark or ""
            self._fd = _open(device, os.O_RDWR)
        except BaseException:
            self.close()
            raise

    def begin(self, subject: Subject) -> None:
        """Write the first frame, and check that the device keeps it."""
        content = files.encode(subject)
        if len(content) > state_log.CONTENT_MAX:
            raise UsageError("the configuration of the run is too large for a log of --state-on")
        self.append(SUBJECT, content)
        try:
            fcntl.ioctl(self._fd, BLKFLSBUF)
            kept = os.pread(self._fd, self.used, 0)
        except OSError as error:
            raise self._failed("read", error) from error
        if kept != state_log.frame(SUBJECT, self._log, 0, content):
            raise RefusedError(
                f"--state-on {self._device.path} does not keep what is written to it"
            )

    def append(self, kind: int, content: bytes) -> None:
        """Write a frame; SpekError if that fails. Returns once the device reports that the frame is
        permanent."""
        data = state_log.frame(kind, self._log, self._number, content)
        if self.used + len(data) > self._device.bytes:
            raise SpekError(
                f"{self._device.path} is full: its {units.format_bytes(self._device.bytes)} have"
                " no room for further writes of the run"
            )
        try:
            if os.pwrite(self._fd, data, self.used) != len(data):
                raise SpekError(f"{self._device.path} took only a part of a write")
            os.fdatasync(self._fd)
        except OSError as error:
            raise self._failed("write", error) from error
        self.used += len(data)
        self._number += 1

    def _failed(self, what: str, error: OSError) -> SpekError:
        return SpekError(f"cannot {what} {self._device.path}: {error.strerror}")

    def close(self) -> None:
        """Release the device; a second call does nothing."""
        for fd in (self._fd, self._claim):
            if fd >= 0:
                os.close(fd)
        self._fd = self._claim = -1


def _open(device: Device, flags: int) -> int:
    try:
        return opening.open_block_device(device.path, flags, (device.major, device.minor))
    except PermissionError as error:
        raise NotPermittedError(f"not permitted to open {device.path}") from error
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise SpekError(f"cannot open {device.path}: {error.strerror}") from error
        raise RefusedError(f"{device.path} is in use: {safety.explain_busy(device)}") from error


# --- during the run ------------------------------------------------------------------------------


class StateCollector(Collector):
    """Keeps the log of acknowledged writes; ends the run if it cannot keep up."""

    def __init__(
        self,
        request: Request,
        device: Device,
        open_log: Callable[[Device, Sequence[str], bool], Log] = Log,
        is_through: Callable[[Device], bool] = is_write_through,
    ) -> None:
        if not request.rights.opens_disks:
            raise NotPermittedError(f"--state-on opens {device.path} itself, which needs root")
        self._request = request
        self._device = device
        self._open_log = open_log
        self._is_through = is_through
        self._flushes = [stream.operation == "flush" for stream in request.config.streams]
        self._log: Log | None = None
        self._buffers: list[Buffer] = []
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._trouble = ""  # set once
        self._kept = 0  # records
        self._block = memoryview(bytearray(_READ_BYTES))

    def arm(self, claimed: Claimed) -> str:
        wish = self._request
        # Before the log's own claim.
        users = opens.check(
            claimed.kernel, [self._device], wish.destroy, interrupts=claimed.interrupts
        )
        self._log = log = self._open_log(self._device, wish.destroy, wish.write_allowed)
        log.begin(self._subject(claimed))
        open_buffer = self._request.rights.open_log
        for index in range(len(claimed.info.workers)):
            self._buffers.append(open_buffer(claimed.info, index))
        self._thread = threading.Thread(target=self._follow, name="state-log", daemon=True)
        self._thread.start()
        return "; ".join(filter(None, (log.remark, *users)))

    def _subject(self, claimed: Claimed) -> Subject:
        info = claimed.info
        devices = [
            DeviceState(facts, target.map_start, target.map_bytes, [])
            for facts, target in zip(claimed.facts, info.targets, strict=True)
        ]
        state = SavedState(
            config=self._request.config,
            seed=info.seed,
            stamp_id=info.stamp_id,
            grain_bytes=info.grain_bytes,
            devices=devices,
        )
        return Subject(state, [self._is_through(device) for device in self._request.devices])

    def take(self, look: Look) -> None:
        self._note_lost(look.info)

    def _note_lost(self, info: RunInfo) -> None:
        lost = sum(worker.log_lost for worker in info.workers)
        if lost and not self._trouble:
            self._trouble = (
                f"{self._device.path} is too slow: there was no room to record {lost:,} I/Os"
            )

    def trouble(self) -> str:
        return f"the state on {self._device.path} has ended: {self._trouble}" * bool(self._trouble)

    def stop_reason(self) -> str:
        return self.trouble()

    def conclude(self, ended: Ended, sections: Sections) -> None:
        self._stop()
        self._note_lost(ended.info)
        assert self._log is not None
        text = (
            f"state on {self._device.path}: {self._kept:,} writes and flushes in"
            f" {units.format_bytes(self._log.used)}"
        )
        sections.remarks.append("; ".join(filter(None, (text, self.trouble()))))

    def close(self) -> None:
        self._stop()
        if self._log is not None:
            self._log.close()

    def _stop(self) -> None:
        """End the thread after it has emptied the buffers."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        for buffer in self._buffers:
            buffer.close()
        self._buffers = []

    # --- the thread ------------------------------------------------------------------------------

    def _follow(self) -> None:
        try:
            ending = False
            while not ending and not self._trouble:
                # Once the run is over no record is added: one more pass takes the rest.
                ending = self._ending.wait(PAUSE_S)
                for buffer in self._buffers:
                    self._drain(buffer)
        except Exception as error:
            self._trouble = str(error) or type(error).__name__

    def _drain(self, buffer: Buffer) -> None:
        assert self._log is not None
        while got := buffer.readinto(self._block):
            content = state_log.wanted(self._block[:got], self._flushes)
            if content:
                self._log.append(RECORDS, content)
                self._kept += len(content) // LOG_RECORD_BYTES
            if got < len(self._block):
                return
