"""Teams of models: by function, by environment, and planner with grounder."""
