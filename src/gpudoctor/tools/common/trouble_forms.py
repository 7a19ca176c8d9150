"""How programs say that something is not well: the forms of a line, each with one real line above it. Where a line stands, in a log or in
the answer of a tool, makes no difference.
"""
# ruff: noqa: E501  (lines as they are logged)

from __future__ import annotations

from typing import NamedTuple

from gpudoctor.patterns import regex

# What a question is about: driver, GPUs, collectives, monitoring, runtime, scheduler, fabric, shared storage. Their warnings count.
OURS = regex(
    r"(?i)nvidia|\bnvrm|\bnccl|\brccl|\bcuda|\bgpus?\b|dcgm|\bmlx[45]|infiniband|\brdma|\btorch|processgroup|device[- _]?plugin|kubelet"
    r"|containerd|\bcri-?o\b|slurm|\bmofed|fabric ?manager|nv-?switch|nvlink|libfabric|\bucx\b|lustre|beegfs|\bgpfs\b|weka"
)
BAD = r"(?i:error|err|fatal|crit|critical|panic|dpanic|emerg|emergency)"
WARNS = r"(?i:warn|warning)"
LEVEL = r"(?i:level|lvl|levelname|log\.level|loglevel|severity)"
BEFORE, BEHIND = r"(?:^|[\s\[(|<:;-])", r"(?:[\]):|>,;-]|\s)"  # a level as a word

# Drivers of networks and of file systems over them, as the kernel logs them.
DRIVERS = r"(?:\] |\bkernel: )(?:bnxt_en |ice \d|i40e |ixgbe |irdma |ionic |infiniband \S+: |libceph: |ceph: |NFS: |mmfs: |beegfs: |wekafs)"


class Form(NamedTuple):
    """One form: how bad it is and what such a line looks like. `hint` is what each of them has, and others may have too, where to search
    a whole text for the form itself would be slow. Where `ours`, it counts only from a component of `OURS`. `word`: a word is all that
    says so, and lines that `NONE` fits have it too.
    """

    level: str
    pattern: str
    hint: str = ""
    ours: bool = False
    word: bool = False


