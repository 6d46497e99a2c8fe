"""Web mail, with calendar and address book."""
