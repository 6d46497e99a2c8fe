"""The image of controller and worker: this project and its dependencies."""
