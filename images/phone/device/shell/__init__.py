"""Shell sessions of the phone: start, input and output, end."""
