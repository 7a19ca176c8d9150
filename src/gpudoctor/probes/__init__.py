"""The seam to the outside world, and everything that crosses it."""
