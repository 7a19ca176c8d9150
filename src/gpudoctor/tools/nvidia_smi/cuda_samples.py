"""What CUDA's own tests say of access between two GPUs: p2pBandwidthLatencyTest, simpleP2P, deviceQuery.

The numbers are those that CUDA counts by, which are nvidia-smi's where no setting hides or reorders GPUs.
Source: https://github.com/NVIDIA/cuda-samples
"""

from __future__ import annotations

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import GpuPath
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines

# Device=0 CANNOT Access Peer Device=1
SENTENCE = regex(r"\bDevice=(\d{1,2}) (CAN|CANNOT) Access Peer Device=(\d{1,2})\b")
# > Peer access from NVIDIA A40 (GPU0) -> NVIDIA A40 (GPU1) : No  |  > Peer access from NVIDIA A40 (GPU0) -> NVIDIA A40 (GPU1) is Yes
ANSWER = regex(r"Peer(?:-to-Peer \(P2P\))? access from .{1,80}?\(GPU(\d{1,2})\) -> .{1,80}?\(GPU(\d{1,2})\) (?::|is) (Yes|No)\b")
WORDS = {"CAN": "OK", "CANNOT": "NS", "Yes": "OK", "No": "NS"}


def peer_pair(line: str) -> tuple[str, str, str] | None:
    """(a GPU, another, the word of `topo -p2p` for what the line says of them); None for any other line."""
    if match := SENTENCE.search(line):
        one, word, other = match.groups()
    elif match := ANSWER.search(line):
        one, other, word = match.groups()
    else:
        return None
    return f"GPU{int(one)}", f"GPU{int(other)}", WORDS[word]


def score(text: list[str]) -> int:
    """40 for a text that holds such a line: less than what has a form of its own as a whole."""
    return 40 if any("Peer" in line and peer_pair(line) for line in text) else 0


def peers(output: Output, about: Subject) -> Facts:
    """A record for each pair, in the order that was tested."""
    found = [
        GpuPath(
            node=about.node, matrix="t", one=pair[0], other=pair[1], path=pair[2], origin=Origin(output.origin_name(), number, line.strip())
        )
        for number, line in lines(output)
        if "Peer" in line and (pair := peer_pair(line))
    ]
    return {"gpu_paths": [*found]}
