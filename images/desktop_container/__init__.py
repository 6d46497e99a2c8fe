"""The desktop guest's own root file system as a container image, its session warmed up."""
