"""OSWorld's tasks: their files, and what each setup type, getter and function is here."""
