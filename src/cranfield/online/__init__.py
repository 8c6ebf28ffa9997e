"""Online: what users of a running system do."""
