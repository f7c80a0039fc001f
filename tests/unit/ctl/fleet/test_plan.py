# SPDX-License-Identifier: GPL-2.0
"""Plans: what they mean, and one sentence for each that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.build.sources import ROOT

from spekctl.errors import UsageError
from spekctl.fleet import plan
from spekctl.workload import file as workload_files
from spekctl.workload.options import Options

FLEET = """
[fleet]
listen = "tls://10.0.0.1:8786"
workload = "random-read-4k"
"""
CLIENT = """
[[host]]
name = "client1"
devices = ["wwn:naa.6001"]
"""
GOOD = FLEET + CLIENT


def test_the_plan_of_the_readme_is_for_the_hosts_that_it_makes_keys_for() -> None:
    text = (ROOT / "ctl/spekctl/fleet/README.md").read_text()
    start = text.partition("## Start")[2].partition("\n## ")[0]
    lines = [line[4:] for line in start.splitlines() if line[:4] == "    " or not line]
    body = "\n".join(lines)
    planned = plan.parse(body[body.index("[fleet]") : body.index("spekctl fleet join")])
    (init,) = (line for line in lines if line.startswith("spekctl fleet init"))
    assert init.partition("#")[0].split()[4:] == [host.name for host in planned.hosts]
    assert f"spekctl fleet join {planned.listen} " in body


def test_a_plan_says_who_does_what() -> None:
    text = f"""
