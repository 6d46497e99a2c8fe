"""Place the jobs of runs: in threads of this process, or each in a process of its own."""
