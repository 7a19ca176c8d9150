"""NVLink: what the parsers read of every generation's answers, what hostile text does to them, and texts that people paste."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze.gather import gather
from gpudoctor.derive.fabric import measure_fabric
from gpudoctor.engine.diagnose import analyze
from gpudoctor.facts import Fact, Facts, Subject
from gpudoctor.facts.fabric import Fabric, NvLinkSum
from gpudoctor.facts.gpu import Gpu, GpuPath, NvLink
from gpudoctor.facts.node import PciDevice
from gpudoctor.library.index import library
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.report import Report
from gpudoctor.tools.common.timestamps import line_time
from gpudoctor.tools.parser import ParseError
from tests.nodes import nvlink
from tests.nodes.cases_nvlink import B300, CARDS, HOPPER, INBAND, SYNC
from tests.nodes.smi import Card
from tests.nodes.smi_table import smi_table

NODE = Subject(kind="node", node="gpu-01")
V100 = Card(3, product="Tesla V100-SXM2-32GB")


def read(parser: str, text: str | bytes, *argv: str) -> Facts:
    page = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    return load(parser)(Output(command=Command(argv or ("nvidia-smi", "nvlink", "-s")), pages=(page,)), NODE)


def links(text: str | bytes) -> list[NvLink]:
    return [one for one in read("nvidia.nvlink", text).get("nvlinks", []) if isinstance(one, NvLink)]


def paths(text: str | bytes, *argv: str) -> list[GpuPath]:
    return [one for one in read("nvidia.topo", text, *argv).get("gpu_paths", []) if isinstance(one, GpuPath)]


def test_status_of_a_board() -> None:
    found = links(nvlink.status(HOPPER, down={1: [4, 5], 2: range(18)}))
    assert len(found) == 18 + 18 + 1 + 18
    assert [one.link for one in found if one.state == "inactive"] == [4, 5, None]
    assert {one.speed for one in found if one.state == "active"} == {26.562}
    assert {one.index for one in found} == {0, 1, 2, 3}
    assert found[0].uuid == HOPPER[0].name
    assert found[18 + 4].origin.text == "Link 4: <inactive>"


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("\t Link 0: 25.781 GB/s", "speed", 25.781),
        ("\t Link 0: 25,781 GB/s", "speed", 25.781),
        ("\t Link 0: 50 GB/s", "state", "active"),
        ("\t Link 0: <inactive>", "state", "inactive"),
        ("\t Link 0: <disabled>", "state", "disabled"),
        ("\t Link 0: Replay Errors: 12", "replay_errors", 12),
        ("\t Link 0: Recovery Errors: 1", "recovery_errors", 1),
        ("\t Link 0, CRC Errors: 7", "crc_errors", 7),
        ("\t Link 0, Lane 2: CRC Errors: 7", "crc_errors", 7),
        ("\t Link 0: CRC Errors: N/A", "gaps", {"crc_errors": "N/A"}),
        ("\t Link 0: Link recovery failed events: 2", "other_errors", {"Link recovery failed events": 2}),
        ("\t Link 0: Remote Device 00000008:00:00.0: Link 34", "remote", "0008:00:00"),
        ("\t Link 0: 00000000:CD:00.0", "remote", "0000:cd:00"),
        ("\x1b[31m\t Link 0: <inactive>\x1b[0m\r", "state", "inactive"),
    ],
)
def test_what_stands_behind_a_link(line: str, field: str, value: object) -> None:
    (one,) = links(f"GPU 0: Tesla V100-SXM2-16GB (UUID: GPU-7f3c2a10)\n{line}\n")
    assert getattr(one, field) == value
    assert one.link == 0
    assert one.uuid == "GPU-7f3c2a10"


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("NVML: Unable to retrieve NVLink information as all links are inActive", "inactive"),
        ("NVML: Unable to retrieve Nvlink information as all links are inactive", "inactive"),
        ("\t Unable to retrieve NVLink information as all links are inActive", "inactive"),
        ("Device does not have or support Nvlink", "not_supported"),
    ],
)
@pytest.mark.parametrize("between", ["\n", " "])
def test_sentences_instead_of_links(line: str, state: str, between: str) -> None:
    (one,) = links(f"GPU 1: Quadro RTX 5000 (UUID: GPU-bbbb-1){between}{line}\n")
    assert (one.state, one.link, one.index, one.uuid) == (state, None, 1, "GPU-bbbb-1")


def test_what_is_large_on_a_healthy_nvlink5_is_no_error() -> None:
    found = links(nvlink.errors5(B300))
    assert len(found) == 36
    assert not any(any(one.other_errors.values()) for one in found)
    assert "FEC Errors - 0" not in found[0].other_errors
    assert "Raw Errors Lane 0" not in found[0].other_errors


def test_matrix_with_adapters_and_affinities() -> None:
    text = (
        "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
        "GPU0\t X \tNV18\tPIX\tSYS\t0-55,112-167\t0\t\tN/A\nGPU1\tNV18\t X \tSYS\tPXB\t0-55\t0\t\tN/A\n"
        "NIC0\tPIX\tSYS\t X \tNODE\nNIC1\tSYS\tPXB\tNODE\t X \n"
        "\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n"
    )
    found = {(one.one, one.other): one.path for one in paths(text, "nvidia-smi", "topo", "-m")}
    assert found["GPU0", "GPU1"] == "NV18"
    assert found["GPU1", "NIC1"] == "PXB"
    assert found["NIC0", "NIC1"] == "NODE"
    assert len(found) == 12


def test_access_table_keeps_the_letter_that_was_asked() -> None:
    text = nvlink.p2p(2, usual="NS")
    assert {(one.matrix, one.path) for one in paths(text, "nvidia-smi", "topo", "-p2p", "n")} == {("n", "NS")}
    assert {(one.matrix, one.path) for one in paths(text, "cat")} == {("", "NS")}


@pytest.mark.parametrize("parser", ["nvidia.nvlink", "nvidia.topo"])
def test_other_text_is_refused_with_its_source(parser: str) -> None:
    with pytest.raises(ParseError, match="nvidia-smi nvlink -s: not a"):
        read(parser, "error: the server doesn't have a resource type\n")
    assert read(parser, "") == {}


@pytest.mark.parametrize("parser", ["nvidia.nvlink", "nvidia.topo"])
@settings(max_examples=40, derandomize=True)
@given(
    st.text(alphabet=st.sampled_from("GPU 0123:<>inactive,./\t\n\r\x00\x1b[mé\udcff\u0660NVXSOKLink"), max_size=200) | st.text(max_size=80)
)
def test_any_text_gives_facts_or_says_that_it_is_another(parser: str, text: str) -> None:
    try:
        read(parser, text)
    except ParseError as error:
        said = str(error)
    else:
        said = "nvidia-smi nvlink"
    assert "nvidia-smi nvlink" in said


@pytest.mark.parametrize(
    ("parser", "text"), [("nvidia.nvlink", nvlink.status(CARDS, 4, {1: [2]})), ("nvidia.topo", nvlink.topo(3, 4, {(0, 2): "SYS"}))]
)
def test_cut_at_every_byte_and_with_a_bad_line_between(parser: str, text: str) -> None:
    whole = text.encode()
    for end in range(len(whole)):
        try:
            read(parser, whole[:end])
        except ParseError:
            assert end < 80  # before the first line is complete
    kind = "nvlinks" if parser == "nvidia.nvlink" else "gpu_paths"
    lines = text.split("\n")
    spoilt = "\r\n".join([*lines[:2], "\x00\x1b[31m\ud83d Link x: ?? GB/s", *lines[2:]])
    assert len(read(parser, spoilt)[kind]) == len(read(parser, text)[kind])


@pytest.mark.parametrize(
    "line", ["\t Link 1: <inactive>\n", "GPU 0: x (UUID: GPU-1\n", "GPU0\tX" + "\tNV1" * 300 + "\n", "(" * 4000 + "\n"]
)
@pytest.mark.parametrize("parser", ["nvidia.nvlink", "nvidia.topo"])
def test_a_megabyte_is_read_in_linear_time(parser: str, line: str) -> None:
    begun = time.process_time()
    with contextlib.suppress(ParseError):
        read(parser, line * (1_000_000 // len(line)))
    assert time.process_time() - begun < 8  # a fraction of a second on an idle machine


def sums(**facts: list[Fact]) -> tuple[list[NvLinkSum], Fabric]:
    made = measure_fabric(facts, {}, 0.0)
    (fabric,) = made["fabrics"]
    assert isinstance(fabric, Fabric)
    return [one for one in made["nvlink_sums"] if isinstance(one, NvLinkSum)], fabric


def test_links_are_compared_with_the_same_product() -> None:
    facts = read("nvidia.nvlink", nvlink.status(HOPPER, down={2: [0, 1, 2]}))
    rows, fabric = sums(gpus=facts["gpus"], nvlinks=facts["nvlinks"])
    assert [(row.active, row.usual, row.made, row.peers, row.form) for row in rows][2] == (15, 18, 18, 3, "switched")
    assert fabric.active_links == 69
    assert fabric.switches is None
    assert fabric.manager == ""


def test_counters_of_both_generations_add_up() -> None:
    old = read("nvidia.nvlink", nvlink.errors(CARDS, 12, {(1, 3, "Replay"): 9, (1, 3, "Recovery"): 1}))
    new = read("nvidia.nvlink", nvlink.errors5(B300, counts={(0, 7, "Rx Errors"): 4}))
    (_, second), _ = sums(gpus=old["gpus"], nvlinks=old["nvlinks"])
    assert (second.replays, second.recoveries, second.crc_errors, second.packet_errors, second.worst) == (9, 1, 0, None, 3)
    assert second.active is None
    assert second.usual is None
    (first, _), _ = sums(gpus=new["gpus"], nvlinks=new["nvlinks"])
    assert (first.replays, first.recoveries, first.packet_errors, first.worst) == (None, 0, 4, 7)


@pytest.mark.parametrize(
    ("product", "gpus", "switches", "where"),
    [
        ("NVIDIA H100 80GB HBM3", 8, 4, "here"),
        ("NVIDIA H100 80GB HBM3", 8, 0, "elsewhere"),  # a guest with all GPUs: the host has the switches
        ("NVIDIA H100 80GB HBM3", 8, None, ""),
        ("NVIDIA H100 80GB HBM3", 4, 0, "nowhere"),  # a board of four is wired directly
        ("NVIDIA B200", 8, 0, "here"),  # its switches are no PCI functions of NVIDIA
        ("NVIDIA GB200", 4, 0, "elsewhere"),
        ("NVIDIA A100 80GB PCIe", 8, 0, "nowhere"),
        ("NVIDIA GeForce RTX 4090", 2, None, "nowhere"),
        ("Some New GPU", 8, 0, ""),
    ],
)
def test_where_a_fabric_is_managed(product: str, gpus: int, switches: int | None, where: str) -> None:
    cards: list[Fact] = [Gpu(gpu=f"GPU-{index}", index=index, product=product) for index in range(gpus)]
    bus: list[Fact] = [PciDevice(pci=f"0000:{index:02x}:00", kind="gpu", driver="nvidia") for index in range(gpus)]
    bus += [PciDevice(pci=f"0000:a{index}:00.0", kind="switch", driver="nvidia-nvswitch") for index in range(switches or 0)]
    _, fabric = sums(gpus=cards, **({} if switches is None else {"pci_devices": bus}))
    assert (fabric.manager, fabric.gpus) == (where, gpus)


def test_many_machines_are_measured_in_linear_time() -> None:
    cards: list[Fact] = [
        Gpu(node=f"n{node}", gpu=f"GPU-{node}-{index}", index=index, product="NVIDIA H200") for node in range(2000) for index in range(8)
    ]
    begun = time.process_time()
    assert len(measure_fabric({"gpus": cards}, {}, 0.0)["fabrics"]) == 2000
    assert time.process_time() - begun < 8


def test_time_of_the_fabric_managers_lines() -> None:
    assert line_time("[Dec 19 2024 19:17:49] [ERROR] [tid 1579] x") == 1734635869.0
    assert line_time("[Foo 39 2024 19:17:49] x") is None


# --- texts as people paste them: other releases, other words of the same condition; and what only looks like it -----------------------

BOARD = smi_table([Card(index, f"0000:{index + 1:02x}:00.0") for index in range(8)])
A100 = smi_table([Card(index, f"0000:{index + 1:02x}:00.0", product="NVIDIA A100-SXM4-80GB") for index in range(8)])
ONE_CARD = "GPU 0: NVIDIA A100 80GB PCIe (UUID: GPU-11)\nNVML: Unable to retrieve NVLink information as all links are inActive\n"
DCGMI = "+----------------------+\n|  NvLink Link Status  |\n+----------------------+\nGPUs:\n"
LOG = "[Jun 11 2025 09:20:02] "
SYSTEMCTL = """\
× nvidia-fabricmanager.service - NVIDIA fabric manager service
     Loaded: loaded (/usr/lib/systemd/system/nvidia-fabricmanager.service; enabled; preset: enabled)
     Active: failed (Result: exit-code) since Wed 2025-06-11 09:20:02 UTC; 2 weeks 4 days ago
