"""What many pasted texts begin with or hold: heads of tables, lists of which one line differs, and manifests that differ by a name."""

from __future__ import annotations

REASONS = (
    "Idle",
    "Applications Clocks Setting",
    "SW Power Cap",
    "HW Slowdown",
    "    HW Thermal Slowdown",
    "    HW Power Brake Slowdown",
    "Sync Boost",
    "SW Thermal Slowdown",
)
# dcgmi diag
DIAG = """\
Successfully ran diagnostic for group.
+---------------------------+------------------------------------------------+
| Diagnostic                | Result                                         |
+===========================+================================================+
"""
# nvidia-smi dmon
DMON = """\
# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk
# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz
"""


def smi(driver: str, cuda: str) -> str:
    """The head of nvidia-smi's table, of R545 and later."""
    return f"""\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI {driver:<22} Driver Version: {driver:<14} CUDA Version: {cuda}     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
"""


def reasons(*active: str, width: int = 36) -> str:
    """What nvidia-smi -q says of the reasons that hold the clocks; the names are as wide as `-d` or the whole of it has them."""
    rows = (f"        {name:<{width}}: {'Active' if name.strip() in active else 'Not Active'}\n" for name in REASONS)
    return "    Clocks Event Reasons\n" + "".join(rows)


def sliced(name: str, replicas: int) -> str:
    """The device plugin's configuration for time-slicing in a ConfigMap."""
    return f"""\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  namespace: gpu-operator
data:
  any: |-
    version: v1
    sharing:
      timeSlicing:
        resources:
        - name: nvidia.com/gpu
          replicas: {replicas}
"""
