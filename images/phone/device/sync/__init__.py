"""The account of the phone: its applications synchronise with servers and sites."""
