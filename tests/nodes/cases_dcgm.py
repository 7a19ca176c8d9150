"""Incidents that DCGM shows: its health check, its policy and its diagnostic, on one machine of two GPUs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tests.nodes import dcgmi
from tests.nodes.case import Case, Said
from tests.nodes.smi import Card, Process, smi_xml

UUIDS = {0: dcgmi.uuid(0), 1: dcgmi.uuid(1)}
PCI = {0: "00000000:1B:00.0", 1: "00000000:43:00.0"}
CARDS = [Card(index=n, uuid=UUIDS[n], pci=PCI[n][4:]) for n in UUIDS]
HEALTH = "gpu-02: dcgmi health -g 0 -c -j"
DIAG = "gpu-02: dcgmi diag -r 1 -j"
UNITS = (
    "gpu-02: systemctl show -p Id,LoadState,ActiveState,SubState,Result,UnitFileState nvidia-fabricmanager nvidia-persistenced nvidia-dcgm"
)
Answers = dict[str, str | Said | list[str]]


def unit(name: str, active: str = "active", result: str = "success") -> str:
    """One unit of `systemctl show`."""
    sub = {"active": "running", "failed": "failed"}.get(active, "dead")
    return f"Id={name}.service\nLoadState=loaded\nActiveState={active}\nSubState={sub}\nResult={result}\nUnitFileState=enabled\n"


def policies(action: str = "None", conditions: Sequence[str] = ("None",)) -> str:
    """`dcgmi policy --get -v`: the policy of GPU 1, and none for GPU 0."""
    return dcgmi.policy(group="GPU ID: 0") + dcgmi.policy(action, conditions, group="GPU ID: 1")


def machine(**engine: str) -> Answers:
    """What a well machine with DCGM prints, but for the health check; `engine` is the state of nvidia-dcgm."""
    return {
        UNITS: "\n".join((unit("nvidia-fabricmanager"), unit("nvidia-persistenced"), unit("nvidia-dcgm", **engine))),
        "gpu-02: dcgmi discovery -l": dcgmi.discovery({n: (UUIDS[n], PCI[n]) for n in UUIDS}),
        "gpu-02: dcgmi policy --get -g 0 -v": policies(),
        HEALTH: dcgmi.health("Healthy"),
        "gpu-02: nvidia-smi -q -x": smi_xml(CARDS),
    }


def health(found: Mapping[tuple[str, int], Sequence[dcgmi.System]] | None = None, **answers: str | Said) -> Case:
    """A look at DCGM's health; `answers` by the first word after dcgmi replace those of a well machine."""
    overall = "Healthy" if not found else "Failure" if "Failure" in str(found) else "Warning"
    given: Answers = {**machine(), HEALTH: dcgmi.health(overall, found)}
    for name, said in answers.items():
        given[next(command for command in given if f"dcgmi {name}" in command)] = said
    return Case("dcgm-health", {"nodes": "gpu-02"}, given)


def xid(code: int, words: str = "said otherwise") -> str:
    """The health check's sentence about an Xid of GPU 1."""
    return f"Detected XID {code} for GPU 1 (triggered by XID {code}: {words}) Look into it."


def of_gpu(system: str, status: str, *said: str) -> Case:
    """One system of GPU 1 is not well."""
    return health({("GPU", 1): [(system, status, said)]})


def of_switch(status: str, *said: str) -> Case:
    """An NVSwitch is not well."""
    return health({("NvSwitch", 0): [("NVSwitch system", status, said)]})


def diag(tests: Mapping[str, Sequence[dcgmi.Test]] | None = None, said: str | Said = "", cards: Sequence[Card] = CARDS) -> Case:
    """A run of the diagnostic."""
    made = said or dcgmi.diag_json(tests or {})
    return Case("dcgm-diag", {"nodes": "gpu-02"}, {**machine(), "gpu-02: nvidia-smi -q -x": smi_xml([*cards]), DIAG: made})


def failed(category: str, test: str, text: str, code: int, severity: int, status: str = "Fail") -> Case:
    """One test fails on GPU 1."""
    return diag(
        {"Deployment": [("software", {0: "Pass", 1: "Pass"}, [])], category: [(test, {0: "Pass", 1: status}, [(1, text, code, severity)])]}
    )


