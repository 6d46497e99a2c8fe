"""The image of worlds: servers for mail, calendars, contacts and files."""
