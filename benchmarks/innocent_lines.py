"""Lines that mean nothing to us, some forty kinds of them, each a log of its own: how much longer they take than grep.

grep counts the lines that hold one of the literals that the parser triggers on, generated from its patterns. A log has lines of one kind
alone, so that what is cheap hides nothing. Compared is the processor time that the lines take: the start of either program, which is what a
log of one page takes, is taken off, and of several runs the quickest counts.
"""
# ruff: noqa: E501  (lines as they are logged)

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path

from benchmarks import literals
from benchmarks.measure import GPUDOCTOR, Run, compare, in_turn, run

MIB = int(os.environ.get("BENCH_MIB", "32"))  # of each kind
TIMES = 3
MOST = 10.0  # times what grep takes
PAGE = 4000  # different lines of a kind
END = "[99999999.000000] random: crng init done\n"  # so that each is a kernel log, whatever a kind looks like
DROPPED = ("ufw", "iptables")  # kinds that are read all the same: a filter that drops a job's packets says so in such lines

# {n} and {m}: numbers, {h}: 8 digits in hex, {long}: 64 of them, {ip} and {to}: addresses, {mac}, {name}: of a pod, {mib}: kilobytes
KERNEL, SYSLOG, KLOG, JSON = "[{up:12.6f}] ", "Mar  1 {at} gpu-07 ", "I0301 {at}.{us:06d}    1873 ", "2026-03-01T{at}.{us:06d}Z "
KINDS: dict[str, tuple[str, ...]] = {
    "ufw": (
        KERNEL
        + "[UFW BLOCK] IN=ens1f0 OUT= MAC={mac}:{mac}:08:00 SRC={ip} DST={to} LEN=40 TOS=0x00 PREC=0x00 TTL=244 ID={n} PROTO=TCP SPT={m} DPT=445 WINDOW=1024 RES=0x00 SYN URGP=0 ",
        SYSLOG
        + "kernel: [{up:12.6f}] [UFW AUDIT] IN=ens1f0 OUT=docker0 MAC={mac}:{mac}:08:00 SRC={ip} DST={to} LEN=1500 TOS=0x00 PREC=0x00 TTL=63 ID={n} DF PROTO=UDP SPT={m} DPT=4789 LEN=1480 ",
    ),
    "iptables": (
        KERNEL
        + "IPTables-Dropped: IN=eth0 OUT= MAC={mac}:{mac}:08:00 SRC={ip} DST={to} LEN=60 TOS=0x00 PREC=0x00 TTL=51 ID={n} DF PROTO=TCP SPT={m} DPT=22 WINDOW=64240 RES=0x00 SYN URGP=0 MARK=0x{h} ",
    ),
    "nftables": (
        KERNEL
        + "nft-drop-input IN=bond0.{small} OUT= MAC={mac}:{mac}:86:dd SRC=fe80:0000:0000:0000:{h4}:{h4}:{h4}:{h4} DST=ff02:0000:0000:0000:0000:0000:0000:0001 LEN=72 TC=0 HOPLIMIT=1 FLOWLBL={n} PROTO=ICMPv6 TYPE=134 CODE=0 ",
    ),
    "audit": (
        KERNEL
        + 'audit: type=1400 audit(1772366400.{us:06d}:{n}): apparmor="STATUS" operation="profile_replace" info="same as current profile, skipping" profile="unconfined" name="cri-containerd.apparmor.d" pid={m} comm="apparmor_parser"',
        'type=SYSCALL msg=audit(1772366400.{us:03d}:{n}): arch=c000003e syscall=257 success=yes exit=3 a0=ffffff9c a1={long:.12s} a2=90800 a3=0 items=1 ppid={m} pid={n} auid=4294967295 uid=0 gid=0 euid=0 tty=(none) ses=4294967295 comm="runc" exe="/usr/bin/runc" key="exec"',
        KERNEL
        + 'audit: type=1325 audit(1772366400.{us:06d}:{n}): table=nat:{m} family=2 entries={small} op=nft_register_chain pid={m} subj=unconfined comm="iptables-nft-re"',
    ),
    "apparmor": (
        KERNEL
        + 'audit: type=1400 audit(1772366400.{us:06d}:{n}): apparmor="ALLOWED" operation="open" class="file" profile="/usr/sbin/sssd" name="/proc/{m}/cmdline" pid={n} comm="sssd_nss" requested_mask="r" denied_mask="r" fsuid=0 ouid={m}',
    ),
    "systemd": (
        SYSLOG + "systemd[1]: Started Session {n} of User root.",
        SYSLOG + "systemd[1]: run-containerd-runc-k8s.io-{long}-runc.{h}.mount: Deactivated successfully.",
        SYSLOG + "systemd[1]: cri-containerd-{long}.scope: Consumed {m}ms CPU time.",
        SYSLOG + "systemd-logind[1201]: New session {n} of user ops.",
    ),
    "containerd": (
        SYSLOG
        + 'containerd[1520]: time="2026-03-01T{at}.{us:06d}123Z" level=info msg="CreateContainer within sandbox \\"{long}\\" for container &ContainerMetadata{{Name:main,Attempt:{small},}}"',
        SYSLOG + 'containerd[1520]: time="2026-03-01T{at}.{us:06d}123Z" level=info msg="StopPodSandbox for \\"{long}\\""',
        SYSLOG
        + 'containerd[1520]: time="2026-03-01T{at}.{us:06d}123Z" level=info msg="ImageUpdate event name:\\"registry.example/ml/trainer@sha256:{long}\\" labels:{{key:\\"io.cri-containerd.image\\" value:\\"managed\\"}}"',
        SYSLOG
        + 'containerd[1520]: time="2026-03-01T{at}.{us:06d}123Z" level=info msg="received exit event container_id:\\"{long}\\" id:\\"{long}\\" pid:{n} exited_at:{{seconds:{m} nanos:{n}}}"',
    ),
    "cri-o": (
        SYSLOG
        + 'crio[1873]: time="2026-03-01 {at}.{us:06d}123Z" level=info msg="Checking image status: registry.example/ml/pause:3.9" id={long:.8s}-{h4}-{h4}-{h4}-{long:.12s} name=/runtime.v1.ImageService/ImageStatus',
        SYSLOG
        + 'crio[1873]: time="2026-03-01 {at}.{us:06d}123Z" level=info msg="Removed container {long}: ml/{name}/main" id={long:.8s}-{h4}-{h4}-{h4}-{long:.12s} name=/runtime.v1.RuntimeService/RemoveContainer',
    ),
    "kubelet": (
        SYSLOG
        + "kubelet[1873]: "
        + KLOG
        + 'kubelet.go:2453] "SyncLoop (PLEG): event for pod" pod="ml/{name}" event={{"ID":"{h}-{h4}-{h4}-{h4}-{long:.12s}","Type":"ContainerStarted","Data":"{long}"}}',
        SYSLOG
        + "kubelet[1873]: "
        + KLOG
        + 'reconciler_common.go:218] "operationExecutor.MountVolume started for volume \\"kube-api-access-{h:.5s}\\" (UniqueName: \\"kubernetes.io/projected/{h}-{h4}-{h4}-{h4}-{long:.12s}-kube-api-access-{h:.5s}\\") pod \\"{name}\\"" pod="ml/{name}"',
        SYSLOG
        + "kubelet[1873]: "
        + KLOG
        + 'pod_startup_latency_tracker.go:104] "Observed pod startup duration" pod="ml/{name}" podStartSLOduration={small}.{us} podStartE2EDuration="{small}.{us}s" observedRunningTime="2026-03-01 {at}.{us:06d} +0000 UTC m=+{m}.{us}"',
    ),
    "calico": (
        '2026-03-01 {at}.{us:03d} [INFO][{m}] felix/int_dataplane.go 1836: Received *proto.WorkloadEndpointUpdate update from calculation graph msg=id:<orchestrator_id:"k8s" workload_id:"ml/{name}" endpoint_id:"eth0" > endpoint:<state:"active" name:"cali{long:.11s}" ipv4_nets:"{ip}/32" > ',
        '2026-03-01 {at}.{us:03d} [INFO][{m}] cni-plugin/ipam_plugin.go 284: Calico CNI IPAM assigned addresses IPv4=[{ip}/26] IPv6=[] ContainerID="{long}" HandleID="k8s-pod-network.{long}" Workload="gpu--07-k8s-{name}-eth0"',
    ),
    "cilium": (
        'time="2026-03-01T{at}Z" level=info msg="Rewrote endpoint BPF program" containerID={long:.10s} datapathPolicyRevision={small} desiredPolicyRevision={small} endpointID={m} identity={n} ipv4={ip} ipv6= k8sPodName=ml/{name} subsys=endpoint',
        'time=2026-03-01T{at}Z level=info msg="Create endpoint request" module=agent.controlplane.endpoint-api addressing="&{{{ip} {h}-{h4} default  }}" containerID={long} datapathConfiguration="<nil>" interface=lxc{long:.12s} k8sPodName=ml/{name} labels="[]" sync-build=true',
    ),
    "flannel": (
        KLOG + "iptables.go:125] Iteration {n}: Adding iptables rule: -s {ip}/16 -d {to}/16 -j RETURN -m comment --comment flanneld masq",
        KLOG
        + 'vxlan_network.go:100] Received Subnet Event with VxLan: BackendType: vxlan, PublicIP: {ip}, PublicIPv6: (nil), BackendData: {{"VNI":1,"VtepMAC":"{mac}"}}, BackendV6Data: (nil)',
    ),
    "sshd": (
        SYSLOG + "sshd[{n}]: Accepted publickey for ops from {ip} port {m} ssh2: ED25519 SHA256:{long:.43s}",
        SYSLOG + "sshd[{n}]: Invalid user oracle from {ip} port {m}",
        SYSLOG + "sshd[{n}]: Disconnected from invalid user admin {ip} port {m} [preauth]",
        SYSLOG + "sshd[{n}]: pam_unix(sshd:session): session opened for user ops(uid=1000) by (uid=0)",
    ),
    "cron": (
        SYSLOG + "CRON[{n}]: (root) CMD (   cd / && run-parts --report /etc/cron.hourly)",
        SYSLOG + "CRON[{n}]: pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)",
    ),
    "networkmanager": (
        SYSLOG + "NetworkManager[1120]: <info>  [1772366400.{us:04d}] device (veth{h}): carrier: link connected",
        SYSLOG
        + "NetworkManager[1120]: <info>  [1772366400.{us:04d}] manager: (cali{long:.11s}): new Veth device (/org/freedesktop/NetworkManager/Devices/{n})",
        SYSLOG + "NetworkManager[1120]: <info>  [1772366400.{us:04d}] dhcp4 (eno1): state changed new lease, address={ip}",
    ),
    "dhclient": (
        SYSLOG + "dhclient[{m}]: DHCPREQUEST for {ip} on eno1 to {to} port 67",
        SYSLOG + "dhclient[{m}]: DHCPACK of {ip} from {to} (xid=0x{h})",
        SYSLOG + "dhclient[{m}]: bound to {ip} -- renewal in {n} seconds.",
    ),
    "chrony": (
        SYSLOG + "chronyd[988]: Frequency 12.{us} +/- 0.0{small} ppm read from /var/lib/chrony/drift",
        SYSLOG + "chronyd[988]: Selected source {ip} (ntp{small}.example)",
        SYSLOG + "chronyd[988]: Source {ip} replaced with {to} (2.pool.ntp.org)",
    ),
    "rsyslog": (
        SYSLOG + "rsyslogd: imjournal: {n} messages lost due to rate-limiting (20000 allowed within 600 seconds)",
        SYSLOG
        + 'rsyslogd: [origin software="rsyslogd" swVersion="8.2112.0" x-pid="{m}" x-info="https://www.rsyslog.com"] rsyslogd was HUPed',
        SYSLOG
        + "systemd-journald[612]: Data hash table of /var/log/journal/{long:.32s}/system.journal has a fill level at 75.0 ({n} of {m} items, {n} file size, {small} bytes per hash table item), suggesting rotation.",
    ),
    "bridge": (
        KERNEL + "docker0: port {n}(veth{h:.7s}) entered blocking state",
        KERNEL + "docker0: port {n}(veth{h:.7s}) entered forwarding state",
        KERNEL + "device veth{h:.7s} entered promiscuous mode",
        KERNEL + "eth0: renamed from veth{h:.7s}",
        KERNEL + "IPv6: ADDRCONF(NETDEV_CHANGE): veth{h:.7s}: link becomes ready",
        KERNEL + "veth{h:.7s}: renamed from eth0",
    ),
    "conntrack": (
        KERNEL
        + "nf_conntrack: default automatic helper assignment has been turned off for security reasons and CT-based firewall rule not found. Use the iptables CT target to attach helpers instead. {n}",
        KERNEL + "nf_conntrack version 0.5.0 ({n} buckets, {m} max)",
        "    [NEW] tcp      6 120 SYN_SENT src={ip} dst={to} sport={m} dport=443 [UNREPLIED] src={to} dst={ip} sport=443 dport={m}",
    ),
    "nfs": (
        KERNEL + "FS-Cache: Netfs 'nfs' registered for caching {n}",
        KERNEL + "NFSD: starting {n}-second grace period (net {h})",
        KERNEL + "RPC: Registered tcp NFSv4.1 backchannel transport module {n}.",
    ),
    "lustre": (
        KERNEL + "Lustre: scratch-MDT{h4}: Will be in recovery for at least {small}:00, or until {n} clients reconnect",
        KERNEL + "Lustre: {m}:0:(client.c:2289:ptlrpc_expire_one_request()) Skipped {n} previous similar messages",
        KERNEL + "Lustre: scratch-OST{h4}: Recovery over after {small}:{small:02d}, of {n} clients {n} recovered and 0 were evicted.",
        KERNEL + "LNet: Added LNI {ip}@o2ib [8/{n}/0/180]",
    ),
    "nvme": (
        KERNEL + "nvme nvme{small}: {n}/0/0 default/read/poll queues",
        KERNEL + "nvme nvme{small}: pci function 0000:{h:.2s}:00.0",
        KERNEL + "nvme{small}n1: p1 p2 p3 {n}",
        KERNEL + "nvme nvme{small}: Shutdown timeout set to {n} seconds",
    ),
    "scsi": (
        KERNEL + "scsi {n}:0:{small}:0: Direct-Access     DELL     PERC H755 Front  5.16 PQ: 0 ANSI: 5",
        KERNEL + "sd {n}:0:{small}:0: [sda] {m} 512-byte logical blocks: (960 GB/894 GiB)",
        KERNEL + "sd {n}:0:{small}:0: [sda] Write cache: enabled, read cache: enabled, doesn't support DPO or FUA",
        KERNEL + "ata{small}: SATA link down (SStatus 0 SControl {n})",
    ),
    "acpi": (
        KERNEL + "ACPI: PCI Interrupt Link [LNK{h:.1s}] (IRQs 3 4 5 6 7 10 11 12 14 *{n})",
        KERNEL + "ACPI: SSDT 0x{long:.16s} {h} (v02 INTEL  CpuSsdt  00003000 INTL {h})",
        KERNEL + "BIOS-e820: [mem 0x{long:.16s}-0x{long:.16s}] usable",
        KERNEL + "pci 0000:{h:.2s}:00.{small}: [8086:{h4}] type 00 class 0x{h:.6s}",
        KERNEL + "pci 0000:{h:.2s}:00.{small}: reg 0x10: [mem 0x{long:.16s}-0x{long:.16s} 64bit pref]",
        KERNEL + "pci_bus 0000:{h:.2s}: resource {small} [mem 0x{h}-0x{h} window]",
    ),
    "usb": (
        KERNEL + "usb {small}-1.{small}: new high-speed USB device number {n} using xhci_hcd",
        KERNEL + "usb {small}-1.{small}: New USB device found, idVendor={h4}, idProduct={h4}, bcdDevice= 1.00",
        KERNEL + "usb {small}-1.{small}: SerialNumber: {long:.12s}",
        KERNEL
        + "hid-generic 0003:{h4}:{h4}.{h4}: input,hidraw{small}: USB HID v1.10 Keyboard [American Megatrends Inc. Virtual Keyboard and Mouse] on usb-0000:00:14.0-{n}/input0",
    ),
    "thunderbolt": (
        KERNEL + "thunderbolt 0000:{h:.2s}:00.0: total paths: {n}",
        KERNEL + "thunderbolt {small}-1: new device found, vendor=0x{h:.3s} device=0x{h4}",
        KERNEL + "thunderbolt 0-{n}: Dell Inc. WD19TB Thunderbolt Dock",
    ),
    "file systems": (
        KERNEL + "EXT4-fs (dm-{n}): mounted filesystem {h}-{h4}-{h4}-{h4}-{long:.12s} r/w with ordered data mode. Quota mode: none.",
        KERNEL + "XFS (nvme{small}n1p1): Mounting V5 Filesystem {h}-{h4}-{h4}-{h4}-{long:.12s}",
        KERNEL + "XFS (nvme{small}n1p1): Ending clean mount {n}",
        KERNEL + "EXT4-fs (sda{n}): re-mounted. Opts: errors=remount-ro. Quota mode: none.",
    ),
    "memory statistics": (
        KERNEL + "Mem-Info:",
        KERNEL + "active_anon:{n} inactive_anon:{m} isolated_anon:0\\x0a active_file:{n} inactive_file:{m} isolated_file:0",
        KERNEL
        + "Node {small} DMA32 free:{kb}kB boost:0kB min:{kb}kB low:{kb}kB high:{kb}kB reserved_highatomic:0KB active_anon:{kb}kB inactive_anon:{kb}kB active_file:{kb}kB inactive_file:{kb}kB unevictable:0kB writepending:0kB present:{kb}kB managed:{kb}kB mlocked:0kB bounce:0kB free_pcp:0kB local_pcp:0kB free_cma:0kB",
        KERNEL
        + "Node {small} Normal: {n}*4kB (UME) {m}*8kB (UME) {n}*16kB (UME) {m}*32kB (UME) {n}*64kB (UM) {m}*128kB (UME) 0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB = {kb}kB",
        KERNEL + "Node {small} hugepages_total={n} hugepages_free={m} hugepages_surp=0 hugepages_size=1048576kB",
        KERNEL + "[{n:7d}]     0 {n:7d}    {m:5d}     {n:3d}    {kb}        0             0 systemd-udevd",
        KERNEL + "lowmem_reserve[]: 0 {n} {m} {m} {m}",
    ),
    "syn flooding": (
        KERNEL + "TCP: request_sock_TCP: Possible SYN flooding on port {m}. Sending cookies.  Check SNMP counters.",
        KERNEL + "TCP: out of memory -- consider tuning tcp_mem {n}",
        KERNEL + "IPv4: martian source {ip} from {to}, on dev eth0",
        KERNEL + "ll header: 00000000: ff ff ff ff ff ff {h:.2s} {h4:.2s} {h:.2s} {h4:.2s} 08 06",
    ),
    "perf": (
        KERNEL + "perf: interrupt took too long ({n} > {m}), lowering kernel.perf_event_max_sample_rate to {n}",
        KERNEL + "hrtimer: interrupt took {n} ns",
        KERNEL + "clocksource: timekeeping watchdog on CPU{small}: hpet wd-wd read-back delay of {n}ns",
    ),
    "cgroup": (
        KERNEL
        + "cgroup: fork rejected by pids controller in /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{h}_{h4}_{h4}_{h4}_{long:.12s}.slice/cri-containerd-{long}.scope",
        KERNEL + 'cgroup: cgroup2: unknown option "nsdelegate{n}"',
        KERNEL
        + "docker (/kubepods/burstable/pod{h}-{h4}-{h4}-{h4}-{long:.12s}/{long}) memory+swap: usage {kb}kB, limit 9007199254740988kB",
    ),
    "i915 and mei": (
        KERNEL + "i915 0000:00:02.0: [drm] GuC firmware i915/tgl_guc_70.bin version 70.{small}.{n}",
        KERNEL + "mei_me 0000:00:16.0: enabling device ({h4} -> {h4})",
        KERNEL + "mei_hdcp {h}-{h4}-{h4}-{h4}-{long:.12s}: bound 0000:00:02.0 (ops i915_hdcp_component_ops [i915])",
        KERNEL + "[drm] Initialized ast 0.1.0 20120228 for 0000:{h:.2s}:00.0 on minor {small}",
    ),
    "ipmi": (
        KERNEL + "ipmi_si IPI0001:00: IPMI message handler: Found new BMC (man_id: 0x{h:.6s}, prod_id: 0x{h4}, dev_id: 0x20)",
        SYSLOG + "ipmievd: Temperature sensor Inlet Temp {small} C {n}",
        KERNEL + "ipmi_si: Adding default-specified kcs state machine, io 0x{h4}, slave {n}",
    ),
    "machine checks": (
        KERNEL + "mce: CPU{n} supports {small} MCE banks",
        KERNEL + "mce: CMCI storm subsided: switching to interrupt mode {n}",
        KERNEL
        + "EDAC MC{small}: Giving out device to module i10nm_edac controller Intel_10nm Socket#{small} IMC#{small}: DEV 0000:{h:.2s}:0c.0 (INTERRUPT)",
        KERNEL + "x86/split lock detection: #AC: qemu-kvm/{n} took a split_lock trap at address: 0x{long:.12s}",
    ),
    "tracing": (
        "          python3-{n:<7d} [{small:03d}] d..2. {m}.{us:06d}: sched_switch: prev_comm=python3 prev_pid={n} prev_prio=120 prev_state=S ==> next_comm=swapper/{small} next_pid=0 next_prio=120",
        "     kworker/{small}:1-{n:<7d} [{small:03d}] ..... {m}.{us:06d}: workqueue_execute_start: work struct {long:.16s}: function vmstat_update",
    ),
    "NCCL": (
        "gpu-{small:02d}:{n}:{m} [{small}] NCCL INFO Channel {small:02d}/0 : {n}[{small}] -> {m}[{small}] [send] via NET/IB/{small}/GDRDMA",
        "gpu-{small:02d}:{n}:{m} [{small}] NCCL INFO Channel {small:02d}/0 : {n}[{small}] -> {m}[{small}] via P2P/CUMEM",
        "gpu-{small:02d}:{n}:{m} [{small}] NCCL INFO Trees [{small}] {n}/-1/-1->{m}->-1 [1] {n}/-1/-1->{m}->-1",
    ),
    "training steps": (
        "2026-03-01 {at},{us:03d} INFO trainer: step {n} loss 2.{us} lr 3.0e-04 grad_norm 0.{us} tokens/s {m}",
        " iteration {n}/ 500000 | consumed samples: {m} | elapsed time per iteration (ms): {n}.{small} | learning rate: 1.{us}E-04 | global batch size: 1024 | lm loss: 2.{us}E+00 | loss scale: 1.0 | grad norm: 0.{us} | number of skipped iterations:   0 | number of nan iterations:   0 |",
    ),
    "progress bars": ("Epoch {small}: {small}%|███████▏  | {n}/{m} [12:{small:02d}<07:11,  3.{us}it/s, loss=2.{us}]",),
    "JSON": (
        '{{"level":"info","ts":"2026-03-01T{at}.{us:06d}Z","logger":"controllers.Pod","msg":"Reconciling","namespace":"ml","name":"{name}","reconcileID":"{h}-{h4}-{h4}-{h4}-{long:.12s}"}}',
    ),
    "HTTP": (
        '{ip} - - [01/Mar/2026:{at} +0000] "GET /api/v1/namespaces/ml/pods/{name}?timeout=10s HTTP/1.1" 200 {n} "-" "Go-http-client/2.0" {small}.{us:03d} {long:.32s}',
    ),
}


