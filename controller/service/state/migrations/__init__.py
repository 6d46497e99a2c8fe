"""Migrations of the service's database; Alembic runs them."""
