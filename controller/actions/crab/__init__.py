"""The actions of CRAB, with its names and arguments. Source: arXiv 2407.01511, table 2."""
