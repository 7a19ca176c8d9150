"""Files, archives, pipes and folders that hang, never end, grow without end or can't be read: each is named, and the rest still counts."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults import bombs
from tests.faults.case import Fault, Place, Said, tried

XID = "[   12.300000] NVRM: Xid (PCI:0000:1b:00): 79, pid=4711, name=python3, GPU has fallen off the bus.\n"
FOUND = "gpu-fallen-off-bus"
TIMES = (("analyze", "0"), ("analyze", "nan"), ("nccl", "-1"), ("xid", "1e9"))
DEVICES = ("/dev/zero", "/dev/random", "/dev/full", "/dev/kmsg")
UP = "the time of the whole analysis was used up (--timeout)"
PARTLY, UNREAD = f"not read to its end: {UP}", f"not read: {UP}"
NO_FILE = "not a file (a device, a socket or a pipe)"
BOMB = "shares its bytes with other members, as only a bomb does: not read"
BESIDE = {"dmesg.txt": XID}  # what is read all the same
SOUND = "HEALTHY"
READ_UP = 'dd if=/proc/kmsg iflag=nonblock of=/dev/null 2>/dev/null; exec "$@"'  # after which a read of it waits
UNMOUNT = '"$@"; code=$?; kill "$(cat server)"; umount -l mount; exit $code'
CUT_OFF = '<nvidia_smi_log>\n<attached_gpus>8</attached_gpus>\n<gpu id="00000000:1B:00.0">\n<product_name>H100</product_name>\n'
ONE_PROCESSOR = "taskset -pc 0 $$ > affinity; "
OPEN_PIPE = 'mkfifo open; exec 9<> open; "$@" < open'  # a pipe whose writer never closes it
# Root may read everything: without its capabilities it may not.
UNPRIVILEGED = 'exec setpriv --bounding-set=-all --inh-caps=-all "$@"' if os.geteuid() == 0 else ""
ROOT = os.geteuid() == 0
Make = Callable[[], bytes]


def packed(name: str, make: Make) -> Callable[[Place], None]:
    """Write a bomb as a file."""

    def write(place: Place) -> None:
        (place.here / name).write_bytes(make())

    return write


def hole(place: Place) -> None:
    """A file of three gibibytes with nothing in it but one line at its beginning."""
    (place.here / "hole.txt").write_bytes(b"some words\n")
    os.truncate(place.here / "hole.txt", 3 << 30)


def long_line(place: Place) -> None:
    """One line of 300 MB."""
    with (place.here / "line.txt").open("wb") as file:
        for _ in range(300):
            file.write(b"words and " * 100_000)


def many(place: Place) -> None:
    """More files than are read."""
    (place.here / "many").mkdir()
    for number in range(10_050):
        (place.here / "many" / f"{number}.txt").touch()


def closed_folder(place: Place) -> None:
    """A folder that nobody may list, and a program that is not allowed what root is."""
    (place.here / "closed").mkdir(mode=0)


def sockets(place: Place) -> None:
    """A socket."""
    here = Path.cwd()
    os.chdir(place.here)  # its path may have 100 characters
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("socket")
    finally:
        os.chdir(here)


def loops(place: Place) -> None:
    """Links that lead to themselves, and to the folder that they are in."""
    (place.here / "logs").mkdir()
    (place.here / "logs" / "dmesg.txt").write_text(XID)
    (place.here / "logs" / "self").symlink_to("self")
    (place.here / "logs" / "up").symlink_to("..")


def deep(place: Place) -> None:
    """Folders in one another, deeper than a path may be long."""
    here = os.open(place.here, os.O_RDONLY)
    back = os.open(".", os.O_RDONLY)
    os.fchdir(here)
    try:
        for _ in range(1200):
            os.mkdir("folder")  # noqa: PTH102  # a path of all of them is too long
            os.chdir("folder")
    finally:
        os.fchdir(back)
        os.close(back)
        os.close(here)


def removed(place: Place, said: Said) -> None:
    """pytest can't remove what `deep` made."""
    subprocess.run(["rm", "-rf", "folder"], cwd=place.here, check=True)


