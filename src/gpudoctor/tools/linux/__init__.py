"""What a machine says of itself: devices, modules, units, processes, file systems, networks, limits, environments, stacks."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "linux.lspci": Parser(("pci_devices",), "lspci:lspci"),
    "linux.modules": Parser(("kernel_modules",), "modules:modules"),  # /proc/modules
    "linux.units": Parser(("units",), "systemd_units:units"),  # systemctl show
    # env, /proc/PID/environ, scripts, manifests, nccl.conf
    "environment.settings": Parser(("settings",), "environment:settings"),
    "linux.net_dev": Parser(("interfaces",), "net_dev:interfaces"),  # /proc/net/dev
    "linux.cgroup": Parser(("process_pods",), "cgroup:cgroup"),  # /proc/PID/cgroup
    "linux.limits": Parser(("limits",), "limits:limits"),  # /proc/PID/limits, ulimit, df /dev/shm
    "network.reach": Parser(("reaches",), "reachability:tests"),  # who reaches whom, as people write it down
    "network.neighbours": Parser(("cables",), "reachability:neighbours"),  # lldpcli show neighbors
    "linux.ip_link": Parser(("interfaces",), "ip_link:link"),
    "linux.nets": Parser(("interfaces", "messages"), "network_manager:nets"),  # nmcli, /sys/class/net
    "linux.df": Parser(("file_systems",), "df:file_systems", failures=True),  # what hangs says something
    "linux.chrony": Parser(("clocks",), "chrony:chrony"),  # chronyc tracking
    "linux.ps": Parser(("processes",), "ps:processes"),  # those that sleep in the kernel, and those that have ended
    "linux.orphans": Parser(("orphans",), "orphans:orphans"),
    "linux.device_users": Parser(("gpu_processes",), "orphans:users"),  # fuser, lsof
    # free, top, vmstat, iostat, cgroups, strace, sensors, md5sum
    "linux.measures": Parser(("measures",), "measures:numbers"),
    "linux.quota": Parser(("file_systems",), "quotas:quotas"),
    "python.stacks": Parser(("stacks",), "py_spy:stacks"),  # py-spy dump
    "gdb.stacks": Parser(("stacks",), "gdb:stacks"),  # gdb, pstack
    "python.functions": Parser(("stacks",), "stack_summary:summary"),  # the innermost function of many processes
}
