"""The settings of the tools door, and of its sources other than MCP servers."""

from __future__ import annotations

from admit.config.key import MODES, Key

# One row a key reads better than one line a field.
# fmt: off
_FIELDS = (
    ("name", 3.0), ("aliases", 4.0), ("outputs", 2.0), ("title", 2.0), ("group", 2.5), ("params", 1.0),
    ("source", 0.5), ("description", 1.0), ("group_description", 0.5), ("param_descriptions", 0.5),
    ("output_descriptions", 0.5),
)
_SOURCE = "tools.sources.NAME"

TOOLS_KEYS = (
    Key("tools.mode", "enforce", "", "text", choices=MODES,
        help="Act on the judge's answers, only record them, or ask nothing."),
    Key("tools.depth", "budget", "", "text",
        help="What says how many are shown: budget, judge, cover, fixed-K, or a published depth."),
    Key("tools.pad", False, "", "bool",
        help="Fill a fixed depth with tools that nothing matched, as published."),
    Key("tools.max_tools", 8, "tools", "int", 3, 1000, trust="narrow", tighten="lower",
        help="The most that one request is shown."),
    Key("tools.max_tokens", 1000, "schema tokens", "int", 300, 1_000_000, trust="narrow", tighten="lower",
        help="The most that their definitions take; the first is shown even if it alone takes more."),
    Key("tools.max_exact", 20, "tools", "int", 1, 1000,
        help="The most that are shown because the request names them."),
    Key("tools.history", True, "", "bool",
        help="Let earlier successful calls improve the order; no text of a request is kept."),
    Key("tools.history_weight", 1.0, "factor", "float", 0, 10, help="What they count for, at the most."),
    Key("tools.history_examples", 30, "requests", "int", 1, 1000, help="Of one tool the newest that count."),
    Key("tools.history_min", 3, "requests", "int", 1, 1000,
        help="With fewer a tool's history does not count."),
    Key("tools.cover_gain", 0.15, "share", "float", 0, 1,
        help="At the depth cover a tool is kept that explains this much more of the request."),
    Key("tools.cover_min", 0.30, "share", "float", 0, 1,
        help="At the depth cover none is kept where the first explains less."),
    Key("tools.k1", 1.2, "factor", "float", 0, 10, help="How soon a repeated word counts no more (BM25)."),
    Key("tools.b", 0.9, "share", "float", 0, 1, help="How much a long text is held against a tool (BM25)."),
    *(
        Key(f"tools.field_weights.{name}", weight, "factor", "float", 0, 100,
            help=f"What a word counts for in {where}.")
        for (name, weight), where in zip(_FIELDS, (
            "the name", "other names of the operation", "names, units and qualifiers of results", "the title",
            "the group", "names of arguments", "the source's name", "the description",
            "the description of the group", "descriptions of arguments", "descriptions of results",
        ), strict=True)
    ),
    Key("tools.signal.whole_name", 2.0, "× idf", "float", 0, 100,
        help="Added where a word is the complete name or group."),
    Key("tools.variant.stem", 0.9, "share", "float", 0, 1,
        help="What a word of the same stem counts for beside the word itself."),
    Key("tools.variant.family", 0.6, "share", "float", 0, 1,
        help="What a word counts for that begins alike."),
    Key("tools.variant.verb", 0.5, "share", "float", 0, 1,
        help="What a verb counts for that means alike."),
    Key("tools.shared_prefix_share", 0.5, "share", "float", 0, 1,
        help="A word in as many of a source's names marks the source and no tool of it."),
    Key("tools.shared_prefix_min", 4, "tools", "int", 2, 1000, help="A source with fewer has no such word."),
    Key("tools.counter", "estimate", "", "text",
        help="What counts schema tokens: estimate, tokenizer:PATH, or tiktoken:NAME if its file is here."),
    Key("tools.order_out", "id", "", "text", choices=("id", "rank"),
        help="The order of the definitions; by id they stay the same bytes for caches of prompts."),
    Key("tools.schema_max_bytes", 262_144, "bytes", "int", 1024, 64 << 20,
        help="A larger tool is found by its name and description alone."),
    Key("tools.schema_max_depth", 32, "containers", "int", 4, 128,
        help="A tool nested deeper is found by its name and description alone."),
    Key("tools.schema_max_properties", 1000, "properties", "int", 1, 1_000_000,
        help="A tool with more is found by its name and description alone."),
)

SOURCE_KEYS = (
    Key(f"{_SOURCE}.kind", None, "", "text", choices=("openapi", "python", "json"),
        help="How it is read.", absent="needed"),
    Key(f"{_SOURCE}.url", None, "", "text", help="Where the document is fetched.", absent="none"),
    Key(f"{_SOURCE}.path", None, "", "text", help="The file, or module:name of a Python source.",
        absent="none"),
    Key(f"{_SOURCE}.allow", ("*",), "", "texts", help="Tools that may be used: globs over names and ids."),
    Key(f"{_SOURCE}.deny", (), "", "texts", help="Tools that may not; this beats allow."),
    Key(f"{_SOURCE}.drift", "trust", "", "text", choices=("trust", "hold"),
        help="Take new and changed tools as they are, or hold them until they are approved."),
    Key(f"{_SOURCE}.ttl_s", 300, "s", "int", 0, 31_536_000, help="How long a reading of it holds."),
)
# fmt: on
