"""Servers that speak MCP to agents."""
