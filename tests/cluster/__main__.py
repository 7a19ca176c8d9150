"""`python -m tests.cluster [WORDS…]`: the scenarios whose names have the words, and a table. `--serve DIR` keeps a cluster running."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from tests.cluster import fixes
from tests.cluster.api import Refused
from tests.cluster.control_plane import ControlPlane, missing
from tests.cluster.fits import Proof, proofs
from tests.cluster.scenario import Answer, Setting, Stage, answers, settings
from tests.cluster.stand import load


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster")
    parser.add_argument("words", nargs="*", help="run only settings or cases with these words")
    parser.add_argument("--serve", type=Path, help="load the cluster, keep it in this folder, and wait")
    parser.add_argument("--no-fits", action="store_true", help="do not try what the nearest fit proposes")
    parser.add_argument("--show", action="store_true", help="print what was found")
    given = parser.parse_args()
    if gone := missing():
        print(f"not built: {', '.join(gone)}; make cluster-test builds them", file=sys.stderr)
        return 2
    folder = given.serve or Path(tempfile.mkdtemp(prefix="gpudoctor-cluster-"))
    folder.mkdir(parents=True, exist_ok=True)
    plane = ControlPlane(folder)
    try:
        load(plane.api)
        if given.serve:
            print(f"export KUBECONFIG={folder}/admin.kubeconfig", flush=True)
            signal.sigwait({signal.SIGINT, signal.SIGTERM})
            return 0
        return played(plane, [one for one in settings() if matches(one, given.words)], fits=not given.no_fits, show=given.show)
    finally:
        plane.stop()
        if not given.serve:
            shutil.rmtree(folder)


def matches(setting: Setting, words: list[str]) -> bool:
    """Whether all words are in the name of the setting or of one of its cases."""
    text = " ".join([setting.setting, *(case.name for case in setting.cases)]).lower()
    return all(word.lower() in text for word in words)


def played(plane: ControlPlane, chosen: list[Setting], *, fits: bool, show: bool) -> int:
    """Play the settings, one line per case; 1 where one is wrong."""
    right = total = held = tried = refused = 0
    seconds: list[float] = []
    given: list[Answer]
    tries: dict[str, list[Proof]]
    for setting in chosen:
        print(f"--- {setting.setting}", flush=True)
        given, tries = [], {}
        try:
            with Stage(plane, setting) as stage:
                given = [*answers(stage)]
                for problem in fixes.tried(stage, given) if fits else ():
                    print(f"FIX  {problem}")
                    refused += 1
                tries = {one.case.name: proved for one, proved in proofs(stage, given)} if fits else {}
        except (OSError, TimeoutError, Refused, AssertionError) as problem:
            print(f"BAD  it could not be played to its end: {problem}")
            total += 1
        for one in given:
            proved = tries.get(one.case.name, [])
            good = sum(not each.wrong for each in proved)
            right, total, held, tried = right + (not one.wrong), total + 1, held + good, tried + len(proved)
            seconds.append(one.seconds)
            print(f"{'ok  ' if not one.wrong else 'BAD '} {one.seconds:4.2f} s  {good}/{len(proved)}  {one.case.name}", flush=True)
            if one.wrong:
                print(f"       {one.wrong}")
            for each in proved:
                if each.wrong or show:
                    print(f"       {'fit' if not each.wrong else 'FIT'} {each.change}: {each.what}: {each.wrong or 'placed'}")
            if show or one.wrong:
                for found in one.report.findings:
                    print(f"       {found.confidence} {found.cause} {found.subject.name}: {found.title}")
                for maybe in one.report.candidates:
                    print(f"       possible {maybe.cause} {maybe.subject.name}: {maybe.why}")
    middle = sorted(seconds)[len(seconds) // 2] if seconds else 0.0
    times = f"{middle:.2f} s in the middle, {max(seconds, default=0.0):.2f} s at most"
    print(f"{right} of {total} right; {held} of {tried} proposals hold; {refused} fixes refused; {times}")
    return int(right < total or held < tried or refused > 0)


if __name__ == "__main__":
    sys.exit(main())
