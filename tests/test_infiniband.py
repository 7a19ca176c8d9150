"""The parsers of InfiniBand's and RoCE's tools, what is measured over their facts, and texts that mean them harm."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.derive.ib_growth import growth
from gpudoctor.derive.ib_links import links
from gpudoctor.facts import FACTS, Fact, Facts, Subject
from gpudoctor.facts.infiniband import IbCounters, IbPort
from gpudoctor.intake.hints import Hint
from gpudoctor.intake.recognise import recognise
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import PARSERS, load
from gpudoctor.runbook.allowed import refusal
from gpudoctor.tools.parser import ParseError
from tests.nodes.rdma import Hca, four, interfaces, sysfs

RECORDED = Path(__file__).parent / "fabric" / "recorded"

IBSTAT = """CA 'mlx5_0'
\tCA type: MT4129
\tNumber of ports: 1
\tFirmware version: 28.39.1002
\tHardware version: 0
\tNode GUID: 0xa088c20300aa1110
\tSystem image GUID: 0xa088c20300aa1110
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tBase lid: 31
\t\tLMC: 0
\t\tSM lid: 4
\t\tCapability mask: 0xa751e848
\t\tPort GUID: 0xa088c20300aa1110
\t\tLink layer: InfiniBand
CA 'mlx5_1'
\tCA type: MT4129
\tNumber of ports: 1
\tPort 1:
\t\tState: Down
\t\tPhysical state: Polling
\t\tRate: 10
\t\tBase lid: 65535
\t\tSM lid: 0
\t\tPort GUID: 0xa088c20300aa1120
\t\tLink layer: InfiniBand
"""
IBSTATUS = """Infiniband device 'mlx5_2' port 1 status:
\tdefault gid:\t fe80:0000:0000:0000:a088:c203:00aa:1130
\tbase lid:\t 0x2a
\tsm lid:\t\t 0x4
\tstate:\t\t 2: INIT
\tphys state:\t 5: LinkUp
\trate:\t\t 200 Gb/sec (4X HDR)
\tlink_layer:\t InfiniBand

"""
DEVINFO = """hca_id:\tmlx5_3
\ttransport:\t\t\tInfiniBand (0)
\tfw_ver:\t\t\t\t28.39.1002
\tnode_guid:\t\t\ta088:c203:00aa:1140
\tboard_id:\t\t\tMT_0000000838
\tphys_port_cnt:\t\t\t1
\t\tport:\t1
\t\t\tstate:\t\t\tPORT_ACTIVE (4)
\t\t\tmax_mtu:\t\t4096 (5)
\t\t\tactive_mtu:\t\t4096 (5)
\t\t\tsm_lid:\t\t\t4
\t\t\tport_lid:\t\t52
\t\t\tlink_layer:\t\tInfiniBand
\t\t\tactive_width:\t\t4X (2)
\t\t\tactive_speed:\t\t100.0 Gbps (128)
\t\t\tphys_state:\t\tLINK_UP (5)
\t\t\tGID[  0]:\t\tfe80:0000:0000:0000:a088:c203:00aa:1140
"""
GIDS = """DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV
---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---
mlx5_0\t1\t0\tfe80:0000:0000:0000:a288:c2ff:fe03:1110\t\t\tv1\tens1np0
mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a01:0203\t10.1.2.3  \tv2\tens1np0
n_gids_found=2
"""
RDMA_LINK = """link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1np0
link mlx5_1/1 subnet_prefix fe80:0000:0000:0000 lid 12 sm_lid 1 lmc 0 state INIT physical_state LINK_UP
"""
MLXLINK = """Operational Info
----------------
State                              : Polling
Physical state                     : ETH_AN_FSM_ENABLE
Speed                              : N/A
Width                              : N/A

