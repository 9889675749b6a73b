"""Shortlists inside agent libraries: which of an agent's own tools the model is shown, and nothing else."""