PASSED: dict[str, list[dcgmi.Test]] = {
    "Deployment": [("software", {0: "Pass", 1: "Pass"}, [])],
    "Hardware": [("memory", {0: "Pass", 1: "Pass"}, []), ("diagnostic", {0: "Skip", 1: "Skip"}, [])],
    "Integration": [("pcie", {0: "Pass", 1: "Pass"}, [])],
}
BUSY = (
    "Error: Unable to complete diagnostic for group 0. Return: (-38) A diag instance is already running, cannot run a new diag until the "
    "current one finishes."
)
NOT_INITIALISED = "Error using CUDA API cudaDeviceGetByPCIBusId Check it: 'system not yet initialized' for GPU 1"
LIMITED = "Enforced power limit on GPU 1 set to 350.0, which is too low to attempt to achieve target power 700.0"
SLOW = "Max stress level of 8122.4 did not reach desired stress level of 17000.0 for GPU 1"
HOT = "There were thermal violations totaling 21.5 seconds for GPU 1 Check the cooling."
DEAD = Said(dcgmi.UNREACHABLE, exit=1)

CASES: dict[str, Case] = {
    "dcgm-healthy": health(),
    "dcgm-engine-failed": Case(
        "dcgm-health",
        {"nodes": "gpu-02"},
        {name: DEAD if "dcgmi" in name else said for name, said in machine(active="failed", result="exit-code").items()},
    ),
    "dcgm-not-there": Case("dcgm-health", {"nodes": "gpu-02"}, {UNITS: unit("nvidia-persistenced")}),
    "dcgm-no-answer": health(health=Said(failure="timeout")),
    "dcgm-not-armed": health(health=Said(dcgmi.NOT_ARMED, exit=1)),
    "dcgm-resets-by-itself": health(policy=policies("Reset GPU", ["Double-bit ECC errors", "XID error detected."])),
    "dcgm-remap-pending": of_gpu("Memory system", "Failure", xid(63), "GPU 1 had memory errors and row remappings are pending"),
    "dcgm-remap-failed": of_gpu("Memory system", "Failure", "GPU 1 had uncorrectable memory errors and row remapping failed."),
    "dcgm-double-bit": of_gpu("Memory system", "Failure", "Detected 2 volatile double-bit ECC error(s) in GPU 1. Drain it.", xid(48)),
    "dcgm-contained": of_gpu("Memory system", "Warning", xid(94)),
    "dcgm-single-bit": of_gpu("Memory system", "Warning", "More than 10 single-bit ECC error(s) detected in GPU 1 Volatile SBEs: 214"),
    "dcgm-sram": of_gpu("Memory system", "Failure", "SRAM Threshold Count exceeded on GPU 1: 1"),
    "dcgm-page-pending": of_gpu("Memory system", "Warning", "A pending retired page has been detected in GPU 1. Reset it."),
    "dcgm-page-limit": of_gpu("Memory system", "Failure", "63 or more retired pages have been detected in GPU 1. "),
    "dcgm-asks-for-reset": of_gpu("Driver", "Failure", "GPU 1 requires a reset to recover from a fault. Recovery action: 1 (GPU_RESET)."),
    "dcgm-asks-for-reboot": of_gpu("Driver", "Failure", "GPU 1 fault may be anywhere. Recovery action: 2 (NODE_REBOOT)."),
    "dcgm-inforom": of_gpu("InfoROM system", "Warning", "A corrupt InfoROM has been detected in GPU 1. Flash it."),
    "dcgm-off-the-bus": of_gpu("PCIe system", "Failure", xid(79)),
    "dcgm-gsp-timeout": of_gpu("Driver", "Failure", xid(119)),
    "dcgm-gsp-crash": of_gpu("Driver", "Failure", xid(120)),
    "dcgm-nvlink-failed": of_gpu("NVLINK system", "Failure", xid(74)),
    "dcgm-nvlink-errors": of_gpu(
        "NVLINK system", "Warning", "Detected 7 nvlink_replay_error_count NvLink errors on GPU 1's NVLink which exceeds threshold of 1"
    ),
    "dcgm-nvlink-down": of_gpu("NVLINK system", "Failure", "GPU 1's NvLink link 4 is currently down Check it."),
    "dcgm-nvlink-down-of-card": health(
        {("GPU", 1): [("NVLINK system", "Failure", ["GPU 1's NvLink link 4 is currently down Check it."])]},
        discovery=dcgmi.discovery({n: (UUIDS[n], PCI[n]) for n in UUIDS}, "NVIDIA A100 80GB PCIe"),
    ),
    "dcgm-switch-fatal": of_switch("Failure", "Detected fatal errors on NvSwitch 0 link 12"),
    "dcgm-switch-nonfatal": of_switch("Warning", "Detected nonfatal errors on NvSwitch 0 link 12"),
    "dcgm-fabric": of_gpu("NVLINK system", "Warning", "GPU 1: Fabric State is In Progress (2)."),
    "dcgm-fabric-degraded": of_gpu("NVLINK system", "Warning", "GPU 1: Fabric State is Unrecognized (7)."),
    "dcgm-imex-not-started": health({("None", 0): [("Memory system", "Failure", ["IMEX daemon status is -2 (not READY)"])]}),
    "dcgm-imex": health({("None", 0): [("Memory system", "Failure", ["IMEX domain status is DEGRADED (unhealthy)"])]}),
    "dcgm-hot": of_gpu("Thermal system", "Warning", "Detected clocks event due to thermal violation in GPU 1. Look at the cooling."),
    "dcgm-power-cap": of_gpu("Power system", "Warning", "Detected clocks event due to power violation in GPU 1. Watch it."),
    "dcgm-application-xid": of_gpu("Memory system", "Warning", xid(31)),
    "dcgm-replays": of_gpu("PCIe system", "Warning", "Detected more than 15 PCIe replays per minute for GPU 1 : 212"),
    # Of Xid 62 DCGM says that it is about heat: it is about the GPU's own controller.
    "dcgm-misleading-words": of_gpu("Thermal system", "Failure", xid(62, "Thermal Violation")),
    "diag-passed": diag(PASSED),
    "diag-no-answer": diag(said=Said(failure="timeout")),
    "diag-busy": diag(said=Said(json.dumps({"DCGM Diagnostic": {"runtime_error": BUSY, "version": "4.4.2"}}, indent=3) + "\n", exit=1)),
    "diag-engine-away": diag(said=Said("Error: Unable to start an embedded host engine. DCGM initialization error.\n", exit=1)),
    "diag-setting": failed("Deployment", "permissions", "Persistence mode for GPU 1 is disabled. Enable it.", 29, 5),
    "diag-nouveau": failed("Deployment", "denylist", "Found driver on the denylist: nouveau", 23, 5),
    "diag-fabric": failed(
        "Stress", "targeted_stress", NOT_INITIALISED, 51, 1
    ),
    "diag-hot": failed("Stress", "targeted_stress", HOT, 40, 1),
    "diag-power-limit": failed(
        "Stress", "targeted_power", LIMITED, 72, 5
    ),
    "diag-power-marginal": failed(
        "Stress", "targeted_power", "Max power of 696.1 did not reach desired power minimum target_power of 700.0 for GPU 1", 63, 4
    ),
    "diag-power-missed": failed(
        "Stress", "targeted_power", "Max power of 512.0 did not reach desired power minimum target_power of 700.0 for GPU 1", 63, 4
    ),
    "diag-pcie-width": failed(
        "Integration", "pcie", "GPU 1 is running at PCI link width 8X, which is below the minimum allowed link generation of 16 "
        "(parameter 'min_pci_width')", 46, 5,
    ),
    "diag-memory": failed("Hardware", "memory", "Found 12 faulty memory elements on GPU 1 Run a test in the field.", 52, 2),
    "diag-slow": failed("Stress", "targeted_stress", SLOW, 50, 4),
    "diag-silent": diag({"Hardware": [("memory", {0: "Pass", 1: "Fail"}, [])]}),
    "diag-remap-pending": failed("Deployment", "software", "GPU 1 had memory errors and row remappings are pending", 85, 6),
    "diag-workers": diag(
        PASSED, cards=[Card(index=0, uuid=UUIDS[0], pci=PCI[0][4:], processes=(Process(4242, "python", 70210),)), CARDS[1]]
    ),
}  # fmt: skip
