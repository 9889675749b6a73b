"""The settings of the guidance door."""

from __future__ import annotations

from admit.config.key import CHARS, MODES, Key

_SOURCES = ("auto", "agent-ways", "skill", "cursor", "claude", "copilot")

# One row a key reads better than one line a field.
# fmt: off
GUIDANCE_KEYS = (
    Key("guidance.mode", None, "", "text", choices=MODES,
        help="Act on the judge's answers, only record them, or ask nothing.",
        absent="off with the backend `local`, enforce with every other"),
    Key("guidance.sources", ("auto",), "", "texts", choices=_SOURCES,
        help="What is read; `auto` is all that the host does not load itself."),
    Key("guidance.extra_roots", (), "", "texts",
        help="Further folders of ways, absolute or below `~`, after all others."),
    Key("guidance.project", True, "", "bool", help="Read guidance of the project."),
    Key("guidance.disable", (), "", "texts", trust="narrow", tighten="adds",
        help="Ids that are off, each an id or the start of ids and `*`; a project's reach its own "
             "and bundled guidance alone."),
    Key("guidance.pin", (), "", "texts",
        help="Ids, written likewise, that a project can neither shadow nor turn off."),
    Key("guidance.envelopes", (), "", "texts",
        help="Starts of machine notices, which trigger nothing, beside the built-in ones."),
    *(
        Key(f"guidance.lanes.{lane}", True, "", "bool", help=f"Match {what}.")
        for lane, what in (
            ("queued", "messages typed while the agent works"), ("command", "shell commands"),
            ("file", "paths about to be written"), ("state", "states of the session"),
            ("task", "prompts of subagents"),
        )
    ),
    Key("guidance.refire_default", "normal", "", "text", choices=("once", "rare", "normal", "frequent"),
        help="How long a snippet is held where it does not say: 1, 0.4, 0.15 or 0.05 of the window."),
    Key("guidance.refire_floor", 0.35, "share", "float", 0.01, 1,
        help="A snippet may show again when its trace, halved every refire × window tokens, is below this."),
    Key("guidance.window_default", 200_000, "tokens", "int", 1000, 100_000_000,
        help="Size of the context window where the host does not say."),
    Key("guidance.max_per_turn", 12, "snippets", "int", 0, 1000,
        help="The most that are shown between two prompts; those of a state are not counted."),
    Key("guidance.max_per_tool_call", 3, "snippets", "int", 0, 1000,
        help="The most that are shown at one command or file."),
    Key("guidance.gate.overflow", "pass", "", "text", choices=("pass", "block"),
        help="What becomes of hits past the profile's max_candidates: shown unjudged, or withheld."),
    Key("guidance.gate.fill", "admission", "", "text", choices=("admission", "scored_first"),
        help="Who is judged: the first in order, or those found by meaning first."),
    Key("guidance.gate.turns", 1, "messages", "int", 1, 10,
        help="What the judge reads as the task: the prompt, or replies before it too; past 2 was worse."),
    Key("guidance.gate.max_turn_chars", 1200, CHARS, "int", 100, 100_000,
        help="The most the judge reads of one message; its end is kept."),
    Key("guidance.gate.max_description_chars", 600, CHARS, "int", 50, 16_384,
        help="The most the judge reads of one description."),
    Key("guidance.matcher.encoder", "local", "", "text", choices=("local", "static", "off"),
        help="Match by the local judge's embedder, by static embeddings, or by words alone."),
    Key("guidance.matcher.degraded", "lexical", "", "text", choices=("lexical", "explicit_only"),
        help="Without an encoder match by words, or by patterns, commands, files and states alone."),
    Key("guidance.matcher.reply_chars", 0, CHARS, "int", 0, 20_000,
        help="How much of the assistant's last reply counts when matching by meaning."),
    Key("guidance.matcher.admit", 0.5, "probability", "float", 0, 1,
        help="The least probability that proposes a snippet by meaning."),
    Key("guidance.matcher.per_chunk", 3, "snippets", "int", 1, 100,
        help="The most that one sentence proposes by meaning."),
    Key("guidance.matcher.max_scored", 12, "snippets", "int", 0, 1000,
        help="The most that one prompt proposes by meaning."),
    Key("guidance.matcher.veto_floor", 0.15, "probability", "float", 0, 1,
        help="A pattern of a snippet with a description fires only where its meaning comes up to this."),
    Key("guidance.matcher.encode_chunks", 4, "sentences", "int", 0, 100,
        help="Sentences of a prompt that are embedded; the others are matched by words."),
)
# fmt: on
