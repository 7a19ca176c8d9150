"""`dcgmi diag`, as a table and as JSON: what each test says of each GPU, and the errors.

DCGM 2 and 3 write one row a test (`Pass - All`, `Fail - GPUs: 1, 3`) and errors under it as `Warning`, those of Deployment as `Error`.
DCGM 4 adds a row for each entity (`GPU3: Fail`) and says whose warning it is. Sentences are cut after 45 characters, also within a word.
The JSON has no published schema: everything that has `tests` is a category, whatever is around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.dcgm import DcgmError, DcgmTest
from gpudoctor.knowledge.dcgm_errors import SEVERITIES
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.dcgm.boxes import Row, as_list, box_rows, decode_json, gpu_name, not_read, number, objects, problem
from gpudoctor.tools.dcgm.report import error

WIDTH = 45  # characters of a sentence in one row: DATA_INFO_TAG_LEN in dcgmi/Diag.cpp
STATUSES = {"pass": "pass", "fail": "fail", "warn": "warn", "warning": "warn", "skip": "skip", "skipped": "skip", "not run": "not_run"}
CATEGORIES = ("Deployment", "Hardware", "Integration", "Stress")
ORDER = ("", "not_run", "skip", "pass", "warn", "fail")
# Pass  |  Pass - All  |  Fail - GPU: 3  |  Skip - GPUs: 0, 1  |  GPU3: Fail
STATUS = regex(r"(?:([A-Za-z_]{1,20}?) ?(\d{1,4}): )?(Pass|Fail|Warn|Skip|Not Run)(?: - (?:All|GPUs?: ([\d, ]{1,200})))?\s*\Z")
# the same with a word that no release had so far
ANY_STATUS = regex(r"(?:([A-Za-z_]{1,20}?) ?(\d{1,4}): )?([A-Z][A-Za-z ]{1,24}?)(?: - (?:All|GPUs?: ([\d, ]{1,200})))?\s*\Z")
# Warning  |  Error  |  Info  |  Warning: GPU3
SENTENCE = regex(r"(Warning|Error|Info)(?:: ([A-Za-z_]{1,20}?) ?(\d{1,4}))?\s*\Z")


class Said:
    """An error or remark while its rows are put together again."""

    def __init__(self, row: Row, kind: str, entity: str, index: int | None, test: int | None) -> None:
        self.row, self.kind, self.entity, self.index, self.test = row, kind, entity, index, test
        self.pieces = [piece(row)]

    @property
    def text(self) -> str:
        """The sentence."""
        return " ".join("".join(self.pieces).split())


def piece(row: Row) -> str:
    """What a row has of a sentence, with the spaces at its ends; all of it where somebody has broken the sentence otherwise."""
    return f"{row.right.strip()} " if row.right[WIDTH:].strip() else row.right[:WIDTH]


def diag(output: Output, about: Subject) -> Facts:
    """The tests and their errors; a record with a `problem` where dcgmi says why there are none."""
    tree = decode_json(output)
    tests, errors = of_tree(tree, output, about) if tree is not None else of_table(output, about)
    if tests or errors:
        return {"dcgm_tests": [*tests], "dcgm_errors": [*errors]}
    word, origin = refusal(tree, output)
    if not word:
        raise not_read(output, "an answer of `dcgmi diag`")
    return {"dcgm_tests": [DcgmTest(node=about.node, problem=word, text=origin.text, origin=origin)]}


def refusal(tree: Any, output: Output) -> tuple[str, Origin]:
    """Why there are no results."""
    for holder in objects(tree, "runtime_error"):
        said = str(holder["runtime_error"])[:1000].strip()
        word, _ = problem(msgspec.structs.replace(output, pages=(said.encode("utf-8", "replace"),)))
        return word or "other", Origin(output.origin_name(), 0, said)
    return problem(output)


def of_table(output: Output, about: Subject) -> tuple[list[DcgmTest], list[DcgmError]]:
    """The tests and errors of the table."""
    tests: list[DcgmTest] = []
    said: list[Said] = []
    category, current = "", -1
    speaking = False
    for row in box_rows(output):
        left, right = row.left.strip(), row.right.strip()
        status = STATUS.match(right) or ((left or not speaking) and category in CATEGORIES and ANY_STATUS.match(right)) or None
        if row.section:
            category, current, speaking = row.section.split(" ")[0], -1, False
        elif heading := SENTENCE.match(left):
            entity, index = heading.group(2) or "", number(heading.group(3))
            said.append(Said(row, heading.group(1), entity, index, current if current >= 0 else None))
            speaking = True
        elif status and (left or current >= 0) and category in ("", *CATEGORIES):
            if left:
                current = len(tests)
            name = left or tests[current].test
            tests += [*of_status(status, name, category, row, output, about)]
            speaking = False
        elif right and category in CATEGORIES and (left or (current >= 0 and not speaking)):  # in no form that is known to mean well
            name = short_name(left) or tests[current].test
            current = len(tests) if left else current
            tests.append(DcgmTest(node=about.node, test=name, category=category, status=right.lower()[:40], origin=row.origin(output)))
            speaking = False
        elif not left and speaking:
            said[-1].pieces.append(piece(row))
        else:
            speaking = False
    errors = [made for one in said if one.kind != "Info" and one.text and (made := of_said(one, tests, output, about))]
    # A test's own row only sums up those of its entities, unless it says what none of them says.
    apart = {(test.test, test.status) for test in tests if test.index is not None}
    several = {name for name, _ in apart}
    first = {key: one for one in reversed(errors) for key in ((one.where, None), (one.where, one.index))}
    return [with_error(test, first) for test in tests if test.index is not None or own_row(test, several, apart)], errors


def of_status(match: re.Match[str], name: str, category: str, row: Row, output: Output, about: Subject) -> Iterator[DcgmTest]:
    """The records of one row: of the entity that it names, of each GPU that it lists, or of all."""
    entity, index, word, among = match.groups()
    indexes: list[int | None] = [number(one) for one in among.split(",") if one.strip()] if among else [number(index)]
    for one in indexes:
        named = entity or ("GPU" if one is not None else "")
        yield DcgmTest(
            node=about.node,
            gpu=gpu_name(named, one),
            index=one,
            test=short_name(name),
            category=category,
            status=status_of(word),
            origin=row.origin(output, f"{name}: {match.group(0).strip()}"),
        )


def status_of(word: str) -> str:
    """A status in our word, or one that nobody here knows as it stands.

    >>> status_of("Not Run"), status_of("Aborted")
    ('not_run', 'aborted')
    """
    lower = word.strip().lower()
    return STATUSES.get(lower, lower.replace(" ", "_")[:40])


def short_name(name: str) -> str:
    """A test's name as DCGM 4 and its command line write it.

    >>> short_name("Targeted Power"), short_name("software"), short_name("Page Retirement/Row Remap")
    ('targeted_power', 'software', 'page_retirement/row_remap')
    """
    return name.strip().lower().replace(" ", "_")[:60]


def of_said(said: Said, tests: list[DcgmTest], output: Output, about: Subject) -> DcgmError:
    """The error of a sentence under a test; without a GPU of its own it is of the only one that failed the test."""
    test = tests[said.test] if said.test is not None else None
    entity, index, status = said.entity, said.index, test.status if test else "fail"
    if test is not None:
        of_test = [one for one in tests[said.test : said.test + 64] if one.test == test.test]  # type: ignore[operator]
        failed = [one for one in of_test if one.status == "fail" and one.index is not None]
        status = max((one.status for one in of_test if index in (None, one.index)), key=rank, default=status)
        if index is None and len(failed) == 1 and not re.search(r"\bGPU \d", said.text):
            entity, index = "GPU", failed[0].index
    return error("diag", test.test if test else "", status, entity, index, said.text, said.row.origin(output), about)


def own_row(test: DcgmTest, several: set[str], apart: set[tuple[str, str]]) -> bool:
    """Whether the row of a test says more than those of its entities; `Fail` or `Pass` of some is that of the whole."""
    return test.test not in several or not (test.status in ORDER or (test.test, test.status) in apart)


def rank(status: str) -> int:
    """How bad a status is; a word that nobody knows is no better than a warning."""
    return ORDER.index(status if status in ORDER else "warn")


def with_error(test: DcgmTest, first: dict[tuple[str, int | None], DcgmError]) -> DcgmTest:
    """A failed test with what its first error says."""
    one = first.get((test.test, test.index)) or first.get((test.test, None))
    fits = one is not None and test.status in ("fail", "warn") and (test.index is None or one.index in (None, test.index))
    return fill_error(test, one) if one is not None and fits else test


def fill_error(test: DcgmTest, first: DcgmError) -> DcgmTest:
    """Return a test with the text and code of its error."""
    return msgspec.structs.replace(test, text=first.text, code=first.code, error=first.error, severity=first.severity)


def of_tree(tree: Any, output: Output, about: Subject) -> tuple[list[DcgmTest], list[DcgmError]]:
    """The tests and errors of the JSON of DCGM 2, 3 and 4, of one run or of several iterations."""
    tests: list[DcgmTest] = []
    errors: list[DcgmError] = []
    for holder in objects(tree, "tests"):
        category = str(holder.get("category", ""))[:40]
        for test in as_list(holder["tests"]):
            if not isinstance(test, dict):
                continue
            name = short_name(str(test.get("name", "")))
            results = [one for one in as_list(test.get("results")) if isinstance(one, dict)]
            summary = test.get("test_summary")
            known: set[str] = set()
            for one in results:
                tests += [*of_result(one, name, category, output, about, errors, known)]
            if isinstance(summary, dict):  # it repeats the errors of the entities and has those of none
                alone = [*of_result(summary, name, category, output, about, errors, known)]
                tests += alone if not results else []
    return tests, errors


def of_result(
    result: dict[str, Any], name: str, category: str, output: Output, about: Subject, errors: list[DcgmError], known: set[str]
) -> Iterator[DcgmTest]:
    """The records of one result, for each GPU that it names; its errors are added to `errors` unless they are `known`."""
    status = status_of(str(result.get("status", "")))
    given = result.get("entity_id", result.get("gpu_id"))
    ids = str(result["gpu_ids"]).split(",")[:64] if "gpu_ids" in result else as_list(given)[:64]
    entity = str(result.get("entity_group", "GPU" if ids else ""))[:20]
    indexes = [number(one) for one in ids] or [None]
    own: list[DcgmError] = []
    for warning in [*as_list(result.get("warnings")), *as_list(result.get("warning"))]:
        text, code, severity = of_warning(warning)
        if text and text not in known:
            known.add(text)
            place = Origin(output.origin_name(), 0, f"{name}: {text}"[:1000])
            # In DCGM 3 the deployment tests' results carry the number of the last GPU that has an error: each sentence names its own.
            index = None if re.search(r"\bGPU \d", text) and "gpu_id" in result else indexes[0]
            own.append(error("diag", name, status, entity if index is not None else "", index, text, place, about, code, severity))
    errors += own
    for index in indexes:
        test = DcgmTest(
            node=about.node,
            gpu=gpu_name(entity, index),
            index=index,
            test=name,
            category=category,
            status=status,
            origin=Origin(output.origin_name(), 0, f"{name}: {entity} {index}: {status}" if index is not None else f"{name}: {status}"),
        )
        yield fill_error(test, own[0]) if own and status in ("fail", "warn") else test


def of_warning(warning: Any) -> tuple[str, int | None, str]:
    """Text, code and severity of a warning: an object in DCGM 3 and 4 (`warnings` for `warning` in some tests of 3), a text before."""
    if isinstance(warning, dict):
        text = warning.get("warning", warning.get("warnings", ""))
        severity = SEVERITIES.get(number(warning.get("error_severity")) or 0, "")
        return strip_dcgm_marks(text), number(warning.get("error_id")), severity
    return strip_dcgm_marks(warning), None, ""


def strip_dcgm_marks(text: Any) -> str:
    """A warning without the marks that DCGM itself cuts off when it draws its table."""
    return text.rpartition("***")[2].strip()[:4096] if isinstance(text, str) else ""
