"""Judge kept end states again with a corrected suite."""
