"""Machines with RDMA adapters, and what goes wrong with their ports, cables, drivers and fabric.

The answers of perfquery, iblinkinfo and ibqueryerrors are those of the real tools on the simulated fabric (tests/fabric/recorded).
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpudoctor.library.index import library
from tests.nodes.case import Case, Said
from tests.nodes.rdma import Hca, four, interfaces, sysfs

BOOK = "fabric"
RUN = {step.id: shlex.join(step.run) for step in library().runbooks[BOOK].steps if step.run}
QUIET = "2026-03-01T09:02:11,000000+00:00 systemd[1]: Started Session 42 of user root.\n"
MODULES = "mlx5_ib 507904 0 - Live 0x0000000000000000\nmlx5_core 2170880 1 mlx5_ib, Live 0x0000000000000000\n"
RECORDED = Path(__file__).parents[1] / "fabric" / "recorded"
ROCE = [replace(one, layer="Ethernet", rate="200 Gb/sec (4X HDR)", address=f"10.1.0.{one.number + 1}") for one in four()]
BUSY = {"port_xmit_data": 90_000_000, "port_rcv_data": 90_000_000}
UNUSED = {"port_xmit_data": 0, "port_rcv_data": 0, "port_xmit_packets": 0}
QUERY = "perfquery -C ibsim0 -P 1"


def real(name: str) -> str:
    """What a real tool printed on the simulated fabric."""
    return (RECORDED / f"{name}.txt").read_text()


def machine(adapters: list[Hca] | None = None, down: tuple[str, ...] = (), **said: str | Said | list[str] | None) -> Case:
    """A machine on which all is in order but what is `said` differently, by the step's id; None is a program that isn't there."""
    hcas = four() if adapters is None else adapters
    answers: dict[str, Any] = {
        "ports": [sysfs(hcas), sysfs(hcas)],
        "interfaces": interfaces(hcas, down),
        "modules": MODULES,
        "kernel_log": QUIET,
    } | said
    asked = {f"gpu-01: {RUN[step]}": answer for step, answer in answers.items() if step in RUN and answer is not None}
    return Case(BOOK, {"nodes": "gpu-01"}, asked)


def kernel(*lines: str, every: int = 30) -> Case:
    """A machine whose kernel log has lines."""
    stamps = [f"2026-03-01T10:{second // 60:02d}:{second % 60:02d},000000+00:00" for second in range(0, every * len(lines), every)]
    return machine(kernel_log=QUIET + "".join(f"{stamp} {line}\n" for stamp, line in zip(stamps, lines, strict=True)))


def listed(adapters: list[Hca]) -> str:
    """The rows of sysfs that tell of addresses, as somebody shows them who asks for nothing else."""
    rows = [row for row in sysfs(adapters).splitlines() if "/gid" in row]
    bare = "/sys/class/infiniband/mlx5_3/ports/1/"
    rows += [
        f"{bare}gids/1:fe80:0000:0000:0000:a088:c203:00da:6332",
        f"{bare}gid_attrs/types/1:RoCE v2",
        f"{bare}gid_attrs/ndevs/1:ens4np0",
    ]
    return "\n".join(rows) + "\n"


def grown(before: dict[str, int], after: dict[str, int]) -> Case:
    """A machine of which one port's counters grow between the two looks."""
    return machine(ports=[sysfs(four(counters=BUSY | before)), sysfs(four(counters=BUSY | after))])


def simulated(answers: dict[str, str | Said | list[str]], sweep: bool = False) -> Case:
    """A host of the simulated fabric, which has no sysfs."""
    common: dict[str, str | Said | list[str]] = {
        "gpu-02: ibstat": real("ibstat").replace("0x0000000000100001", "0x0000000000100003"),
        f"gpu-02: {QUERY}": [real("perfquery"), real("perfquery")],
        f"gpu-02: {RUN['kernel_log']}": QUIET,
        f"gpu-02: {RUN['modules']}": MODULES,
    }
    swept: dict[str, str | Said | list[str]] = {
        f"gpu-02: {RUN['links']}": real("iblinkinfo").replace("( 1X  ", "( 4X  "),
        f"gpu-02: {RUN['errors']}": Said(real("ibqueryerrors-clean"), exit=0),
    }
    return Case(BOOK, {"nodes": "gpu-02", "sweep": "gpu-02" if sweep else ""}, common | (swept if sweep else {}) | answers)


