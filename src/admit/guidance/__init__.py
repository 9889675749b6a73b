"""The guidance door: stored snippets are offered when a prompt, command, file or state calls for them."""
