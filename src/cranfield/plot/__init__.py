"""Pictures: results, comparisons and curves in, an Altair chart out."""
