"""What the tools of a machine print as single numbers → measures."""

from __future__ import annotations

from gpudoctor.tools.common import measures
from gpudoctor.tools.linux.checksums import unlike_copies
from gpudoctor.tools.linux.machine_load import machine_load
from gpudoctor.tools.linux.memory_sensors import memory_heat
from gpudoctor.tools.linux.stuck_calls import stuck_calls

READERS = (machine_load, stuck_calls, memory_heat, unlike_copies)
numbers = measures.parser(READERS)
