"""Runs a runbook: steps, the fact store, joins, outcomes, root causes, paired tests."""
