"""All that is declared in YAML, compiled: the runbooks, the catalogue, the known messages, the Xids, the variables of a job.

Importing it gives the compiled forms to `knowledge`, whose modules know nothing of YAML and of this package.
"""

from __future__ import annotations

from gpudoctor.knowledge import compiled
from gpudoctor.library import index

compiled.give(index)
