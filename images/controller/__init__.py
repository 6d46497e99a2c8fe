"""The image of the controller: this project and what it needs."""
