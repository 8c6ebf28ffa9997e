"""How far rankings agree: the documents of two runs, the order of systems, a reproduction and its original."""