def lines_of(kind: str) -> list[str]:
    """Different lines of one kind, in turn."""
    chance = random.Random(kind)
    made = KINDS[kind]
    return [made[number % len(made)].format(**filled(chance, number)) for number in range(PAGE)]


def filled(chance: random.Random, number: int) -> dict[str, object]:
    """The names of one line."""

    def digits(count: int) -> str:
        return f"{chance.getrandbits(4 * count):0{count}x}"

    def address() -> str:
        return ".".join(str(chance.randrange(1, 255)) for _ in range(4))

    return {
        "at": f"{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}",
        "up": 1000 + number * 7.001,
        "us": chance.randrange(1_000_000),
        "n": chance.randrange(100_000),
        "m": chance.randrange(1024, 65_536),
        "small": chance.randrange(16),
        "kb": chance.randrange(10_000_000),
        "h": digits(8),
        "h4": digits(4),
        "long": digits(64),
        "ip": address(),
        "to": address(),
        "mac": ":".join(digits(2) for _ in range(6)),
        "name": f"trainer-{chance.randrange(96)}-{digits(5)}",
    }


def write(path: Path, kind: str, size: int) -> None:
    """A log of so many bytes of one kind, one page of it at least."""
    page = "".join(f"{line}\n" for line in lines_of(kind))
    with path.open("w", encoding="utf-8") as log:
        log.writelines([page] * max(1, size // len(page)))
        log.write(END)


def quickest(long: list[Run], short: list[Run]) -> float:
    """The seconds of processor time that the lines took."""
    return min(one.processor for one in long) - min(one.processor for one in short)


def measure() -> None:
    """Print the ratio for each kind."""
    from gpudoctor.tools.common.messages import entries
    from gpudoctor.tools.kernel.log import MARKS

    found = literals.of(pattern for _, pattern in [*entries(), *MARKS])
    print(f"{MIB} MiB of innocent lines / grep -cE of {len(found)} literals, without the start of either", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        listed = literals.written(found, Path(folder))
        path, page = Path(folder, "kernel.log"), Path(folder, "page.log")
        for kind in KINDS:
            write(path, kind, MIB << 20)
            write(page, kind, 0)
            sides = [
                side
                for log in (path, page)
                for side in (
                    lambda log=log: run([GPUDOCTOR, "xid", str(log)], says="\n"),
                    lambda log=log: run(["sh", "-c", 'grep -cE -f "$1" "$2"; true', "sh", listed, str(log)], says="\n"),  # 1: none of them
                )
            ]
            ours, grep, our_start, its_start = in_turn(TIMES, *sides)
            compare(f"  {kind}", quickest(ours, our_start), quickest(grep, its_start), MOST)
