"""Judging in the database: who gets which document, what they said of it, and what that comes to."""
