"""The lines of a report as an SVG file, made by hand: one diagram a title below the other, texts escaped, no script, nothing loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from gpudoctor.report import Report, Series
from gpudoctor.reporters.plot import clock, span, titles
from gpudoctor.reporters.text import safe

WIDTH, HEIGHT, LEFT, TOP, LEGEND = 900, 260, 60, 40, 220  # pixels: of a diagram, its margins, the names at its right
MARKED = ("#b2182b", "#d6604d", "#e08214", "#b35806")  # reds for what throttles, blues and greys for what it is compared with
BESIDE = ("#2166ac", "#4393c3", "#5aae61", "#777777", "#999999", "#762a83")


def svg(report: Report) -> str:
    """The file's text; a report without lines gives a picture that says so."""
    groups = [[one for one in report.series if one.title == title and one.points] for title in titles(report.series)]
    groups = [group for group in groups if group]
    height = TOP + HEIGHT * max(1, len(groups))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        text(LEFT, 22, report.asked or report.runbook or "gpudoctor", size=15),
    ]
    if not groups:
        parts.append(text(LEFT, TOP + 30, "Nothing was watched over time, so there is nothing to draw."))
    for number, group in enumerate(groups):
        parts += diagram(group, TOP + number * HEIGHT)
    return "\n".join([*parts, "</svg>", ""])


def diagram(lines: Sequence[Series], top: int) -> Iterator[str]:
    """One title: a frame with three values at its left and the times below, a line each, the names at the right."""
    low, high = span(lines)
    times = [moment for one in lines for moment, _ in one.points]
    begin, end = min(times), max(times)
    right, floor, roof = WIDTH - LEGEND, top + HEIGHT - 40, top + 20
    yield text(LEFT, roof - 6, f"{lines[0].title} ({lines[0].unit})", size=13)
    for share in (0.0, 0.5, 1.0):
        y = floor - share * (floor - roof)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#dddddd"/>'
        yield text(LEFT - 6, y + 4, f"{low + share * (high - low):.0f}", anchor="end")
    yield text(LEFT, floor + 16, clock(begin))
    yield text(right, floor + 16, f"{clock(end)} UTC", anchor="end")
    for number, one in enumerate(lines):
        palette = MARKED if one.marked else BESIDE
        colour = palette[number % len(palette)]
        across, up = (right - LEFT) / ((end - begin) or 1), (floor - roof) / (high - low)
        points = " ".join(f"{LEFT + (moment - begin) * across:.1f},{floor - (value - low) * up:.1f}" for moment, value in one.points)
        width = 2.5 if one.marked else 1.2
        yield f'<polyline fill="none" stroke="{colour}" stroke-width="{width}" points="{points}"/>'
        yield text(right + 10, roof + 12 + number * 18, one.name[-30:], colour=colour)


def text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "start", colour: str = "#222222") -> str:
    """A text, without what XML doesn't allow in it."""
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{escape(safe(words, 120))}</text>'