FORMS = (
    # --- a program is at its end -------------------------------------------------------------------------------------------------------
    # Traceback (most recent call last):  |  Fatal Python error: Segmentation fault
    Form("fatal", r"\bTraceback \(most recent call last\)|\bFatal Python error: "),
    # panic: runtime error: index out of range [3]  |  fatal error: all goroutines are asleep  |  thread 'main' panicked at src/main.rs:4
    Form("fatal", r"(?:^|[\s\]:])panic: |\bgoroutine \d+ \[running\]|\bthread '[^']*' (?:\(\d+\) )?panicked at |\bfatal error: [a-z]"),
    # Exception in thread "main" java.lang.IllegalStateException: …  |  Uncaught TypeError: …  |  Unhandled exception
    Form("fatal", r'\bException in thread "|\b(?:Uncaught|Unhandled) (?:[Ee]xception|[A-Z]\w*Error\b)'),
    # terminate called after throwing an instance of 'std::runtime_error'  |  free(): invalid pointer  |  *** stack smashing detected ***
    Form("fatal", r"\bterminate called (?:after|without|recursively)|\bdouble free or corruption|\b(?:free|malloc|realloc|munmap_chunk)\(\): |\bstack smashing detected|\bcorrupted (?:size vs|double-linked)"),
    # python: fit.c:88: step: Assertion `n > 0' failed.  |  fit.cu:41: block: [3,0,0] Assertion `i < n` failed
    Form("fatal", r"\bAssertion\b.* failed\b|\bassertion failed\b|\b[Aa]ssert(?:ion)? (?:failure|triggered)\b"),
    # Segmentation fault (core dumped)  |  Bus error  |  [gpu-3:812] *** Process received signal ***  |  Caught signal 11
    Form("fatal", r"\bSegmentation fault\b|\(core dumped\)|\bdumped core\b|\bBus error\b|\bIllegal instruction\b|\bFloating point exception\b|\bProcess received signal\b|\bCaught signal \d|\bSIG(?:SEGV|ABRT|BUS|ILL|FPE|KILL)\b"),
    # Killed  |  /var/spool/job412/slurm_script: line 8:  4211 Killed    python fit.py  |  Aborted
    Form("fatal", r"^(?:.{0,120}: line \d+: +\d+ )?(?:Killed|Aborted)(?: {2,}.*)?$", r"\b(?:Killed|Aborted)(?: {2}|$)"),
    # srun: error: gpu-7: task 12: Exited with exit code 1  |  failed (exitcode: -11) local_rank: 0  |  command terminated with exit code 137
    Form("error", r"\b(?:[Ee]xit(?:ed)?(?: with)?(?: non-?zero)?(?: exit)?[ _-]?(?:code|status)|status code)(?:[:=]| =)? ?[\"'(]?-?[1-9]|\bnon-?zero (?:exit )?(?:status|code)\b|\bexited (?:on|with|by) signal\b", word=True),
    # died with <Signals.SIGKILL: 9>  |  terminated by signal 9  |  oom-kill:constraint=CONSTRAINT_MEMCG,…  |  Detected 1 oom_kill event
    Form("error", r"\b(?:died|terminated|killed|ended|crashed) (?:by|with|from|on|due to) (?:signal|<Signals)\b|\bgot killed\b|\b(?:OOM|oom)[-_ ]?[Kk]ill"),
    # MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD  |  mpirun noticed that process rank 3 with PID …
    Form("fatal", r"\bMPI_A(?:BORT|bort)\b|\bmpi(?:run|exec) (?:detected|noticed|was unable|has exited)|\bPMIX ERROR\b|\bORTE_ERROR_LOG\b"),
    # --- a program's own level ---------------------------------------------------------------------------------------------------------
    # E0301 12:00:00.000000    1873 cpu_manager.go:210] …  |  [rank5]:[E906 15:16:02.0 ProcessGroupNCCL.cpp:1345] …
    Form("error", r"(?:^|[\[\]: ])[EF]\d{3,4} \d\d:\d\d:\d\d\.\d", word=True),
    Form("warning", r"(?:^|[\[\]: ])W\d{3,4} \d\d:\d\d:\d\d\.\d", ours=True, word=True),
    # 2026-03-01 09:12:20.774110: F tensorflow/core/common_runtime/gpu/gpu_event_mgr.cc:273] …
    Form("error", r"\d: [EF] [\w/.]{3,200}\.cc:\d+\] ", r"\d: [EF] \w", word=True),
    # time="…" level=error msg="…"  |  {"level":"error","ts":…}  |  {"severity": "ERROR", …}
    Form("error", rf'\b{LEVEL}="?{BAD}\b"?[ ,]|"{LEVEL}" ?: ?"{BAD}".*"(?:msg|message|event|error|ts|time)"|"(?:msg|message|ts|time|timestamp)".*"{LEVEL}" ?: ?"{BAD}"', rf'\b{LEVEL}"? ?[=:] ?"?{BAD}', word=True),
    Form("warning", rf'\b{LEVEL}="?{WARNS}\b"?[ ,]|"{LEVEL}" ?: ?"{WARNS}"', rf'\b{LEVEL}"? ?[=:] ?"?{WARNS}', ours=True, word=True),
    # 2026-03-01 12:00:00,123 ERROR trainer: …  |  [ERROR] …  |  [rank3]: CRITICAL …  |  (Worker pid=81) ERROR 03-01 12:00:10 [core.py:1] …
    Form("error", rf"^.{{0,100}}?{BEFORE}(?:ERROR|FATAL|CRITICAL|SEVERE){BEHIND}|\*ERROR\*", r"\b(?:ERROR|FATAL|CRITICAL|SEVERE)\b", word=True),
    Form("warning", rf"^.{{0,100}}?{BEFORE}(?:WARN|WARNING){BEHIND}", r"\bWARN(?:ING)?\b", ours=True, word=True),
    # slurmstepd: error: …  |  error: …  |  nvidia-container-cli: initialization error: …  |  make: *** [all] Error 2
    Form("error", r"(?:^|[\s:\]])(?:[Ee]rror|[Ff]atal)(?: ?\[[^\]]{0,40}\])?: [^\s\d]|^\S{1,40}: \*\*\* |\bError response from daemon", r"\b(?:[Ee]rror|[Ff]atal)(?: ?\[|: )|: \*\*\* |\bError response from daemon", word=True),
    # gpu-3:812:930 [0] transport/net.cc:88 NCCL WARN …
    Form("warning", r"\bNCCL WARN \S"),
    # [1700000000.1] [gpu-3:812:0]  ib_mlx5.c:88  UCX  ERROR …  |  libfabric:812:…:efa:ep_ctrl:efa_rdm_ep_open():88<warn> …
    Form("warning", r"\bUCX +(?:ERROR|WARN|FATAL)\b|\blibfabric:\d.*<(?:warn|error)>|\blibibverbs: (?:Warning|Error)"),
    # kern  :err   : [    1.203311] …  (dmesg -x)  |  <3>[    1.203311] …  (dmesg -r)  |  3,812,1203311,-;…  (/dev/kmsg)
    Form("error", r'^\w{2,8} *:(?:emerg|alert|crit|err) *: |^<[0-3]>\[|^[0-3],\d+,\d+,\S?;|"PRIORITY" ?: ?"[0-3]"', word=True),
    Form("warning", r'^\w{2,8} *:warn *: |^<4>\[|^4,\d+,\d+,\S?;|"PRIORITY" ?: ?"4"', ours=True, word=True),
    # --- the kernel --------------------------------------------------------------------------------------------------------------------
    # NVRM: GPU 0000:65:00.0: RmInitAdapter failed! (0x26:0x56:1482)  |  NVRM: API mismatch: …
    Form("error", r"\b(?:NVRM|nvidia-\w+): .*(?i:\bfail|\berror|\bcannot|\bcan't|\bunable|\btime[d ]{0,2}out|\blost\b|\bfallen|\bdisconnected\b|\bmismatch)", r"\b(?:NVRM: [^X]|nvidia-\w+: [^S])"),
    # mlx5_core 0000:5d:00.0: health_recover_work: 10: … syndrome 0x8  |  mlx5_core 0000:5d:00.0: wait_func: timeout
    Form("error", r"\bmlx[45]_(?:core|ib) .*(?i:\bfail|\berr(?:or)?\b|timed? ?out|syndrome|\bfatal|\bdead\b)", r"\bmlx[45]_(?:core|ib) "),
    # watchdog: BUG: soft lockup - CPU#12 stuck for 23s!  |  INFO: task python3:4411 blocked for more than 120 seconds.
    Form("error", r"\bBUG: |\bkernel BUG at |\bOops: |\b(?:soft lockup|hard (?:lockup|LOCKUP))\b|\bblocked for more than \d+ seconds|\brcu: .*(?:detected stalls|self-detected stall)|\bKernel panic\b|\bCall Trace:|\bWARNING: CPU: \d+ PID|\bgeneral protection fault\b|\bsegfault at |\btrap invalid opcode\b"),
    # nvme0n1: I/O error, 8 blocks at LBA 12345  |  nvme nvme0: controller is down; will reset: CSTS=0xffffffff
    Form("error", r"\bI/O error\b|\b(?:medium|target|parity|checksum) error, dev\b|\bcontroller is down\b|\bDevice not ready; aborting |\bI/O \d+ .*timeout, (?:aborting|reset)|\bDevice offlined\b|\brejecting I/O to\b"),
    # mce: [Hardware Error]: Machine check events logged  |  AER: Uncorrectable (Fatal) error message received from 0000:41:00.0
    Form("error", r"\[Hardware Error\]|\bMachine [Cc]heck (?:[Ee]xception|[Ee]vents logged)|\bAER: .*[Uu]ncorrect|\b[Uu]ncorrect(?:ed|able) \((?:Non-)?Fatal\)|\bEDAC .*\bUE\b"),
    # EXT4-fs error (device sda1): ext4_find_entry:1455: …  |  XFS (dm-0): Corruption detected  |  nfs: server 10.0.0.5 not responding
    Form("error", r"\b(?:EXT[234]-fs|BTRFS|F2FS-fs|FAT-fs|SQUASHFS) (?:error|critical)|\bXFS \(\S+\): .*(?:[Cc]orrupt|[Ee]rror|[Ss]hutting down|shutdown)|\b[Rr]emounting filesystem read-only|\bnfs: server \S+ not responding|\bLustreError: "),
    # CPU3: Core temperature above threshold, cpu clock throttled  |  Out of memory: Killed process 4211 (python3)  |  NETDEV WATCHDOG: …
    Form("error", r"\btemperature above threshold|\bclock throttled\b|\b[Oo]ut of memory: |\bNETDEV WATCHDOG\b"),
    # DMAR: [DMA Write NO_PASID] Request device [3b:00.0] fault addr 0x1000  |  AMD-Vi: Event logged [IO_PAGE_FAULT device=3b:00.0 …]
    Form("error", r"\bDMAR: \[(?:DMA|INTR-REMAP)\b|\bAMD-Vi: Event logged \["),
    # python3: page allocation failure: order:4, mode:0x40cc0  |  pciehp: Slot(12): Card not present  |  critical temperature reached (105 C)
    Form("error", r"\bpage allocation failure: order|\bpciehp: Slot\(\S{1,20}\): (?:Link Down|Card not present)|\bcritical temperature reached\b"),
    # ata1.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x6 frozen  |  md/raid1:md0: Disk failure on nvme1n1p2, disabling device.
    Form("error", r"\bata\d+(?:\.\d\d)?: (?:exception Emask|failed command|COMRESET failed)|\bmd/raid\w*:\w+: Disk failure on\b"),
    # pcieport 0000:3a:00.0: DPC: containment event, status:0x1f01 source:0x0000  |  irq 16: nobody cared (try booting with "irqpoll")
    # vfio-pci 0000:3b:00.0: not ready 65535ms after FLR; giving up
    Form("error", r"\bDPC: containment event|\birq \d+: nobody cared|\bnot ready \d+ms after [\w ]{2,20}; giving up"),
    # bnxt_en 0000:5e:00.0 ens1f0: TX timeout detected, starting reset task!  |  infiniband efa_0: Failed to process command CREATE_QP …
    # libceph: mon0 (1)10.0.0.1:6789 session lost, hunting for new mon
    Form("error", rf"{DRIVERS}.*(?i:\bfail|\btime[d ]{{0,2}}out|\blost\b|\berror\b)", DRIVERS, word=True),
    # nf_conntrack: table full, dropping packet  |  neighbour: arp_cache: neighbor table overflow!  |  bond0: … link status definitely down, …
    Form("error", r"conntrack: table full\b|\bneighbou?r table overflow\b|\blink status definitely down\b"),
    # audit: type=1400 audit(1.0:1): apparmor="DENIED" operation="open" … name="/dev/nvidia0"  |  avc:  denied  { open } … comm="nvidia-smi"
    Form("warning", r'\bapparmor="DENIED"|\bavc: +denied\b', ours=True),
    # --- services and the cluster ------------------------------------------------------------------------------------------------------
    # systemd[1]: Failed to start nvidia-fabricmanager.service  |  x.service: Main process exited, code=exited, status=1/FAILURE
    Form("error", r"\bsystemd\[\d+\]: Failed to |\bFailed to start \S|\b(?:Main|Control) process exited, code=(?:exited, status=[1-9]|killed|dumped)|\bFailed with result '|\bStart request repeated too quickly|\bentered failed state"),
    #   Warning  FailedMount  5m (x7 over 9m)  kubelet  …  |  4m   Warning   BackOff   pod/train-0   …
    Form("warning", r"^(?: {2,}|\S+ +(?:\S+ +(?:over \S+ +)?)?)Warning +[A-Z][A-Za-z]+ +\S"),
)  # fmt: skip
# ValueError: shard 3 has no rows  |  [rank3]: torch.distributed.DistBackendError: …: what a traceback ends with
RAISED = r"(?:^|[\s\]:])(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception|Interrupt)(?:: .|$)"
HINT = "|".join(dict.fromkeys([*(form.hint or form.pattern for form in FORMS), RAISED]))
# [ 9031.1] NVRM: Xid (PCI:0000:65:00): 79, pid='<unknown>', …  |  nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, …
NUMBERED = Form("error", r"\bS?Xid \(PCI:")  # facts of their own, where a log is read as one
TRACE = "Traceback (most recent call last)"

