"""What strangers send: received in steps, unpacked and read in a limited child process, kept in one form.

An upload is one stream of bytes. Nothing in it can name another file, a dataset, an address or code.
"""
