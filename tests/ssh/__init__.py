"""An ssh server on this machine that plays many hosts."""
