"""nvidia-smi's short forms: the table of two generations, -L, and --query-gpu CSV."""

from __future__ import annotations

from tests.nodes.smi import CUDA, STAMP, Card
from tests.nodes.smi_tree import release


def smi_list(cards: list[Card]) -> str:
    """`nvidia-smi -L`."""
    return "".join(f"GPU {card.index}: {card.product} (UUID: {card.name})\n" for card in cards)


def smi_table(cards: list[Card], driver: str = "570.172.08", sick: tuple[int, ...] = ()) -> str:
    """`nvidia-smi`, in the wide form of R545 and later or the narrow one before. The rows of `sick` indexes are full of ERR!."""
    wide = release(driver) >= 545
    left, middle, right = (41, 24, 22) if wide else (31, 22, 22)
    whole = left + middle + right + 2
    rule = f"+{'-' * left}+{'-' * middle}+{'-' * right}+"
    gap = (21, 14) if wide else (12, 12)
    version = f" NVIDIA-SMI {driver:<{gap[0]}} Driver Version: {driver:<{gap[1]}} CUDA Version: {CUDA[release(driver)]}"
    lines = [STAMP, f"+{'-' * whole}+", f"|{version:<{whole}}|", f"|{'-' * left}+{'-' * middle}+{'-' * right}+"]
    lines += [
        f"|{' GPU  Name':<{left - 15}} Persistence-M |{' Bus-Id':<{middle - 7}}Disp.A |{' Volatile Uncorr. ECC':<{right}}|",
        f"|{' Fan  Temp   Perf':<{left - 15}} Pwr:Usage/Cap |{'Memory-Usage ':>{middle}}|{' GPU-Util  Compute M. ':<{right}}|",
        f"|{'':<{left}}|{'':<{middle}}|{'MIG M. ':>{right}}|",
        f"|{'=' * left}+{'=' * middle}+{'=' * right}|",
    ]
    for card in cards:
        lines += [*row(card, card.index in sick, left, middle, right), rule]
    return "\n".join([*lines, "", *processes(cards, whole), ""])


def row(card: Card, sick: bool, left: int, middle: int, right: int) -> list[str]:
    """The three lines of one GPU."""
    bad = "ERR!"
    product = bad if sick else card.product
    product = product if len(product) <= left - 14 else f"{product[: left - 17]}..."
    on = "On" if card.persistence else "Off"
    uncorrected = bad if sick else "N/A" if card.ecc[0] == "N/A" else "Off" if card.ecc[0] == "Disabled" else str(sum(card.volatile[1::2]))
    heat, state = (bad, bad) if sick else (f"{card.temperature}C", f"P{card.pstate}")
    fan = bad if sick else card.fan.replace(" ", "")
    watts = f"{bad} / {bad}" if sick else f"{card.power:.0f}W / {card.power_limit:{4 if left > 40 else 3}.0f}W"
    memory = f"{card.memory_used}MiB / {card.memory_total:>6}MiB"
    busy = bad if sick else f"{card.utilisation}%"
    first = f"{card.index:>4}  {product}"
    second = f"{fan:>4} {heat:>5}  {state:>4}"
    return [
        f"|{first:<{left - 5}}{on:>4} |{card.bus:>{middle - 5}} Off |{uncorrected:>{right - 1}} |",
        f"|{second:<{left - 17}}{watts:>16} |{memory:>{middle - 1}} |{busy:>8}{card.compute_mode:>{right - 9}} |",
        f"|{'':<{left}}|{'':<{middle}}|{bad if sick else card.mig[0]:>{right - 1}} |",
    ]


def processes(cards: list[Card], whole: int) -> list[str]:
    """The table of processes."""
    lines = [f"+{'-' * whole}+", f"|{' Processes:':<{whole}}|"]
    lines.append(f"|{'  GPU   GI   CI        PID   Type   Process name':<{whole - 11}}GPU Memory |")
    lines += [f"|{'        ID   ID':<{whole - 11}}Usage      |", f"|{'=' * whole}|"]
    for card in cards:
        for one in card.processes:
            begins = f"{card.index:>5}   N/A  N/A {one.pid:>10} {one.kind:>6}   {one.name}"
            lines.append(f"|{begins:<{whole - 13}}{one.memory:>9}MiB |")
    if not any(card.processes for card in cards):
        lines.append(f"|{'  No running processes found':<{whole}}|")
    return [*lines, f"+{'-' * whole}+"]
