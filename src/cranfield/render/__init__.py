"""What all tellings share: grids, documents, the JSON form, and the escaping of text."""
