"""Child processes and shared memory for parallel simulation and recording."""
