"""What servers of models and load tests print as single numbers → measures."""

from __future__ import annotations

from gpudoctor.tools.common import measures
from gpudoctor.tools.serving.histograms import quantiles
from gpudoctor.tools.serving.load_tests import load_tests
from gpudoctor.tools.serving.server_load import server_load

READERS = (load_tests, server_load, quantiles)
numbers = measures.parser(READERS)
