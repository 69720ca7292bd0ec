"""Learning algorithms, one file each. They do not know the training loop."""
