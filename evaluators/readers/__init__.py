"""Read documents of guests into plain data, apart from the process that judges."""
