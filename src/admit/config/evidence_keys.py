"""The settings of the evidence door, and the severity of each deterministic rule."""

from __future__ import annotations

from admit.config.key import CHARS, MODES, Key

SEVERITIES = ("off", "INFO", "WARN", "FAIL")
"""Loosest first."""

# What a rule says where nothing is set, and what it looks at.
RULES = (
    ("dangling", "FAIL", "a link whose target is not there"),
    ("dangling-wiki", "WARN", "a wiki link whose target is not there"),
    ("ambiguous", "WARN", "a wiki link that several files answer to"),
    ("outside", "WARN", "a link that leaves the root"),
    ("malformed", "WARN", "a link that is no valid path or address"),
    ("directory", "INFO", "a link to a folder"),
    ("non-text", "INFO", "a link to a file that is no text"),
    ("bad-anchor", "WARN", "a heading, id or line that the target does not have"),
    ("unavailable", "WARN", "a target that is there and cannot be read, or is too large"),
    ("reference", "INFO", "reference definitions that are unused, double or missing"),
    ("wikilinks-off", "INFO", "wiki links that are not followed"),
    ("front-matter", "WARN", "front matter that cannot be read"),
    ("ingest-source", "WARN", "an ingest that names no source"),
    ("quote", "FAIL", "a quotation said to be verbatim that its source does not hold"),
    ("quote-long", "WARN", "a long quotation that its source does not hold"),
    ("quote-unresolved", "INFO", "a quotation between two links that are equally near"),
    ("ingest-quotes", "WARN", "an ingest that holds no extract, so that its Quotes are nothing to read"),
    ("ingest-quote", "FAIL", "an extract of an ingest that its snapshot does not hold"),
    ("ingest-hash", "WARN", "a snapshot that is not the one its ingest names"),
    ("number", "INFO", "a number of a claim that none of its artifacts holds"),
    ("date", "INFO", "a date of a claim that none of its artifacts holds"),
    ("unquoted-sources", "FAIL", "more sources linked without a verified quotation than allowed"),
    ("snapshot-linked", "WARN", "a link straight to a snapshot"),
    ("snapshot-missing", "FAIL", "a declared snapshot that is not there"),
    ("snapshot-hash", "FAIL", "a declared snapshot of another hash than its ingest names"),
    ("snapshot-source", "FAIL", "a declared snapshot of another source than its ingest names"),
)

# One row a key reads better than one line a field.
# fmt: off
EVIDENCE_KEYS = (
    Key("evidence.mode", "enforce", "", "text", choices=MODES,
        help="Act on reviews, only record and print them, or refuse to review."),
    Key("evidence.judge", None, "", "text", absent="none: a review asks for one by name",
        help="The profile of the judge that reviews."),
    Key("evidence.agent_timeout_s", 900, "s", "int", 10, 86_400,
        help="How long a coding agent may take for one pair."),
    Key("evidence.workers", 4, "pairs", "int", 1, 64, help="Pairs that are reviewed at once."),
    Key("evidence.wikilinks", "auto", "", "text", choices=("auto", "off"), trust="project",
        help="Follow wiki links, or only count them."),
    Key("evidence.max_artifact_bytes", 1_048_576, "bytes", "int", 1024, 1024 * 1024 * 1024, trust="narrow",
        tighten="lower", help="A larger file is named as unavailable and not read."),
    Key("evidence.head_max_chars", 4000, CHARS, "int", 500, 8000, trust="project",
        help="The most that is served of an artifact of which only the head is read."),
    Key("evidence.source_globs", ("**/*.ingest.md",), "", "texts", trust="project",
        help="Which files are ingests of sources."),
    Key("evidence.snapshot_dir", ".snapshots", "", "path", trust="project",
        help="Where snapshots lie, from the folder of their ingest; . is beside it."),
    Key("evidence.max_unquoted_sources", 5, "sources", "int", 0, 1000, trust="narrow", tighten="lower",
        help="The most sources that a note may link without a verified quotation."),
    Key("evidence.quote_min_words", 8, "words", "int", 1, 1000,
        help="From this length on a quoted span is looked up although nothing says that it is verbatim."),
    *(
        Key(f"evidence.severity.{name}", severity, "", "text", choices=SEVERITIES, trust="narrow",
            tighten="stricter", help=f"How grave it is: {what}.")
        for name, severity, what in RULES
    ),
    Key("evidence.fail_on", "fail", "", "text", choices=("fail", "warn", "info"), trust="narrow",
        tighten="stricter", help="From which severity on a command ends with 1."),
    Key("evidence.linked_freshness", "stale", "", "text", choices=("stale", "info", "off"),
        help="What a review is whose linked artifacts changed: stale, told of, or as it was."),
    Key("evidence.criteria_dir", ".admit/criteria", "", "path", trust="project",
        help="Where the project's criteria lie, below the root."),
)
# fmt: on