Troubleshooting Info
--------------------
Status Opcode                      : 15
Group Opcode                       : PHY FW
Recommendation                     : Bad signal integrity
"""
LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max locked memory         8388608              unlimited            bytes
Max open files            1024                 1048576              files
[me@gpu-01 ~]$ ulimit -l
64
max locked memory           (kbytes, -l) unlimited
shm               65536      1024     64512   2% /dev/shm
tmpfs           1,1T     0  1,1T   0% /dev/shm
"""
IP_LINK = """2: ib0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 4092 qdisc mq state UP mode DEFAULT group default qlen 256
    link/infiniband 00:00:10:29:fe:80:00:00:00:00:00:00:a0:88:c2:03:00:aa:11:10 brd 00:ff
3: eno1@if4: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc mq state DOWN mode DEFAULT group default qlen 1000
    link/ether b8:3f:d2:00:00:01 brd ff:ff:ff:ff:ff:ff
"""
PERFQUERY = (RECORDED / "perfquery-later.txt").read_text()
QUERYERRORS = (RECORDED / "ibqueryerrors-ports.txt").read_text()
LINKINFO = (RECORDED / "iblinkinfo.txt").read_text()
SAMPLES: dict[str, list[str]] = {
    "infiniband.ports": [
        IBSTAT,
        IBSTATUS,
        DEVINFO,
        sysfs(four(state="Down", physical="Polling")),
        json.dumps({"/sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n"}, indent=1),
    ],
    "infiniband.perfquery": [PERFQUERY, (RECORDED / "perfquery-x.txt").read_text()],
    "infiniband.ibqueryerrors": [QUERYERRORS, (RECORDED / "ibqueryerrors.txt").read_text()],
    "infiniband.iblinkinfo": [LINKINFO, (RECORDED / "iblinkinfo-line.txt").read_text()],
    "infiniband.gids": [GIDS, RDMA_LINK],
    "infiniband.mlxlink": [MLXLINK],
    "linux.limits": [LIMITS],
    "linux.ip_link": [IP_LINK, interfaces(four())],
}
EVERY = [(parser, number) for parser, samples in SAMPLES.items() for number in range(len(samples))]


def read(parser: str, text: str | bytes, argv: tuple[str, ...] = ("tool",), node: str = "gpu-01", stderr: str = "", exit: int = 0) -> Facts:
    """What a parser makes of a text."""
    body = text.encode() if isinstance(text, str) else text
    return load(parser)(Output(Command(argv), exit, (body,), stderr.encode(), time=100.0), Subject(kind="node", node=node))


def plain(facts: Facts) -> dict[str, list[dict[str, Any]]]:
    """The fields of the facts that aren't at their defaults, without origins and times."""
    return {
        kind: [{k: v for k, v in vars_of(one).items() if v not in (None, "", {}, [], False)} for one in records]
        for kind, records in facts.items()
    }


def vars_of(fact: Fact) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in fact.__struct_fields__ if name not in ("origin", "time", "node", "own")}


def test_ibstat() -> None:
    up, down = plain(read("infiniband.ports", IBSTAT))["ib_ports"]
    assert up == {
        "ca": "mlx5_0", "port": 1, "guid": "0xa088c20300aa1110", "lid": 31, "sm_lid": 4, "state": "Active", "physical": "LinkUp",
        "rate": 400.0, "link_layer": "InfiniBand", "firmware": "28.39.1002", "ca_type": "MT4129",
    }  # fmt: skip
    assert (down["state"], down["physical"], down["lid"]) == ("Down", "Polling", 65535)


def test_ibstat_of_one_port() -> None:
    text = "CA: 'mlx5_4'\nState: Active\nPhysical state: LinkUp\nRate: 40 (FDR10)\nLink layer: InfiniBand\n"
    (port,) = plain(read("infiniband.ports", text))["ib_ports"]
    assert (port["ca"], port["port"], port["rate"], port["speed"]) == ("mlx5_4", 1, 40.0, "FDR10")


def test_ibstatus_and_devinfo_name_the_same_things() -> None:
    (waits,) = plain(read("infiniband.ports", IBSTATUS))["ib_ports"]
    assert waits == {
        "ca": "mlx5_2", "port": 1, "guid": "0xa088c20300aa1130", "lid": 42, "sm_lid": 4, "state": "Initializing", "physical": "LinkUp",
        "rate": 200.0, "width": "4X", "speed": "HDR", "link_layer": "InfiniBand",
    }  # fmt: skip
    (active,) = plain(read("infiniband.ports", DEVINFO))["ib_ports"]
    assert active == {
        "ca": "mlx5_3", "port": 1, "guid": "0xa088c20300aa1140", "lid": 52, "sm_lid": 4, "state": "Active", "physical": "LinkUp",
        "width": "4X", "speed": "100.0 Gbps", "link_layer": "InfiniBand", "firmware": "28.39.1002", "board": "MT_0000000838", "mtu": 4096,
    }  # fmt: skip


def test_no_adapter_is_an_answer_and_a_panic_is_none() -> None:
    assert read("infiniband.ports", "No IB devices found\n", exit=255)["ib_ports"] == []
    said = read("infiniband.ports", "", stderr="ibpanic: [7] main: stat of IB device 'mlx5_1' failed: Invalid argument\n", exit=255)
    assert [(one["name"], one["detail"]) for one in plain(said)["messages"]] == [("ib_device_not_in_sysfs", "mlx5_1")]


