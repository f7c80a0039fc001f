# SPDX-License-Identifier: GPL-2.0-or-later
"""A host of a fleet: carries out what the controller asks for, in one claim and no more.

It has no rights of its own: what needs root goes through `sudo -n spekctl host --stdio`, which ends
with it, and with that its run and its claims. It is on a leash: a controller that has not asked for
anything for LEASH_S seconds is taken for lost, and so is a start that was not confirmed in time.
"""

from __future__ import annotations

import os
import stat
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import msgspec

from spekctl import __version__, recorded
from spekctl.block import device as block_device
from spekctl.block.device import Device
from spekctl.documents.device import DeviceFacts
from spekctl.errors import ExitCode, RefusedError, SpekError, UsageError
from spekctl.fleet import clock, selector, wire
from spekctl.fleet.duty import Duty, Held, Load, Rest, Watch
from spekctl.fleet.wire import Phase, Verb
from spekctl.kernel import client
from spekctl.kernel.client import Kernel
from spekctl.kernel.records import IntervalRow
from spekctl.run.candidates import Candidate
from spekctl.run.progress import Clock, Figures
from spekctl.run.rights import Rights
from spekctl.workload.values import SECTOR

LEASH_S = 15.0
# A start that nobody has confirmed this long before is called off.
UNCONFIRMED_S = 0.2
# For a run that is stopped, whose devices may be slow to answer.
OVER_S = 10.0
# For its thread to leave it to the kernel then; it looks at the run once a second.
LEFT_S = 5.0
FAILED = "the host failed; its standard error says how"
RELEASED = "the run was released before the host was ready"
STILL_ENDING = "its run has not ended; its kernel releases the devices once it has"
NOT_COUNTED = "the log was not counted: the host ends, or its controller is gone"
_HELD = (Phase.CLAIMED, Phase.ARMED, Phase.RUNNING, Phase.DONE)

Emit = Callable[[wire.AnyEvent], None]


