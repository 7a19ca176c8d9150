"""The suite of faults: what is broken, what must be said, the exit code, and what must not remain. See case.py."""
