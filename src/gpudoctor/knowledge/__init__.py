"""Data with a source: what the stack is made of, which lines are known, which names may be kept."""
