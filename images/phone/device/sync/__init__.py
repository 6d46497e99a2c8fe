"""The account that the phone is signed in to: Mail, Calendar and Contacts synchronise with its servers."""
