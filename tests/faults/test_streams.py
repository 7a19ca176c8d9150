"""Standard streams, terminals and report files that can't be used."""

from __future__ import annotations

from tests.faults.case import Fault, Place, Said, tried

XID = "[   12.300000] NVRM: Xid (PCI:0000:1b:00): 79, pid=4711, name=python3, GPU has fallen off the bus.\n"
ASKED = "analyze dmesg.txt"
FILES = {"dmesg.txt": XID}


# A report on these is larger than a pipe holds: of many machines, several kinds of errors each.
CODES = (79, 48, 63, 94, 13, 31, 45, 119)
OF_HOST = (
    "2026-03-01T11:30:00.000000+00:00 gpu-{} kernel: NVRM: Xid (PCI:0000:1b:00): {}, pid=1, name=python, GPU has fallen off the bus.\n"
)
XIDS = "".join(OF_HOST.format(number, CODES[number % len(CODES)]) for number in range(1, 250))
LARGE = "analyze xids.txt --format json"
# A line of a shell whose pipe somebody has opened who never reads, and a signal for who waits for that.
STUCK = 'mkfifo pipe; sleep 60 < pipe & reader=$!; "$@" > pipe & sleep 5; kill -{} $!; wait $!; code=$?; kill $reader; exit $code'
LEAVES = 'mkfifo pipe; head -c 1 < pipe > /dev/null & "$@" > pipe'
SLOW = """import os, subprocess, sys, time
reading, writing = os.pipe()
os.set_blocking(writing, False)
process = subprocess.Popen(sys.argv[1:], stdout=writing)
os.close(writing)
time.sleep(4)
while read := os.read(reading, 4096):
    sys.stdout.buffer.write(read)
sys.exit(process.wait())
"""


def private(place: Place, said: Said) -> None:
    """The report is its owner's alone."""
    assert (place.here / "report").stat().st_mode & 0o777 == 0o600


FAULTS = [
    Fault("standard output is closed", ASKED, 1, files=FILES, shell='exec "$@" >&-'),
    Fault("standard output is closed and JSON is asked for", f"{ASKED} --format json", 1, files=FILES, shell='exec "$@" >&-'),
    Fault("standard error is closed", ASKED, 1, ["gpu-fallen-off-bus"], files=FILES, shell='exec "$@" 2>&-'),
    Fault("standard error is closed and there is an error to say", "analyze nothing.txt", 2, shell='exec "$@" 2>&-'),
    Fault("both are closed", ASKED, 1, files=FILES, shell='exec "$@" >&- 2>&-'),
    Fault("all three are closed", "diagnose node --local", 3, shell='exec "$@" <&- >&- 2>&-'),
    Fault("standard input is closed", ASKED, 1, ["gpu-fallen-off-bus"], files=FILES, shell='exec "$@" <&-'),
    Fault("standard input is closed and read", "analyze -", 3, ["nothing could be read: empty"], shell='exec "$@" <&-'),
    Fault(
        "the disk of standard output is full",
        ASKED,
        2,
        ["standard output can't be written: No space left on device"],
        files=FILES,
        shell='exec "$@" > /dev/full',
    ),
    Fault("the disk of help is full", "--help", 2, ["standard output can't be written: No space left"], shell='exec "$@" > /dev/full'),
    Fault("the disk of standard error is full", ASKED, 1, ["gpu-fallen-off-bus"], files=FILES, shell='exec "$@" 2> /dev/full'),
    Fault("the terminal is wider than any", ASKED, 1, ["gpu-fallen-off-bus"], files=FILES, env={"COLUMNS": "99999999999"}),
    Fault("the terminal has no width", ASKED, 1, ["gpu-fallen-off-bus"], files=FILES, env={"COLUMNS": "0"}),
    Fault("the terminal's width is negative", ASKED, 1, ["gpu-fallen-off-bus"], files=FILES, env={"COLUMNS": "-5"}),
    Fault("the terminal's width is no number", ASKED, 1, ["gpu-fallen-off-bus"], files=FILES, env={"COLUMNS": "wide"}),
    Fault("the terminal has one column", ASKED, 1, files=FILES, env={"COLUMNS": "1"}),
    Fault("the help of a terminal wider than any", "--help", 0, ["diagnose"], env={"COLUMNS": "99999999999"}),
    Fault("the locale is not there", ASKED, 1, ["gpu-fallen-off-bus"], files=FILES, env={"LC_ALL": "xx_YY.UTF-8"}),
    Fault(
        "the locale has ASCII alone",
        ASKED,
        1,
        ["gpu-fallen-off-bus"],
        files=FILES,
        env={"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    ),
    Fault("the report's disk is full", f"{ASKED} -o /dev/full", 2, ["/dev/full can't be written: No space left"], files=FILES),
    Fault(
        "the report's folder is not there", f"{ASKED} -o no/report", 2, ["no/report can't be written: there is no folder no"], files=FILES
    ),
    Fault("the report is a folder", f"{ASKED} -o home", 2, ["home is a folder"], files=FILES),
    Fault("a report that others could read", f"{ASKED} -o report", 1, files=FILES, env={}, after=private),
    Fault("an HTML report that others could read", f"{ASKED} --format html -o report", 1, files=FILES, after=private),
    Fault("a report over one that others can read", f"{ASKED} -o report", 1, files={**FILES, "report": "old"}, after=private),
    Fault("the reader of a large report leaves", LARGE, 1, files={"xids.txt": XIDS}, shell=LEAVES),
    Fault(
        "the reader of a large report that found nothing leaves",
        "analyze words.txt --format junit",
        3,
        files={"words.txt": "nothing that is known\n"},
        shell=LEAVES,
    ),
    *(Fault(f"the reader of `{asks}` leaves", asks, 0, shell=LEAVES) for asks in ("show nccl", "schema", "list", "--help")),
    *(
        Fault(f"SIG{name} while nobody reads the report", LARGE, code, files={"xids.txt": XIDS}, shell=STUCK.format(name), within=12)
        for name, code in (("TERM", 143), ("HUP", 129))
    ),
    Fault(
        "standard output doesn't wait for its reader",
        LARGE,
        1,
        ['"steps":'],
        files={"xids.txt": XIDS, "slow.py": SLOW},
        shell='exec "$1" slow.py "$@"',
    ),
]
test_fault = tried(FAULTS)
