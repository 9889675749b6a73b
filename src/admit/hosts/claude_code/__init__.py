"""Claude Code: its hook events and the shapes of its tool outputs."""
