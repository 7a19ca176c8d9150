"""What a line of Python prints that asks a framework for GPUs: `python -c "import torch; print(torch.cuda.is_available())"`."""

from __future__ import annotations

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.messages import scan_text
from gpudoctor.tools.parser import ParseError

# PyTorch; TensorFlow; CuPy, Numba, JAX
ASKS = regex(
    r"cuda\.is_available\(\)|cuda\.device_count\(\)|list_physical_devices\(\W?GPU|getDeviceCount\(\)|is_gpu_available\(\)|cuda\.gpus\b"
)
# 2.5.1+cu124 12.4 False 0  |  ('2.4.0', False)      (versions before it; a build without CUDA says +cpu, or None)
NONE = regex(r"(?:(?:\(?'?\d[\w.+-]{0,30}'?,? ){0,3}\(?False(?:,? 0)?\)?|0|\[\])$")
BUILT_WITHOUT = regex(r"\+cpu\b")
LONGEST = 2000


def score(argv: tuple[str, ...], whole: str) -> int:
    """0 or 60: whether a program was asked for GPUs, and its last line says that there are none."""
    last = whole.strip().rpartition("\n")[2].strip() if len(whole) < LONGEST else ""
    return 60 if argv and NONE.match(last) and not BUILT_WITHOUT.search(last) and any(ASKS.search(word) for word in argv) else 0


def facts(output: Output, about: Subject) -> Facts:
    """The known message that the answer stands for, and those of the lines before it. Raises `ParseError` for anything else."""
    if not score(output.command.argv, output.text):
        raise ParseError(f"{output.origin_name()}: no answer of a program that was asked for GPUs: {output.text.strip()[:80]!r}")
    *before, last = output.text.strip().split("\n")
    found = scan_text(
        "torch.cuda.is_available(): False", source="exec", about=about, origin=Origin(output.origin_name(), len(before) + 1, last)
    )
    for number, line in enumerate(before, 1):
        found += scan_text(line, source="exec", about=about, origin=Origin(output.origin_name(), number, line.strip()))
    return {"messages": [*found]}
