"""What did not happen to anybody: what was meant to (a test that wants to be refused, and says so in the same line, shows that a rule
works), and what is only written about: in a condition, an option's help, a line of source code."""

from __future__ import annotations

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.kubernetes import Message
from gpudoctor.patterns import regex
from gpudoctor.tools.common.messages import errors

KINDS = ("messages", "schedule_reasons", "endings")
# taint_test.go:44: pod "cpu-0" stays Pending as expected: 0/3 nodes …  |  got expected error: pods "gpu-3" is forbidden: exceeded quota …
# ok 3 pod with 9 GPUs stays pending (0/2 nodes are available: …)  |  --- PASS: TestQuota (0/2 nodes …)  |  negative test: no GPU requested
# error when creating "invalid-trainjob.yaml": admission webhook …
MEANT = regex(
    r"(?i)(?<!not )\bas (?:expected|intended|designed)\b|\bexpected (?:error|failure|refusal|rejection|denial)\b"
    r"|\bexpecting (?:\w+ ){0,6}(?:to (?:fail|refuse|reject|deny)|error|failure)\b|\b(?:negative test|on purpose|deliberately)\b"
    r"|error when creating \"[^\"]*\b(?:invalid|bad|negative|deny|denied|over-?quota|should-(?:fail|not)\w*)\b"
    r"|^\W{0,8}(?:ok \d+ |PASS(?:ED)?\b|--- PASS:|\u2705|\u2713|\u2714)"
)
DENIED = regex(r"(?i)\bunexpected|(?:\bnot|n't)(?: \w+){0,2} as expected|\bFAIL(?:ED)?:")

# If you see `checkpoint is corrupted` errors, delete …  |  If you encounter an error like "…"
#   --oom                 provoke CUDA out of memory
# // MinMember: if there are not enough resources …  |  klog.Infof("Could not register device plugin: %s", err)  |  return fmt.Errorf("…
# command: ["bash", "-c", "python fit.py || echo 'CUDA error: …'"]
WRITTEN = regex(
    r"(?i)^\W{0,8}(?:if|when(?:ever)?|should) you (?:see|encounter|get|hit|receive|run into)\b"
    r"|^\s*(?:-\w, ?)?-{1,2}[a-z][\w-]{0,40}(?:[ =]\S{1,30})? {2,}\S"
    r"|^\s*// |^\s*(?:return )?(?:k?log|glog|slog|fmt|errors)\.[A-Z]\w+\(.*\"|^\s*(?:- )?(?:command|args): *\["
)


def without_expected(facts: Facts) -> Facts:
    """The facts without messages and scheduler's reasons in whose line somebody says that they were wanted, or only writes of them."""
    return {kind: [fact for fact in records if not is_expected(fact)] if kind in KINDS else records for kind, records in facts.items()}


def is_expected(fact: Fact) -> bool:
    """Tell whether the line of a record says that this was meant to happen, or might.

    >>> from gpudoctor.facts import Origin
    >>> lines = ["ok 3 stays pending: 0/2 nodes", "refused, as expected: 0/2 nodes", "does not work as expected: 0/2 nodes"]
    >>> [is_expected(Fact(origin=Origin("a", 1, line))) for line in lines]
    [True, True, False]
    """
    line = fact.origin.text[:2000]
    if isinstance(fact, Message) and fact.name not in errors():  # it excuses others
        return False
    return WRITTEN.search(line) is not None or (MEANT.search(line) is not None and DENIED.search(line) is None)