# Warnings of Kubernetes itself that come and go in a cluster that is well: what is tried again, and a probe's single miss.
PASSING = regex(
    r"(?:BackOff|CIDRNotAvailable|CheckLimitsForResolvConf|ClaimMisbound|ContainerGCFailed|DNSConfigForming|Evicted|ExceededGracePeriod"
    r"|Failed(?:AttachVolume|Create|CreatePodSandBox|KillPod|Mount|PreStopHook|Scheduling|Sync|ToCreateEndpoint|ToUpdateEndpoint(?:Slices)?)?"
    r"|ImageGCFailed|InvalidDiskCapacity|MissingClusterDNS|NetworkNotReady|NodeNotReady|NodeSysctlChange|PolicyViolation|ProbeWarning"
    r"|ProvisioningFailed|Rebooted|UnexpectedJob|Unhealthy)$"
)
AGAIN = 3  # times that such a warning may come; a probe that fails is tried three times before Kubernetes acts (failureThreshold)
#   Warning  Unhealthy  5m (x7 over 9m)  kubelet  …
EVENT = regex(r"^(?: {2,}|\S+ +(?:\S+ +(?:over \S+ +)?)?)Warning +([A-Z][A-Za-z]+) +\S")
TIMES = regex(r"\(x(\d{1,9}) over ")

