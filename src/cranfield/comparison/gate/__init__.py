"""May a candidate replace the baseline? Pass, fail or cannot tell, with the reasons."""