def test_sysfs_is_ports_counters_and_gids_at_once() -> None:
    adapters = [Hca(0, counters={"symbol_error": 65535, "link_downed": 2}), Hca(1, layer="Ethernet", address="10.1.2.3")]
    found = plain(read("infiniband.ports", sysfs(adapters)))
    assert [(port["ca"], port["state"], port["interface"], port["counted"]) for port in found["ib_ports"]] == [
        ("mlx5_0", "Active", "ib0", True), ("mlx5_1", "Active", "ens2np0", True),
    ]  # fmt: skip
    first = found["ib_counters"][0]
    assert first["gaps"] == {"symbol_errors": "saturated"}
    assert (first["link_downed"], first["transmit_data"]) == (2, 81_000_000 * 4)
    assert [(gid["ca"], gid.get("index", 0), gid.get("address", ""), gid["kind"]) for gid in found["gids"]][-1] == (
        "mlx5_1",
        3,
        "10.1.2.3",
        "RoCE v2",
    )


def test_sysfs_as_json_has_the_interface_of_the_device() -> None:
    pci = "/sys/bus/pci/devices/0000:5d:00.0"
    listing = {f"{pci}/infiniband/mlx5_5/ports/1/state": "2: INIT\n", f"{pci}/infiniband/mlx5_5/ports/1/phys_state": "5: LinkUp\n", f"{pci}/infiniband/mlx5_5/hca_type": "hca_type\n", f"{pci}/net/ib5/operstate": "down\n", f"{pci}/net/ib5/type": "32\n"}  # fmt: skip # noqa: E501
    found = plain(read("infiniband.ports", json.dumps(listing, indent=2)))
    assert found["ib_ports"] == [{"ca": "mlx5_5", "port": 1, "state": "Initializing", "physical": "LinkUp", "interface": "ib5"}]
    assert found["interfaces"] == [{"interface": "ib5", "state": "down", "kind": "infiniband"}]


def test_perfquery_counts_and_a_full_counter_is_a_gap() -> None:
    (one,) = read("infiniband.perfquery", PERFQUERY, ("perfquery", "-C", "ibsim0", "-P", "1"))["ib_counters"]
    assert isinstance(one, IbCounters)
    assert (one.node, one.ca, one.port, one.symbol_errors, one.link_recoveries) == ("gpu-01", "ibsim0", 1, None, 12)
    assert one.gaps == {"symbol_errors": "saturated"}
    assert one.saturated == ["symbol_errors"]


def test_perfquery_of_another_port_is_not_the_hosts_own() -> None:
    (one,) = read("infiniband.perfquery", PERFQUERY, ("perfquery", "4", "1"))["ib_counters"]
    assert isinstance(one, IbCounters)
    assert (one.node, one.ca, one.lid) == ("", "", 4)


def test_extended_counters_say_nothing_of_errors() -> None:
    (one,) = read("infiniband.perfquery", SAMPLES["infiniband.perfquery"][1])["ib_counters"]
    assert isinstance(one, IbCounters)
    assert (one.symbol_errors, one.link_downed) == (None, None)
    assert one.receive_data


def test_ibqueryerrors_names_ports_and_links() -> None:
    found = read("infiniband.ibqueryerrors", QUERYERRORS)
    assert {(one.node, one.ca, one.port) for one in found["ib_counters"] if isinstance(one, IbCounters)} == {
        ("gpu-04", "gpu-04", 1), ("gpu-02", "gpu-02", 1), ("", "leaf-1", 2),
    }  # fmt: skip
    ends = {(one.ca, one.port): one.remote for one in found["ib_ports"] if isinstance(one, IbPort)}
    assert ends[("gpu-02", 1)] == "leaf-1 port 2"


def test_iblinkinfo_gives_both_ends_and_links_are_counted_once() -> None:
    found = read("infiniband.iblinkinfo", LINKINFO)
    assert len(found["ib_ports"]) == 24
    made = links(found, {}, 0.0)["ib_links"]
    assert len(made) == 10
    slow = [plain({"x": [one]})["x"][0] for one in made if getattr(one, "width", "") == "1X"]
    assert slow == [
        {"near": "gpu-06 port 1", "far": "leaf-2 port 2", "width": "1X", "speed": "10.0 Gbps", "could_be": "12X", "alike": 1, "links": 10}
    ]


