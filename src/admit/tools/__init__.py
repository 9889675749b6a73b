"""The tools door: a catalog of callable routes, and the few of them that a request is shown."""