"""
FABRIC = """\
GPU 00000000:{bus}:00.0
    Product Name                          : {product}
    GPU UUID                              : GPU-{bus}
    Fabric
        State                             : {state}
        Status                            : {status}
        CliqueId                          : 0
        ClusterUUID                       : 00000000-0000-0000-0000-000000000000
"""


def block(product: str, state: str, status: str) -> str:
    """What `nvidia-smi -q` says of the fabric."""
    head = "==============NVSMI LOG==============\n\nDriver Version : 570.86.15\nAttached GPUs : 2\n"
    return head + "".join(FABRIC.format(bus=bus, product=product, state=state, status=status) for bus in ("1B", "43"))


SIBLINGS: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "one dark GPU of a V100 board": (
        "nvlink-links-inactive",
        ("GPU 3: Tesla V100-SXM2-32GB (UUID: ...)\n\t Link 0: 25.781 GB/s\n\t Link 1: <inactive>\n\t Link 2: 25.781 GB/s\n",),
    ),
    "a GPU without links among eight of Hopper": (
        "nvlink-links-inactive",
        (nvlink.status([*HOPPER, Card(4), Card(5)], down={5: range(18)}),),
    ),
    "older words, header and sentence on one line": (
        "nvlink-links-inactive",
        ("GPU 2: NVIDIA H100 80GB HBM3 (UUID: GPU-22) NVML: Unable to retrieve Nvlink information as all links are inActive\n",),
    ),
    "peers omit the links to the dead one": (
        "nvlink-links-inactive",
        (
            nvlink.status([Card(index, product="NVIDIA GH200 120GB") for index in range(3)], 12)
            + "GPU 3: NVIDIA GH200 120GB (UUID: GPU-4)\n\t Unable to retrieve NVLink information as all links are inActive\n",
        ),
    ),
    "all links of a Blackwell board": (
        "nvlink-links-inactive",
        ("".join(f"GPU {index}: NVIDIA B200 (UUID: GPU-b{index})\n{nvlink.ALL_DOWN}\n" for index in range(8)),),
    ),
    "the matrix without NVLink for one GPU": (
        "nvlink-links-inactive",
        (nvlink.topo(8, 12, {(one, 6): "SYS" for one in range(8) if one != 6}),),
    ),
    "the matrix says NS for writes": ("nvlink-p2p-unavailable", (A100, nvlink.p2p(8, usual="NS"))),
    "one pair of a switched board": (
        "nvlink-p2p-unavailable",
        (smi_table([Card(index, product="NVIDIA GB200") for index in range(4)]), nvlink.p2p(4, {(1, 2): "NS"})),
    ),
    "no fabric manager, by systemctl": ("fabric-manager-not-running", (SYSTEMCTL, BOARD)),
    "fabric in progress": ("fabric-manager-not-running", (block("NVIDIA H200", "In Progress", "N/A"),)),
    "fabric refuses for want of resources": ("fabric-manager-not-running", (block("NVIDIA GB200", "Completed", "Insufficient Resources"),)),
    "rack without a fabric": ("fabric-manager-not-running", (block("NVIDIA GB300", "N/A", "N/A"),)),
    "fabric manager of another version, in its own log": (
        "fabric-manager-version-mismatch",
        (
            f"{LOG}[ERROR] [tid 77] "
            "fabric manager NVIDIA GPU driver interface version 550.127.05 doesn't match with driver version 550.120.\n",
        ),
    ),
    "fabric manager could not configure": (
        "fabric-manager-not-running",
        (f"{LOG}[INFO] [tid 7] Connected to 1 node.\n{LOG}[ERROR] [tid 7] failed to configure all the available GPUs or NVSwitches\n",),
    ),
    "no subnet manager": (
        "fabric-manager-not-running",
        (
            "nvidia-fabricmanager-start.sh[901]: "
            '/opt/nvidia/nvlsm/sbin/nvlsm does not exist. Please install "Nvidia NVLink Subnet Manager" (nvlsm) package\n',
        ),
    ),
    "receiver mask, the other function": (
        "nvlink-link-training-failure",
        ("Apr 05 11:02:44 b7r402 kernel: NVRM: knvlinkUpdatePostRxDetectLinkMask_IMPL: Failed to update Rx Detect Link mask!\n",),
    ),
    "sublink mode": (
        "nvlink-link-training-failure",
        ("[    6.92] NVRM: GPU1 knvlinkCoreSetRxSublinkModeCallback: Error setting RX sublink mode!\n",),
    ),
    "out of sync after a restart": ("nvlink-fabric-state-out-of-sync", (f"[ 9131.250001] {INBAND}\n[ 9131.250002] {SYNC}\n",)),
    "multicast member unknown": (
        "nvlink-fabric-state-out-of-sync",
        (
            f"{LOG}[ERROR] [tid 15] "
            "failed to find the member GPU handle 2977498750880931 in partition -1 in the multicast team setup request id 175888.\n",
        ),
    ),
    "retrained links": ("nvlink-error-counters-rising", (nvlink.errors([V100], 6, {(3, 1, "Recovery"): 4}),)),
    "failed recoveries of NVLink 5": (
        "nvlink-error-counters-rising",
        (nvlink.errors5(B300, counts={(0, 3, "Link recovery failed events"): 1}),),
    ),
    "letters of dcgmi nvlink -s": (
        "nvlink-links-inactive",
        (DCGMI + "    gpuId 0:\n        U U U U U U U U U U U U\n    gpuId 1:\n        U U U U D D U U U U U U\nNvSwitches:\n",),
    ),
    "letters of a GPU above those of a switch": (
        "nvlink-links-inactive",
        (DCGMI + "    gpuId 0:\n        U U U U\n    gpuId 1:\n        U U D U\nNvSwitches:\n    physicalId 11:\n        U U U U U U\n",),
    ),
    "imex": (
        "imex-not-ready",
        ("Connectivity Table Legend:\nN - Never Connected\nNode #0   * 10.0.0.1 *    - UNAVAILABLE\nDomain State: DOWN\n",),
    ),
    # what only looks like it
    "a healthy board": (None, (BOARD, nvlink.status(HOPPER), nvlink.topo(4), nvlink.p2p(4))),
    "a card without a bridge": (None, (ONE_CARD,)),
    "letters of a healthy board": (None, (DCGMI + "    gpuId 0:\n        U U U U _ _\n    gpuId 1:\n        U U U U _ _\n",)),
    "letters of a switch whose links lead nowhere": (
        None,
        (DCGMI + "    gpuId 0:\n        U U U U U U\nNvSwitches:\n    physicalId 11:\n        U U D D X X U U U U U U\n",),
    ),
    "a single GH200": (
        None,
        ("GPU 0: NVIDIA GH200 480GB (UUID: GPU-1)\nNVML: Unable to retrieve NVLink information as all links are inActive\n",),
    ),
    "no NVLink at all": (None, ("GPU 0: Tesla T4 (UUID: GPU-1)\nDevice does not have or support Nvlink\n", nvlink.p2p(2, usual="CNS"))),
    "consumer cards without access": (
        None,
        (smi_table([Card(index, product="NVIDIA GeForce RTX 4090") for index in range(2)]), nvlink.p2p(2, usual="NS")),
    ),
    "a cube mesh": (
        None,
        (smi_table([Card(index, product="Tesla V100-SXM2-16GB") for index in range(8)]), nvlink.p2p(8, {(0, 5): "NS", (1, 4): "NS"})),
    ),
    "healthy NVLink 5 counters": (None, (nvlink.errors5(B300), nvlink.status(B300))),
    "fabric N/A on a card": (None, (block("NVIDIA H100 PCIe", "N/A", "N/A"),)),
    "A800 boards have eight links": (None, (nvlink.status([Card(index, product="NVIDIA A800-SXM4-80GB") for index in range(3)], 8),)),
}


def pasted(folder: Path, texts: tuple[str, ...]) -> Report:
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text)
    read = gather([str(folder)])
    return analyze(library(), read.facts, read.inputs, read.now)


@pytest.mark.parametrize("name", SIBLINGS)
def test_pasted_texts(name: str, tmp_path: Path) -> None:
    cause, texts = SIBLINGS[name]
    report = pasted(tmp_path, texts)
    if cause is None:
        assert [one.cause for one in report.findings if one.severity in ("warning", "critical")] == []
    else:
        assert report.findings
        assert report.findings[0].cause == cause
        assert report.verdict == "problem"


def test_two_answers_in_one_paste(tmp_path: Path) -> None:
    report = pasted(tmp_path, (smi_table(HOPPER) + "\n" + nvlink.status(HOPPER, down={0: [1]}) + "\n" + nvlink.topo(4),))
    assert [one.cause for one in report.findings] == ["nvlink-links-inactive"]
    assert set(report.inputs[0].recognised_as) == {"nvidia.smi", "nvidia.nvlink", "nvidia.topo"}
