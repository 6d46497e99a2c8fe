"""Recognise text and pictures; engines are imported when needed and created once in a process."""
