"""What we promise about speed, as programs that print ratios. Never tests: a number depends on the machine, a ratio hardly does."""

import gpudoctor.library  # noqa: F401 - it gives what was compiled to those who read it
