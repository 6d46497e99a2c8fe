"""The page of a trial: a timeline to step through, two of them side by side, one as a file."""
