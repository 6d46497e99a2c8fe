"""Evaluators of documents on desktops and phones; files are fetched and read on the host.

They read only saved files, not the state of running applications. A file that is missing, larger
than 32 MiB, reached over a symbolic link, corrupt, encrypted, or of another kind is unmet.
"""
