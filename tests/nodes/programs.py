"""A machine's programs, made of what they answer: a file for each answer, and for each program a script for `sh` that prints them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from tests.nodes.case import Said

ABSENT = 'echo "{program}: No such file or directory" >&2; exit 1'  # what isn't among the answers of a program


def scripts(answers: Mapping[str, str | Said], files: Path) -> dict[str, str]:
    """Program → the body of its script. `answers` are those of a `Case`: command line → text, `gpu-02: dmesg` for one machine alone.

    A script knows by $GPU_HOST which machine it is. The texts are written to `files`.
    """
    branches: dict[str, list[str]] = {}
    for number, (line, answer) in enumerate(answers.items()):
        host, _, words = line.rpartition(": ")
        program, _, arguments = words.partition(" ")
        said = answer if isinstance(answer, Said) else Said(answer)
        file = files / f"answer-{number}"
        file.write_bytes(said.stdout.encode(errors="surrogateescape"))
        pattern = f'{shlex.quote(host) if host else "*"}": "{shlex.quote(" ".join(shlex.split(arguments)))}'
        branches.setdefault(program, []).append(f"{pattern}) {does(said, file)} ;;")
    return {
        program: "\n".join(['case "$GPU_HOST: $*" in', *lines, "esac", ABSENT.format(program=program)])
        for program, lines in branches.items()
    }


def does(said: Said, file: Path) -> str:
    """What a program does that says this: it prints, and leaves, or is ended by a signal (128+n), or stays for ever."""
    prints = f"/bin/cat {shlex.quote(str(file))}; " if said.stdout else ""
    complains = f"echo {shlex.quote(said.stderr.rstrip())} >&2; " if said.stderr else ""
    if said.failure == "timeout":
        return f"{complains}{prints}exec /bin/sleep 60"
    return f"{complains}{prints}" + (f"kill -{said.exit - 128} $$" if said.exit > 128 else f"exit {said.exit}")


def install(answers: Mapping[str, str | Said], folder: Path) -> None:
    """Make the folder with a machine's programs."""
    folder.mkdir(parents=True)
    files = folder / "answers"
    files.mkdir()
    for program, body in scripts(answers, files).items():
        path = folder / program
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
