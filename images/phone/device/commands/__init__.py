"""Android's own commands, carried out by the phone's daemon."""
