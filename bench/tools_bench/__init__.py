"""Parts of the benchmark of the tools door."""
