"""Say what this host lacks, why it matters, and how to cure it."""
