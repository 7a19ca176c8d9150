"""A pasted text is taken apart: objects among words, and the answers of several hosts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.intake import embedded_objects, hosts
from gpudoctor.intake.split import split

SHARED = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: plugin-shares
  namespace: gpu
data:
  half: |-
    version: v1
    {flags}sharing:
      timeSlicing:
        resources:
        - name: nvidia.com/gpu
          replicas: 6
"""
PLAIN = SHARED.format(flags="")


def test_pieces_cover_the_text() -> None:
    lines = f"words\n{PLAIN}more: words\nNote: this\n{PLAIN}{PLAIN}end".split("\n")
    found = [*embedded_objects.split_at_objects(lines)]
    assert [start for start, _, _ in found[1:]] == [end for _, end, _ in found[:-1]]
    assert (found[0][0], found[-1][1]) == (0, len(lines))
    assert sum(is_object for _, _, is_object in found) == 3


def test_one_object_is_not_cut() -> None:
    lines = f"# a comment\n\n{PLAIN}".split("\n")
    assert [*embedded_objects.split_at_objects(lines)] == [(0, len(lines), True)]


def test_json_among_words() -> None:
    lines = ["our node:", "{", '  "kind": "Node",', '  "metadata": {', '    "name": "lab-3"', "  }", "}", "what now?"]
    assert [*embedded_objects.split_at_objects(lines)] == [(0, 1, False), (1, 7, True), (7, 8, False)]


@pytest.mark.parametrize("text", ["kind: x\n" * 20_000, "apiVersion: v1\n" + " a\n" * 50_000, "{\n" * 20_000, '{\n"kind": 1\n' * 5_000])
def test_hostile_lines_end(text: str) -> None:
    lines = text.split("\n")
    found = [*embedded_objects.split_at_objects(lines)]
    assert found[-1][1] == len(lines)


@given(st.text(alphabet="abn0123:-[](),|=# \n\t", max_size=400), st.sampled_from(["", "pdsh -w a uname", "for h in a; do ssh $h x; done"]))
@settings(max_examples=60)
def test_parts_keep_every_host_apart(text: str, command: str) -> None:
    """Whatever stands there: no error, no line that wasn't there, and two hosts at least where there are parts."""
    parts = hosts.by_hosts(text, command)
    assert not parts or len({host for _, _, host in parts if host}) > 1
    assert all(line.strip() in text for _, lines, _ in parts for line in lines)


def test_prompts_of_two_hosts_name_their_answers() -> None:
    """One host's prompts name nothing, those of two do; what speaks of the cluster is nobody's."""
    one = "gpu-1:~$ uname -r\n6.8.0-51-generic\n"
    assert {section.about.node for section in split("a.txt", one)} == {""}
    two = one + "gpu-2:~$ uname -r\n6.8.0-60-generic\ngpu-2:~$ kubectl get nodes\nNAME STATUS\n"
    assert [section.about.node for section in split("a.txt", two)] == ["gpu-1", "gpu-2", ""]
