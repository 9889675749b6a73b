"""A job: one review as a folder that any agent can do, with every read served and counted by us.

export ─▶ prompt.md, MANIFEST.json ─▶ open, open, … ─▶ output.md ─▶ finalize ─▶ verdict
"""
