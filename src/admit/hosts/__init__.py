"""Hosts: the programs where an agent lives. An adapter translates a host's events to the doors and back."""
