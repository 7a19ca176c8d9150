"""What is fed: every parser of the table, every recogniser with what reads for it, and all of `analyze`."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from gpudoctor.analyze.gather import gather
from gpudoctor.cli.xid import parse_xid as xid_line
from gpudoctor.engine.diagnose import analyze
from gpudoctor.facts import Subject
from gpudoctor.intake.forms import FORMS, reader
from gpudoctor.intake.hints import Hint
from gpudoctor.intake.recognise import recognise
from gpudoctor.intake.split import clean, split
from gpudoctor.library.index import library
from gpudoctor.probes import transcript
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import PARSERS, load
from gpudoctor.reporters import render
from gpudoctor.tools.parser import ParseError
from tests.fixture_files import cases
from tests.flight import pickled, waiting
from tests.parser_samples import SAMPLES

NOW = 1_772_366_400.0
SOURCE = "answer.txt"
SMALL = 6000  # bytes of a recorded answer that is a seed
FIXTURES = Path(__file__).parent.parent / "fixtures"
CORPUS = Path(__file__).parent / "corpus"
OURS = "/gpudoctor/"
BUG = "bug of gpudoctor"

Target = Callable[[bytes], None]


class Refused(AssertionError):
    """Something other than an exception that must not be."""


def parser(name: str, data: bytes) -> None:
    """A parser may refuse a text, naming its source, and raises nothing else."""
    output = Output(Command(("cat", "file"), host="gpu-07"), pages=(data,), time=NOW, source=SOURCE)
    try:
        load(name)([output] if PARSERS[name].streams else output, Subject(kind="node", node="gpu-07"))  # type: ignore[arg-type]
    except ParseError as error:
        if SOURCE not in str(error):
            raise Refused("a ParseError doesn't name its source") from error


def form(name: str, data: bytes) -> None:
    """What reads for a recogniser, whether it would have been chosen or not."""
    one = next(one for one in FORMS if one.name == name)
    try:
        reader(one)(Output(Command(()), pages=(data,), time=NOW, source=SOURCE), Subject(kind="cluster"))
    except ParseError:
        return


def sections(data: bytes) -> None:
    """Cut, recognised, and read by whatever was chosen."""
    for section in split(SOURCE, clean(data)):
        hint = Hint()
        for one in recognise(section.text, hint):
            try:
                reader(one)(Output(Command(()), pages=(section.text.encode("utf-8", "replace"),), time=NOW, source=SOURCE), hint.about)
            except ParseError:
                continue


def whole(data: bytes) -> None:
    """From a file to the report on the screen."""
    with TemporaryDirectory(dir=shared()) as folder:
        path = Path(folder, "answer.txt")
        path.write_bytes(data)
        gathered = gather([str(path)])
    report = analyze(library(), gathered.facts, gathered.inputs, gathered.now)
    texts = [render(report, "terminal"), render(report, "json")]
    said = [missing.why.partition(": ")[2] for missing in report.coverage.missing if BUG in missing.why]
    if said:
        raise Refused(said[0])
    for text in texts:
        text.encode()


def line(data: bytes) -> None:
    """A pasted line of `gpudoctor xid`."""
    xid_line(data.decode("utf-8", "replace"))


@cache
def shared() -> str | None:
    """A folder in memory, where there is one."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


@cache
def targets() -> dict[str, Target]:
    """Name → what is fed. A name is the first part of a corpus file's name."""
    own = [one.name for one in FORMS if one.name not in PARSERS]
    return {
        **{f"parser.{name}": partial(parser, name) for name in PARSERS},
        **{f"form.{name}": partial(form, name) for name in own},
        "sections": sections,
        "whole": whole,
        "xid": line,
    }


@cache
def recorded() -> list[bytes]:
    """Small answers of recorded bundles, each text once: one in seven, so that reading them is quick."""
    texts = {page for path in cases()[::7] for page in transcript.load(path)[1].values() if len(page) < SMALL}
    return sorted(texts, key=lambda text: (len(text), text))


@cache
def seeds(target: str) -> list[bytes]:
    """The texts that a target's inputs are made of."""
    name = target.removeprefix("parser.")
    own = [SAMPLES[name].encode()] if name in SAMPLES else [*(text.encode() for text in SAMPLES.values()), *recorded()]
    if name == "torch.flight_recorder":
        own = [*own, pickled(waiting(3)), pickled(waiting(2, operation="broadcast"))]
    return own + [path.read_bytes() for path in corpus() if path.name.startswith(f"{target}--")]


@cache
def others() -> list[bytes]:
    """What pieces are taken from."""
    return [text.encode() for text in SAMPLES.values()]


def corpus() -> list[Path]:
    """The inputs that once found something, and are tried first for ever."""
    return sorted(CORPUS.glob("*"))


def place(error: BaseException) -> str:
    """Where an exception comes from: its type and the innermost line of ours, by which findings are told apart."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if OURS in frame.filename]
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    return f"{type(error).__name__} at {where}: {str(error)[:160]}" if isinstance(error, Refused) else f"{type(error).__name__} at {where}"
