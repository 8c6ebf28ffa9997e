"""What users of a running system do, and whether a new one is really better for them."""
