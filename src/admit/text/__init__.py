"""Text craft shared by the doors: terms, lexical scores, ANSI, safe cuts, token estimates. Pure."""
