"""Throttling as people paste it: other generations and tools than those of the fixtures, each with its first cause."""

from __future__ import annotations

from dataclasses import replace as changed
from pathlib import Path

import pytest

from tests.heads import reasons, smi
from tests.nodes.cases_thermal import AMPERE, COOL, WATCH
from tests.nodes.smi import Card, smi_q
from tests.nodes.smi_table import smi_table
from tests.pasted import diagnosed

TEXTS: dict[str, tuple[str, str]] = {
    "a section of a pasted -d PERFORMANCE": (
        "thermal-slowdown",
        """$ nvidia-smi -q -d PERFORMANCE

==============NVSMI LOG==============

Timestamp                                 : Tue Mar  3 08:14:02 2026
Driver Version                            : 535.183.01
CUDA Version                              : 12.2

Attached GPUs                             : 1
GPU 00000000:3B:00.0
    Performance State                     : P0
"""
        + reasons("HW Slowdown", "HW Thermal Slowdown", width=34)
        + """\
        Display Clock Setting             : Not Active
    Sparse Operation Mode                 : Disabled
""",
    ),
    "dmon of two A100": (
        "thermal-cooling-fault",
        """# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk  pviol  tviol
# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz      %   bool
    0    298     88     94    100     61      0      0      0      0   1215    915      0      1
    1    391     64     71    100     60      0      0      0      0   1215   1410      4      0
    0    291     89     95    100     61      0      0      0      0   1215    870      0      1
    1    393     64     71    100     60      0      0      0      0   1215   1410      4      0
""",
    ),
    "a CSV without indexes": (
        "thermal-slowdown",
        """timestamp, name, temperature.gpu, clocks.sm [MHz], clocks_throttle_reasons.active, power.draw [W]
2026/03/03 08:15:00.101, Tesla T4, 93, 585, 0x0000000000000020, 58.11
2026/03/03 08:15:05.101, Tesla T4, 94, 450, 0x0000000000000068, 44.02
""",
    ),
    "sections without the GPU's line": (
        "thermal-memory-junction",
        """    Temperature
        GPU Current Temp                  : 63 C
        GPU Shutdown Temp                 : 92 C
        GPU Slowdown Temp                 : 89 C
        GPU Max Operating Temp            : 85 C
        Memory Current Temp               : 98 C
        Memory Max Operating Temp         : 95 C
    Clocks Throttle Reasons
        Idle                              : Not Active
        Applications Clocks Setting       : Not Active
        SW Power Cap                      : Not Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Not Active
        Sync Boost                        : Not Active
        SW Thermal Slowdown               : Active
""",
    ),
    "a lowered limit of a busy H100": (
        "power-limit-lowered",
        """GPU 00000000:65:00.0
"""
        + reasons("SW Power Cap", width=34)
        + """\
    GPU Power Readings
        Power Draw                        : 249.80 W
        Current Power Limit               : 250.00 W
        Requested Power Limit             : 250.00 W
        Default Power Limit               : 700.00 W
        Min Power Limit                   : 200.00 W
        Max Power Limit                   : 700.00 W
    Clocks
        Graphics                          : 960 MHz
        SM                                : 960 MHz
        Memory                            : 2619 MHz
    Max Clocks
        SM                                : 1980 MHz
""",
    ),
    "single reasons as columns": (
        "power-brake-external",
        """index, clocks_event_reasons.hw_power_brake_slowdown, clocks_event_reasons.hw_thermal_slowdown, clocks.sm [MHz]
0, Active, Not Active, 345 MHz
1, Active, Not Active, 345 MHz
2, Active, Not Active, 345 MHz
3, Active, Not Active, 345 MHz
""",
    ),
    "a draw that can't be, in the table": (
        "power-sensor-stuck",
        smi("560.35.03", "12.6")
        + """\
|   0  NVIDIA L40S                    On  |   00000000:01:00.0 Off |                    0 |
| N/A   44C    P0            1411W /  350W |    3062MiB /  46068MiB |    100%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
""",
    ),
    "dcgmi dmon": (
        "thermal-cooling-fault",
        """#Entity   TMPTR   MMTMP   POWER   SMCLK   DVCCTR
ID        C       C       W       MHz
GPU 0     62      70      391.2   1410    4
GPU 1     87      90      301.0   990     96
GPU 0     62      70      390.8   1410    4
GPU 1     88      91      297.5   960     96
""",
    ),
    "the reasons alone": (
        "power-brake-external",
        """    Clocks Throttle Reasons
        Idle                        : Not Active
        Applications Clocks Setting : Not Active
        SW Power Cap                : Not Active
        HW Slowdown                 : Active
            HW Thermal Slowdown     : Not Active
            HW Power Brake Slowdown : Active
        Sync Boost                  : Not Active
        SW Thermal Slowdown         : Not Active
""",
    ),
    "an exporter's metrics": (
        "thermal-slowdown",
        """DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu="2",UUID="GPU-7c41",device="nvidia2",modelName="NVIDIA A100-SXM4-40GB",Hostname="n7"} 32
DCGM_FI_DEV_GPU_TEMP{gpu="2",UUID="GPU-7c41",device="nvidia2",modelName="NVIDIA A100-SXM4-40GB",Hostname="n7"} 86
DCGM_FI_DEV_SM_CLOCK{gpu="2",UUID="GPU-7c41",device="nvidia2",modelName="NVIDIA A100-SXM4-40GB",Hostname="n7"} 1005
""",
    ),
    "an instant query of Prometheus": (
        "power-brake-external",
        """{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS","Hostname":"n3","UUID":"GPU-1","gpu":"0"},"value":[1772525700,"128"]}]}}
""",
    ),
    "a margin below zero alone": (
        "thermal-slowdown",
        """    Temperature
        GPU Current Temp                  : 87 C
        GPU T.Limit Temp                  : -1 C
        GPU Shutdown T.Limit Temp         : -8 C
        GPU Slowdown T.Limit Temp         : -2 C
        GPU Max Operating T.Limit Temp    : 0 C
        GPU Target Temperature            : N/A
        Memory Current Temp               : 84 C
        Memory Max Operating T.Limit Temp : 0 C
""",
    ),
    "a power cap at full load beside an idle card": (
        "",
        """index, power.draw [W], enforced.power.limit [W], power.default_limit [W], utilization.gpu [%], clocks_throttle_reasons.active
0, 398.21 W, 400.00 W, 400.00 W, 100 %, 0x0000000000000004
1, 56.02 W, 400.00 W, 400.00 W, 0 %, 0x0000000000000001
""",
    ),
}
LAPTOP = (
    """GPU 00000000:01:00.0
    Performance State                     : P8
"""
    + reasons("Idle", "SW Power Cap", width=34)
    + """\
    GPU Power Readings
        Power Draw                        : 6.24 W
        Current Power Limit               : N/A
        Default Power Limit               : 80.00 W
    Temperature
        GPU Current Temp                  : 84 C
        GPU Max Operating Temp            : 105 C
"""
)
TEXTS["a warm laptop that does nothing"] = ("", LAPTOP)
TEXTS["a fan that stands still"] = (
    "thermal-cooling-fault",
    smi_q([Card(product="NVIDIA RTX A6000", tlimit=None, fan="0 %", temperature=91, utilisation=98, sm_clock=735, active=("sw_thermal",))]),
)
TEXTS["every reading is N/A"] = ("", "index, clocks.sm [MHz], temperature.gpu, power.draw [W]\n0, [N/A], [N/A], [N/A]\n")
TEXTS["the table of two busy cards"] = ("", smi_table(list(COOL)))
TEXTS["a hot but sound T4"] = (
    "",
    smi_q([changed(AMPERE, product="Tesla T4", temperature=82, active=("sw_power_cap",))]),
)
TEXTS["the decimal comma of another locale"] = (
    "power-limit-lowered",
    TEXTS["a lowered limit of a busy H100"][1].replace(".80 W", ",80 W").replace(".00 W", ",00 W"),
)


@pytest.mark.parametrize("name", TEXTS)
def test_the_first_cause_of_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    for variant in (text, text.replace("\n", "\r\n"), "\n".join(f"\x1b[0m{line}\x1b[K" for line in text.split("\n"))):
        report = diagnosed(tmp_path, variant)
        loud = [finding.cause for finding in report.findings if finding.severity != "info"]
        assert loud[:1] == ([cause] if cause else [])


def test_a_text_cut_anywhere_is_still_read(tmp_path: Path) -> None:
    text = TEXTS["a lowered limit of a busy H100"][1].encode()
    for end in range(0, len(text), 37):
        diagnosed(tmp_path, text[:end] + b"\xf0\x9f")


def test_the_query_that_watches_is_read_back() -> None:
    """The columns are those of the parser: a misspelt one would be no reading, for ever."""
    from gpudoctor.tools.nvidia_smi.field_names import COLUMNS

    columns = WATCH.partition("--query-gpu=")[2].partition(" ")[0].split(",")
    assert [column for column in columns if column not in COLUMNS] == ["timestamp"]
