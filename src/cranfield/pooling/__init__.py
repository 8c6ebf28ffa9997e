"""Pools: which documents to judge, what each run adds to them, and how well ways of choosing them do."""
