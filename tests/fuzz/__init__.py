"""Files that are damaged by chance, and what a reader has to make of them."""
