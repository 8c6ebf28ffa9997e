"""Whether the new system is really better for its users: the analysis of a trial, its replay, and its plan."""
