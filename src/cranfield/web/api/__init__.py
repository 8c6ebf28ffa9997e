"""The same for programs: JSON in and out, tokens instead of cookies."""
