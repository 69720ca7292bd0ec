"""Child processes, and memory that they share."""
