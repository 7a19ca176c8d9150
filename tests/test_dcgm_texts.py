"""What people paste of dcgmi: whole answers and cut-out rows, of DCGM 2 to 4, and what is found in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.engine.diagnose import diagnose
from gpudoctor.library.index import library
from tests.nodes.cases_dcgm import CASES
from tests.nodes.record import NOW, Machines
from tests.pasted import diagnosed

DIAG = """\
Successfully ran diagnostic for group.
+---------------------------+------------------------------------------------+
| Diagnostic                | Result                                         |
+===========================+================================================+
"""
# What was pasted → (cause, GPU); "" = nothing is found
TEXTS: dict[str, tuple[str, str, str]] = {
    "bare error": (
        "nouveau-conflict",
        "",
        """\
$ dcgmi diag -r 1
"""
        + DIAG
        + """\
|-----  Metadata  ----------+------------------------------------------------|
| DCGM Version              | 3.1.7                                          |
| Driver Version Detected   | 525.105.17                                     |
| GPU Device IDs Detected   | 20b2,20b2,20b2,20b2                            |
|-----  Deployment  --------+------------------------------------------------|
| Denylist                  | Pass                                           |
| NVML Library              | Pass                                           |
| CUDA Main Library         | Pass                                           |
| Permissions and OS Blocks | Fail                                           |
| Error                     | Found driver on the denylist: nouveau          |
| Persistence Mode          | Pass                                           |
| Page Retirement/Row Remap | Pass                                           |
+---------------------------+------------------------------------------------+
""",
    ),
    "md cut": (
        "row-remap-failure",
        "GPU 5",
        """\
Our node fails the diag:
| Error | GPU 5 had uncorrectable memory errors and row remapping failed. |
""",
    ),
    "r3 thermal": (
        "thermal-cooling-fault",
        "GPU 2",
        """\
+-----  Stress  ------------+------------------------------------------------+
| Targeted Stress           | Fail - GPU: 2                                  |
|                           | Pass - GPUs: 0, 1, 3                           |
| Warning                   | GPU 2Thermal violations totaling 14.2 seconds  |
|                           | started at 3.0 seconds into the test for GPU 2 |
|                           |  Verify that the cooling on this machine is f  |
|                           | unctional                                      |
| Targeted Power            | Skip - All                                     |
+---------------------------+------------------------------------------------+
""",
    ),
    "health json": (
        "nvlink-links-inactive",
        "GPU 4",
        """\
root@gpu-07:~# dcgmi health -g 0 -c -j
{
  "body" :
  {
    "GPU" :
    {
      "children" :
      {
        "4" :
        {
          "children" :
          {
            "Errors" :
            {
              "children" :
              {
                "NVLINK system" :
                {
                  "overflow" :
                  [
                    "GPU 4's NvLink link 7 is currently down Check DCGM",
                    "and system logs for errors"
                  ],
                  "value" : "Failure"
                }
              }
            }
          },
          "value" : "Failure"
        }
      }
    },
    "Overall Health" :
    {
      "value" : "Failure"
    }
  },
  "header" :
  [
    "Health Monitor Report"
  ]
}
""",
    ),
    "not armed": (
        "dcgm-watches-not-armed",
        "",
        """\
$ dcgmi health -g 0 -c
Error: Health watches not enabled. Please enable watches.
""",
    ),
    "no engine": (
        "dcgm-hostengine-not-running",
        "",
        """\
$ dcgmi discovery -l
Error: unable to establish a connection to the specified host: localhost
Error: Unable to connect to host engine. Host engine connection invalid/disconnected.
""",
    ),
    "power": (
        "dcgm-targeted-power-marginal",
        "GPU 0",
        """\
| Targeted Power            | Fail - All                                     |
| Warning                   | Max power of 298.9 did not reach desired power |
|                           |  minimum target_power of 300.0 for GPU 0       |
""",
    ),
    "d4 nvlink": (
        "nvlink-error",
        "GPU 1",
        """\
+-----  Integration  -------+------------------------------------------------+
| pcie                      | Fail                                           |
|                           | GPU0: Pass                                     |
|                           | GPU1: Fail                                     |
| Warning: GPU1             | Detected 5 nvlink_recovery_error_count_total   |
|                           | NvLink errors on GPU 1's NVLink (should be 0)  |
+---------------------------+------------------------------------------------+
""",
    ),
    "json4 offbus": (
        "gpu-fallen-off-bus",
        "GPU 6",
        """\
{
 "DCGM Diagnostic": {
  "test_categories": [
   {
    "category": "Deployment",
    "tests": [
     {
      "name": "software",
      "results": [
       {
        "entity_group": "GPU",
        "entity_group_id": 1,
        "entity_id": 6,
        "status": "Fail",
        "warnings": [
         {
          "error_category": 15,
          "error_id": 120,
          "error_severity": 2,
          "warning": "GPU 6 has fallen off the bus"
         }
        ]
       }
      ],
      "test_summary": {
       "status": "Fail"
      }
     }
    ]
   }
  ]
 },
 "metadata": {
  "version": "4.2.3"
 }
}
""",
    ),
    "inforom3": (
        "gpu-inforom-corrupted",
        "GPU 7",
        """\