def test_other_forms() -> None:
    gids = plain(read("infiniband.gids", GIDS))["gids"]
    assert gids[1] == {"ca": "mlx5_0", "port": 1, "index": 3, "gid": "0000:0000:0000:0000:0000:ffff:0a01:0203", "kind": "RoCE v2", "address": "10.1.2.3", "interface": "ens1np0"}  # fmt: skip # noqa: E501
    ports = plain(read("infiniband.gids", RDMA_LINK))["ib_ports"]
    assert [(one["state"], one["link_layer"]) for one in ports] == [("Active", "Ethernet"), ("Initializing", "InfiniBand")]
    link = read("infiniband.mlxlink", MLXLINK, ("mlxlink", "-d", "mlx5_0", "-m"))
    assert [(one["ca"], one["state"]) for one in plain(link)["ib_ports"] if "state" in one] == [("mlx5_0", "Down")]
    assert [one["name"] for one in plain(link)["messages"]] == ["mlxlink_bad_signal"]
    found = plain(read("linux.ip_link", IP_LINK))["interfaces"]
    assert found == [{"interface": "ib0", "state": "up", "kind": "infiniband", "guid": "0xa088c20300aa1110", "enabled": True, "mtu": 4092}, {"interface": "eno1", "state": "down", "kind": "ether", "enabled": True, "mtu": 1500}]  # fmt: skip # noqa: E501


def test_limits_are_bytes() -> None:
    found = [(one["limit"], one["soft"], one.get("hard")) for one in plain(read("linux.limits", LIMITS))["limits"]]
    assert found == [
        ("memlock", 8388608.0, math.inf), ("nofile", 1024.0, 1048576.0), ("memlock", 65536.0, None), ("memlock", math.inf, None),
        ("shm", 65536 * 1024.0, None), ("shm", 1.1 * 1024**4, None),
    ]  # fmt: skip


def counted(moment: float | None, **values: int) -> IbCounters:
    return IbCounters(node="gpu-01", ca="mlx5_0", port=1, time=moment, **values)  # type: ignore[arg-type]


def test_growth_is_per_second_and_of_a_reset_counter_what_came_since() -> None:
    facts: dict[str, list[Fact]] = {
        "ib_counters": [counted(0.0, symbol_errors=5, receive_errors=70), counted(10.0, symbol_errors=105, receive_errors=3)]
    }
    (one,) = plain(growth(facts, {}, 0.0))["ib_growth"]
    assert one["grew"] == {"symbol_errors": 100, "receive_errors": 3}
    assert (one["rate"]["symbol_errors"], one["seconds"]) == (10.0, 10.0)
    assert one["errors"] == "symbol errors +100, receive errors +3"


def test_growth_needs_two_looks_and_no_full_counter() -> None:
    assert growth({"ib_counters": [counted(0.0, symbol_errors=5)]}, {}, 0.0) == {"ib_growth": []}
    full = IbCounters(node="gpu-01", ca="mlx5_0", port=1, time=10.0, gaps={"symbol_errors": "saturated"}, saturated=["symbol_errors"])
    (one,) = plain(growth({"ib_counters": [counted(0.0, symbol_errors=5), full]}, {}, 0.0))["ib_growth"]
    assert "grew" not in one
    assert one["saturated"] == ["symbol_errors"]


def test_waiting_is_a_share() -> None:
    facts: dict[str, list[Fact]] = {
        "ib_counters": [counted(0.0, transmit_wait=0, transmit_data=0), counted(10.0, transmit_wait=3000, transmit_data=4000)]
    }
    (one,) = plain(growth(facts, {}, 0.0))["ib_growth"]
    assert one["waited"] == 0.75


@pytest.mark.parametrize(("parser", "number"), EVERY)
def test_forms_are_recognised(parser: str, number: int) -> None:
    assert recognise(SAMPLES[parser][number], Hint())[0].name == parser


@pytest.mark.parametrize(
    "argv",
    [
        ["perfquery", "-R"], ["perfquery", "-r"], ["perfquery", "--reset_only"], ["ibqueryerrors", "-k"],
        ["ibqueryerrors", "--clear-errors"], ["sminfo", "-s", "3"], ["rdma", "link", "delete", "x"], ["ip", "link", "set", "ib0", "down"],
        ["grep", "-R", ".", "/etc"], ["grep", "-f", "/etc/shadow", "/sys/class/infiniband/"], ["mlxlink", "-p", "1"],
        ["mlxlink", "-d", "mlx5_0", "-a", "TG"], ["df", "/"],
    ],
)  # fmt: skip
def test_what_changes_or_looks_elsewhere_is_refused(argv: list[str]) -> None:
    assert refusal(argv)


