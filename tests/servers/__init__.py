"""Real servers on loopback for tests, the bench and the documents."""
