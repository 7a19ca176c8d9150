"""GPUs that are unlike their peers under full load, and what reports, expressions and tests say of them in numbers."""

from __future__ import annotations

from dataclasses import replace

from tests.nodes.case import Case
from tests.nodes.cases_slurm import out as of_slurm
from tests.nodes.cases_stall import HEAD, ROOM, WAVES, cards, changed, log, node
from tests.nodes.cases_thermal import COOL, QUIET, also
from tests.nodes.cases_thermal import node as cool
from tests.nodes.smi import Card, Process
from tests.nodes.smi_table import smi_table

FULL_LOAD = cards(power=641.0, temperature=64, utilisation=100)
STRANGERS = tuple(replace(card, processes=(Process(5120 + card.index, f"/opt/run{card.index}", 61020),)) for card in FULL_LOAD)
NEARLY = ROOM.replace("31457280000 20971520000      60%", "52310000000   118800000      100%").replace("100% /mnt", "99% /mnt")
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


def table(shown: tuple[Card, ...]) -> Case:
    """A machine that is looked at once, and answers with the table."""
    return node(shown, samples=1, smi=smi_table(list(shown)))


INLET = "ipmi: Inlet Temp       | 44.000     | degrees C  | cr    | na        | na        | na        | 38.000    | 42.000    | 47.000"
CASES: dict[str, Case] = {
    "throttle-inlet": also(cool(COOL), dmesg=QUIET + f"2026-03-01T09:41:00,000000+00:00 {INLET}\n"),
    "stall-hotter-than-peers": node(changed(FULL_LOAD, 1, power=420.5, sm_clock=1400, temperature=88)),
    "stall-slower-than-strangers": node(changed(STRANGERS, 1, power=402.5, sm_clock=1200, temperature=55)),
    "stall-lower-limit": node(changed(FULL_LOAD, 1, power=396.5, power_limit=400.0, active=("sw_power_cap",))),
    "stall-more-power": node(changed(FULL_LOAD, 1, power=330.5)),
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
    "stall-sleepers": node(
        *WAVES,
        ps=HEAD
        + "D   48213     102 -                                python3\nD   48214     102 -                                python3\n",
    ),
    "stall-nearly-full": node(
        *WAVES,
        df=NEARLY,
        log=log("RuntimeError: [enforce fail at inline_container.cc:588] . unexpected pos 2097216 vs 2097110", gap=0),
    ),
    # one table of nvidia-smi, which tells no clocks
    "stall-table-hotter": table(changed(FULL_LOAD, 1, power=291.0, temperature=91)),
    "stall-table-idle": table(tuple(replace(card, utilisation=0, power=88.0, temperature=36) for card in FULL_LOAD)),
    "stall-table-unseen": table((replace(FULL_LOAD[0], utilisation=0, power=88.0, temperature=36, processes=()),)),
    "stall-table-sound": table(FULL_LOAD),
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
