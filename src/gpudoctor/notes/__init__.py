"""What people write in their own words and tables. One parser reads it, and all facts of it are `stated`."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {"notes.said": Parser(("gpu_samples",), "said:read")}
