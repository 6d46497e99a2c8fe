"""Evaluators of documents on desktops and phones; files are fetched and read on the host.

They read saved files only, never what an application has in memory. A file that is missing, larger
than 32 MiB, reached over a symbolic link, broken, encrypted, or of another kind is unmet.
"""
