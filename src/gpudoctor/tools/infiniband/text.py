"""What the parsers of InfiniBand's tools share: numbers in their notations, names of ports and of their nodes."""

from __future__ import annotations

import re
from typing import Any

from gpudoctor.facts import Origin, Subject
from gpudoctor.facts.infiniband import IbCounters
from gpudoctor.knowledge.infiniband import BY_NAME, DATA, WORD, is_saturated
from gpudoctor.patterns import regex

MOST = 100_000  # records of one answer: a fabric of 10,000 hosts has so many ports
NUMBER = regex(r"(?:0[xX]([0-9a-fA-F]{1,16})|(\d{1,20}))(?![\dA-Za-z.,])")
# 200 Gb/sec (4X HDR)  |  2.5 Gb/sec (1X SDR)  |  100 Gb/sec (4X EDR)
RATE = regex(r"(\d{1,5}(?:[.,]\d{1,3})?)(?: ?Gb/s(?:ec)?)?(?: \((\d{1,2}X)(?: ([A-Z]{3,4}\d{0,2}))?\)| \((FDR10)\))?\s*$")
# gpu-01 mlx5_3  |  gpu-01 HCA-3  |  'gpu-01 ibp26s0'  |  gpu-01: the description that the kernel and rdma-ndd give a node
DESCRIPTION = regex(r"([A-Za-z0-9][\w.-]{0,200}) ((?:mlx\d?_\w{1,20}|HCA-\d{1,3}|ib[a-z]\w{1,20}|roce\w{1,20}|hfi\d_\d|bnxt_re\d{1,3}))$")


def number(text: str) -> int | None:
    """A decimal or hexadecimal number at the beginning of a text.

    >>> number("0x11c"), number("65535"), number("12abc"), number("N/A")
    (284, 65535, None, None)
    """
    match = NUMBER.match(text.strip())
    if not match:
        return None
    return int(match.group(1), 16) if match.group(1) else int(match.group(2))


def rate(text: str) -> dict[str, Any]:
    """Rate in Gb/s, and width and speed where they are shown.

    >>> rate("200 Gb/sec (4X HDR)"), rate("400"), rate("40 (FDR10)"), rate("2,5")
    ({'rate': 200.0, 'width': '4X', 'speed': 'HDR'}, {'rate': 400.0}, {'rate': 40.0, 'speed': 'FDR10'}, {'rate': 2.5})
    """
    match = RATE.match(text.strip())
    if not match:
        return {}
    value, width, speed, fdr10 = match.groups()
    found = {"rate": float(value.replace(",", ".")), "width": width, "speed": speed or fdr10}
    return {name: one for name, one in found.items() if one}


def guid(text: str) -> str:
    """A GUID as 0x and 16 digits, "" for anything else.

    >>> guid("58a2:e103:00a7:820e"), guid("0x58a2e10300a7820e"), guid("0x0")
    ('0x58a2e10300a7820e', '0x58a2e10300a7820e', '')
    """
    digits = text.strip().lower().removeprefix("0x").replace(":", "")
    known = re.fullmatch(r"[0-9a-f]{5,16}", digits) and int(digits, 16)
    return f"0x{int(digits, 16):016x}" if known else ""


def host_and_adapter(description: str, about: Subject | None = None) -> tuple[str, str]:
    """Host and adapter of a node's description; a host's name alone is the host, with the name as that of its adapter too.

    >>> host_and_adapter("gpu-01 mlx5_3"), host_and_adapter("gpu-07"), host_and_adapter("MF0;leaf-1:MQM9700/U1")
    (('gpu-01', 'mlx5_3'), ('gpu-07', 'gpu-07'), ('', 'MF0;leaf-1:MQM9700/U1'))
    """
    text = description.strip().strip("'\"")
    if match := DESCRIPTION.fullmatch(text):
        return match.group(1), match.group(2)
    return (text, text) if re.fullmatch(r"[A-Za-z0-9][\w.-]{0,200}", text) else ("", text)


def counters(values: dict[str, int], *, origin: Origin, **names: Any) -> IbCounters:
    """The counters of a port under the names of a MAD or of sysfs. One at its highest value is a gap, unknown names are hardware's own."""
    read: dict[str, Any] = {}
    gaps: dict[str, str] = {}
    others: dict[str, int] = {}
    for name, value in values.items():
        counter = BY_NAME.get(name)
        if counter is None:
            others[name] = value
        elif is_saturated(counter, value):
            gaps[counter.field] = "saturated"
        else:
            read[counter.field] = read.get(counter.field, 0) + value * (WORD if counter.field in DATA else 1)
    for name in gaps:
        read.pop(name, None)
    return IbCounters(origin=origin, gaps=gaps, saturated=sorted(gaps), hardware=others, **read, **names)