[fleet]
listen = "tls://[fd00::1]:8786"
workload = "random-write-4k"
settings = ["stream.main.size=8KiB"]
max_skew = "1ms"
on_loss = "continue"
seed = 7
options = {{time = "5s", write = true}}
{CLIENT}
destroy = ["S1"]
weight = 3
options = {{time = "6s"}}
[[host]]
name = "storage"
role = "target"
power_feeds = ["psu"]
"""
    read = plan.parse(text)
    client, target = read.hosts
    assert (read.name, read.share, read.on_loss) == ("random-write-4k", "split", "continue")
    assert (read.max_skew_ns, read.seed, read.clients) == (1_000_000, 7, [client])
    assert (client.load.time_ns, client.load.write) == (6 * 10**9, True)
    assert (client.weight, client.devices, client.destroy) == (3, ("wwn:naa.6001",), ("S1",))
    assert (target.role, target.power_feeds) == ("target", ("psu",))


def test_readers_overlap_unless_the_plan_splits() -> None:
    assert plan.parse(GOOD).share == "overlap"
    assert plan.parse(GOOD.replace("[[host]]", 'share = "split"\n[[host]]')).share == "split"


def test_a_workload_is_looked_for_beside_the_plan(tmp_path: Path) -> None:
    workload = (Path(workload_files.shipped_directory()) / "random-read-4k.toml").read_text()
    (tmp_path / "mine.toml").write_text(workload)
    (tmp_path / "plan.toml").write_text(GOOD.replace('"random-read-4k"', '"mine.toml"'))
    assert plan.load(tmp_path / "plan.toml").workload.workload.name == "random-read-4k"


def test_hosts_with_ssh_are_started_from_here() -> None:
    text = FLEET + 'ssh = {program = "/opt/spek/bin/spekctl"}\n' + CLIENT
    read = plan.parse(text + 'ssh = "me@client1"')
    assert (read.hosts[0].ssh, read.ssh.program, read.ssh.keys) == (
        *("me@client1", "/opt/spek/bin/spekctl", "spek-keys"),
    )
    assert plan.parse(GOOD).hosts[0].ssh == ""


@pytest.mark.parametrize(
    "place", ["-oProxyCommand=x", "a b", "a;b", "me@a\\n", "$(x)", "`x`", "a'b", "é"]
)
def test_what_could_be_an_option_of_ssh_is_refused(place: str) -> None:
    with pytest.raises(
        UsageError, match=r"(?s)host 'client1': ssh: '.*' is not an SSH destination"
    ):
        plan.parse(GOOD + f'ssh = "{place}"')


@pytest.mark.parametrize("place", ["client1", "me@10.0.0.2", "ssh://me@[fd00::1]:2222", "a_b.c-d"])
def test_places_of_ssh(place: str) -> None:
    assert plan.parse(GOOD + f'ssh = "{place}"').hosts[0].ssh == place


def hosts(count: int, options: str) -> str:
    entries = [CLIENT.replace("client1", f"c{number}") for number in range(count)]
    spc1 = FLEET.replace("random-read-4k", "spc1")
    return spc1 + f"options = {options}\n" + "".join(entries)


def test_bsus_are_dealt_out() -> None:
    read = plan.parse(hosts(3, '{bsu = "8", write = true}'))
    assert [host.load.bsu for host in read.hosts] == [3, 3, 2]
    assert [host.options["bsu"] for host in read.hosts] == ["3", "3", "2"]


def test_an_interval_that_is_that_of_the_others_is_no_difference() -> None:
    text = hosts(2, '{time = "5s", bsu = "8"}') + 'options = {interval = "1s"}'
    assert len(plan.parse(text).hosts) == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (CLIENT, "the section 'fleet' is missing"),
        (FLEET, 'there is no [[host]] with role "client", which would send I/O'),
        (GOOD.replace("tls:", "tcp:"), "is not an address to listen at; write tls://ADDRESS:PORT"),
        (GOOD.replace("8786", "87860"), "is not an address to listen at"),
        (GOOD.replace("listen", "lissen"), "unknown key 'lissen'; did you mean 'listen'?"),
        (GOOD.replace("random-read-4k", "nothing"), "nothing"),
        (
            GOOD.replace("[[host]]", 'share = "half"\n[[host]]'),
            "unknown value 'half'; it is one of",
        ),
        (GOOD.replace("[[host]]", 'on_loss = "go"\n[[host]]'), "unknown value 'go'"),
        (GOOD.replace("[[host]]", 'max_skew = "fast"\n[[host]]'), "fleet: max_skew: "),
        (GOOD.replace("[[host]]", 'max_skew = "0s"\n[[host]]'), "it must be more than 0"),
        (
            GOOD.replace("10.0.0.1", "0.0.0.0") + 'ssh = "client1"',
            "fleet: listen: hosts that are started over SSH cannot join at tls://0.0.0.0:8786",
        ),
        (
            FLEET + 'ssh = {keys = "-x"}\n' + CLIENT,
            "fleet: ssh: keys: '-x' is not a path",
        ),
        (
            FLEET + 'ssh = {program = "~/bin/spekctl"}\n' + CLIENT,
            "fleet: ssh: program: the remote shell does not expand '~/bin/spekctl'; write a path",
        ),
        (GOOD + CLIENT, "there are two hosts called client1"),
        (GOOD.replace("client1", "a b"), "'a b' is not the name of a host"),
        (GOOD.replace("client1", "controller"), "a host cannot be called controller"),
        (GOOD.replace('["wwn:naa.6001"]', "[]"), "host 'client1': a client needs devices"),
        (GOOD.replace("wwn:naa.6001", "sdb"), "'sdb' names no device; write wwn:..., serial:"),
        (GOOD.replace("wwn:naa.6001", "wwn:naa.60x1"), "'wwn:naa.60x1' is not a WWN: naa., eui."),
        (GOOD.replace("wwn:naa.6001", "wwn:0x"), "'wwn:0x' is not a WWN: naa., eui. and 0x are"),
        (GOOD.replace("wwn:naa.6001", "/etc/x"), "/etc/x is not below /dev"),
        (GOOD.replace("wwn:naa.6001", "/dev/../etc/x"), "is not below /dev"),
        (GOOD.replace('"wwn:naa.6001"', '"/dev/a", "/dev/a"'), "/dev/a is listed twice"),
        (GOOD + "weight = 0", "weight: 0 is out of range"),
        (GOOD + 'role = "target"', "devices: a target sends no I/O"),
        (GOOD + 'options = {log = "."}', "options, log: '.' is not a file"),
        (GOOD + 'options = {seed = "5"}', "each host has a seed of its own"),
        (GOOD + 'options = {tme = "5s"}', "there is no option --tme"),
        (GOOD + 'options = {time = "x"}', "host 'client1': --time"),
        (GOOD + "options = {verify = true}", 'verify needs share = "split"'),
        (
            hosts(3, '{bsu = "2", write = true}'),
            "--bsu must be 3 to 12884901885 for 3 clients together, not 2",
        ),
        (hosts(2, '{bsu = "8"}') + 'options = {bsu = "4"}', "different numbers of BSUs"),
        (
            hosts(2, '{time = "5s"}') + 'options = {interval = "2s"}',
            "c0 and c1 have different report intervals, 1.00 s and 2.00 s; write interval in",
        ),
    ],
)
def test_a_wrong_plan_is_refused_by_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        plan.parse(text)
    assert sentence in refusal.value.message and "\n" not in refusal.value.message


REPLAY = """
[workload]
name = "mail"
summary = "a trace"
[[stream]]
name = "trace"
pattern = "trace"
[stream.trace]
files = ["t.csv"]
"""


def test_a_trace_is_split_unless_the_plan_says_otherwise(tmp_path: Path) -> None:
    (tmp_path / "mail.toml").write_text(REPLAY)
    text = GOOD.replace("random-read-4k", "mail.toml")
    planned = plan.parse(text, tmp_path)
    (stream,) = planned.workload.stream
    assert stream.trace is not None and stream.trace.files == [str(tmp_path / "t.csv")]
    assert planned.share == "split"
    another = CLIENT.replace("client1", "client2").replace('01"', '01", "wwn:naa.6002"')
    with pytest.raises(UsageError, match="client1 has 1 and client2 2 devices; to replay a trace"):
        plan.parse(text + another, tmp_path)


@pytest.mark.parametrize("name", ["trace", "flush", "discard"])
def test_a_stream_beside_a_trace_has_another_name_than_those_of_the_sum(
    tmp_path: Path, name: str
) -> None:
    """Also on several devices, whose streams of the trace are numbered on each host."""
    mail = REPLAY.replace('"trace"\npattern', '"replay"\npattern')
    beside = f'[[stream]]\nname = "{name}"\nsize = "4KiB"\n'
    (tmp_path / "mail.toml").write_text(mail + beside)
    text = GOOD.replace("random-read-4k", "mail.toml").replace('01"', '01", "wwn:naa.6002"')
    with pytest.raises(UsageError, match=f"stream '{name}': the replay uses this name itself"):
        plan.parse(text, tmp_path)
    (tmp_path / "mail.toml").write_text(mail + beside.replace(name, "scrub"))
    assert len(plan.parse(text, tmp_path).workload.stream) == 2


def test_steps_of_a_command_replay_no_trace(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(GOOD)
    replay = workload_files.parse(REPLAY)
    with pytest.raises(UsageError, match="mail replays a trace; the steps of a command"):
        plan.load(tmp_path / "plan.toml", replay)
    # A page's run is one of the plan.
    assert plan.parse(GOOD, instead=replay).share == "split"


def test_a_result_is_no_plan(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"kind": "spek-result"}')
    with pytest.raises(UsageError, match=r"a result of a run; plans are read from TOML"):
        plan.load(tmp_path / "result.json")


def test_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(FLEET)
    with pytest.raises(UsageError, match=r"^.*plan\.toml: there is no \[\[host\]\]"):
        plan.load(tmp_path / "plan.toml")


def steps_of(text: str, given: Options, write: bool = False) -> plan.Plan:
    """The plan of a step of a command that says workload and load."""
    workload = workload_files.load("random-write-4k" if write else "random-read-4k")
    return plan.of_step(plan.parse(text, instead=workload, write=write), workload, given)


def test_each_host_has_a_log_of_its_own() -> None:
    text = FLEET + 'options = {log = "logs/run.parquet"}\n' + CLIENT
    text += '[[host]]\nname = "c2"\ndevices = ["/dev/sdb"]\noptions = {log = "x"}\n'
    first, second = plan.parse(text).hosts
    assert first.options["log"] == "logs/run.client1.parquet"
    assert str(first.measuring.log) == "logs/run.client1.parquet"
    assert second.options["log"] == str(second.measuring.log) == "x.c2"


def test_a_command_of_several_runs_has_all_options_but_cpus() -> None:
    text = FLEET + (
        'options = {write = true, until = "steady", depth = "9", workers = "2"}\n' + CLIENT
    )
    (host,) = steps_of(text, Options(depth=4)).hosts
    assert (host.load.write, host.load.until, host.load.depth) == (False, None, 4)
    assert host.load.workers == 2
    assert plan.of_command(plan.parse(text)) == ["depth", "until", "write"]


def test_a_command_of_several_runs_has_no_logs_that_replace_each_other() -> None:
    text = FLEET + 'options = {log = "run.parquet", log-buffer = "9"}\n' + CLIENT
    (host,) = steps_of(text, Options(depth=4)).hosts
    assert host.measuring.log is None and "log" not in host.options
    assert plan.of_command(plan.parse(text)) == ["log", "log-buffer"]


def test_limits_of_outstanding_ios_are_dealt_out() -> None:
    text = hosts(2, '{bsu = "2"}')

    def limits(given: Options) -> list[int | None]:
        return [host.load.max_outstanding for host in steps_of(text, given).hosts]

    assert limits(Options(bsu=5, max_outstanding=10)) == [6, 4], "two for each BSU"
    assert limits(Options(bsu=5, max_outstanding=9)) == [5, 4]
    with pytest.raises(UsageError, match="--max-outstanding must be 2 to 131072 for 2 clients"):
        limits(Options(bsu=5, max_outstanding=1))


def test_what_a_step_may_write_is_split() -> None:
    workload = workload_files.load("random-read-4k")
    assert plan.parse(GOOD, instead=workload).share == "overlap"
    assert plan.parse(GOOD, instead=workload, write=True).share == "split"
    overlapping = GOOD.replace("[[host]]", 'share = "overlap"\n[[host]]')
    with pytest.raises(UsageError, match='verify needs share = "split"'):
        steps_of(overlapping, Options(verify=True, write=True), write=True)
