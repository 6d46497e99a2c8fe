"""The fleet of one host: which machines there are, who holds them, and which stand by."""
