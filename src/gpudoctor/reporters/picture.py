"""What a report draws, as SVG made by hand: lines over time, ranks against time. Texts are escaped, no script, nothing loaded.

A line is told from others by its dashes and its place in the legend, not by colour alone. The colours have contrast 3:1 on white and on the
dark ground of the HTML report, whose style sheet sets the rest by class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.report import Lane, Report, Series
from gpudoctor.reporters.lanes import MARGIN, known_moments
from gpudoctor.reporters.markup import LINE, Raw, join_markup, tag
from gpudoctor.reporters.plot import describe_range, scale_range, time_of_day, titles

WIDTH, HEIGHT, LEFT, TOP, LEGEND = 900, 240, 60, 40, 270  # pixels: of a diagram, its margins, the names at its right
ROW = 24  # pixels of a row of ranks
MARKED = ("#d9480f", "#c2255c", "#9c36b5", "#b35900")  # warm for what the report is about, cool for what it is compared with
BESIDE = ("#1c7ed6", "#2b8a3e", "#0b7285", "#6c757d", "#5f6fd0", "#3f7d5c")
DASHES = ("", "7 3", "2 3", "10 3 2 3", "4 2 1 2", "1 4")


def svg(report: Report) -> str:
    """The file's text; a report with nothing to draw gives a picture that says so."""
    groups = group_by_title(report.series)
    parts = [*(diagram(group, TOP + number * HEIGHT) for number, group in enumerate(groups))]
    height = TOP + HEIGHT * len(groups)
    if any(map(known_moments, report.lanes)):
        parts.append(ranks(report.lanes, height))
        height += lanes_height(report.lanes)
    if not parts:
        parts, height = [svg_text(LEFT, TOP + 30, "Nothing was watched over time, so there is nothing to draw.")], TOP + HEIGHT
    title = svg_text(LEFT, 22, report.asked or report.runbook or "gpudoctor", size=15)
    ground = tag("rect", class_="ground", width=WIDTH, height=height, fill="white")
    return tag(
        "svg", ground, LINE, title, LINE, *(join_markup(part, LINE) for part in parts), xmlns="http://www.w3.org/2000/svg", **frame(height)
    ) + ("\n")


def pictures(report: Report) -> Iterator[tuple[str, Raw]]:
    """(what it shows, the element) for each diagram, to stand in a page."""
    for group in group_by_title(report.series):
        lines = "; ".join(f"{one.name}: {describe_range([value for _, value in one.points])}" for one in group)
        name = f"{group[0].title} in {group[0].unit}"
        yield name, tag("svg", diagram(group, 0), role="img", aria_label=f"{name}. {lines}", **frame(HEIGHT))
    if any(map(known_moments, report.lanes)):
        lines = "; ".join(f"ranks {one.name} {state(one)}" for one in report.lanes)
        name = "Ranks against time"
        yield name, tag("svg", ranks(report.lanes, 0), role="img", aria_label=f"{name}. {lines}", **frame(lanes_height(report.lanes)))


def frame(height: int) -> dict[str, str | float | bool | None]:
    """The attributes of a picture's element."""
    return {"viewBox": f"0 0 {WIDTH} {height}", "width": WIDTH, "height": height, "font-family": "sans-serif", "font-size": 12}


def group_by_title(series: Sequence[Series]) -> list[list[Series]]:
    """Group the lines by title, without those that have no point."""
    groups = [[one for one in series if one.title == title and one.points] for title in titles(series)]
    return [group for group in groups if group]


def diagram(lines: Sequence[Series], top: int) -> Raw:
    """One title: a frame with three values at its left and the times below, a line each, the names at the right."""
    return join_markup(diagram_parts(lines, top))


