"""The pipeline of every door. Pure: standard library only, no files, network, clock or environment."""