class Events:
    """Progress of a run as events."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def note(self, text: str) -> None:
        """A sentence."""
        self._emit(wire.Note(text))

    def show(self, clock_now: Clock, news: list[Figures]) -> None:
        """The clock, and the intervals closed since the last call."""
        if news:
            self._emit(wire.Rows(clock_now, news))

    def close(self) -> None:
        """Nothing to do."""


class Member:
    """Answers the verbs of wire.py, from any thread."""

    def __init__(
        self,
        name: str,
        fleet: str,
        lend: Callable[[Callable[[str], None]], Rights],
        emit: Emit,
        give_up: Callable[[str], None],
        connect: Callable[[], Kernel] = client.connect,
        leash_s: float | None = None,
        keys_end_s: int = 0,
    ) -> None:
        """@lend: starts the helper that has root's rights; it is given what to call once that is
        gone. @give_up: called with the reason when this host has no controller any more."""
        self._name = name
        self._fleet = fleet
        self._lend = lend
        self._emit = emit
        self._give_up = give_up
        self._connect = connect
        self._keys_end_s = keys_end_s
        self._leash_s = LEASH_S if leash_s is None else leash_s
        # Protects @_rights. Starting the helper takes time, in which further questions arrive.
        self._lending = threading.Lock()
        self._rights: Rights | None = None
        self._lock = threading.Lock()
        # Told when a verb that changes the phase is over.
        self._settled = threading.Condition(self._lock)
        # Protected by @_lock.
        self._phase = Phase.FREE
        self._run = ""
        self._busy = False  # a verb that changes the phase is under way
        self._counting = False  # a log
        self._heard_s = time.monotonic()
        self._duty: Duty | None = None
        self._claimed: wire.Claim | None = None
        self._held: Held | None = None
        self._collected = wire.Collected(int(ExitCode.RUN_FAILED), "it has not ended", None)
        # Of the start.
        self._confirmed = threading.Event()
        self._called_off = threading.Event()
        self._armed: tuple[clock.Distance, int] | None = None
        self._bound_before = clock.Bound(None, "it was not asked")
        self._over = threading.Event()
        # Never cleared: the controller is gone, so nobody needs the answer.
        self._ending = threading.Event()

    @property
    def phase(self) -> Phase:
        """Where it is in its run."""
        return self._phase

    def answer(self, verb: str, payload: bytes) -> bytes:
        """Do what the controller asks for; a Reply."""
        with self._lock:
            self._heard_s = time.monotonic()
        try:
            value = self._do(verb, payload)
        except SpekError as error:
            return wire.encode(wire.Reply(fault=wire.Fault(int(error.exit_code), error.message)))
        except Exception:
            traceback.print_exc()
            fault = wire.Fault(int(ExitCode.RUN_FAILED), FAILED)
            return wire.encode(wire.Reply(fault=fault))
        return wire.encode({"answer": value})

    def check_leash(self) -> bool:
        """Give up if the controller is gone; to be called now and then. Return: it did."""
        with self._lock:
            silent_s = time.monotonic() - self._heard_s
            is_lost = self._phase in _HELD and silent_s > self._leash_s
        if is_lost:
            self._give_up(f"the controller has not been heard of for {silent_s:.0f} s")
        return is_lost

    def end_counts(self) -> None:
        """Have a log that is being counted, however long, be left; from any thread. The process
        cannot end before the thread that counts."""
        self._ending.set()

    def close(self) -> None:
        """End what runs, and the helper."""
        self.end_counts()
        self._called_off.set()
        self._confirmed.set()
        duty = self._duty
        if duty is not None:
            duty.stop()
            duty.stop()
        close = getattr(self._rights, "close", None)
        if close is not None:
            close()

    def _do(self, verb: str, payload: bytes) -> object:
        match verb:
            case Verb.PING:
                came_ns = time.time_ns()
                return wire.Pong(came_ns, time.time_ns())
            case Verb.DESCRIBE:
                return self._describe(wire.decode(payload, wire.Describe))
            case Verb.LOG:
                return self._count_log(wire.decode(payload, wire.Log))
            case Verb.CLAIM:
                return self._claim(wire.decode(payload, wire.Claim))
            case Verb.STEP:
                return self._step(wire.decode(payload, wire.Step))
            case Verb.ARM:
                return self._arm(wire.decode(payload, wire.Arm))
            case Verb.PIECE:
                return self._piece(wire.decode(payload, wire.OfPiece))
        self._check_run(wire.decode(payload, wire.OfRun).run)
        match verb:
            case Verb.CONFIRM:
                self._confirmed.set()
                return None
            case Verb.STATUS:
                return wire.State(self._phase, time.time_ns())
            case Verb.STOP:
                if self._duty is not None:
                    self._duty.stop()
                return None
            case Verb.RESULT:
                return self._result()
            case Verb.RELEASE:
                self._release()
                return None
        raise UsageError(f"there is no verb '{verb}'")

    def _result(self) -> wire.Collected:
        """The result, without a document that is too large for one answer."""
        if self._phase is not Phase.DONE:
            raise RefusedError(f"there is no result of a run that is {self._phase}")
        size = len(memoryview(self._collected.document))
        if size <= wire.PIECE_BYTES:
            return self._collected
        return msgspec.structs.replace(
            self._collected, document=msgspec.Raw(b"null"), more_bytes=size
        )

    def _piece(self, asked: wire.OfPiece) -> wire.Piece:
        """A part of the document that _result() left out."""
        self._check_run(asked.run)
        self._result()
        document = memoryview(self._collected.document)
        return wire.Piece(bytes(document[asked.start : asked.start + wire.PIECE_BYTES]))

    def _check_run(self, run: str) -> None:
        if run != self._run or not run:
            raise RefusedError(f"{self._name} is not part of run {run}")

    def _enter(self, needed: Phase, what: str) -> None:
        """Claim the next phase for this call; RefusedError if it is another one's turn."""
        with self._lock:
            if self._busy or self._phase is not needed:
                state = "busy" if self._busy else str(self._phase)
                raise RefusedError(f"{self._name} cannot {what}: it is {state}")
            self._busy = True

    def _leave(self, phase: Phase) -> bool:
        """End a verb with the phase that follows. False: the run was released meanwhile, and the
        verb is under way until it has given back what it took, and calls _leave_released()."""
        with self._lock:
            if self._phase is Phase.RELEASED:
                return False
            self._phase = phase
            self._busy = False
            return True

    def _leave_released(self) -> None:
        """End a verb that has given back everything."""
        with self._lock:
            self._phase = Phase.RELEASED
            self._busy = False
            self._over.set()
            self._settled.notify_all()

    def _describe(self, asked: wire.Describe) -> wire.Described:
        devices: list[wire.DeviceSeen] = []
        feeds: list[str] | None = None
        trouble, lacks = "", wire.Lack.RIGHTS
        try:
            rights = self._borrow()
            feeds = _open_feeds()
            lacks = wire.Lack.MODULE
            if asked.role == "target":
                _check_prober()
            else:
                self._connect().close()
                lacks = wire.Lack.DEVICE
                devices = _seen(asked.devices, rights)
        except SpekError as error:
            trouble = error.message
        kernel = os.uname()
        return wire.Described(
            name=self._name,
            fleet=self._fleet,
            protocol=wire.PROTOCOL,
            version=__version__,
            hostname=kernel.nodename,
            kernel=kernel.release,
            module_version=_module_version(),
            devices=devices,
            clock=clock.bound(),
            trouble=trouble,
            lacks=lacks if trouble else wire.Lack.NOTHING,
            feeds=feeds,
            keys_end_s=self._keys_end_s,
        )

    def _count_log(self, asked: wire.Log) -> wire.Logged:
        """A log that lies here; not while a run measures, whose CPUs that would take."""
        from spekctl.log import file as log_file
        from spekctl.log import tally
        from spekctl.log.stats import Selection

        with self._lock:
            # The phase is RELEASED before the run has ended.
            is_released = self._phase is Phase.RELEASED and self._over.is_set()
            if self._busy or not (self._phase is Phase.FREE or is_released):
                raise RefusedError(f"{self._name} cannot count a log: it is part of a run")
            if self._counting:
                raise RefusedError(f"{self._name} cannot count a log: it is counting another one")
            self._counting = True
        try:
            self._check_wanted()
            _check_regular(asked.file)
            log = log_file.open_log(Path(asked.file))
            selection = Selection.of(log.header, asked.stream or None, asked.phase, None)
            counted = tally.of_log(log, selection, asked.interval_ns, self._check_wanted)
        finally:
            with self._lock:
                self._counting = False
        header = log.header
        return wire.Logged(__version__, header.workload, header.start_real_ns, header.seed, counted)

    def _check_wanted(self) -> None:
        if self._ending.is_set():
            raise RefusedError(NOT_COUNTED)

    def _borrow(self) -> Rights:
        """Root's rights, from a helper that is started once."""
        with self._lending:
            if self._rights is None:
                self._rights = self._lend(self._lose_helper)
            return self._rights

    def _lose_helper(self, reason: str) -> None:
        """The helper is gone, and with it the run."""
        if self._phase in _HELD and not self._called_off.is_set():
            self._emit(wire.Done(int(ExitCode.RUN_FAILED), reason))

    def _claim(self, asked: wire.Claim) -> wire.Claimed:
        with self._lock:
            if self._run or self._busy:
                raise RefusedError(
                    f"{self._name} has taken part in run {self._run}; it joins for one run, start"
                    " `spekctl fleet join` again for another"
                )
            if self._counting:
                raise RefusedError(
                    f"{self._name} is counting a log, which would take the run's CPUs; start"
                    " the run once that has ended"
                )
            self._run = asked.run
            self._busy = True
        self._claimed = asked
        return self._get_ready(asked)

    def _step(self, asked: wire.Step) -> wire.Claimed:
        """The next run on devices that are held."""
        with self._lock:
            before = self._claimed
            if before is None or asked.after != self._run or asked.run in ("", self._run):
                raise RefusedError(f"{self._name} is not part of run {asked.after}")
            if not before.holds:
                raise RefusedError(f"the devices of {self._name} are claimed for one run")
            if self._busy or self._phase is not Phase.DONE:
                state = "busy" if self._busy else str(self._phase)
                raise RefusedError(f"{self._name} cannot begin another run: it is {state}")
            self._busy = True
            self._run = asked.run
            self._confirmed, self._called_off = threading.Event(), threading.Event()
            self._over = threading.Event()
        return self._get_ready(
            msgspec.structs.replace(
                before,
                run=asked.run,
                toml=asked.toml,
                options=asked.options,
                seed=asked.seed,
                command=asked.command,
                purge=asked.purge,
                rest_ns=asked.rest_ns,
            )
        )

    def _get_ready(self, asked: wire.Claim) -> wire.Claimed:
        """Take all that a run needs, or give back everything."""
        view = Events(self._emit)
        duty: Duty | None = None
        try:
            rights = self._borrow()
            if asked.role == "target":
                duty = Watch(asked)
            else:
                if asked.holds and self._held is None:
                    self._held = Held(asked, rights, self._connect)
                duty = (
                    Rest(asked)
                    if asked.rest_ns
                    else Load(asked, view, rights, self._connect, self._report, self._held)
                )
            duty.claim()
            self._duty = duty
            self._bound_before = clock.bound()
            if not self._leave(Phase.CLAIMED):
                raise RefusedError(RELEASED)
        except BaseException:
            if duty is not None:
                _suppress(duty.abandon)
            self._release_held()
            self._leave_released()
            raise
        return wire.Claimed(duty.title, duty.trace_records)

    def _abandon_released(self) -> None:
        assert self._duty is not None
        self._called_off.set()
        _suppress(self._duty.abandon)
        self._release_held()
        self._leave_released()

    def _release_held(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            _suppress(held.release)

    def _report(self, rows: list[IntervalRow]) -> None:
        self._emit(wire.Intervals(rows))

    def _arm(self, asked: wire.Arm) -> wire.Armed:
        self._check_run(asked.run)
        self._enter(Phase.CLAIMED, "arm")
        assert self._duty is not None
        try:
            distance = clock.distance()
            start_ns = distance.mono_ns(asked.start_real_ns)
            if start_ns - time.monotonic_ns() < UNCONFIRMED_S * 1e9:
                raise UsageError(
                    "the start is in the past, or too near, by this host's clock: a clock is wrong,"
                    " or the network is slow"
                )
            self._duty.arm(start_ns)
            self._armed = distance, start_ns
        except BaseException:
            if not self._leave(Phase.CLAIMED):
                self._abandon_released()
            raise
        if not self._leave(Phase.ARMED):
            self._abandon_released()
            raise RefusedError(RELEASED)
        threading.Thread(target=self._carry_out, name="run", daemon=True).start()
        return wire.Armed(start_ns, distance, time.time_ns())

    def _carry_out(self) -> None:
        """In a thread: the run from its start to its result."""
        assert self._armed is not None and self._duty is not None
        distance, start_ns = self._armed
        left_s = (start_ns - time.monotonic_ns()) / 1e9 - UNCONFIRMED_S
        code, text = int(ExitCode.RUN_FAILED), FAILED
        document, started_ns = wire.Collected(0, "", None).document, 0
        try:
            if not self._confirmed.wait(max(0.0, left_s)):
                self._called_off.set()
                text = "the controller did not confirm the start in time; "
                # The kernel's timer starts the run, also if this process did not run meanwhile.
                past_s = (time.monotonic_ns() - start_ns) / 1e9
                if self._duty.call_off():
                    ended = self._duty.follow()
                    document, started_ns = ended.document, ended.started_mono_ns
                    text += f"it had started without one, and was stopped at {past_s:.1f} s"
                else:
                    _suppress(self._duty.abandon)
                    text += "no I/O was sent"
            elif self._called_off.is_set():
                text = "the start was called off"
            else:
                with self._lock:
                    if self._phase is Phase.ARMED:
                        self._phase = Phase.RUNNING
                ended = self._duty.follow()
                code, text = ended.code, ended.text
                document, started_ns = ended.document, ended.started_mono_ns
        except SpekError as error:
            code, text = int(error.exit_code), error.message
            _suppress(self._duty.abandon)
        except Exception:
            traceback.print_exc()
            _suppress(self._duty.abandon)
        facts = wire.Facts(
            armed=distance,
            start_mono_ns=start_ns,
            started_mono_ns=started_ns,
            stepped_ns=distance.step_ns(clock.distance()),
            clock_before=self._bound_before,
            clock_after=clock.bound(),
        )
        self._collected = wire.Collected(code, text, facts, document)
        with self._lock:
            is_released = self._phase is Phase.RELEASED
            if not is_released:
                self._phase = Phase.DONE
        if is_released:
            # The release may have given up waiting for this.
            self._release_held()
        self._over.set()
        self._emit(wire.Done(code, text))

    def _release(self) -> None:
        """Give back everything; from whatever phase. A verb that is under way does it itself, as
        it alone knows what it has taken. SpekError if something cannot be given back yet."""
        with self._lock:
            before, self._phase = self._phase, Phase.RELEASED
            if self._busy:
                if not self._settled.wait_for(lambda: not self._busy, OVER_S):
                    raise SpekError(
                        f"{self._name} is still getting ready; its devices are free afterwards"
                    )
                return
        if before in (Phase.ARMED, Phase.RUNNING):
            was_confirmed = self._confirmed.is_set()
            self._called_off.set()
            self._confirmed.set()
            assert self._duty is not None
            self._duty.stop()
            if not was_confirmed:
                _suppress(self._duty.abandon)
            if not self._over.wait(OVER_S):
                # The run is left to the kernel, whose connection its thread uses until then.
                self._duty.stop()
                if not self._over.wait(LEFT_S):
                    raise SpekError(STILL_ENDING)
        elif before is Phase.CLAIMED and self._duty is not None:
            self._called_off.set()
            _suppress(self._duty.abandon)
        elif before is Phase.RELEASED and not self._over.is_set():
            raise SpekError(STILL_ENDING)
        self._release_held()
        if before is Phase.CLAIMED:
            self._over.set()
        self._check_outstanding()

    def _check_outstanding(self) -> None:
        """SpekError if the devices are still claimed for I/O that does not complete."""
        count = self._duty.outstanding() if self._duty is not None else 0
        if count:
            raise SpekError(
                f"{count} {'I/O is' if count == 1 else 'I/Os are'} still outstanding; its kernel"
                " releases the devices after that"
            )


def _suppress(work: Callable[[], None]) -> None:
    """What is given back after a failure may fail as well; the helper's end frees it then."""
    try:
        work()
    except SpekError:
        pass
    except Exception:
        traceback.print_exc()


def _seen(selectors: list[str], rights: Rights) -> list[wire.DeviceSeen]:
    """The devices that a plan names, as this host has them; SpekError with a sentence for each
    that it does not have."""
    from spekctl.run import replay_request

    listed = {candidate.path: candidate for candidate in rights.candidates()}
    seen, errors = [], []
    for text in selectors:
        try:
            device = selector.find(text)
        except SpekError as error:
            errors.append(error)
            continue
        candidate = listed.get(device.node)
        seen.append(
            wire.DeviceSeen(
                selector=text,
                path=device.path if text.startswith("/") else device.node,
                serial=device.serial,
                wwn=device.wwn,
                bytes=device.bytes,
                logical_block=device.logical_block,
                zone_bytes=device.zone_bytes,
                facts=facts_of(device),
                in_use=candidate.in_use if candidate is not None else "",
                discards=replay_request.discards(device),
                partition=device.partition,
                start=block_device.start_sector(device) * SECTOR,
                unwritable=_unwritable(candidate) if candidate is not None else "",
                data=list(candidate.data or []) if candidate is not None else [],
                unread=_unread(candidate),
            )
        )
    if errors:
        errors[0].say("; ".join(error.message for error in errors))
        raise errors[0]
    return seen


def _unwritable(candidate: Candidate) -> str:
    if candidate.read_only:
        return "it is read-only"
    return "; ".join(candidate.open_for_writing)


def _unread(candidate: Candidate | None) -> wire.Unread:
    if candidate is None:
        return wire.Unread.UNLISTED
    if candidate.data is not None or candidate.in_use:
        return wire.Unread.NOTHING
    return wire.Unread.OPEN if candidate.open_for_writing else wire.Unread.FAILED


def _open_feeds() -> list[str] | None:
    """Power feeds that are open; None without a prober."""
    from spekctl.kernel.feeds import PowerLink

    try:
        with PowerLink() as power:
            return [feed.name for feed in power.feeds() if feed.is_open]
    except SpekError:
        return None


def facts_of(device: Device) -> DeviceFacts:
    """What documents have of a device, without what it has counted."""
    values = {name: getattr(device, name) for name in DeviceFacts.__struct_fields__}
    return DeviceFacts(**{**values, "path": recorded.text(device.path)})


def _check_regular(path: str) -> None:
    """UsageError for a pipe, whose opening waits for its writer, and the like. The open itself
    refuses a file that does not exist or may not be read."""
    try:
        mode = os.stat(path).st_mode
    except ValueError as error:
        raise UsageError(f"cannot read {recorded.text(repr(path))}: {error}") from error
    except OSError:
        return
    if not stat.S_ISREG(mode):
        raise UsageError(f"{path} is not a file; expected a per-I/O log")


def _check_prober() -> None:
    """SpekError if there is no prober."""
    from spekctl.kernel.prober import Prober

    with Prober() as prober:
        prober.info()


def _module_version() -> str:
    try:
        return Path("/sys/module/spek/version").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
