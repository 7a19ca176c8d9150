"""The tests."""

import gpudoctor.library  # noqa: F401 - it gives what was compiled to those who read it
