"""What agents may do: typed functions, by the place they act on."""
