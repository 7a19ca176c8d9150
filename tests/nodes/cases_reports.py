"""What reports, expressions and tests say in numbers of machines and their GPUs; and what they say of sound ones."""

from __future__ import annotations

from tests.nodes.case import Case
from tests.nodes.cases_slurm import out as of_slurm
from tests.nodes.cases_thermal import COOL, QUIET, also
from tests.nodes.cases_thermal import node as cool
from tests.nodes.watched import WAVES, cards, log, node

SOUND = (
    "6cd3556deb0da54bca060b4c39479839  /etc/munge/munge.key",
    "6cd3556deb0da54bca060b4c39479839  /etc/munge/munge.key",
    "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
    "           0         1         2         3",
    " 0     55.21     55.30     50.28     55.10",
    "     User  GPU-Hours-At-0%  Jobs  JobID",
    "1    mia   0                2     812,813",
    "increase(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL[1h])",
    '{Hostname="gpu-01", gpu="2"} 3',
    "DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE)",
    '{Hostname="gpu-01", gpu="0"} 0.71',
    "\tGPU 1: OK",
)
INLET = "ipmi: Inlet Temp       | 44.000     | degrees C  | cr    | na        | na        | na        | 38.000    | 42.000    | 47.000"
CASES: dict[str, Case] = {
    "throttle-inlet": also(cool(COOL), dmesg=QUIET + f"2026-03-01T09:41:00,000000+00:00 {INLET}\n"),
    "stall-reports": node(
        *WAVES,
        log=log(
            "6cd3556deb0da54bca060b4c39479839  /etc/munge/munge.key",
            "0b1e1b3c5a1d4d9bd9a1a6b8a4df2c11  /etc/munge/munge.key",
            "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
            "           0         1         2         3",
            " 0     55.21     55.30     13.28     55.10",
            "     User  GPU-Hours-At-0%  Jobs  JobID",
            "1    mia   412              2     812,813",
            "increase(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL[1h])",
            '{Hostname="gpu-01", gpu="2"} 18211',
            "DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE)",
            '{Hostname="gpu-01", gpu="0"} 0.987',
            "\tGPU 1: FAULTY",
            gap=0,
        ),
    ),
    "stall-reports-sound": node(*WAVES, log=log(*SOUND, gap=0)),
    "stall-few-workers": node(
        cards(4, utilisation=31, power=240.5),
        log=log(
            "The 'train_dataloader' does not have many workers which may be a bottleneck. Consider increasing `num_workers`",
            gap=0,
        ),
    ),
    "slurm-found-less": of_slurm(
        "swap of a board",
        **{
            "gpu-04: slurmd -C": "NodeName=gpu-04 CPUs=192 Boards=1 SocketsPerBoard=2 CoresPerSocket=48 ThreadsPerCore=2"
            " RealMemory=2051000 Gres=gpu:h100:7\nUpTime=3-02:11:11\n",
        },
    ),
}
