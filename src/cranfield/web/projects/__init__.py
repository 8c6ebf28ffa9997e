"""Projects: what they are made from, how they are made, and the work that goes on behind the pages."""