NIC = "mlx5_core 0000:5d:00.0"
MANAGED = 'Errors for "gpu-04"\n   GUID 0x100007 port 1: [VL15Dropped == 240]\n\n## Summary: 10 nodes checked, 1 bad nodes found\n'
WAITED = MANAGED.replace("[VL15Dropped == 240]", "[SymbolErrorCounter == 0] [PortXmitWait == 880421]")
DROPS = 'Errors for "gpu-04"\n   GUID 0x100007 port 1: [PortXmitDiscards == 24411]\n\n## Summary: 10 nodes checked, 1 bad nodes found\n'

CASES: dict[str, Case] = {
    "rdma-healthy": machine(),
    "rdma-healthy-roce": machine(ROCE),
    "rdma-healthy-swept": simulated({}, sweep=True),
    "rdma-no-answer": Case(BOOK, {"nodes": "gpu-01", "sweep": "gpu-01"}, {}),
    "rdma-not-allowed": machine(
        ports=None,
        kernel_log=Said(exit=1, stderr="dmesg: read kernel buffer failed: Operation not permitted\n"),
    ),
    "rdma-discards-reported": kernel("ufm[812]: Port Xmit Discards delta threshold exceeded. Threshold is 200, calculated delta is 9120"),
    "rdma-many-downs": machine(ports=[sysfs(four(counters=BUSY | {"link_downed": 64})), Said(failure="timeout")]),
    "rdma-port-down": machine(four(state="Down", physical="Polling", rate="2.5 Gb/sec (1X SDR)")),
    "rdma-port-down-alone": machine([Hca(0, state="Down", physical="Polling", rate="2.5 Gb/sec (1X SDR)", counters=UNUSED)]),
    "rdma-only-port-down": simulated(
        {
            "gpu-02: ibstat": real("ibstat")
            .replace("State: Active", "State: Down")
            .replace("LinkUp", "Polling")
            .replace("lid: 1\n", "lid: 0\n")
        }
    ),
    "rdma-port-went-down": machine([Hca(0), Hca(1, state="Down", physical="Polling", rate="2.5 Gb/sec (1X SDR)")]),
    "rdma-second-port-unused": machine([Hca(0), Hca(1, state="Down", physical="Polling", rate="2.5 Gb/sec (1X SDR)", counters=UNUSED)]),
    "rdma-not-activated": machine(four(state="Initializing")),
    "rdma-no-subnet-manager": machine([replace(one, state="Initializing") for one in four()]),
    "rdma-slow-port": machine(four(rate="200 Gb/sec (4X HDR)")),
    "rdma-one-lane": machine(four(rate="100 Gb/sec (1X NDR)")),
    "rdma-other-network": machine(
        [*four(), replace(Hca(4), rate="100 Gb/sec (4X EDR)", layer="Ethernet", kind="MT4125", address="10.0.0.9")]
    ),
    "rdma-ip-down": machine(down=("ib3",)),
    "rdma-roce-no-address": machine([*ROCE[:3], replace(ROCE[3], address="")]),
    "rdma-roce-no-address-listed": machine(ports=listed([*ROCE[:3], replace(ROCE[3], address="")])),
    "rdma-device-not-in-sysfs": simulated(
        {
            "gpu-02: ibstat": Said(
                "CA 'mlx5_0'\n\tCA type: MT4129\n",
                exit=255,
                stderr="ibpanic: [4471] main: stat of IB device 'mlx5_1' failed: Invalid argument\n",
            )
        }
    ),
    "rdma-umad-refused": simulated(
        {
            f"gpu-02: {QUERY}": Said(
                exit=1,
                stderr="ibwarn: [4471] mad_rpc_open_port: can't open UMAD port (ibsim0:1)\n"
                "perfquery: iberror: failed: Failed to open 'ibsim0' port '1'\n",
            )
        }
    ),
    "rdma-flapping": kernel(*[f"{NIC} ens3f0np0: Link down", f"{NIC} ens3f0np0: Link up"] * 4),
    "rdma-carrier-lost": kernel(*["systemd-networkd[1398]: ib3: Lost carrier", "systemd-networkd[1398]: ib3: Gained carrier"] * 3),
    "rdma-started-once": kernel(f"{NIC} ens3f0np0: Link down", f"{NIC} ens3f0np0: Link up", "systemd-networkd[1398]: eno1: Lost carrier"),
    "rdma-cable-refused": kernel(f"{NIC}: Port module event[error]: module 0, Cable error, Bad or shorted cable/module"),
    "rdma-powered-down": kernel(
        f"{NIC}: Port module event[error]: module 0, Cable error, One or more network ports have been powered down due to"
        " insufficient/unadvertised power on the PCIe slot"
    ),
    "rdma-subnet-silent": kernel(*["ib0: multicast join failed for ff12:401b:ffff:0000:0000:0000:ffff:ffff, status -110"] * 3),
    "rdma-hot": kernel(
        f"{NIC}: temp_warn:197:(pid 0): High temperature on sensors with bit set 0 1",
        f"{NIC}: print_health_info:431:(pid 0): synd 0x10: High temperature",
        f"{NIC}: print_health_info:425:(pid 0): fw_ver 255.255.65535",
    ),
    "rdma-not-joined": kernel(*["ib2: multicast join failed for ff12:401b:ffff:0000:0000:0000:ffff:ffff, status -22"] * 3),
    "rdma-adapter-failed": kernel(f"{NIC}: print_health_info:431:(pid 0): synd 0x8: unrecoverable hardware error"),
    "rdma-peermem-missing": kernel(
        "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -2)",
        "nvidia_peermem: Unknown symbol ib_unregister_peer_memory_client (err -2)",
    ),
    "rdma-peermem-refused": kernel("modprobe[911]: modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument"),
    "rdma-peermem-early": machine(
        modules=MODULES + "nvidia_peermem 16384 0 - Live 0x0000000000000000\n",
        kernel_log=QUIET + "2026-03-01T10:00:00,000000+00:00 modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n",
    ),
    "rdma-peermem-unsigned": kernel("modprobe: ERROR: could not insert 'nvidia_peermem': Key was rejected by service"),
    "rdma-port-isolated": kernel("fabric-watch: leaf-1 port 12 physical state Disabled reason AutomaticHighErrorRate"),
    "rdma-slow-link-reported": kernel("fabric-watch: -W- Link: leaf-1/U1/P12<-->gpu-03/U1/P1 - Unexpected actual link speed 25"),
    "rdma-errors-reported": kernel(
        'fabric-watch: -E- leaf-1/U1/P12 - "symbol_error_counter" increased during the run (difference value=812)'
    ),
    "rdma-one-lane-swept": simulated({f"gpu-02: {RUN['links']}": real("iblinkinfo")}, sweep=True),
    "rdma-many-errors": simulated({f"gpu-02: {RUN['errors']}": Said(real("ibqueryerrors"), exit=1)}, sweep=True),
    "rdma-errors-saturated": simulated(
        {f"gpu-02: {RUN['errors']}": Said(real("ibqueryerrors").replace("4400", "12").replace("== 31", "== 0"), exit=1)}, sweep=True
    ),
    "rdma-management-dropped": simulated({f"gpu-02: {RUN['errors']}": Said(MANAGED, exit=1)}, sweep=True),
    "rdma-went-down": grown({"link_downed": 2}, {"link_downed": 3}),
    "rdma-errors-grow": grown({"symbol_error": 200}, {"symbol_error": 1012, "link_error_recovery": 2}),
    "rdma-old-errors": grown(
        {"symbol_error": 5000, "link_downed": 4, "port_rcv_errors": 60}, {"symbol_error": 5000, "link_downed": 4, "port_rcv_errors": 60}
    ),
    "rdma-counters-reset": grown({"symbol_error": 5000, "port_rcv_errors": 60}, {}),
    "rdma-discards": grown({"port_xmit_discards": 10}, {"port_xmit_discards": 9000}),
    "rdma-congested": grown({"port_xmit_wait": 1000}, {"port_xmit_wait": 90_000_000, "port_xmit_data": 95_000_000}),
    "rdma-waited": simulated({f"gpu-02: {RUN['errors']}": Said(WAITED, exit=1)}, sweep=True),
    "rdma-management-drops": grown({}, {"VL15_dropped": 40}),
    "rdma-frames-dropped": kernel("tx_discards_phy: 5423411"),
    "rdma-many-discards": simulated({f"gpu-02: {RUN['errors']}": Said(DROPS, exit=1)}, sweep=True),
}
