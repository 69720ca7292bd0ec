"""Learning algorithms, one file each, independent of the training loop."""