def attempt(parser: str, text: str | bytes) -> Facts:
    """The facts, or {} where the parser says that it isn't its text; anything else that it raises fails the test."""
    try:
        found = read(parser, text)
    except ParseError as error:
        if not str(error).startswith("tool: "):
            raise AssertionError(error) from None
        return {}
    assert set(found) <= set(PARSERS[parser].fills)
    assert all(type(one) is FACTS[kind] for kind, records in found.items() for one in records)
    return found


@pytest.mark.parametrize(("parser", "number"), EVERY)
def test_cut_at_every_byte(parser: str, number: int) -> None:
    body = SAMPLES[parser][number].encode()[:3000]
    for end in range(0, len(body), 7 if len(body) > 1000 else 1):
        attempt(parser, body[:end])


@pytest.mark.parametrize(("parser", "number"), EVERY)
def test_noise_changes_nothing(parser: str, number: int) -> None:
    text = SAMPLES[parser][number]
    if text.startswith("["):
        pytest.skip("JSON")
    clean = plain(attempt(parser, text))
    assert plain(attempt(parser, text.replace("\n", "\r\n"))) == clean
    assert plain(attempt(parser, text.replace("\n", "\x1b[0m\n\x1b[31m"))) == clean
    assert plain(attempt(parser, text.encode().replace(b"\n", b"\0\n"))) == clean


@pytest.mark.parametrize(("parser", "number"), EVERY)
def test_a_bad_line_loses_nothing_around_it(parser: str, number: int) -> None:
    text = SAMPLES[parser][number]
    if text.startswith("[") or text.startswith("{"):
        pytest.skip("JSON")
    kinds = {kind: len(records) for kind, records in attempt(parser, text).items()}
    body = text.encode() + b"\xff\xfe half \xe2\x82\n" + b"A" * 70_000 + b"\n"
    assert {kind: len(records) for kind, records in attempt(parser, body).items()} == kinds


HOSTILE = [
    "CA '" + "A" * 60 + "\n",
    "\tPort " + "9" * 50 + ":\n",
    "State: " * 50 + "\n",
    "[" * 300 + "\n",
    "(" * 300 + "\n",
    '"' * 300 + "\n",
    "GUID 0x" + "f" * 300 + " port 1:\n",
    "PortRcvErrors:" + "." * 3000 + "\n",
    'Errors for "' + " " * 3000 + "\n",
    ": " * 1500 + "\n",
    "/sys/class/infiniband/" + "a/" * 1000 + "ports/1/state:4\n",
    "/sys/" + "infiniband/x/" * 200 + ":\n",
    "SymbolErrorCounter:...99999999999999999999\n",
    "x 1 1 " + ":" * 3000 + "\n",
    "1: " + "a" * 3000 + ": <UP> mtu 1 state\n",
    "0x" + "0" * 16 + " " * 3000 + "==( \n",
    "Max locked memory " + " " * 3000 + "\n",
    "  1 1[ ] ==( 4X " + "1" * 2000 + "\n",
    "\x1b[" * 1000 + "\n",
    "max locked memory (kbytes, -l) " + "9" * 3000 + "\n",
]


@pytest.mark.parametrize("parser", SAMPLES)
@pytest.mark.parametrize("line", range(len(HOSTILE)))
def test_a_megabyte_of_hostile_lines_takes_linear_time(parser: str, line: int) -> None:
    text = SAMPLES[parser][0] + HOSTILE[line] * (1_000_000 // len(HOSTILE[line]))
    started = time.process_time()
    attempt(parser, text)
    assert time.process_time() - started < 5.0


@settings(max_examples=60, derandomize=True)
@given(parser=st.sampled_from(sorted(SAMPLES)), body=st.binary(max_size=400), at=st.integers(0, 3000), start=st.integers(0, 4))
def test_random_bytes_in_a_sample(parser: str, body: bytes, at: int, start: int) -> None:
    text = SAMPLES[parser][start % len(SAMPLES[parser])].encode()
    attempt(parser, text[:at] + body + text[at:])


@settings(max_examples=60, derandomize=True)
@given(parser=st.sampled_from(sorted(SAMPLES)), text=st.text(max_size=300))
def test_random_text(parser: str, text: str) -> None:
    attempt(parser, text)


@pytest.mark.parametrize("name", ["infiniband.portstate", "infiniband.series", "linux.nets"])
@pytest.mark.parametrize("text", ["", "nothing of the kind\n", "\0" * 50, "é" * 300])
def test_other_text_is_refused(name: str, text: str) -> None:
    with pytest.raises(ParseError):
        load(name)(Output(command=Command(("x",)), pages=(text.encode("utf-16"),)), Subject(kind="cluster"))
