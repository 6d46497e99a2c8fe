"""Byte streams and packets of ADB, shared by its server and the shell."""
