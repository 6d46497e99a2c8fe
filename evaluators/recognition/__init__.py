"""Recognise text and pictures; engines are made once a process and are imported when needed."""
