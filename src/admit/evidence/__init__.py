"""The evidence door: which linked artifacts a grounding review may read, what it read, and what it found.

note ─ links ─▶ offers ─ order ─▶ cap ─▶ pack ─▶ ask ─▶ verdict with its coverage ─▶ baseline
"""
