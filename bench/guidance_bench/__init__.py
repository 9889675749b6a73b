"""What the benchmark of the guidance door is made of."""
