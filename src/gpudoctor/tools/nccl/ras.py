"""What NCCL's RAS says of a running job: `ncclras [-v]`, `ncclras -f json`, or its port asked directly (src/ras/client_support.cc).

    NCCL version 2.28.9 compiled with CUDA 13.0
    Job summary
    ===========
      Nodes  Processes         GPUs  Processes     GPUs
    (total)   per node  per process    (total)  (total)
          4          8            1         32       32
    Communicators... (2.05s)
    =============
    Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
        #  in group  per comm  per node  per comm  in group
        0         1         4       7-8        32        32   RUNNING  INCOMPLETE
    Errors / Warnings
    #0-0 (cf264af53edbe986) INCOMPLETE
      Missing communicator data from 1 rank
      Rank 21 -- GPU 5 managed by process 3487984 on node 172.16.64.213

A communicator that something is wrong with is named by its hash, which NCCL's log calls commId; the others are counted. A rank's number is
that in the communicator: it is the rank of the job where the communicator has all GPUs of the job. Nodes are addresses. The counts are of
operations launched, and RAS asks the ranks one after another: a difference means something when it is the same the next time, so they are
`launched` and no more.
"""

from __future__ import annotations

from gpudoctor.facts import Facts, Subject
from gpudoctor.probes.base import Output
from gpudoctor.tools.nccl.ras_answer import MOST_LINES, Answer
from gpudoctor.tools.parser import LINE, ParseError


def status(output: Output, about: Subject) -> Facts:
    """Its ranks, communicators and counts of operations. A client that reached nobody raises ParseError with its own words."""
    text = output.text
    if text.lstrip()[:1] == "{":
        from gpudoctor.tools.nccl.ras_json import job

        return job(output, Answer(output))
    if "Communicators..." not in text and "Job summary" not in text:
        said = text.strip() or output.stderr.decode("utf-8", "replace").strip()
        raise ParseError(f"{output.origin_name()}: not an answer of NCCL's RAS: {said[:200] or 'it is empty'}")
    answer = Answer(output)
    for number, line in enumerate(text.split("\n")[:MOST_LINES], 1):
        answer.read(number, line[:LINE].rstrip("\r"))
    return answer.facts()
