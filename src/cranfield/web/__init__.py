"""`cranfield serve`: projects in which people judge documents, in a browser or through the API.

This is a door: it knows the rooms, and nothing but the commands `serve` and `project` knows it.
"""
