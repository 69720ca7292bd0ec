"""Tasks and robots that ship with mjlab."""
