"""What `bench/evidence.py` is made of."""
