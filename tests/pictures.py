"""`make pictures`: the terminal and the HTML report of a demo as pictures for the README, made from real runs.

The report needs a Chromium; without one its picture stays as it is.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tests.test_screen import COLUMNS, VERDICT
from tests.test_terminal_session import SGR, session

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
DEMO = "lost-gpu"
SIZE = 900, 1000  # pixels of the report
# The style sheet of rich names fonts of a network; the reader's own monospaced one does as well.
FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


def main() -> int:
    """Make both pictures."""
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / "terminal.svg").write_text(terminal(), encoding="utf-8")
    chromium = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), "")
    if not chromium:
        print("no chromium: the picture of the report stays as it is", file=sys.stderr)
        return 0
    report(chromium, PICTURES / "report.png")
    return 0


def terminal() -> str:
    """The last screen of the demo as SVG, with its colours."""
    printed = "".join(piece for _, piece in session("demo", DEMO, stderr_too=False).pieces).replace("\r\n", "\n").rstrip("\n")
    lines = printed.split("\n")
    begins = max(number for number, line in enumerate(lines) if VERDICT.match(SGR.sub("", line)))
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi("\n".join(lines[begins:])))
    return FONT_FACE.sub("", console.export_svg(title="gpudoctor diagnose pod train-0 -n ml", unique_id="gpudoctor"))


def report(chromium: str, picture: Path) -> None:
    """The top of the HTML report as PNG."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        subprocess.run([sys.executable, "-m", "gpudoctor", "demo", DEMO, "-o", page], check=False, capture_output=True)
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile")
        window = f"--window-size={SIZE[0]},{SIZE[1]}"
        command = [chromium, *options, window, f"--screenshot={picture}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    sys.exit(main())
