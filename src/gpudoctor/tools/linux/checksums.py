"""Checksums of one file on several machines, as `md5sum` and its like print them; source: md5sum(1).

6cd3556deb0da54bca060b4c39479839  /etc/munge/munge.key
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.common.measures import Line, Reading

SUM = regex(r"(?:^|:\s)([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})  ?\*?(/\S{1,200})\s*$")


def unlike_copies(lines: Sequence[Line]) -> Iterator[Reading]:
    """Files of which two machines and more have a checksum, and not the same one: how many there are."""
    sums: dict[str, dict[str, Line]] = defaultdict(dict)
    for number, text in lines:
        if "/" in text and (match := SUM.search(text)):
            sums[match[2]].setdefault(match[1], (number, text))
    for path, versions in sums.items():
        if len(versions) > 1:
            yield Reading("file_versions", float(len(versions)), [*versions.values()][-1], label=path)
