"""Child processes, and shared memory."""
