"""The cluster of hosts on which trials run: Ray's nodes, the pool of each host, and what trials need."""
