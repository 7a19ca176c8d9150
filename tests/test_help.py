"""What somebody meets who types a command for the first time, or mistypes it. Everything runs as the program that is installed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpudoctor import __version__
from gpudoctor.cli.scenarios import SCENARIOS
from gpudoctor.library import index
from gpudoctor.report import EXIT_CODES

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent

# Commands that end in a verdict show an example and all exit codes; the others say in one line all there is to say.
VERDICTS = [("diagnose", "pod"), ("run",), ("analyze",), ("demo",)]
OTHERS = [("list",), ("show",), ("explain",), ("lint",), ("test",), ("schema",), ("diagnose",)]


def gpudoctor(*words: str, program: str = "gpudoctor", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program in the checkout, with no kubeconfig in reach."""
    clean = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "COLUMNS": "200", "TERM": "dumb"} | environment
    return subprocess.run([BIN / program, *words], capture_output=True, text=True, cwd=ROOT, env=clean, timeout=60, check=False)


def helped(*words: str) -> str:
    """The help of a command, each paragraph in one line; -h is the same."""
    long, short = gpudoctor(*words, "--help"), gpudoctor(*words, "-h")
    assert (long.returncode, long.stderr, long.stdout) == (0, "", short.stdout)
    return "\n".join(" ".join(paragraph.split()) for paragraph in long.stdout.split("\n\n"))


def test_the_help_names_every_command_and_every_exit_code() -> None:
    text = helped()
    listed = {words[0] for words in [*VERDICTS, *OTHERS]}
    assert {name for name in listed if f" {name} " not in text} == set()
    assert "It only reads." in text
    for word, code in EXIT_CODES.items():
        assert f"{code} {word}" in text
    assert re.search(r"2 usage.* 4 consent.* 70 internal.* 130 interrupted", text)


@pytest.mark.parametrize("words", VERDICTS)
def test_commands_that_diagnose_show_an_example_and_the_exit_codes(words: tuple[str, ...]) -> None:
    text = helped(*words)
    assert re.search(rf"^gpudoctor {' '.join(words)} |\| gpudoctor {' '.join(words)} ", text, re.MULTILINE), "no example"
    assert "Exit codes: 0 healthy, 1 problem found" in text


@pytest.mark.parametrize("words", OTHERS)
def test_the_other_commands_say_what_they_do(words: tuple[str, ...]) -> None:
    text = helped(*words)
    sentence = text.split("\n")[1]
    assert sentence.endswith(".")
    assert len(sentence.split()) > 2
    if words[0] in ("lint", "test"):
        assert "Exit code 1 when" in text


def test_examples_in_the_help_name_what_exists() -> None:
    library = index.library()
    text = " ".join(helped(*words) for words in [*VERDICTS, ("explain",)])
    assert set(re.findall(r"gpudoctor demo ([a-z-]+) ", text)) - {"the"} <= SCENARIOS.keys()
    assert set(re.findall(r"gpudoctor run ([a-z][a-z-]+) ", text)) <= library.runbooks.keys()
    assert set(re.findall(r"gpudoctor explain ([a-z-]+) ", text)) <= library.causes.keys()
    for book, name in re.findall(r"gpudoctor run ([a-z][a-z-]+) --set ([a-z_]+)=", text):
        assert name in library.runbooks[book].inputs


def test_no_words_show_the_help() -> None:
    done = gpudoctor()
    assert done.returncode == 2
    assert "Commands:" in done.stdout + done.stderr


def test_version() -> None:
    assert gpudoctor("--version").stdout == f"gpudoctor {__version__}\n"


def test_as_a_plugin_of_kubectl() -> None:
    done = gpudoctor("--help", program="kubectl-gpudoctor")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: kubectl gpudoctor ")
    assert gpudoctor("demo", "taint", program="kubectl-gpudoctor").stdout == gpudoctor("demo", "taint").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_can_be_shown(shell: str) -> None:
    shown = gpudoctor("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert shown.returncode == 0
    assert f"_GPUDOCTOR_COMPLETE=complete_{shell}" in shown.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("gpudoctor dem", "demo"),
        ("gpudoctor demo tai", "taint"),
        ("gpudoctor show diagnose-p", "diagnose-pod"),
        ("gpudoctor explain untolerated-t", "untolerated-taint"),
        ("gpudoctor run --replay tests/fixtures/diagnose-pod/tain", "tests/fixtures/diagnose-pod/taint.txt"),
    ],
)
def test_completion_knows_the_names(typed: str, offered: str) -> None:
    done = gpudoctor(COMP_WORDS=typed, COMP_CWORD=str(len(typed.split()) - 1), _GPUDOCTOR_COMPLETE="complete_bash")
    assert offered in done.stdout.split()


