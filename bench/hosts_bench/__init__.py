"""What `bench/hosts.py` is made of."""
