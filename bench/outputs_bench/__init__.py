"""Benchmark of the outputs door: sets, rows beside ours, statistics and reports, one subject per file."""
