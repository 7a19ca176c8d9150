"""`gpudoctor analyze`: the facts in outputs that somebody already has. No step runs and nothing is asked."""