DEAD = """\
import ctypes, os, signal, struct, sys
signal.alarm(60)
libc = ctypes.CDLL(None, use_errno=True)
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
if libc.mount(b"dead", sys.argv[1].encode(), b"fuse", 6, options):
    sys.exit("no right to mount")
print("mounted", flush=True)
os.close(1)
while True:
    head = os.read(device, 1 << 20)
    _, what, unique = struct.unpack_from("<IIQ", head)
    if what == 26:  # FUSE_INIT is answered, and nothing after it
        answer = struct.pack("<IIIIHHII", 7, 31, 65536, 0, 12, 9, 131072, 1).ljust(64, bytes(1))
        os.write(device, struct.pack("<IiQ", 16 + len(answer), 0, unique) + answer)
"""


def dead_mount(place: Place) -> None:
    """A mount whose server is there and never answers."""
    (place.here / "mount").mkdir()
    if not ROOT or not Path("/dev/fuse").exists():
        pytest.skip("only root may mount, where there is FUSE")
    server = subprocess.Popen([sys.executable, "-c", DEAD, str(place.here / "mount")], stdout=subprocess.PIPE, env={})
    assert server.stdout is not None
    with server.stdout as said:
        mounted = said.readline() == b"mounted\n"
    if not mounted:
        server.wait()
        pytest.skip("no right to mount")
    server.returncode = 0  # UNMOUNT ends it
    (place.here / "server").write_text(str(server.pid))
    (place.here / "logs").mkdir(exist_ok=True)
    (place.here / "logs" / "dmesg.txt").write_text(XID)
    (place.here / "logs" / "link").symlink_to(place.here / "mount" / "x")


def steps_to_mount(place: Place) -> None:
    """The dead mount, and a file beside it that a pattern finds."""
    dead_mount(place)
    (place.here / "logs" / "x").write_text(XID)


def asked(broken: str, name: str, make: Make, *says: str, exit: int = 3, within: float = 12.0, seconds: int = 3, more: str = "") -> Fault:
    """A bomb that is analysed within a few seconds."""
    return Fault(broken, f"analyze {name} {more} --timeout {seconds}", exit, says, (SOUND,), within, before=packed(name, make))