# What looks like one and is none.
NONE = (
    # ERROR 0  |  errors: 0  |  CRITICAL=0  |  Last Error: None
    regex(r"\b(?:ERRORS?|FATAL|CRITICAL|[Ee]rrors?|[Ff]atal)\b[\]):|]{0,2}\s*[=:]?\s*(?:0+\b|\"?(?i:none|n/?a|no|null|nil|ok|success|false)\b\"?[.,;]?(?:\s|$))"),
    # no errors  |  0 fatal errors
    regex(r"(?i)\b(?:no|0|zero|without) (?:\w{1,20} ){0,2}(?:errors?|failures?|fatal)\b"),
    # a sample of Prometheus, and what is said of its metric
    regex(r"^\s*(?:# (?:HELP|TYPE) \w|[a-zA-Z_:][\w:]*\{.*\} [-+\d.]|[a-zA-Z_:][\w:]* [-+]?\d[\d.e+-]*$)"),
    # log_level: ERROR  |  LOG_LEVEL=ERROR  |  NCCL_DEBUG=WARN  |  "loglevel": "error",
    regex(r"(?i)\w*(?:log|verbos|debug|level|severity)\w*[\"']?\s*[=: ]\s*[\"']?\[?(?:error|fatal|critical|panic|err|crit|warn|warning)[\"'\]]*[,;]?\s*\}?\s*(?:\||$)"),
    # logger.error("…")  |  raise RuntimeError("…")  |  echo "ERROR: …"  |  # ERROR: …  |  + exit 1
    regex(r"^\s*(?:\d{1,5}[:-]\s*)?(?:(?:raise|print|printf|echo|assert|def|if|elif|except|return|case|grep|egrep|awk|sed|throw|trap)\b[ (\"']|.{0,40}\b(?:log|logger|logging|klog|console|fmt)\.\w+\(|#|//|--|\$ )"),
    # --max-errors 5  |  -e ERROR
    regex(r"^\s*-{1,2}[a-zA-Z]"),
    # NAME   ERROR   COUNT
    regex(r"^[A-Z0-9_ \t|/()%#:-]*$"),
)  # fmt: skip
