"""How guests without a network reach the services that are leased with them."""
