"""The image of controller and worker: this project and what it needs."""
