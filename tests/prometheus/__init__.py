"""A real Prometheus that scrapes exporters which the test serves: well ones, slow ones, and some that are none."""
