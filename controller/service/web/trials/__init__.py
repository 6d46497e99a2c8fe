"""The page of a trial: a timeline to step through, two side by side, or one as a file."""
