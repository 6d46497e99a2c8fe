"""Sites that show the same to everybody: map, news, pictures."""
