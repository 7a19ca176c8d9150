"""What the tools of a GPU cluster print: a package for each, with how its answers are recognised, how they are read, and what they fill."""
