"""The processes of a distributed job: which of them wrote a line of a log."""
