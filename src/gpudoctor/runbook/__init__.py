"""What a runbook is: the format, strict loading, lint, conditions, the catalogue."""