def diagram_parts(lines: Sequence[Series], top: int) -> Iterator[Raw]:
    """The elements of a diagram."""
    low, high = scale_range(lines)
    times = [moment for one in lines for moment, _ in one.points]
    begin, end = min(times), max(times)
    right, floor, roof = WIDTH - LEGEND, top + HEIGHT - 30, top + 30
    yield svg_text(LEFT, roof - 12, f"{lines[0].title} ({lines[0].unit})", size=13)
    for share in (0.0, 0.5, 1.0):
        y = floor - share * (floor - roof)
        yield rule(LEFT, y, right, y)
        yield svg_text(LEFT - 6, y + 4, f"{low + share * (high - low):.0f}", anchor="end")
    yield svg_text(LEFT, floor + 18, time_of_day(begin))
    yield svg_text(right, floor + 18, f"{time_of_day(end)} UTC", anchor="end")
    across, up = (right - LEFT) / ((end - begin) or 1), (floor - roof) / (high - low)
    for number, one in enumerate(lines):
        palette = MARKED if one.marked else BESIDE
        look: dict[str, str | float | bool | None] = {
            "fill": "none",
            "stroke": palette[number % len(palette)],
            "stroke-width": 2.6 if one.marked else 1.6,
            "stroke-dasharray": DASHES[number % len(DASHES)] or None,
        }
        points = " ".join(f"{LEFT + (moment - begin) * across:.1f},{floor - (value - low) * up:.1f}" for moment, value in one.points)
        y = roof + 6 + number * 22
        yield tag("polyline", points=points, **look)
        yield tag("polyline", points=f"{right + 14},{y} {right + 44},{y}", **look)
        yield svg_text(right + 52, y + 4, one.name[-30:], bold=one.marked)


def ranks(rows: Sequence[Lane], top: int) -> Raw:
    """Ranks against time: a thin bar while they run, a framed box while they wait, a cross where they end."""
    return join_markup(ranks_parts(rows, top))


def ranks_parts(rows: Sequence[Lane], top: int) -> Iterator[Raw]:
    """The elements of the diagram."""
    moments = [moment for row in rows for moment in known_moments(row)]
    end = max(moments)
    begin = min(moments) - MARGIN * max(1.0, end - min(moments))
    left, right = 180, WIDTH - 30

    def at(moment: float) -> float:
        return left + (moment - begin) / ((end - begin) or 1) * (right - left)

    yield svg_text(10, top + 18, f"Ranks against time, {time_of_day(begin)} to {time_of_day(end)} UTC", size=13)
    for number, row in enumerate(rows):
        y = top + 44 + number * ROW
        colour = MARKED[0] if row.marked else BESIDE[0]
        yield svg_text(10, y + 4, row.name[:26], bold=row.marked)
        yield rule(left, y, right, y)
        if not known_moments(row):
            continue
        last = at(max(known_moments(row)))
        waits = at(row.waits_from) if row.waits_from in known_moments(row) and row.waits_from is not None else last
        yield tag("rect", x=left, y=y - 3, width=f"{max(0.0, waits - left):.1f}", height=6, fill=colour)
        if waits < last:
            yield tag(
                "rect", x=f"{waits:.1f}", y=y - 7, width=f"{last - waits:.1f}", height=14, fill="none", stroke=colour, **{"stroke-width": 2}
            )
        if row.ended in known_moments(row) and row.ended is not None:
            yield svg_text(at(row.ended), y + 6, "✗", size=18, anchor="middle", bold=True)
    yield svg_text(
        10, top + 44 + len(rows) * ROW + 6, "bar: runs · frame: waits in a collective · ✗: fails or loses a peer · nothing: not heard"
    )


def lanes_height(rows: Sequence[Lane]) -> int:
    """The height of the diagram of ranks."""
    return 44 + len(rows) * ROW + 20


def state(row: Lane) -> str:
    """What a row shows, in words."""
    parts = [("wait from", row.waits_from), ("heard until", row.heard), ("ended", row.ended)]
    told = [f"{word} {time_of_day(moment)}" for word, moment in parts if moment is not None and moment in known_moments(row)]
    return ", ".join(told) or "not heard"


def rule(x1: float, y1: float, x2: float, y2: float) -> Raw:
    """A thin line behind the others."""
    return tag("line", class_="grid", x1=f"{x1:.0f}", y1=f"{y1:.1f}", x2=f"{x2:.0f}", y2=f"{y2:.1f}", stroke="#dddddd")


def svg_text(x: float, y: float, text: str, *, size: int = 12, anchor: str = "start", bold: bool = False) -> Raw:
    """A text element of at most 120 characters."""
    look: dict[str, str | float | bool | None] = {"font-size": size, "text-anchor": anchor, "font-weight": "bold" if bold else None}
    return tag("text", text[:120], x=f"{x:.0f}", y=f"{y:.0f}", fill="#222222", **look)