FAULTS = [
    # what unpacks without end
    asked("an xz file unpacks to 100 MiB", "x.xz", bombs.xz, PARTLY),
    asked("a gzip file unpacks to 100 MiB", "x.gz", bombs.gz, PARTLY),
    asked("a bzip2 file has 100 streams", "x.bz2", bombs.bzip2, PARTLY),
    asked("gzip in gzip", "x.gz", bombs.twice, PARTLY),
    asked("a zip archive unpacks to 100 MiB", "x.zip", bombs.zipped, PARTLY),
    asked("a bomb for `nccl`", "x.xz", bombs.xz, PARTLY)._replace(asks="nccl x.xz --timeout 3"),
    asked("a bomb for `xid`", "x.xz", bombs.xz, "no line of a kernel log")._replace(asks="xid ./x.xz --timeout 3"),
    asked("a bomb as JSON", "x.xz", bombs.xz, '"verdict": "inconclusive"', PARTLY)._replace(asks="analyze x.xz --timeout 3 --format json"),
    asked("all members of a zip archive are the same bytes", "x.zip", bombs.overlapping, "1000 files", BOMB, seconds=60, within=5),
    asked("each member of a zip archive holds those behind it", "x.zip", bombs.telescoped, "199 files", BOMB, seconds=60, within=10),
    asked("archives in archives", "x.zip", bombs.nested, "an archive in an archive in another: not read"),
    asked(
        "a bomb beside a kernel log",
        "x.xz",
        bombs.xz,
        FOUND,
        exit=1,
        seconds=4,
        more="dmesg.txt",
    )._replace(files=BESIDE),
    asked(
        "a tar archive declares 8 EiB", "x.tar", lambda: bombs.tar_of(("a.log", (1 << 62), bombs.WORDS)), "cut off: read as far as it goes"
    ),
    asked("a tar archive has a name of a gigabyte", "x.tar", bombs.long_name, "damaged tar archive"),
    asked(
        "a tar archive is cut off",
        "x.tar",
        lambda: bombs.tar_of(("a.log", 5000, b"words\n" * 800))[:2000],
        "cut off: read as far as it goes",
    ),
    asked("a zip archive is cut off", "x.zip", lambda: bombs.zip_of({"a": bombs.LINE})[:40], "damaged or cut off zip archive"),
    asked("a zip archive has 66,000 members", "x.zip", bombs.many, "more than 10000 files: the rest was not read", seconds=30, within=30),
    # what is large
    Fault("a line of 300 MB", "analyze line.txt --timeout 3", 3, [PARTLY], [SOUND], 12, before=long_line),
    Fault("a file of 3 GiB of zeros", "analyze hole.txt --timeout 3", 3, ["binary: not read"], [SOUND], 12, before=hole),
    Fault("more files than are read", "analyze many", 3, ["more than 10000 files: the rest was not read"], [SOUND], 30, before=many),
    Fault("a million brackets", "analyze x.json", 3, ["not recognised"], [SOUND], files={"x.json": "[" * 1_000_000 + "]" * 1_000_000}),
    Fault(
        "an object of the API a hundred thousand deep",
        "analyze x.json",
        3,
        ["not JSON"],
        [SOUND],
        files={"x.json": '{"apiVersion":"v1","kind":"Pod","a":' + '{"a":' * 100_000 + "1" + "}" * 100_001},
    ),
    Fault("YAML that stands for a billion words", "analyze x.yaml", 3, (), [SOUND], files={"x.yaml": bombs.laughs()}),
    Fault(
        "a table of a million columns",
        "analyze x.csv",
        3,
        (),
        [SOUND],
        files={"x.csv": "time,message," + ",".join(["c"] * 1_000_000) + "\n1,2\n"},
    ),
    Fault(
        "a list of millions of pods without a word",
        "analyze x.json",
        3,
        ["an answer of more than 2 million objects: not read, ask for less of it"],
        [SOUND],
        peak=700,
        before=packed("x.json", bombs.pods),
    ),
    # what never ends
    Fault("standard input is never closed", "analyze - --timeout 2", 3, [PARTLY], [SOUND], 10, shell=OPEN_PIPE),
    Fault("standard input is never closed, for `nccl`", "nccl - --timeout 2", 3, [PARTLY], [SOUND], 10, shell=OPEN_PIPE),
    Fault("standard input is never closed, for `xid`", "xid - --timeout 2", 3, [UNREAD], [SOUND], 10, shell=OPEN_PIPE),
    Fault("a pipe of the shell is never closed", "analyze /dev/stdin --timeout 2", 3, [PARTLY], [SOUND], 10, shell=OPEN_PIPE),
    Fault(
        "what came before the pipe stopped counts",
        "analyze - --timeout 2",
        1,
        [FOUND, PARTLY],
        (),
        10,
        files=BESIDE,
        shell='mkfifo open; exec 9<> open; cat dmesg.txt >&9; "$@" < open',
    ),
    Fault("a program prints for ever", "analyze - --timeout 3", 3, [PARTLY], [SOUND], 12, shell='yes some words that go on | "$@"'),
    Fault(
        "standard input is never closed, before a kernel log for `xid`",
        "xid - ./dmesg.txt --timeout 4",
        1,
        [FOUND, f"-: {UNREAD}"],
        (),
        10,
        files=BESIDE,
        shell=OPEN_PIPE,
    ),
    Fault("standard input is /dev/zero", "analyze -", 3, ["binary: not read"], [SOUND], 10, shell='exec "$@" < /dev/zero'),
    Fault("standard input is /dev/urandom", "analyze -", 3, ["binary: not read"], [SOUND], 10, shell='exec "$@" < /dev/urandom'),
    # what is no file
    *(Fault(f"{path} is given", f"analyze {path}", 3, [NO_FILE], [SOUND], 10) for path in DEVICES),
    Fault(
        "a pipe that nobody writes to", "analyze pipe dmesg.txt", 1, [NO_FILE, FOUND], (), 10, files=BESIDE, shell='mkfifo pipe; exec "$@"'
    ),
    Fault("a socket", "analyze socket dmesg.txt", 1, [NO_FILE, FOUND], (), 10, files=BESIDE, before=sockets),
    Fault(
        "a log that can't be read beside the hosts of its job",
        "nccl pipe --local",
        3,
        [f"pipe: not readable: {NO_FILE}"],
        (SOUND,),
        30,
        shell='mkfifo pipe; exec "$@"',
    ),
    # what gives errors
    Fault(
        "/proc/kmsg, which waits for the kernel to speak", "analyze /proc/kmsg --timeout 3", 3, ["/proc/kmsg"], [SOUND], 10, shell=READ_UP
    ),
    Fault(
        "/proc/self/mem, of which nothing can be read",
        "analyze /proc/self/mem dmesg.txt",
        1,
        ["not readable: Input/output error", FOUND],
        (),
        10,
        files=BESIDE,
    ),
    Fault("a file of /proc that refuses", "analyze /proc/self/attr", 3, ["not readable: Invalid argument"], [SOUND], 10),
    Fault("links that lead nowhere and in a circle", "analyze logs", 1, ["Too many levels of symbolic links", FOUND], (), 10, before=loops),
    Fault("folders deeper than a path is long", "analyze folder", 3, ["File name too long"], [SOUND], 20, before=deep, after=removed),
    Fault("a name that is too long", f"analyze {'x' * 300}", 2, ["is not there"], [SOUND], 10),
    Fault("a file that is not there", "analyze no.txt", 2, ["no.txt is not there"], [SOUND], 10),
    Fault("a descriptor that is not open", "analyze /dev/fd/77", 2, ["/dev/fd/77 is not there"], [SOUND], 10),
    Fault(
        "a folder that can't be listed",
        "analyze closed dmesg.txt",
        1,
        ["closed: not readable: Permission denied", FOUND],
        (),
        10,
        files=BESIDE,
        before=closed_folder,
        shell=UNPRIVILEGED,
    ),
    Fault(
        "a mount whose server never answers",
        "analyze mount",
        3,
        ["mount: not readable: its file system gives no answer"],
        [SOUND],
        15,
        before=dead_mount,
        shell=UNMOUNT,
    ),
    Fault(
        "a link to a mount whose server never answers",
        "analyze logs",
        1,
        ["logs/link: not readable: its file system gives no answer", FOUND],
        (),
        15,
        before=dead_mount,
        shell=UNMOUNT,
    ),
    Fault(
        "a mount whose server never answers, on a machine of one processor",
        "analyze mount",
        3,
        ["mount: not readable: its file system gives no answer"],
        [SOUND],
        15,
        before=dead_mount,
        shell=ONE_PROCESSOR + UNMOUNT,
    ),
    Fault(
        "a pattern that leads through a mount whose server never answers",
        "analyze '*/x'",
        1,
        ["mount/x: not readable: its file system gives no answer", FOUND],
        (),
        15,
        before=steps_to_mount,
        shell=UNMOUNT,
    ),
    Fault(
        "a pattern that leads in a circle",
        "analyze '/proc/*/root/proc/*/root/proc/*/root/**/no.such' --timeout 2",
        3,
        ["took all the time (--timeout): name fewer folders"],
        [SOUND],
        10,
    ),
    Fault("a path without a name", "analyze ''", 2, ["is not there"], [SOUND], 10),
    # what breaks off
    Fault(
        "the XML of nvidia-smi breaks off",
        "analyze smi.xml",
        3,
        ["smi.xml: the answer of nvidia-smi breaks off"],
        [SOUND],
        10,
        files={"smi.xml": CUT_OFF},
    ),
    Fault(
        "the table of nvidia-smi breaks off behind its head",
        "analyze smi.txt",
        3,
        ["smi.txt: the answer of nvidia-smi breaks off"],
        [SOUND],
        10,
        files={"smi.txt": f"+{'-' * 87}+\n| NVIDIA-SMI 535.54.03    Driver Version: 535.54.03    CUDA Version: 12.2 |\n|{'-' * 41}+"},
    ),
    Fault(
        "an answer that breaks off still tells what it shows",
        "analyze smi.xml",
        1,
        ["smi.xml: the answer of nvidia-smi breaks off", "row-remap-failure"],
        (),
        10,
        files={"smi.xml": CUT_OFF + "<remapped_rows>\n<remapped_row_failure>Yes</remapped_row_failure>\n"},
    ),
    # what was asked wrongly
    *(
        Fault(
            f"--timeout {given}", f"{command} dmesg.txt --timeout {given}", 2, ["--timeout takes 1 to 86400 seconds"], (), 10, files=BESIDE
        )
        for command, given in TIMES
    ),
]
test_fault = tried(FAULTS)
