"""Android's own commands, run by the phone's daemon."""