def test_completion_is_silent_where_there_is_no_cluster() -> None:
    done = gpudoctor(COMP_WORDS="gpudoctor diagnose pod tr", COMP_CWORD="3", _GPUDOCTOR_COMPLETE="complete_bash")
    assert (done.stdout.strip(), done.stderr) == ("", "")


TAINT = "tests/fixtures/diagnose-pod/taint"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("diagnos", "No such command 'diagnos'. Did you mean 'diagnose'?"),
        ("run --fromat json", "No such option: --fromat (Possible options: --format)"),
        ("demo tain", "there is no scenario 'tain'; did you mean taint?"),
        ("demo zzz", "there is no scenario 'zzz'; there are lost-gpu"),
        ("run gpu-stak", "there is no runbook 'gpu-stak'; did you mean gpu-stack or gpu-stack-logs or gpu-use?"),
        ("run zzz", "there is no runbook 'zzz'; `gpudoctor list` shows them"),
        ("run", "which runbook? `gpudoctor list` shows them"),
        ("run thermal-throttle", "which nodes? give names such as gpu-[01-16] (`run` takes them as --node NAMES)"),
        ("explain fallen off the bus", "did you mean gpu-fallen-off-bus?"),
        ("show diagnose-pot", "there is no runbook 'diagnose-pot'; did you mean diagnose-pod"),
        ("explain untolerated-tant", "there is no cause 'untolerated-tant'; did you mean untolerated-taint"),
        (f"run diagnose-pod --set nam=x --replay {TAINT}", "unknown input of diagnose-pod 'nam'; did you mean 'name'?"),
        (f"run diagnose-pod --set name --replay {TAINT}", "--set name: the form is name=value"),
        ("demo taint --format jso", "there is no format 'jso'; there are terminal, "),
        ("diagnose pod Foo_x", "'Foo_x' is not a name of a Kubernetes object"),
        ("diagnose pod x -A", "give a name, or a selector or -A, not both"),
        ("diagnose pod x --context prod", "there is no context 'prod'"),
        ("diagnose pod x --kubeconfig nope", "the kubeconfig nope can't be read"),
        ("run --replay nope", "nope is not a bundle"),
        ("analyze nope.txt", "nope.txt is not there"),
        ("analyze", "Missing argument"),
        ("test nope.yaml", "nope.test.yaml is not there"),
    ],
)
def test_what_is_mistyped_gets_one_sentence_and_exit_code_2(words: str, sentence: str) -> None:
    done = gpudoctor(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    last = done.stderr.strip().splitlines()
    assert len([line for line in last if not line.startswith(("Usage:", "Try ")) and line]) == 1


def test_nothing_that_a_terminal_would_obey_comes_back() -> None:
    done = gpudoctor("explain", "\x1b[31mred\x1b[0m")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr


def test_a_command_is_described_in_one_line_of_eighty_columns() -> None:
    commands = gpudoctor("--help", COLUMNS="80").stdout.partition("Commands:")[2]
    assert commands
    assert "..." not in commands


def test_words_of_a_cause_are_its_name() -> None:
    assert gpudoctor("explain", "gpu", "fallen", "off", "bus").stdout == gpudoctor("explain", "gpu-fallen-off-bus").stdout


def test_where_nothing_can_be_read_it_is_said_what_to_do_next(tmp_path: Path) -> None:
    assert "next give --kubeconfig FILE" in " ".join(gpudoctor("diagnose", "pod", "x").stdout.split())
    (tmp_path / "note.txt").write_text("hello")
    done = gpudoctor("analyze", str(tmp_path / "note.txt"))
    assert (done.returncode, "next give whole outputs" in " ".join(done.stdout.split())) == (3, True)
