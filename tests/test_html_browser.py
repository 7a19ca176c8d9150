"""The HTML report in a real browser: it asks the network for nothing, runs nothing that was read, complains of nothing, fits a phone."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import zlib
from html import escape, unescape
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpudoctor.report import Report
from gpudoctor.reporters import render
from tests.test_reports import DRAIN, HOSTILE, WHOLE, Page, replaced

CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), "")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium")
SCHEMES = {"dark": 0, "light": 1}  # of --blink-settings=preferredColorScheme
IN_TIME = 90.0  # seconds; the first start on a busy machine is slow

# What the browser asks by itself: updates, its variations.
OWN = re.compile(r"https?://([\w-]+\.)*(google|googleapis|gstatic|gvt1|googlechromelabs)\.")

# What a text would do if it were markup. The title, the body and a global would show it.
ATTACKS = [
    "</script><script>document.title='owned'</script>",
    "\"><img src='https://owned.example/x.png' onerror=\"document.title='owned'\">",
    "</style><style>body{display:none}</style>",
    "</title></pre></code></details><svg onload=\"document.title='owned'\">",
    "<meta http-equiv=refresh content='0;url=https://owned.example/'>",
    "<iframe src='https://owned.example/'></iframe><link rel=stylesheet href='https://owned.example/x.css'>",
    "javascript:document.title='owned'",
]


def attacked() -> Report:
    """A report whose every text attacks."""
    words = iter((ATTACKS * 200)[:1000])
    return msgspec.convert(replaced(msgspec.to_builtins(WHOLE), words), Report)


def browse(folder: Path, page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open a page; no name resolves, and every proxy is a closed port."""
    fixed = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-component-update",
        "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--proxy-server=127.0.0.1:9",
        "--enable-logging=stderr",
        f"--user-data-dir={folder / 'profile'}",
    ]
    return subprocess.run([CHROMIUM, *fixed, *options, page.as_uri()], capture_output=True, text=True, timeout=IN_TIME, check=False)


def written(folder: Path, report: Report) -> Path:
    """The report as a file."""
    path = folder / "report.html"
    path.write_text(render(report, "html"), encoding="utf-8")
    return path


def watched(folder: Path, page: Path) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """Open a page: its document as it became is on stdout; and every address of the web that the page asked for."""
    log = folder / "net.json"
    run = browse(folder, page, "--dump-dom", f"--log-net-log={log}", "--net-log-capture-mode=Everything")
    assert run.returncode == 0, run.stderr
    asked = set(re.findall(r'"url":"(https?://[^"]+)"', log.read_text(encoding="utf-8")))
    return run, {url for url in asked if not OWN.match(url)}


def console(run: subprocess.CompletedProcess[str]) -> list[str]:
    """What the page has complained of, a refusal of its own policy included."""
    # [123:456:0301/120000.000:INFO:CONSOLE(1)] "Refused to execute inline script …", source: file:///tmp/report.html (1)
    return re.findall(r"CONSOLE[(:]\d+\)?\] (.*)", run.stderr)


@pytest.mark.parametrize("name", ["whole", "attacked"])
def test_a_page_asks_for_nothing_and_complains_of_nothing(tmp_path: Path, name: str) -> None:
    page = written(tmp_path, attacked() if name == "attacked" else WHOLE)
    run, asked = watched(tmp_path, page)
    assert (console(run), asked) == ([], set())
    assert Page(run.stdout, {"button"}).texts["title"][0].startswith("problem: ")
    assert "What was done" in run.stdout


def test_what_a_page_asks_and_complains_of_would_be_seen(tmp_path: Path) -> None:
    """The control: a page that does what ours must not."""
    page = tmp_path / "bad.html"
    page.write_text(
        "<title>x</title><body>" + ATTACKS[1] + ATTACKS[0].replace("</script>", "", 1) + "<script>console.error('oops')</script>"
    )
    run, asked = watched(tmp_path, page)
    assert any("owned.example" in url for url in asked)
    assert any("oops" in line for line in console(run))
    assert "<title>owned</title>" in run.stdout


