"""trec_eval's command line, measures and output, for versions 9.0 and 10.0; the values come from our own measures."""
