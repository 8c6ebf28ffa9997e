"""One page, or paper, of everything about some systems."""