| Inforom                   | Fail                                           |
| Error                     | A corrupt InfoROM has been detected in GPU 7.  |
|                           |  Flash the InfoROM to clear this corruption.   |
""",
    ),
    "old throttle": (
        "thermal-slowdown",
        "GPU 0",
        """\
+---------------------------+----------------------------------------------------------+
| Health Monitor Report                                                                |
+===========================+==========================================================+
| Overall Health            | Warning                                                  |
| GPU                       |                                                          |
| -> 0                      | Warning                                                  |
|    -> Errors              |                                                          |
|       -> Thermal system   | Warning                                                  |
|                           | Detected clock throttling due to thermal violation in    |
|                           | GPU 0. Verify that the cooling on this machine is        |
|                           | functional                                               |
+---------------------------+----------------------------------------------------------+
""",
    ),
    "healthy": (
        "",
        "",
        """\
$ dcgmi diag -r 2
"""
        + DIAG
        + """\
|-----  Deployment  --------+------------------------------------------------|
| software                  | Pass                                           |
|                           | GPU0: Pass                                     |
+-----  Hardware  ----------+------------------------------------------------+
| memory                    | Pass                                           |
|                           | GPU0: Pass                                     |
+---------------------------+------------------------------------------------+
""",
    ),
    "pcie width": (
        "pcie-link-degraded",
        "GPU 2",
        """\
{
   "DCGM GPU Diagnostic" : {
      "test_categories" : [
         { "category" : "Integration", "tests" : [ { "name" : "PCIe", "results" : [ { "gpu_id" : "2", "status" : "Fail", "warnings" : [ { "error_category" : 13, "error_id" : 46, "error_severity" : 5, "warning" : "GPU 2 is running at PCI link width 8X, which is below the minimum allowed link generation of 16 (parameter 'min_pci_width')" } ] } ] } ] }
      ]
   },
   "version" : "3.3.5"
}
""",  # noqa: E501
    ),
    "busy": (
        "dcgm-diag-could-not-run",
        "",
        """\
$ dcgmi diag -r 3
Error: Unable to complete diagnostic for group 2147483647. Return: (-38) A diag instance is already running, cannot run a new diag until the current one finishes.
""",  # noqa: E501
    ),
    "slurm log": (
        "row-remap-pending",
        "GPU 0",
        """\
[2026-03-01T12:00:00] prolog: running dcgmi diag -r 1
[2026-03-01T12:00:21] prolog: | Diagnostic                | Result                                         |
2026-03-01 12:00:22 INFO start
Successfully ran diagnostic for group.
| Diagnostic                | Result                                         |
|-----  Deployment  --------+------------------------------------------------|
| Page Retirement/Row Remap | Fail                                           |
| Error                     | GPU 0 had memory errors and row remappings ar  |
|                           | e pending                                      |
2026-03-01 12:00:23 ERROR node drained
""",
    ),
    "health quote": (
        "gpu-fallen-off-bus",
        "GPU 3",
        """\
Overall Health: Failure
GPU 3
  PCIe system: Failure - Detected XID 79 for GPU 3 (triggered by XID 79: GPU has fallen off the bus)
""",
    ),
    "802": (
        "fabric-manager-not-running",
        "GPU 0",
        """\
| Warning: GPU0             | Error using CUDA API cudaDeviceGetByPCIBusId   |
|                           | Check DCGM and system logs for errors. Reset   |
|                           | GPU. 'system not yet initialized' for GPU 0    |
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, gpu, text = TEXTS[name]
    report = diagnosed(tmp_path, text)
    assert [(one.cause, one.subject.gpu or "") for one in report.findings] == ([(cause, gpu)] if cause else [])


def test_the_diagnostic_needs_consent() -> None:
    case = CASES["diag-memory"]
    book = library().runbooks[case.runbook]
    inputs = {key: declared.default for key, declared in book.inputs.items()} | case.inputs
    without = diagnose(library(), book, inputs, Machines(case), started=NOW, recorded=True)
    assert (without.findings, without.exit_code) == ([], 4)
    assert "dcgmi diag -r 1 -j" in str(without.withheld)
    given = diagnose(library(), book, inputs, Machines(case), started=NOW, recorded=True, consent=True)
    assert [one.cause for one in given.findings] == ["dcgm-diag-failed"]


@pytest.mark.parametrize("level", [0, 5, -1])
def test_a_level_that_there_is_not_runs_nothing(level: int) -> None:
    case = CASES["diag-memory"]
    book = library().runbooks[case.runbook]
    inputs = {key: declared.default for key, declared in book.inputs.items()} | case.inputs | {"level": level}
    report = diagnose(library(), book, inputs, Machines(case), started=NOW, recorded=True, consent=True)
    assert not report.findings
    assert "dcgmi diag" not in str(report.coverage)


def test_who_works_there_is_shown() -> None:
    case = CASES["diag-workers"]
    book = library().runbooks[case.runbook]
    inputs = {key: declared.default for key, declared in book.inputs.items()} | case.inputs
    report = diagnose(library(), book, inputs, Machines(case), started=NOW, recorded=True)
    assert [row[2:4] for table in report.tables if table.title == "Who would suffer" for row in table.rows] == [["4242", "python"]]
