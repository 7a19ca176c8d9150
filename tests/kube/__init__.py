"""A small HTTPS Kubernetes API over recorded objects, run as its own process, and builders for the objects it serves."""
