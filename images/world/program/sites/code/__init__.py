"""Code hosting: repositories with stars, files and issues; and their documentation."""
