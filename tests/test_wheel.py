"""What people install: source distribution → wheel → a fresh environment, in an empty folder, with nothing of the checkout in reach."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from gpudoctor import __version__
from gpudoctor.cli.scenarios import SCENARIOS

pytestmark = pytest.mark.skipif(find_spec("hatchling") is None, reason="hatchling is not installed, and a build must not need the network")

ROOT = Path(__file__).parents[1]
Run = Callable[..., subprocess.CompletedProcess[str]]


def python(*words: str) -> None:
    """Run this Python with words; what it printed is in the error when it fails."""
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution of this checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    python("-m", "hatchling", "build", "--target", "sdist", "--directory", str(folder))
    return next(folder.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    python("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(folder), str(sdist))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`installed("demo", "taint")` runs the installed gpudoctor. The libraries are this environment's, by a .pth file; gpudoctor is not."""
    home = tmp_path_factory.mktemp("home")
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, with_pip=False, symlinks=True)
    inside = environment / "bin" / "python"
    python("-m", "pip", "--python", str(inside), "install", "--quiet", "--no-deps", "--no-index", str(wheel))
    libraries = sysconfig.get_path("purelib", vars={"base": str(environment), "platbase": str(environment)})
    Path(libraries, "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    def run(*words: str, program: str = "gpudoctor") -> subprocess.CompletedProcess[str]:
        command = [str(environment / "bin" / program), *words]
        clean = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
        return subprocess.run(command, cwd=home, env=clean, capture_output=True, text=True, timeout=60, check=False)

    return run


def test_the_source_distribution_holds_what_a_build_and_the_tests_need(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"hatch_build.py", "LICENSE", "Makefile", "runbooks/diagnose-pod.yaml", "tests/test_wheel.py", "tests/kube/server.py"} <= names
    assert not [name for name in names if name.startswith((".venv", ".git/", "src/gpudoctor/_data"))]


def test_the_wheel_holds_the_compiled_runbooks_their_sources_and_the_demo_and_no_more(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        index = json.loads(archive.read("gpudoctor/_data/index.json"))
    data = [name.removeprefix("gpudoctor/_data/") for name in names if name.startswith("gpudoctor/_data/")]
    assert {"diagnose-pod", "gpu-stack"} <= index["library"]["runbooks"].keys()
    assert index["sources"] == []
    assert {"runbooks/diagnose-pod.yaml", "runbooks/catalogue/scheduling.yaml", "xids.json", "programs.msgpack"} <= set(data)
    assert not [name for name in data if name.endswith(".test.yaml")]
    demos = {name.removeprefix("fixtures/") for name in data if name.startswith("fixtures/")}
    assert {name for name in demos if not name.startswith("answers/")} == {f"{scenario.bundle}.txt" for scenario in SCENARIOS.values()}
    assert "gpudoctor/knowledge/messages/kernel.yaml" in names
    assert {name.split("/")[0] for name in names} == {"gpudoctor", f"gpudoctor-{__version__}.dist-info"}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_it_runs_in_an_empty_folder(installed: Run) -> None:
    assert installed("--version").stdout == f"gpudoctor {__version__}\n"
    assert "diagnose-pod" in installed("list").stdout
    explained = installed("explain", "untolerated-taint")
    assert explained.returncode == 0
    assert "kubectl" in explained.stdout


@pytest.mark.parametrize("program", ["gpudoctor", "kubectl-gpudoctor"])
def test_the_demo_finds_its_problem(installed: Run, program: str) -> None:
    done = installed("demo", "taint", program=program)
    assert (done.returncode, done.stderr) == (1, "")
    assert "untolerated-taint" in done.stdout


def test_every_scenario_is_there(installed: Run) -> None:
    for name in SCENARIOS:
        report = json.loads(installed("demo", name, "--format", "json").stdout)
        assert report["schema"] == "gpudoctor.report/1"
        assert bool(report["findings"]) == (name != "healthy"), name
        assert report["coverage"]["asked"] > 0, name


def test_runbooks_given_by_path_work(installed: Run, tmp_path: Path) -> None:
    book = tmp_path / "mine.yaml"
    book.write_text(
        "schema: 1\nid: mine\ntitle: Nodes\nsteps:\n"
        "  - {id: nodes, title: Read the nodes, run: [kubectl, get, nodes, -o, json], parse: kubernetes.nodes}\n",
        encoding="utf-8",
    )
    assert "kubectl get nodes -o json" in installed("show", str(book)).stdout
    checked = installed("lint", str(book))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    bundle = ROOT / "tests" / "fixtures" / SCENARIOS["taint"].bundle
    done = installed("run", str(book), "--replay", str(bundle), "--format", "json")
    assert json.loads(done.stdout)["runbook"] == "mine"


@pytest.mark.parametrize("words", [("lint",), ("test",), ("schema", "--write")])
def test_what_needs_a_checkout_says_so(installed: Run, words: tuple[str, ...]) -> None:
    done = installed(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "run it in a checkout" in done.stderr
    assert done.stderr.count("\n") == 1
