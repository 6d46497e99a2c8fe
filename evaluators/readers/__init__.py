"""Read documents of guests into plain data, in a process of their own."""
