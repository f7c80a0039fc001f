# SPDX-License-Identifier: GPL-2.0
"""What a workload file may not say: each error is one sentence that names its place."""

from __future__ import annotations

import pytest
from lib.ctl.resolved import HEAD, STREAM

from spekctl.errors import UsageError
from spekctl.workload import file, rules

WRITES = STREAM + 'read = "0%"\n'
CURVE = '[[arrival]]\nname = "a"\nlaw = "poisson"\n'

WRONG: dict[str, tuple[str, str]] = {
    "not TOML": ("[workload\n", "not valid TOML"),
    "empty": ("", "the section 'workload' is missing"),
    "no stream": (HEAD, "the section 'stream' is missing"),
    "empty list of streams": ("stream = []\n" + HEAD, "needs at least one"),
    "no name": ('[workload]\nsummary = "x"\n' + STREAM, "'name' is missing"),
    "typo in a section": (HEAD + STREAM.replace("stream", "steam"), "did you mean 'stream'?"),
    "typo in a key": (HEAD + STREAM + 'patern = "uniform"\n', "did you mean 'pattern'?"),
    "key of nothing": (HEAD + STREAM + "zzz = 1\n", "the keys are name, asu"),
    "typo in a value": (HEAD + STREAM + 'pattern = "unifrom"\n', "did you mean 'uniform'?"),
    "value of nothing": (
        HEAD + STREAM + 'pattern = "zzz"\n',
        "it is one of backward, hotband, normal, once, pareto, runs, sequential",
    ),
    "number with a unit": (
        HEAD + '[[arrival]]\nname = "a"\nlaw = "poisson"\nrate = "2k"\n' + STREAM,
        'rate: expected a whole number or a number, got the string "2k"; write it without'
        " quotes and without a unit, for example rate = 2000",
    ),
    "wrong type": (HEAD + STREAM + "read = 70\n", "read: expected a string"),
    "no read share": (HEAD + STREAM + 'read = ""\n', "'' is not a percentage"),
    "no compressible share": (HEAD + WRITES + 'compressible = ""\n', "'' is not a percentage"),
    "no duplicate share": (HEAD + WRITES + 'duplicate = ""\n', "'' is not a percentage"),
    "no swing": (
        HEAD + CURVE + 'shape = "diurnal"\nrate = 9\nswing = ""\n' + STREAM,
        "'' is not a percentage",
    ),
    "no period": (
        HEAD + CURVE + 'shape = "diurnal"\nrate = 9\nperiod = ""\n' + STREAM,
        "'' is not a duration",
    ),
    "stride of 2^64": (
        HEAD + STREAM + 'pattern = "strided"\nstride = 18446744073709551616\n',
        "'18446744073709551616' is more than 16 EiB",
    ),
    "section as a value": (HEAD.replace("[workload]", "workload = 1\n[x]"), "workload"),
    "bad name": (HEAD.replace('"w"', '"w w"') + STREAM, "is not a name"),
    "long name": (HEAD.replace('"w"', f'"{"w" * 32}"') + STREAM, "is not a name"),
    "summary of two lines": (HEAD.replace("a test", "a\\ntest") + STREAM, "one line"),
    "twice the same name": (HEAD + STREAM + STREAM, "two [[stream]] sections called 's'"),
    "no size": (HEAD + '[[stream]]\nname = "s"\n', "it needs a size"),
    "size and sizes": (
        HEAD + STREAM + 'sizes = [{ size = "4KiB", share = 1 }]\n',
        "exclude each other",
    ),
    "size of no sectors": (HEAD + STREAM.replace("4KiB", "1000"), "multiple of 512"),
    "size 0": (HEAD + STREAM.replace("4KiB", "0"), "multiple of 512"),
    "huge size": (HEAD + STREAM.replace("4KiB", "17MiB"), "more than 16 MiB"),
    "decimal unit": (HEAD + STREAM.replace("4KiB", "4KB"), "write 4KiB"),
    "sizes that do not sum": (
        HEAD
        + '[[stream]]\nname = "s"\nsizes = [{ size = "4KiB", share = "30%" },'
        + ' { size = "8KiB", share = "60%" }]\n',
        "the shares of the sizes sum to 90%, not to 100%",
    ),
    "sizes in two notations": (
        HEAD
        + '[[stream]]\nname = "s"\nsizes = [{ size = "4KiB", share = "30%" },'
        + ' { size = "8KiB", share = 7 }]\n',
        "mix percentages and weights",
    ),
    "a size twice": (
        HEAD
        + '[[stream]]\nname = "s"\nsizes = [{ size = "4KiB", share = 1 },'
        + ' { size = "4096", share = 7 }]\n',
        "listed twice",
    ),
    "a size without share": (
        HEAD + '[[stream]]\nname = "s"\nsizes = [{ size = "4KiB", share = 0 }]\n',
        "leave it out",
    ),
    "shares that do not sum": (
        HEAD + STREAM + 'share = "60%"\n' + STREAM.replace('"s"', '"t"') + 'share = "50%"\n',
        "the shares of the streams sum to 110%, not to 100%",
    ),
    "negative share": (HEAD + STREAM + "share = -1\n", "is not a share"),
    "read above 100": (HEAD + STREAM + 'read = "101%"\n', "more than 100%"),
    "read without %": (HEAD + STREAM + 'read = "70"\n', "is not a percentage"),
    "read too fine": (HEAD + STREAM + 'read = "33.33333%"\n', "finer than four decimals"),
    "unknown asu": (HEAD + STREAM + 'asu = "al"\n', "did you mean 'all'?"),
    "unknown arrival": (HEAD + STREAM + 'arrival = "x"\n', "there is no arrival 'x'"),
    "one point": (HEAD + STREAM + CURVE + "curve = [{ at = '0', rate = 1 }]\n", "2 to 256 points"),
    "late first point": (
        HEAD + STREAM + CURVE + "curve = [{ at = '1s', rate = 1 }, { at = '2s', rate = 1 }]\n",
        "the first point of a curve must be at 0",
    ),
    "points out of order": (
        HEAD
        + STREAM
        + CURVE
        + "curve = [{ at = '0', rate = 1 }, { at = '2s', rate = 1 }, { at = '1s', rate = 1 }]\n",
        "in the order of their times, and 1s follows 2s",
    ),
    "curve of no rate": (
        HEAD + STREAM + CURVE + "curve = [{ at = '0', rate = 0 }, { at = '2s', rate = 0 }]\n",
        "all rates of the curve are 0",
    ),
    "negative rate of a curve": (
        HEAD + STREAM + CURVE + "curve = [{ at = '0', rate = -1 }, { at = '2s', rate = 0 }]\n",
        "must be numbers from 0 on, not -1",
    ),
    "curve of less than an I/O": (
        HEAD
        + STREAM
        + CURVE
        + "repeat = true\ncurve = [{ at = '0', rate = 1 }, { at = '999ms', rate = 1 }]\n",
        "at least one I/O per pass",
    ),
    "curve and rate": (
        HEAD
        + STREAM
        + CURVE
        + "rate = 1\ncurve = [{ at = '0', rate = 1 }, { at = '2s', rate = 0 }]\n",
        "curve and rate exclude each other",
    ),
    "curve of a closed loop": (
        HEAD
        + STREAM
        + '[[arrival]]\nname = "a"\n'
        + "curve = [{ at = '0', rate = 1 }, { at = '2s', rate = 0 }]\n",
        "'curve' belongs to law poisson or constant, not to closed",
    ),
    "curve and shape": (
        HEAD
        + STREAM
        + CURVE
        + "shape = 'diurnal'\ncurve = [{ at = '0', rate = 1 }, { at = '2s', rate = 0 }]\n",
        "curve and shape exclude each other",
    ),
    "ramp to nowhere": (HEAD + STREAM + CURVE + "rate = 1\nshape = 'ramp'\n", "needs 'to'"),
    "swing of a ramp": (
        HEAD + STREAM + CURVE + "rate = 1\nshape = 'ramp'\nswing = '5%'\n",
        "'swing' belongs to shape diurnal",
    ),
    "wave without a mean": (HEAD + STREAM + CURVE + "shape = 'diurnal'\n", "needs 'rate'"),
    "on without off": (
        HEAD + STREAM + CURVE + "rate = 9\non = '1s'\n",
        "on and off belong together",
    ),
    "off without on": (HEAD + STREAM + CURVE + "rate = 9\noff = '1s'\n", "give both"),
    "tail of nothing": (HEAD + STREAM + CURVE + "rate = 9\ntail = 2\n", "'tail' belongs to on and"),
    "tail too heavy": (
        HEAD + STREAM + CURVE + "rate = 9\non = '1s'\noff = '1s'\ntail = 1\n",
        "tail must be 1.001 to 16, not 1",
    ),
    "tail too light": (
        HEAD + STREAM + CURVE + "rate = 9\non = '1s'\noff = '1s'\ntail = 16.5\n",
        "tail must be 1.001 to 16, not 16.5",
    ),
    "on too short": (
        HEAD + STREAM + CURVE + "rate = 9e8\non = '9us'\noff = '1s'\n",
        "on must be 10us to 1000000s (11 days), not 9us",
    ),
    "off too long": (
        HEAD + STREAM + CURVE + "rate = 9\non = '1s'\noff = '278h'\n",
        "off must be 10us to 1000000s (11 days), not 278h",
    ),
    "on of less than an I/O": (
        HEAD + STREAM + CURVE + "rate = 9\non = '100ms'\noff = '1s'\n",
        "at least one I/O on average: at this rate, on must be",
    ),
    "pauses of a curve": (
        HEAD + STREAM + CURVE + "rate = 9\nshape = 'diurnal'\non = '1s'\noff = '1s'\n",
        "on and off exclude a curve",
    ),
    "pauses without a rate": (
        HEAD + STREAM + CURVE + "on = '1s'\noff = '1s'\n",
        "law poisson needs 'rate'",
    ),
    "pauses of a closed loop": (
        HEAD + STREAM + '[[arrival]]\nname = "a"\non = "1s"\noff = "1s"\n',
        "'on' belongs to law poisson or constant, not to closed",
    ),
    "repeat of nothing": (HEAD + STREAM + CURVE + "rate = 1\nrepeat = true\n", "'repeat' belongs"),
    "burst without a limit": (
        HEAD + STREAM + '[[arrival]]\nname = "a"\nburst = 4\n',
        "'burst' belongs to a 'limit'",
    ),
    "limit of an open loop": (
        HEAD + STREAM + CURVE + "rate = 1\nlimit = 1\n",
        "'limit' belongs to law closed, not to poisson",
    ),
    "limit of nothing": (
        HEAD + STREAM + '[[arrival]]\nname = "a"\nlimit = 0\n',
        "a rate must be a number above 0",
    ),
    "unknown operation": (HEAD + STREAM + 'operation = "trim"\n', "'trim'"),
    "reads of discards": (
        HEAD + STREAM + 'operation = "discard"\nread = "100%"\n',
        "operation discard has no reads: remove 'read'",
    ),
    "FUA of zeroes": (HEAD + STREAM + 'operation = "write-zeroes"\nfua = true\n', "has no FUA"),
    "FUA of reads": (HEAD + STREAM + "fua = true\n", "'fua' is for writes"),
    "priority of no class": (HEAD + STREAM + 'priority = "high"\n', "'high' is not an I/O prior"),
    "level of idle": (HEAD + STREAM + 'priority = "idle:1"\n', "'idle:1' is not an I/O priority"),
    "level beyond 7": (HEAD + STREAM + 'priority = "rt:8"\n', "'rt:8' is not an I/O priority"),
    "unknown write hint": (HEAD + STREAM + 'write_hint = "log"\n', "did you mean 'long'?"),
    "write hint of reads": (HEAD + STREAM + 'write_hint = "long"\n', "'write_hint' is for writes"),
    "write hint of discards": (
        HEAD + STREAM + 'operation = "discard"\nwrite_hint = "long"\n',
        "operation discard has no data: remove 'write_hint'",
    ),
    "data of reads": (HEAD + STREAM + 'duplicate = "50%"\n', "'duplicate' is for writes"),
    "data of discards": (
        HEAD + STREAM + 'operation = "discard"\nfill = "0xff"\n',
        "operation discard has no data: remove 'fill'",
    ),
    "fill of no bytes": (HEAD + WRITES + 'fill = "0x"\n', "'0x' is not a fill"),
    "fill of half a byte": (HEAD + WRITES + 'fill = "0xfff"\n', "'0xfff' is not a fill"),
    "fill of 65 bytes": (HEAD + WRITES + f'fill = "0x{"ab" * 65}"\n', "1 to 64 bytes"),
    "fill of random data": (
        HEAD + WRITES + 'fill = "0xff"\ncompressible = "0%"\n',
        "without compressible data there is no fill: remove 'fill'",
    ),
    "duplicates of fill": (
        HEAD + WRITES + 'fill = "0xff"\nduplicate = "10%"\n',
        "data that are all fill are equal anyway",
    ),
    "more than all compressible": (HEAD + WRITES + 'compressible = "101%"\n', "101%"),
    "size of a flush": (
        HEAD + STREAM + 'operation = "flush"\n',
        "a flush has neither address nor length: remove 'size'",
    ),
    "pattern of a flush": (
        HEAD + '[[stream]]\nname = "s"\noperation = "flush"\npattern = "once"\n',
        "remove 'pattern'",
    ),
    "zone operation of another pattern": (
        HEAD + STREAM + 'operation = "zone-append"\n',
        "operation zone-append needs pattern write-pointer",
    ),
    "operation without pointers": (
        HEAD + STREAM + 'pattern = "write-pointer"\noperation = "discard"\n',
        "operation discard has no pattern write-pointer",
    ),
    "start at pointers": (
        HEAD + STREAM + 'pattern = "write-pointer"\nstart = "10%"\n',
        "has all zones of its asu: remove 'start'",
    ),
    "size of a zone command": (
        HEAD + STREAM + 'pattern = "write-pointer"\noperation = "zone-reset"\n',
        "operation zone-reset is on a whole zone: remove 'size'",
    ),
    "no open zone": (
        HEAD + STREAM + 'pattern = "write-pointer"\nopen_zones = 0\n',
        "open_zones must be 1 to 1048576, not 0",
    ),
    "open zones of another pattern": (
        HEAD + STREAM + "open_zones = 2\n",
        "'open_zones' belongs to pattern write-pointer",
    ),
    "key of another pattern": (HEAD + STREAM + "stride = 4096\n", "belongs to pattern strided"),
    "sizes of once": (
        HEAD
        + "[[stream]]\nname = 's'\n"
        + 'pattern = "once"\nsizes = [{ size = 512, share = 1 }, { size = 1024, share = 1 }]\n',
        "it needs one size",
    ),
    "zones of another pattern": (
        HEAD + STREAM + "zone_size = 4096\n",
        "'zone_size' belongs to pattern strided",
    ),
    "range of zones without a size": (
        HEAD + STREAM + 'pattern = "strided"\nstride = 8192\nzone_range = 4096\n',
        "'zone_range' needs 'zone_size'",
    ),
    "order of zones without a size": (
        HEAD + STREAM + 'pattern = "strided"\nstride = 8192\nzone_order = "once"\n',
        "'zone_order' needs 'zone_size'",
    ),
    "zones with jitter": (
        HEAD + STREAM + 'pattern = "strided"\nstride = 8192\njitter = 512\nzone_size = 8192\n',
        "jitter and zone_size exclude each other",
    ),
    "sizes of zones once": (
        HEAD
        + '[[stream]]\nname = "s"\npattern = "strided"\nstride = 8192\nzone_size = 8192\n'
        + 'zone_order = "once"\n'
        + "sizes = [{ size = 512, share = 1 }, { size = 1024, share = 1 }]\n",
        "zone_order once touches equal blocks: it needs one size",
    ),
    "pattern without its key": (HEAD + STREAM + 'pattern = "strided"\n', "needs 'stride'"),
    "runs without length": (HEAD + STREAM + 'pattern = "runs"\n', "needs 'run_length'"),
    "walk with two sizes": (
        HEAD
        + '[[stream]]\nname = "s"\npattern = "walk"\n'
        + 'sizes = [{ size = "4KiB", share = 1 }, { size = "8KiB", share = 1 }]\n',
        "a walk moves by single blocks",
    ),
    "odd alignment": (HEAD + STREAM + "align = 100\n", "multiple of 512"),
    "asu of size 0": (HEAD + STREAM + '[[asu]]\nname = "a"\nsize = "0%"\n', "its size is 0"),
    "law without rate": (
        HEAD + STREAM + '[[arrival]]\nname = "a"\nlaw = "poisson"\n',
        "law poisson needs 'rate'",
    ),
    "rate of a closed loop": (
        HEAD + STREAM + '[[arrival]]\nname = "a"\nrate = 5\n',
        "'rate' belongs to law poisson or constant",
    ),
    "rate 0": (
        HEAD + STREAM + '[[arrival]]\nname = "a"\nlaw = "poisson"\nrate = 0\n',
        "must be a number above 0",
    ),
    "infinite rate": (
        HEAD + STREAM + '[[arrival]]\nname = "a"\nlaw = "poisson"\nrate = inf\n',
        "must be a number above 0",
    ),
    "depth 0": (
        HEAD + STREAM + '[[arrival]]\nname = "a"\ndepth = 0\n',
        "depth must be 1 to 65536, not 0",
    ),
    "rate of 400 digits": (
        HEAD + STREAM + f'[[arrival]]\nname = "a"\nlaw = "poisson"\nrate = {"9" * 400}\n',
        "is more than 1000000000 I/Os per second",
    ),
    "think without unit": (
        HEAD + STREAM + '[[arrival]]\nname = "a"\nthink = "5"\n',
        "has no unit",
    ),
    "unused arrival": (
        HEAD + STREAM + '[[arrival]]\nname = "a"\n[[arrival]]\nname = "b"\n',
        "arrival 'b': no stream uses it",
    ),
    "arrivals of a scaled workload": (
        HEAD + 'scale = "bsu"\n' + STREAM + '[[arrival]]\nname = "a"\n',
        "the arrivals follow from the scale",
    ),
    "count and passes": (HEAD + STREAM + "[run]\npasses = 2\ncount = 5\n", "exclude each other"),
    "time 0": (HEAD + STREAM + '[run]\ntime = "0"\n', "more than 0"),
    "count 0": (
        HEAD + STREAM + "[run]\ncount = 0\n",
        "run: count must be 1 to 18446744073709551615",
    ),
    "too many streams": (
        HEAD + "".join(STREAM.replace('"s"', f'"s{i}"') for i in range(65)),
        "at most 64",
    ),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_what_is_wrong_gets_one_sentence(case: str) -> None:
    text, sentence = WRONG[case]
    with pytest.raises(UsageError) as refusal:
        file.parse(text)
    assert sentence in refusal.value.message
    assert "\n" not in refusal.value.message
    assert "`" not in refusal.value.message, "that is a validator speaking, not us"
    assert refusal.value.exit_code == 2


def test_a_limit_is_told_by_the_users_name_for_it() -> None:
    rules.check_limits("depth", 65536)
    rules.check_limits("depth", None)
    with pytest.raises(UsageError, match=r"^--depth must be 1 to 65536, not 0$"):
        rules.check_limits("depth", 0, "--depth")
