"""What would settle a check that files leave open."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.analyze.gather import gather
from gpudoctor.engine import deciding_commands
from gpudoctor.facts import FACTS
from gpudoctor.facts.kubernetes import Node, Pod


@pytest.mark.parametrize("kind", sorted(deciding_commands.COMMANDS))
def test_the_commands_name_fields_that_their_records_have(kind: str) -> None:
    fields = set(deciding_commands.FIELD.findall(deciding_commands.COMMANDS[kind]))
    assert fields <= set(FACTS[kind].__struct_fields__)


def test_names_are_words_for_the_shell() -> None:
    (command,) = deciding_commands.commands("pods", [Pod(namespace="", pod="a; rm -rf /")])
    assert command == "kubectl get pod 'a; rm -rf /' -n '<namespace>' -o yaml"
    assert deciding_commands.commands("nodes", [Node(node="--all")]) == ["kubectl get node '<node>' -o yaml"]


def test_a_few_commands_are_enough_and_an_unknown_type_has_none() -> None:
    assert len(deciding_commands.commands("nodes", [Node(node=f"gpu-{number:02d}") for number in range(9)])) == deciding_commands.MOST
    assert deciding_commands.commands("collectives", [Node(node="gpu-01")]) == []


def test_what_a_table_does_not_show_is_asked_for(tmp_path: Path) -> None:
    from gpudoctor.engine.outcomes import of_facts
    from gpudoctor.engine.store import Store
    from gpudoctor.library.index import library

    (tmp_path / "pods.txt").write_text(
        "NAMESPACE   NAME      READY   STATUS    RESTARTS   AGE\nml          train-0   0/1     Pending   0          65m\n"
    )
    store = Store()
    store.put(0, gather([str(tmp_path)]).facts)
    store.close()
    open_ = [one for one in of_facts(library(), store) if one.outcome == "unknown"]
    assert any("kubectl get pod train-0 -n ml -o yaml" in one.settle_with for one in open_)