def pixels(path: Path) -> tuple[int, int, list[bytes]]:
    """Width, height and rows (of RGB or RGBA bytes) of a PNG with eight bits a channel: RFC 2083, by hand, so that no library is needed."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind in (2, 6)) == (8, True)
    size = 3 if kind == 2 else 4
    body, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        body += data[at + 8 : at + 8 + length] if name == b"IDAT" else b""
        at += 12 + length
    raw = zlib.decompress(body)
    rows, before = [], bytes(width * size)
    for number in range(height):
        start = number * (width * size + 1)
        before = unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + width * size]), before, size)
        rows.append(before)
    return width, height, rows


def unfiltered(kind: int, row: bytearray, above: bytes, size: int) -> bytes:
    """A row of a PNG without its filter."""
    for at in range(len(row) if kind else 0):
        left = row[at - size] if at >= size else 0
        corner = above[at - size] if at >= size else 0
        if kind == 4:
            guess = left + above[at] - corner
            add = min((left, above[at], corner), key=lambda value: abs(guess - value))
        else:
            add = {1: left, 2: above[at], 3: (left + above[at]) // 2}[kind]
        row[at] = (row[at] + add) & 255
    return bytes(row)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_fits_its_window_in_both_schemes(tmp_path: Path, scheme: str, width: int) -> None:
    """The picture is as wide as the window, its ground is that of the scheme, and the page is no wider: its right margin is empty."""
    shot = tmp_path / "shot.png"
    page = written(tmp_path, WHOLE)
    run = browse(
        tmp_path,
        page,
        f"--window-size={width},844",
        f"--screenshot={shot}",
        f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
    )
    assert shot.is_file(), run.stderr
    found, height, rows = pixels(shot)
    assert (found, height) == (width, 844)
    size = len(rows[0]) // width
    ground = tuple(rows[2][:3])
    assert ground == ((20, 23, 27) if scheme == "dark" else (255, 255, 255))
    margin = {tuple(row[at * size : at * size + 3]) for row in rows for at in range(width - 6, width)}
    assert margin == {ground}
    assert len(set(rows)) > 50  # something is on it


def test_a_page_of_hostile_words_is_no_wider_than_a_phone(tmp_path: Path) -> None:
    """What can't be broken scrolls in a box of its own."""
    long = [one for one in HOSTILE if len(one) > 1000] + ["x" * 300, "gpu-" + "1" * 200]
    report = msgspec.convert(replaced(msgspec.to_builtins(WHOLE), iter((long * 300)[:1000])), Report)
    shot = tmp_path / "shot.png"
    browse(tmp_path, written(tmp_path, report), "--window-size=390,3000", f"--screenshot={shot}", "--blink-settings=preferredColorScheme=1")
    width, _, rows = pixels(shot)
    size = len(rows[0]) // width
    assert {tuple(row[at * size : at * size + 3]) for row in rows for at in range(width - 6, width)} == {(255, 255, 255)}


def measured(folder: Path, report: Report, script: str, *, width: int) -> Any:
    """What a script of the test says of the page, with everything unfolded, in a frame so wide: no window is narrower than 500."""
    page = written(folder, report)
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text(encoding="utf-8"))  # it forbids such a script
    unfold = "for (const one of document.querySelectorAll('details')) one.open = true;"
    tell = f"(async () => {{ {unfold} top.document.title = JSON.stringify(await (async () => {{ {script} }})()); }})();"
    inner = escape(html.replace("</body>", f"<script>{tell}</script></body>"))
    frame = f'<title></title><iframe style="border: 0; width: {width}px; height: 800px" srcdoc="{inner}"></iframe>'
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8>{frame}", encoding="utf-8")
    run = browse(folder, page, "--virtual-time-budget=5000", "--dump-dom")
    return json.loads(unescape(re.findall(r"<title>(.*?)</title>", run.stdout)[0]))


LONG_WORDS = ["x" * 300, "gpu-" + "1" * 200, "kubectl get nodes -o jsonpath={.items[*].metadata.annotations} " * 4]


@pytest.mark.parametrize("words", [[], LONG_WORDS], ids=["whole", "long"])
def test_nothing_is_wider_than_a_small_phone_but_pictures(tmp_path: Path, words: list[str]) -> None:
    report = msgspec.convert(replaced(msgspec.to_builtins(WHOLE), iter((words * 400)[:1000])), Report) if words else WHOLE
    wide = measured(
        tmp_path,
        report,
        """return [innerWidth, document.documentElement.scrollWidth, [...document.body.querySelectorAll("*")].filter(
             one => !one.closest("figure") && (one.getBoundingClientRect().right > innerWidth || one.scrollWidth > one.clientWidth + 1
               && one.clientWidth)).map(one => `${one.tagName}.${one.className}`)];""",
        width=360,
    )
    assert wide == [360, 360, []]


def test_every_command_is_copied_by_its_button_and_selected_as_a_whole_by_a_click(tmp_path: Path) -> None:
    said = measured(
        tmp_path,
        WHOLE,
        """const blocks = [...document.querySelectorAll("pre.command")], button = blocks[0].previousElementSibling;
           button.click(); await new Promise(done => setTimeout(done, 1000));
           return {buttons: document.querySelectorAll("button").length, blocks: blocks.length, first: blocks[0].textContent,
             select: getComputedStyle(blocks[0]).userSelect, selected: getSelection().toString(), now: button.textContent,
             high: button.getBoundingClientRect().height};""",
        width=360,
    )
    assert said["buttons"] == said["blocks"] > 5
    assert (said["select"], said["selected"]) == ("all", said["first"])
    assert said["now"] in ("Copied", "Selected")
    assert said["high"] >= 24  # a finger hits it: WCAG 2.2, target size
    page = render(WHOLE, "html")
    for argv in (DRAIN.run, DRAIN.undo, DRAIN.verify, ["kubectl", "get", "quota"]):
        assert f'<pre class="command" tabindex="0"><code>{" ".join(argv)}</code></pre>' in page
