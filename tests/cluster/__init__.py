"""`diagnose pod` on a real control plane: its scheduler and its controllers write their own words, its admission refuses for real."""
