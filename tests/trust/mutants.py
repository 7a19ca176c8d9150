# ruff: noqa: E501 - one rule a line
"""What a sound output looks like with one value made bad: each rule names the kind of text, what stands there, and what stands there instead.

Every rule is one that a person can read: the result says, in the tool's own words, that something is not well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Rule(NamedTuple):
    """A bad value: `at` is looked for in texts that `among` is found in, and becomes `bad` (a template of `re`)."""

    name: str
    among: str
    at: str
    bad: str


XML, SMI_Q, SMI = r"<nvidia_smi_log>", r"==+NVSMI LOG==+", r"\| NVIDIA-SMI \d|\+-+\+-+\+-+\+"
IBSTAT, IBSTATUS, DEVINFO = r"^CA 'mlx|^CA type:|Link layer: InfiniBand", r"Infiniband device '", r"^hca_id:"
PODS, NODES, WORKLOADS = (
    r"^(?:NAMESPACE +)?NAME +READY +STATUS +RESTARTS",
    r"^NAME +STATUS +ROLES",
    r"^(?:NAMESPACE +)?NAME +DESIRED +CURRENT +READY",
)
DESCRIBE_POD, DESCRIBE_NODE = r"^Status: +Running", r"^Conditions:\n +Type +Status +LastHeartbeatTime|MemoryPressure +False"
DIAG, NCCL_TESTS, KERNEL, LOG = (
    r"Successfully ran diagnostic|DCGM Diagnostic|Diagnostic +\| Result",
    r"# +size +count|Avg bus bandwidth",
    r"^\[ *\d+\.\d+\] |kernel: |^\d+,\d+,\d+,-;",
    r".",
)
LSPCI, LSPCI_VV, NVLINK, FM = (
    r"NVIDIA Corporation",
    r"LnkSta:",
    r"Link \d+: [\d.]+ GB/s",
    r"fabric ?manager|nvidia-fabricmanager|Fabric Manager",
)
TRAIN, METRICS, SINFO, SLURM = (
    r"\b[Ll]oss\b|images/sec|img/sec|throughput|step",
    r"^# (?:HELP|TYPE) |^DCGM_FI_|^nvidia_smi_\w+\{",
    r"^PARTITION +AVAIL",
    r"^NodeName=",
)
PERFQUERY, DF = r"^# Port extended counters|PortXmitWait", r"^Filesystem "
QUERY, LIST, TOPO, P2P = (
    r"^index, uuid, pci",
    r"^GPU \d+: .*\(UUID: GPU-[^)]*\)\n(?:GPU|\Z)",
    r"^\tGPU0\t[\s\S]*NV\d",
    r"^\tGPU0\t[\s\S]*CNS +=",
)
NVLINK_E, SMI_DMON, DCGM_DMON = r"Link \d+: (?:Replay|Effective) Errors", r"^# gpu +pwr", r"^#Entity"
DCGM_HEALTH, DCGM_HEALTH_JSON, DCGM_NVLINK, DIAG_JSON = (
    r"Health Monitor Report",
    r'"Overall Health"',
    r"NvLink Link Status",
    r'"DCGM (?:GPU )?Diagnostic"',
)
LINKINFO, MLXLINK, UNIT, UNITS = r"==\( *\dX", r"Operational Info", r"^ +Active: active", r"^ +UNIT +LOAD"
DCGM_NVLINK_E = r"NVLINK Error Counts"
CLOCK, TIMEDATECTL, FREE = r"^Leap status", r"System clock synchronized", r"^ +total +used +free"
SINFO_N, SACCT, SQUEUE, SCONTROL_JOB = r"^NODELIST +NODES", r"^JobID +JobName", r"JOBID +PARTITION", r"^JobId="
DAEMONSETS, DEPLOYMENTS, ENDPOINTS, CLAIMS = r"^NAME +DESIRED", r"^NAME +READY +UP-TO-DATE", r"^NAME +ENDPOINTS", r"^NAME +STATUS +VOLUME"
JOBS, EVENTS = r"^NAME +STATUS +COMPLETIONS", r"^LAST SEEN"
POD_JSON, POD_YAML, NODE_JSON = r'"kind": "Pod"', r"^kind: Pod", r'"kind": "Node"'
UP, RAS = r'"__name__":"up"', r"^Communicators\.\.\."

RULES = (
    # nvidia-smi -q -x
    Rule(
        "xml volatile uncorrectable",
        XML,
        r"(<volatile>[\s\S]{0,800}?<(?:sram_uncorrectable|sram_uncorrectable_parity|double_bit>[\s\S]{0,300}?<total|dram_uncorrectable)>)(?:0|N/A)(?=<)",
        r"\g<1>7",
    ),
    Rule("xml aggregate uncorrectable", XML, r"(<aggregate>[\s\S]{0,900}?<dram_uncorrectable>)(?:0|N/A)(?=<)", r"\g<1>12"),
    Rule("xml hw thermal slowdown", XML, r"(<clocks_(?:event|throttle)_reason_hw_thermal_slowdown>)Not Active", r"\g<1>Active"),
    Rule("xml hw slowdown", XML, r"(<clocks_(?:event|throttle)_reason_hw_slowdown>)Not Active", r"\g<1>Active"),
    Rule("xml power brake", XML, r"(<clocks_(?:event|throttle)_reason_hw_power_brake_slowdown>)Not Active", r"\g<1>Active"),
    Rule("xml width", XML, r"(<current_link_width>)16x", r"\g<1>4x"),
    Rule("xml pending remap", XML, r"(<remapped_row_pending>)No", r"\g<1>Yes"),
    Rule("xml remap failure", XML, r"(<remapped_row_failure>)No", r"\g<1>Yes"),
    Rule("xml retirement pending", XML, r"(<pending_retirement>|<pending_blacklist>)No", r"\g<1>Yes"),
    Rule("xml hot", XML, r"(<gpu_temp>)\d+ C", r"\g<1>99 C"),
    Rule("xml fan", XML, r"(<fan_speed>)\d+ %", r"\g<1>ERR!"),
    Rule("xml unknown error", XML, r"(<power_draw>|<instant_power_draw>|<gpu_temp>)[\d.]+ [WC]", r"\g<1>Unknown Error"),
    Rule("xml recovery", XML, r"(<gpu_recovery_action>)None", r"\g<1>Reset"),
    Rule("xml replays", XML, r"(<replay_counter>)\d+", r"\g<1>48211"),
    Rule("xml cut", XML, r"(<utilization>)[\s\S]*\Z", r"\g<1>"),
    Rule("xml inforom", XML, r"(<inforom_version>\s*<img_version>)[^<]*", r"\g<1>Unknown Error"),
    # nvidia-smi -q
    Rule(
        "q volatile uncorrectable", SMI_Q, r"(Volatile\s*\n(?:.*\n){0,9}? +(?:DRAM|SRAM) Uncorrectable(?: Parity)? +: )(?:0|N/A)", r"\g<1>5"
    ),
    Rule("q aggregate uncorrectable", SMI_Q, r"(Aggregate\s*\n(?:.*\n){0,9}? +DRAM Uncorrectable +: )(?:0|N/A)", r"\g<1>31"),
    Rule("q hw thermal slowdown", SMI_Q, r"(HW Thermal Slowdown +: )Not Active", r"\g<1>Active"),
    Rule("q hw slowdown", SMI_Q, r"(HW Slowdown +: )Not Active", r"\g<1>Active"),
    Rule("q power brake", SMI_Q, r"(HW Power Brake(?: Slowdown)? +: )Not Active", r"\g<1>Active"),
    Rule("q remap pending", SMI_Q, r"(Remapped Rows\s*\n(?:.*\n){0,3}? +Pending +: )No", r"\g<1>Yes"),
    Rule("q remap failure", SMI_Q, r"(Remapping Failure Occurred +: )No", r"\g<1>Yes"),
    Rule("q retired pending", SMI_Q, r"(Pending Page Blacklist +: )No", r"\g<1>Yes"),
    Rule("q hot", SMI_Q, r"(GPU Current Temp +: )\d+ C", r"\g<1>98 C"),
    Rule("q width", SMI_Q, r"(Link Width\s*\n(?: +Max .*\n)? +Current +: )16x", r"\g<1>2x"),
    Rule("q fan", SMI_Q, r"(Fan Speed +: )(?:\d+ %|N/A)", r"\g<1>[Unknown Error]"),
    Rule("q unknown", SMI_Q, r"((?:Average |Instantaneous )?Power Draw +: )[\d.]+ W", r"\g<1>[Unknown Error]"),
    Rule("q recovery", SMI_Q, r"(GPU Recovery Action +: )None", r"\g<1>Drain P2P"),
    Rule("q fabric failed", SMI_Q, r"(Fabric\s*\n +State +: )Completed(\s*\n +Status +: )Success", r"\g<1>Completed\g<2>Failure"),
    Rule("q fabric in progress", SMI_Q, r"(Fabric\s*\n +State +: )Completed", r"\g<1>In Progress"),
    Rule(
        "q lost",
        SMI_Q,
        r"^GPU ([0-9A-F:.]+)\n[\s\S]*\Z",
        r"GPU \g<1>\nUnable to determine the device handle for GPU\g<1>: GPU is lost.  Reboot the system to recover this GPU\n",
    ),
    Rule("q cut", SMI_Q, r"^( +Utilization\n)[\s\S]*\Z", r"\g<1>"),
    Rule("q one of the attached", SMI_Q, r"(Attached GPUs +: )\d+", r"\g<1>8"),
    # nvidia-smi
    Rule("table fan ERR!", SMI, r"^\| *(?:\d+%|N/A)( +\d+C +P\d)", r"|ERR!\g<1>"),
    Rule("table power ERR!", SMI, r"\d+W / +(\d+)W", r"ERR! / \g<1>W"),
    Rule("table ecc", SMI, r"(\d+% +Default \|\n)|(?<=\| )( *)(?:0|N/A|Off)( \|\n)", r"\g<1>\g<2>3\g<3>"),
    Rule(
        "table lost",
        SMI,
        r"^\| +(\d+) +.*(?:On|Off) +\|.*\n.*\n",
        r"Unable to determine the device handle for GPU0000:1B:00.0: Unknown Error\n",
    ),
    Rule("table hot", SMI, r"^(\| *(?:\d+%|N/A) +)\d+C( +P\d)", r"\g<1>97C\g<2>"),
    Rule(
        "smi no driver",
        SMI,
        r"\A[\s\S]*\Z",
        r"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n",
    ),
    # InfiniBand
    Rule("ibstat down", IBSTAT, r"State: Active", r"State: Down"),
    Rule("ibstat init", IBSTAT, r"State: Active", r"State: Initializing"),
    Rule("ibstat polling", IBSTAT, r"Physical state: LinkUp", r"Physical state: Polling"),
    Rule("ibstat disabled", IBSTAT, r"Physical state: LinkUp", r"Physical state: Disabled"),
    Rule("ibstat recovery", IBSTAT, r"Physical state: LinkUp", r"Physical state: LinkErrorRecovery"),
    Rule("ibstat slow", IBSTAT, r"Rate: (?:400|200|100)\b", r"Rate: 10"),
    Rule("ibstatus down", IBSTATUS, r"4: ACTIVE", r"1: DOWN"),
    Rule("ibstatus polling", IBSTATUS, r"5: LinkUp", r"2: Polling"),
    Rule("ibstatus slow", IBSTATUS, r"\d+ Gb/sec \(4X", r"10 Gb/sec (1X"),
    Rule("devinfo down", DEVINFO, r"PORT_ACTIVE \(4\)", r"PORT_DOWN (1)"),
    Rule("devinfo init", DEVINFO, r"PORT_ACTIVE \(4\)", r"PORT_INIT (2)"),
    Rule("perfquery symbols", PERFQUERY, r"(SymbolErrorCounter:\.+)0", r"\g<1>65535"),
    Rule("perfquery downed", PERFQUERY, r"(LinkDownedCounter:\.+)0", r"\g<1>255"),
    Rule("perfquery receive", PERFQUERY, r"(PortRcvErrors:\.+)0", r"\g<1>40021"),
    Rule("switch psu", r"ibswinfo|PSU0?\d", r"(PSU0? ?\d[^\n]*?\| *)OK", r"\g<1>FAIL"),
    Rule("switch status", r"PSU", r"(status +\| *)OK", r"\g<1>ERROR"),
    # Kubernetes
    Rule("pod crash loop", PODS, r"^(.*?) 1/1( +)Running +0", r"\g<1> 0/1\g<2>CrashLoopBackOff   14 (2m ago)"),
    Rule("pod error", PODS, r"^(.*?) 1/1( +)Running", r"\g<1> 0/1\g<2>Error  "),
    Rule("pod not ready", PODS, r"^(.*?) 1/1( +)Running", r"\g<1> 0/1\g<2>Running"),
    Rule("pod pending", PODS, r"^(.*?) 1/1( +)Running", r"\g<1> 0/1\g<2>Pending"),
    Rule("pod unknown word", PODS, r"^(.*?) 1/1( +)Running", r"\g<1> 0/1\g<2>StartError"),
    Rule("pod evicted", PODS, r"^(.*?) 1/1( +)Running", r"\g<1> 0/1\g<2>Evicted"),
    Rule("pod image", PODS, r"^(.*?) 1/1( +)Running", r"\g<1> 0/1\g<2>ImagePullBackOff"),
    Rule("node not ready", NODES, r"^(\S+ +)Ready ", r"\g<1>NotReady "),
    Rule("node unknown word", NODES, r"^(\S+ +)Ready ", r"\g<1>Unknown "),
    Rule("node cordoned", NODES, r"^(\S+ +)Ready ", r"\g<1>Ready,SchedulingDisabled "),
    Rule("daemonset short", WORKLOADS, r"^(\S+(?: +\S+)? +)(\d) +\2 +\2( +)\2( +)\2", r"\g<1>\g<2>   \g<2>   0\g<3>\g<2>\g<4>0"),
    Rule(
        "event warning",
        r"^Events:",
        r"(Events:)[\s\S]*\Z",
        "\\g<1>\n  Type     Reason     Age   From     Message\n  ----     ------     ----  ----     -------\n  Warning  FlumeTorn  5m    kubelet  the flume of the sandbox is torn\n",
    ),
    Rule(
        "container exit",
        DESCRIBE_POD,
        r"State: +Running",
        r"State:          Terminated\n      Reason:       Error\n      Exit Code:    137",
    ),
    Rule("container not ready", DESCRIBE_POD, r"^( +Ready: +)True", r"\g<1>False"),
    Rule("pod condition", DESCRIBE_POD, r"^( +ContainersReady +)True", r"\g<1>False"),
    Rule("node disk pressure", DESCRIBE_NODE, r"(DiskPressure +)False", r"\g<1>True"),
    Rule("node condition not ready", DESCRIBE_NODE, r"^( +Ready +)True", r"\g<1>False"),
    Rule("node condition unknown", DESCRIBE_NODE, r"^( +Ready +)True", r"\g<1>Unknown"),
    Rule("component unhealthy", r"componentstatus|etcd-0", r"^((?:etcd-0|scheduler|controller-manager) +)Healthy", r"\g<1>Unhealthy"),
    Rule("verdict fail", r"\bPASS(?:ED)?\b", r"\bPASS(ED)?\b", r"FAIL\g<1>"),
    # DCGM
    Rule("diag fail", DIAG, r"(\| [A-Z][\w ]+ +\| )Pass( - All| ?)", r"\g<1>Fail\g<2>"),
    Rule("diag warn", DIAG, r"(\| [A-Z][\w ]+ +\| )Pass - All", r"\g<1>Warn - GPU: 3"),
    Rule("diag skip all", DIAG, r"(\| [A-Z][\w ]+ +\| )Pass - All", r"\g<1>Fail - GPUs: 0, 2"),
    Rule("burn faulty", r"gpu-?burn|GPU 0: OK", r"GPU 0: OK", r"GPU 0: FAULTY"),
    # collective tests
    Rule("nccl wrong", NCCL_TESTS, r"^(.*\d+\.\d+ +\d+\.\d+ +\d+\.\d+ +)(?:0|0e\+00)( *)$", r"\g<1>3\g<2>"),
    Rule("nccl out of bounds", NCCL_TESTS, r"Out of bounds values : 0 OK", r"Out of bounds values : 17 FAILED"),
    Rule("nccl slow", NCCL_TESTS, r"(Avg bus bandwidth +: )[\d.]+", r"\g<1>0.0312"),
    Rule("nccl ends early", NCCL_TESTS, r"^# Out of bounds[\s\S]*\Z", r""),
    Rule(
        "nccl system error",
        NCCL_TESTS,
        r"^# Out of bounds[\s\S]*\Z",
        r"gpu-3: Test NCCL failure common.cu:958 'remote process exited or there was a network error / '\n .. gpu-3 pid 812: Test failure common.cu:842\n",
    ),
    # the kernel
    Rule(
        "kernel xid",
        KERNEL,
        r"^(.*)$\n?\Z",
        "\\g<1>\n[ 9031.120000] NVRM: Xid (PCI:0000:65:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n",
    ),
    Rule(
        "kernel unknown xid",
        KERNEL,
        r"^(.*)$\n?\Z",
        "\\g<1>\n[ 9031.120000] NVRM: Xid (PCI:0000:65:00): 199, pid=1, a new error of this driver\n",
    ),
    Rule(
        "kernel oom",
        KERNEL,
        r"^(.*)$\n?\Z",
        "\\g<1>\n[ 9031.120000] Out of memory: Killed process 4211 (python3) total-vm:1kB, anon-rss:2kB\n",
    ),
    Rule(
        "kernel nvme",
        KERNEL,
        r"^(.*)$\n?\Z",
        "\\g<1>\n[ 9031.120000] nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff\n",
    ),
    Rule("kernel mce", KERNEL, r"^(.*)$\n?\Z", "\\g<1>\n[ 9031.120000] mce: [Hardware Error]: Machine check events logged\n"),
    Rule(
        "kernel lockup",
        KERNEL,
        r"^(.*)$\n?\Z",
        "\\g<1>\n[ 9031.120000] watchdog: BUG: soft lockup - CPU#12 stuck for 23s! [kworker/12:1:880]\n",
    ),
    Rule("kernel hung task", KERNEL, r"^(.*)$\n?\Z", "\\g<1>\n[ 9031.120000] INFO: task python3:4411 blocked for more than 120 seconds.\n"),
    Rule(
        "kernel aer",
        KERNEL,
        r"^(.*)$\n?\Z",
        "\\g<1>\n[ 9031.120000] pcieport 0000:40:01.1: AER: Uncorrectable (Fatal) error message received from 0000:41:00.0\n",
    ),
    Rule(
        "kernel rminit", KERNEL, r"^(.*)$\n?\Z", "\\g<1>\n[ 9031.120000] NVRM: GPU 0000:65:00.0: RmInitAdapter failed! (0x26:0x56:1482)\n"
    ),
    Rule(
        "kernel ext4",
        KERNEL,
        r"^(.*)$\n?\Z",
        "\\g<1>\n[ 9031.120000] EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm ls: reading directory lblock 0\n",
    ),
    Rule(
        "kernel segfault",
        KERNEL,
        r"^(.*)$\n?\Z",
        "\\g<1>\n[ 9031.120000] python3[8123]: segfault at 8 ip 00007f3 sp 00007ffd error 4 in libnccl.so.2[7f31+1000]\n",
    ),
    Rule(
        "kernel thermal",
        KERNEL,
        r"^(.*)$\n?\Z",
        "\\g<1>\n[ 9031.120000] CPU3: Core temperature above threshold, cpu clock throttled (total events = 411)\n",
    ),
    Rule(
        "fabric manager error",
        FM,
        r"^(.*)$\n?\Z",
        "\\g<1>\n[Mar 01 2026 12:00:00] [ERROR] [tid 812] NVLink initialization failed for a partition\n",
    ),
    # any log
    Rule(
        "traceback",
        TRAIN,
        r"\Z",
        '\nTraceback (most recent call last):\n  File "fit.py", line 88, in <module>\n    main()\n  File "fit.py", line 41, in main\n    step()\nValueError: shard 3 has no rows\n',
    ),
    Rule("killed", TRAIN, r"\Z", "\nKilled\n"),
    Rule("segfault", TRAIN, r"\Z", "\nSegmentation fault (core dumped)\n"),
    Rule("bus error", TRAIN, r"\Z", "\nBus error (core dumped)\n"),
    Rule("panic", TRAIN, r"\Z", "\npanic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n"),
    Rule("klog E", LOG, r"\Z", '\nE0301 12:00:00.123456   18732 flume.go:210] "the flume is torn" err="no weir"\n'),
    Rule("level=error", LOG, r"\Z", '\ntime="2026-03-01T12:00:00Z" level=error msg="the flume is torn"\n'),
    Rule("srun exit", TRAIN, r"\Z", "\nsrun: error: gpu-7: task 12: Exited with exit code 1\n"),
    Rule(
        "mpirun exit",
        TRAIN,
        r"\Z",
        "\n--------------------------------------------------------------------------\nmpirun detected that one or more processes exited with non-zero status, thus causing\nthe job to be terminated.\n",
    ),
    Rule(
        "nccl warn", NCCL_TESTS + "|NCCL INFO|" + TRAIN, r"\Z", "\ngpu-7:812:930 [0] transport/net_flume.cc:88 NCCL WARN the weir is gone\n"
    ),
    Rule("cuda error", TRAIN, r"\Z", "\nRuntimeError: CUDA error: an illegal memory access was encountered\n"),
    Rule("python warning critical", TRAIN, r"\Z", "\n[rank3]: CRITICAL the shard ledger of rank 3 is torn\n"),
    Rule("signal 11", TRAIN, r"\Z", "\nfailed (exitcode: -11) local_rank: 0 (pid: 812) of binary: /usr/bin/python3\n"),
    Rule(
        "core dump",
        TRAIN,
        r"\Z",
        "\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  the weir is gone\nAborted (core dumped)\n",
    ),
    Rule("loss nan", TRAIN, r"(?i)(\bloss\b['\"]?[:=]? ?)\d+\.\d+", r"\g<1>nan"),
    Rule("mlperf aborted", r":::MLL", r'("status": ?")success', r"\g<1>aborted"),
    # lspci
    Rule("lspci ff", LSPCI, r"(NVIDIA Corporation .*?)\(rev (?:a\d)\)", r"\g<1>(rev ff)"),
    Rule("lspci width", LSPCI_VV, r"(NVIDIA Corporation(?:.*\n\s)+?\s*LnkSta:\s+Speed [\d.]+GT/s[^,]*, Width )x16", r"\g<1>x4"),
    Rule("nvlink inactive", NVLINK, r"(Link \d+: )[\d.]+ GB/s", r"\g<1><inactive>"),
    # metrics
    Rule("metric xid", METRICS, r"^(DCGM_FI_DEV_XID_ERRORS\{[^}]*\}) 0", r"\g<1> 79"),
    Rule("metric temp", METRICS, r"^((?:DCGM_FI_DEV_GPU_TEMP|nvidia_smi_temperature_gpu)\{[^}]*\}) [\d.]+", r"\g<1> 99"),
    Rule("metric nan", METRICS, r"^((?:DCGM_FI_DEV_POWER_USAGE|DCGM_FI_DEV_GPU_TEMP)\{[^}]*\}) [\d.]+", r"\g<1> NaN"),
    Rule("metric failed scrapes", METRICS, r"^(nvidia_smi_(?:failed_scrapes_total|command_exit_code)) 0", r"\g<1> 9"),
    # Slurm
    Rule("sinfo down", SINFO, r"\b(?:idle|alloc|mix)\b", r"down*"),
    Rule("sinfo drain", SINFO, r"\b(?:idle|alloc|mix)\b", r"drain"),
    Rule("slurm node drained", SLURM, r"State=(?:IDLE|ALLOCATED|MIXED)", r"State=IDLE+DRAIN+MAINTENANCE"),
    # tests that say how many failed
    Rule(
        "count failed",
        r"(?i)\b0 (?:failed|errors?|tests failed)|\b0 tests completed and failed",
        r"\b0 (failed|errors?\b|tests completed and failed)",
        r"3 \g<1>",
    ),
    Rule("hpl failed", r"HPLinpack", r"PASSED", r"FAILED"),
    # a text that ends in the middle
    Rule("df full", DF, r"^(\S+ +\S+ +\S+ +)\S+( +)\d+%", r"\g<1>0\g<2>100%"),
    # nvidia-smi --query-gpu
    Rule("csv unknown error", QUERY, r"^(\d+, GPU-[^,]+, [^,]+, )\d+,", r"\g<1>[Unknown Error],"),
    Rule("csv requires reset", QUERY, r"^(\d+, GPU-[^,]+, [^,]+, )\d+, [\d.]+ W,", r"\g<1>[GPU requires reset], [GPU requires reset],"),
    Rule("csv power ERR!", QUERY, r", [\d.]+ W, ", r", ERR!, "),
    Rule("csv fan unknown error", QUERY, r", \[N/A\],", r", [Unknown Error],"),
    Rule("csv remap failure", QUERY, r"No, No, None", r"No, Yes, None"),
    Rule("csv remap pending", QUERY, r"No, No, None", r"Yes, No, None"),
    Rule("csv recovery", QUERY, r"No, No, None", r"No, No, Reset"),
    Rule("csv width", QUERY, r", 5, 16, 16,", r", 5, 8, 16,"),
    Rule("csv uncorrected", QUERY, r", 16, 16, 0,", r", 16, 16, 3,"),
    Rule("csv hot", QUERY, r"^(\d+, GPU-[^,]+, [^,]+, )\d+,", r"\g<1>98,"),
    Rule("csv thermal slowdown", QUERY, r"Not Active, Not Active$", r"Active, Active"),
    Rule(
        "csv lost",
        QUERY,
        r"^(\d+), GPU-.*$",
        r"\g<1>, [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost]",
    ),
    Rule("csv head alone", QUERY, r"^0, GPU-[\s\S]*\Z", r""),
    # the other answers of nvidia-smi
    Rule(
        "list lost",
        LIST,
        r"^GPU (\d+): .*\(UUID: GPU-.*\)$",
        r"Unable to determine the device handle for GPU\g<1>: 0000:1B:00.0: Unknown Error",
    ),
    Rule("topo sys", TOPO, r"NV\d+", r"SYS"),
    Rule("topo narrower", TOPO, r"NV18", r"NV2"),
    Rule("topo cut", TOPO, r"^GPU1\b[\s\S]*\Z", r""),
    Rule("p2p chipset", P2P, r"\bOK\b", r"CNS"),
    Rule("p2p unknown", P2P, r"\bOK\b", r"U"),
    Rule("nvlink replay", NVLINK_E, r"(Replay Errors: )0", r"\g<1>40211"),
    Rule("nvlink recovery", NVLINK_E, r"(Recovery Errors: )0", r"\g<1>12"),
    Rule("nvlink crc", NVLINK_E, r"(CRC Errors: )0", r"\g<1>98122"),
    Rule("nvlink effective errors", NVLINK_E, r"(Effective Errors: )0", r"\g<1>4112"),
    Rule("nvlink failed recoveries", NVLINK_E, r"(Link recovery failed events: )0", r"\g<1>3"),
    Rule(
        "nvlink all inactive",
        NVLINK,
        r"^((?:GPU \d+: .*\n))(?:\s+Link \d+: .*\n)+",
        r"\g<1>NVML: Unable to retrieve NVLink information as all links are inActive\n",
    ),
    Rule("nvlink cut", NVLINK, r"(Link 3: .*\n)[\s\S]*\Z", r"\g<1>"),
    Rule("dmon hot", SMI_DMON, r"^( +\d+ +\d+ +)\d+", r"\g<1>97"),
    Rule("dmon double bit", SMI_DMON, r"^((?: +\d+){17} +)0( +\d+)$", r"\g<1>4\g<2>"),
    Rule("dmon thermal violation", SMI_DMON, r"^((?: +\d+){13} +)0( )", r"\g<1>1\g<2>"),
    # DCGM
    Rule("dcgm health failure", DCGM_HEALTH, r"(Overall Health +\| )Healthy", r"\g<1>Failure"),
    Rule("dcgm health warning", DCGM_HEALTH, r"(Overall Health +\| )Healthy", r"\g<1>Warning"),
    Rule("dcgm health json", DCGM_HEALTH_JSON, r'"Healthy"', r'"Failure"'),
    Rule("dcgm health word", DCGM_HEALTH, r"(Overall Health +\| )Healthy", r"\g<1>Gone"),
    Rule("dcgm nvlink down", DCGM_NVLINK, r"U U U", r"U D U"),
    Rule("dcgm nvlink disabled", DCGM_NVLINK, r"U U U", r"U X U"),
    Rule("dcgm nvlink word", DCGM_NVLINK, r"U U U", r"U ? U"),
    Rule("dcgm nvlink replay", DCGM_NVLINK_E, r"(-> Replay Error +\| )0   ", r"\g<1>4021"),
    Rule("dcgm nvlink recovery", DCGM_NVLINK_E, r"(-> Recovery Error +\| )0", r"\g<1>2"),
    Rule("dcgm nvlink lost packets", DCGM_NVLINK_E, r"(-> Rx Error +\| )0", r"\g<1>4"),
    Rule("dcgm dmon double bit", DCGM_DMON, r"^(GPU 0 +\d+ +[\d.]+ +\d+ +)0", r"\g<1>2"),
    Rule("dcgm dmon xid", DCGM_DMON, r"^(GPU 0 +.* )0$", r"\g<1>79"),
    Rule("dcgm dmon hot", DCGM_DMON, r"^(GPU 0 +)\d+", r"\g<1>98"),
    Rule("diag cut", DIAG, r"^.*(?:Hardware|Integration)  -[\s\S]*\Z", r""),
    Rule("diag word", DIAG, r"(\| [A-Za-z_]\w+ +\| )Pass", r"\g<1>Error"),
    Rule("diag gpu fail", DIAG, r"(GPU\d: )Pass", r"\g<1>Fail"),
    Rule("diag json fail", DIAG_JSON, r'"status": "Pass"', r'"status": "Fail"'),
    Rule("diag json cut", DIAG_JSON, r'"entity_groups?"[\s\S]*\Z', r'"entity_gr'),
    # the fabric
    Rule("devinfo armed", DEVINFO, r"PORT_ACTIVE \(4\)", r"PORT_ARMED (3)"),
    Rule("devinfo word", DEVINFO, r"PORT_ACTIVE \(4\)", r"PORT_NOP (0)"),
    Rule("ibstat word", IBSTAT, r"State: Active", r"State: Tripped"),
    Rule("ibstat armed", IBSTAT, r"State: Active", r"State: Armed"),
    Rule("ibstat cut", IBSTAT, r"(Physical state: LinkUp\n)[\s\S]*\Z", r"\g<1>"),
    Rule("ibstatus init", IBSTATUS, r"4: ACTIVE", r"2: INIT"),
    Rule("ibstatus disabled", IBSTATUS, r"5: LinkUp", r"3: Disabled"),
    Rule("linkinfo down", LINKINFO, r"Active/  LinkUp", r"  Down/ Polling"),
    Rule("linkinfo narrower", LINKINFO, r"\( 4X( +[\d.]+ Gbps)", r"( 1X\g<1>"),
    Rule(
        "linkinfo slower",
        LINKINFO,
        r"106\.25 Gbps Active/  LinkUp\)(==>.*)\( \)",
        r"25.78125 Gbps Active/  LinkUp)\g<1>( Could be 106.25 Gbps)",
    ),
    Rule("linkinfo disabled", LINKINFO, r"Active/  LinkUp", r"  Down/Disabled"),
    Rule("perfquery recoveries", PERFQUERY, r"(LinkErrorRecoveryCounter:\.+)0", r"\g<1>255"),
    Rule("perfquery integrity", PERFQUERY, r"(LocalLinkIntegrityErrors:\.+)0", r"\g<1>15"),
    Rule("perfquery overruns", PERFQUERY, r"(ExcessiveBufferOverrunErrors:\.+)0", r"\g<1>15"),
    Rule("perfquery cut", PERFQUERY, r"^LinkErrorRecoveryCounter[\s\S]*\Z", r""),
    Rule("mlxlink state", MLXLINK, r"^(State +: )Active", r"\g<1>Polling"),
    Rule("mlxlink width", MLXLINK, r"^(Width +: )4x", r"\g<1>1x"),
    Rule("mlxlink opcode", MLXLINK, r"(Status Opcode +: )0(\n.*\n.*: )No issue was observed", r"\g<1>15\g<2>Bad signal integrity"),
    Rule("mlxlink physical", MLXLINK, r"(Physical state +: )LinkUp", r"\g<1>Disabled"),
    # machines
    Rule("lspci slow", LSPCI_VV, r"LnkSta:\tSpeed 32GT/s", "LnkSta:\tSpeed 2.5GT/s (downgraded)"),
    Rule("lspci width downgraded", LSPCI_VV, r"(LnkSta:\tSpeed [\d.]+GT/s, Width )x16", r"\g<1>x8 (downgraded)"),
    Rule("lspci no driver", LSPCI_VV, r"^\tKernel driver in use: nvidia\n", r""),
    Rule("lspci fatal error", LSPCI_VV, r"(NVIDIA Corporation(?:.*\n\s)+?\s*DevSta:.*) FatalErr-", r"\g<1> FatalErr+"),
    Rule("unit failed", UNIT, r"Active: active \(running\)", r"Active: failed (Result: exit-code)"),
    Rule("unit restarts", UNIT, r"Active: active \(running\)", r"Active: activating (auto-restart) (Result: exit-code)"),
    Rule("unit word", UNIT, r"Active: active \(running\)", r"Active: maintenance (running)"),
    Rule("units failed", UNITS, r"loaded active running( NVIDIA fabric)", r"loaded failed failed \g<1>"),
    Rule("units restart", UNITS, r"loaded active running( NVIDIA DCGM)", r"loaded activating auto-restart\g<1>"),
    Rule("clock not synchronised", CLOCK, r"Leap status     : Normal", r"Leap status     : Not synchronised"),
    Rule("clock far off", CLOCK, r"System time     : 0\.\d+ seconds", r"System time     : 412.120042 seconds"),
    Rule("clock seconds off", CLOCK, r"System time     : 0\.\d+ seconds", r"System time     : 3.120042 seconds"),
    Rule("clock word", CLOCK, r"Leap status     : Normal", r"Leap status     : Invalid"),
    Rule("timedatectl no", TIMEDATECTL, r"(System clock synchronized: )yes", r"\g<1>no"),
    Rule("no memory", FREE, r"^(Mem: +)(\d+) +\d+ +\d+( +\d+ +\d+) +\d+", r"\g<1>\g<2> \g<2> 0\g<3> 0"),
    # Slurm
    Rule("sinfo fail", SINFO, r"\b(?:idle|alloc|mix)\b", r"fail*"),
    Rule("sinfo inval", SINFO, r"\b(?:idle|alloc|mix)\b", r"inval"),
    Rule("sinfo unknown word", SINFO, r"\b(?:idle|alloc|mix)\b", r"unk*"),
    Rule("sinfo partition down", SINFO, r"^(\S+ +)up ", r"\g<1>down "),
    Rule("sinfo -N drained", SINFO_N, r"\b(?:idle|mixed|allocated)\b( .*)none", r"drained\g<1>gres/gpu count too low"),
    Rule("slurm node not responding", SLURM, r"State=(?:IDLE|ALLOCATED|MIXED)", r"State=IDLE+NOT_RESPONDING"),
    Rule("slurm node invalid", SLURM, r"State=(?:IDLE|ALLOCATED|MIXED)", r"State=IDLE+DRAIN+INVALID_REG"),
    Rule("slurm node down", SLURM, r"State=(?:IDLE|ALLOCATED|MIXED)", r"State=DOWN"),
    Rule("slurm node word", SLURM, r"State=(?:IDLE|ALLOCATED|MIXED)", r"State=ERROR"),
    Rule("sacct node fail", SACCT, r"COMPLETED +0:0", r"NODE_FAIL      0:0"),
    Rule("sacct failed", SACCT, r"COMPLETED      0:0", r"   FAILED      1:0"),
    Rule("sacct memory", SACCT, r"COMPLETED      0:0", r"OUT_OF_ME+  0:125"),
    Rule("squeue node fail", SQUEUE, r"(mara +)R( )", r"\g<1>NF\g<2>"),
    Rule("squeue launch failed", SQUEUE, r"(mara +)R( .*)gpu-\[03-06\]", r"\g<1>PD\g<2>(launch failed requeued held)"),
    Rule("job failed", SCONTROL_JOB, r"JobState=RUNNING Reason=None", r"JobState=FAILED Reason=NonZeroExitCode"),
    Rule("job node fail", SCONTROL_JOB, r"JobState=RUNNING Reason=None", r"JobState=NODE_FAIL Reason=NodeDown"),
    Rule("job held", SCONTROL_JOB, r"JobState=RUNNING Reason=None", r"JobState=PENDING Reason=launch_failed_requeued_held"),
    # Kubernetes
    Rule("pod odd word", PODS, r"^(.*?)(\d)/\2( +)Running", r"\g<1>0/\g<2>\g<3>UnexpectedAdmissionError"),
    Rule("pod init error", PODS, r"^(.*?)(\d)/\2( +)Running", r"\g<1>0/\g<2>\g<3>Init:Error"),
    Rule("pod restarts", PODS, r"^(.*? +Running +)0  ", r"\g<1>41 (12s ago)  "),
    Rule("pod half ready", PODS, r"2/2( +)Running", r"1/2\g<1>Running"),
    Rule("pods head alone", PODS, r"^(.*READY +STATUS.*\n)[\s\S]*\Z", r"\g<1>"),
    Rule("daemonset not ready", DAEMONSETS, r"^(\S+ +)3( +)3( +)3( +)3( +)3", r"\g<1>3\g<2>3\g<3>1\g<4>3\g<5>1"),
    Rule("deployment short", DEPLOYMENTS, r"3/3( +)3( +)3", r"1/3\g<1>3\g<2>1"),
    Rule("endpoints none", ENDPOINTS, r"\d+\.\d+\.\d+\.\d+:\d+\S*", r"<none>"),
    Rule("claim pending", CLAIMS, r"\bBound +\S+ +\S+ +R\S+", r"Pending"),
    Rule("claim lost", CLAIMS, r"\bBound\b", r"Lost "),
    Rule("job table failed", JOBS, r"Complete ( +)1/1", r"Failed   \g<1>0/1"),
    Rule("job table stuck", JOBS, r"Complete ( +)1/1", r"FailureTarget   \g<1>0/1"),
    Rule(
        "event of warning",
        EVENTS,
        r"^(\S+ +)Normal( +)Started( +\S+ +).*$",
        r"\g<1>Warning\g<2>FlumeTorn\g<3>the flume of the sandbox is torn",
    ),
    Rule(
        "event unhealthy",
        EVENTS,
        r"^(\S+ +)Normal( +)Started( +\S+ +).*$",
        r"\g<1>Warning\g<2>Unhealthy (x71 over 30m)\g<3>Liveness probe failed: HTTP probe failed with statuscode: 503",
    ),
    Rule("describe cut", DESCRIBE_POD + "|" + DESCRIBE_NODE, r"^(?:Volumes|Allocated resources|QoS Class):[\s\S]*\Z", r""),
    Rule("describe restarts", DESCRIBE_POD, r"(Restart Count: +)0", r"\g<1>37"),
    Rule("describe status", DESCRIBE_POD, r"^(Status: +)Running", r"\g<1>Failed"),
    Rule(
        "describe waiting",
        DESCRIBE_POD,
        r"State: +Running\n +Started: .*",
        r"State:          Waiting\n      Reason:       CrashLoopBackOff",
    ),
    Rule("node fewer allocatable", DESCRIBE_NODE, r"(Allocatable:(?:\n .*)*?nvidia.com/gpu: +)8", r"\g<1>7"),
    Rule("node no lease", DESCRIBE_NODE, r"^Taints: +<none>", r"Taints:             node.kubernetes.io/unreachable:NoExecute"),
    Rule("json phase", POD_JSON, r'"phase": "Running"', r'"phase": "Failed"'),
    Rule("json phase word", POD_JSON, r'"phase": "Running"', r'"phase": "Adrift"'),
    Rule("json not ready", POD_JSON, r'"ready": true', r'"ready": false'),
    Rule("json waiting", POD_JSON, r'"state": \{"running": \{[^}]*\}\}', r'"state": {"waiting": {"reason": "CreateContainerError"}}'),
    Rule(
        "json exit code", POD_JSON, r'"state": \{"running": \{[^}]*\}\}', r'"state": {"terminated": {"exitCode": 134, "reason": "Error"}}'
    ),
    Rule("json restarts", POD_JSON, r'"restartCount": 0', r'"restartCount": 96'),
    Rule("json condition", POD_JSON, r'("ContainersReady", "status": )"True"', r'\g<1>"False"'),
    Rule("json cut", POD_JSON + "|" + NODE_JSON, r'("conditions": \[)[\s\S]*\Z', r"\g<1>"),
    Rule("yaml phase", POD_YAML, r"^  phase: Running", r"  phase: Failed"),
    Rule("yaml waiting", POD_YAML, r"running:\n +startedAt: .*", r"waiting:\n        reason: ImagePullBackOff"),
    Rule("yaml not ready", POD_YAML, r"ready: true", r"ready: false"),
    Rule("node json pressure", NODE_JSON, r'("DiskPressure", "status": )"False"', r'\g<1>"True"'),
    Rule("node json not ready", NODE_JSON, r'("Ready", "status": )"True"', r'\g<1>"Unknown"'),
    Rule("node json fewer", NODE_JSON, r'("allocatable": .*"nvidia.com/gpu": )"8"', r'\g<1>"6"'),
    Rule(
        "node json condition",
        NODE_JSON,
        r'\{"type": "PIDPressure"',
        r'{"type": "KernelDeadlock", "status": "True", "reason": "DockerHung"},\n      {"type": "PIDPressure"',
    ),
    # metrics
    Rule("metric xid of a GPU", METRICS, r"^(DCGM_FI_DEV_XID_ERRORS\{.*\}) 0$", r"\g<1> 79"),
    Rule("metric remap failure", METRICS, r"^(DCGM_FI_DEV_ROW_REMAP_FAILURE\{.*\}) 0$", r"\g<1> 1"),
    Rule("metric double bit", METRICS, r"^(DCGM_FI_DEV_ECC_DBE_VOL_TOTAL\{.*\}) 0$", r"\g<1> 3"),
    Rule("metric cut", METRICS, r"^(DCGM_FI_DEV_GPU_TEMP\{gpu=\"1\"[^}]{20})[\s\S]*\Z", r"\g<1>"),
    Rule("up 0", UP, r'"1"\]', r'"0"]'),
    # collective tests and jobs
    Rule("nccl no rows", NCCL_TESTS, r"(^#  +\(B\).*\n)(?: +\d+ .*\n)+", r"\g<1>"),
    Rule("nccl cut in the rows", NCCL_TESTS, r"^( +\d+ +\d+ +float .*\n)[\s\S]*\Z", r"\g<1>"),
    Rule("ras errors", RAS, r"RUNNING +OK", r"RUNNING  TIMEOUT"),
    Rule("ras status", RAS, r"RUNNING( +)OK", r"ABORT  \g<1>OK"),
    Rule("ras word", RAS, r"RUNNING( +)OK", r"RUNNING\g<1>MISMATCH"),
    Rule("ras unknown word", RAS, r"RUNNING( +)OK", r"ADRIFT \g<1>OK"),
    Rule("df nearly full", DF, r"^(\S+ +\S+ +\S+ +)\S+( +)\d+%", r"\g<1>2.1G\g<2>99%"),
    Rule("df head alone", DF, r"^(Filesystem .*\n)[\s\S]*\Z", r"\g<1>"),
)

# Lines by which programs say that something is not well, at the end of whatever was printed.
LINES = {
    "java exception": 'Exception in thread "main" java.lang.IllegalStateException: the weir is gone',
    "go fatal": "fatal error: all goroutines are asleep - deadlock!",
    "rust panic": "thread 'main' panicked at src/weir.rs:41:9:",
    "node exception": "Uncaught TypeError: Cannot read properties of undefined (reading 'weir')",
    "bracket fatal": "2026-03-01 12:00:00,123 [FATAL] the flume is torn",
    "json level": '{"level":"error","ts":1772366400.1,"msg":"the flume is torn"}',
    "mpi signal": "[gpu-7:00812] *** Process received signal ***",
    "mpi abort": "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD",
    "glibc double free": "double free or corruption (out)",
    "assertion": "python3: fit.c:88: step: Assertion `n > 0' failed.",
    "slurmstepd": "slurmstepd: error: *** STEP 412.0 ON gpu-7 CANCELLED AT 2026-03-01T12:00:00 ***",
    "slurm oom": "slurmstepd: error: Detected 1 oom_kill event in StepId=412.0. Some of the step tasks have been OOM Killed.",
    "kernel oom": "[ 9031.120000] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=weir,task=python3,pid=4211,uid=0",
    "kernel err level": "kern  :err   : [ 9031.120000] weir 0000:41:00.0: flume 3 is torn",
    "kernel mlx5": "[ 9031.120000] mlx5_core 0000:5d:00.0: wait_func:1151:(pid 812): 2RST_QP(0x50a) timeout. Will cause a leak of a command resource",
    "kernel xid alone": "[ 9031.120000] NVRM: Xid (PCI:0000:65:00): 199, pid=1, a new error of this driver",
    "unit failed to start": "Mar 01 12:00:00 gpu-7 systemd[1]: Failed to start Weir of the flume.",
    "unit exited": "Mar 01 12:00:00 gpu-7 systemd[1]: weir.service: Main process exited, code=exited, status=1/FAILURE",
    "event in a table": "5m          Warning   FlumeTorn   pod/train-0   the flume of the sandbox is torn",
    "event again and again": "  Warning  Unhealthy  1m (x7 over 7m)  kubelet  Readiness probe failed: the weir is gone",
    "exit code 2": "job 412 finished: exit code 2",
    "terminated with exit code": "command terminated with exit code 137",
    "ucx error": "[1772366400.120000] [gpu-7:812  :0]        weir.c:88   UCX  ERROR the flume is torn",
    "libfabric warning": "libfabric:812:1772366400:efa:ep_ctrl:weir():88<warn> the flume is torn",
    "klog F": "F0301 12:00:00.123456   18732 flume.go:210] the flume is torn",
    "plugin warning": "W0301 12:00:00.123456   18732 flume.go:210] nvidia device plugin: the flume is torn",
    "fabric manager in a file": "[Mar 01 2026 12:00:00] [ERROR] [tid 812] the flume of a partition is torn",
    "docker": "docker: Error response from daemon: the flume is torn.",
    "make": "make: *** [Makefile:12: weir] Error 2",
}
RULES += tuple(Rule(f"line: {name}", LOG, r"\Z", f"\n{line}\n") for name, line in LINES.items())


def mutants(text: str, rules: tuple[Rule, ...] = RULES) -> Iterator[tuple[Rule, str]]:
    """Every mutant of a text: one value of it made bad, by each rule that fits."""
    for rule in rules:
        if re.search(rule.among, text, re.MULTILINE) and (found := re.search(rule.at, text, re.MULTILINE)):
            bad = text[: found.start()] + found.expand(rule.bad) + text[found.end() :]
            if bad != text:
                yield rule, bad
