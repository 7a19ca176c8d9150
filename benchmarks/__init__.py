"""What we promise about speed, as programs that print ratios. Never tests: a number depends on the machine, a ratio hardly does."""
