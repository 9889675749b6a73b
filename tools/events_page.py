"""The documentation page of every event, made from the list of events.

    python tools/events_page.py > docs/events.md

What an event means stands here, its fields and words in `admit.core.events`; an event without a meaning stops
the page.
"""

# ruff: noqa: E501 (a row of a Markdown table is one line)

from __future__ import annotations

from admit.core.events import EVENT_SCHEMA, EVENTS, EventType

HEAD = f"""\
# Events

<!-- Made by `python tools/events_page.py > docs/events.md`; change src/admit/core/events.py instead. -->

The ledger writes down what happened as events and decisions. This is the closed list: an event, a field or a word that
does not stand here is not written. `admit ledger show` prints them; `admit ledger export` gives them as JSON lines.

Every event also has:

| field | what it is |
|---|---|
| `event_id` | 128 random bits as hex |
| `type` | the name below |
| `ts_ms` | UTC milliseconds since 1970, for display; never an order |
| `schema` | version of the form of the event's own fields, now {EVENT_SCHEMA} |
| `decision_id`, `session`, `door` | what it belongs to; empty where it belongs to nothing |
| `writer`, `seq` | the process that wrote it, and its record number from 1 without holes |
| `content_hash` | SHA-256 over the canonical JSON of all other fields |

A field that is unknown is `null`, never 0. What had to be left out for size is named in `truncated`.
"""

SECTIONS = {
    "admit": "Every door",
    "host": "Hosts: where agents meet Admit",
    "ledger": "The ledger itself",
    "judge": "Judges",
    "guidance": "The guidance door",
    "tools": "The tools door",
    "outputs": "The outputs door",
    "evidence": "The evidence door",
    "lab": "The lab",
}

MEANINGS = {
    "admit.capped": "More was offered than the judge may be asked about. `ids` are the unjudged, at most 64; `more` counts the rest.",
    "admit.fallback": "A judge did not give a usable reply; the door did what it does without one.",
    "admit.shadow_diff": "In shadow mode: how many candidates enforcing would have withheld, and which (at most 64).",
    "admit.shed": "A request passed unjudged because too many were waiting.",
    "admit.delivered": "The host took what was shown: bytes, by which channel, and how that is known.",
    "admit.not_delivered": "What was to be shown did not reach the agent.",
    "admit.hidden_unicode": "Invisible or direction-changing characters were found: where, and of which classes.",
    "host.hook": "One hook of a host was answered.",
    "host.hook_odd": "A hook came in a form that was not expected; it passed as without Admit.",
    "host.daemon_start": "The daemon started.",
    "host.daemon_stop": "The daemon ended.",
    "host.init": "Admit was wired into a host, or taken out: which files, which action.",
    "host.selftest": "One probe of a host's self-test, with its result.",
    "host.project_key_refused": "A project's file set a key that is the user's alone, or loosened one.",
    "ledger.dropped": "Records that were not written, a count for each cause.",
    "ledger.spool_dropped": "Records that were dropped because the spool was full.",
    "ledger.spool_drained": "Records taken from the spool into the database, and how many of its lines could not be read.",
    "ledger.pruned": "Rows and bytes removed by retention.",
    "ledger.recovered": "Rows salvaged from a damaged database, and rows lost.",
    "ledger.migrated": "The database was brought from one schema version to another.",
    "judge.call": "One transmission to a judge, sent or not, with its cost where it is known; `quirks` and `defects` stand with the decision.",
    "judge.fallback": "An ask ended without answers: why, after how long, and how many questions it held.",
    "judge.late": "Answers that came after their deadline and were discarded, since this was last told.",
    "judge.cooldown": "A destination failed and is left alone: until when, in s since 1970, and what failed.",
    "judge.budget": "A cap kept a request from being sent: which, how much is used, how much it allows.",
    "judge.unverified": "The answers were recorded and did not act: no threshold is known for this model, or its name may move.",
    "judge.model_drift": "Another model answered than was asked; its answers were recorded and did not act.",
    "judge.consent_granted": "A person allowed that texts of these doors and classes go to a destination, having seen the statement of this hash.",
    "judge.consent_revoked": "A person took that back.",
    "judge.artifact_refused": "A calibration of the local judge failed a gate and is not used.",
    "guidance.decision": "One scan at the guidance door, also when nothing matched; the fields stand in `extra` beside the columns. `stages` names the snippets by where their way ended, `counts` counts all.",
    "guidance.gate_capped": "More hits were offered than the judge is asked about: how many are in the request, how many are past the cap, and which. Written also when the request falls back.",
    "guidance.gate_fallback": "The gate had no usable reply: all passed as the matcher decided.",
    "guidance.shown": "The host has a snippet: what set it off, at which token position, and whether it was shown before.",
    "guidance.held": "Snippets that were shown not long ago and did not show again.",
    "guidance.turn_capped": "Snippets past the count of the turn or of one tool call.",
    "tools.decision": "One search for tools; the fields stand in `extra` beside the columns, the pool among the candidates.",
    "tools.used": "A tool was called for a request: whether it went well, and where the shortlist had it. Of a call that did, `tool_uses` holds the hashed stems of the request.",
    "tools.catalog": "A source was read: what is new, gone or changed, and since when it is out of date.",
    "tools.approved": "New or changed tools were approved, by whom.",
    "outputs.decision": "What was decided on one tool output; sizes in characters of the view, times in ms.",
    "outputs.judged": "Each passage the judge was asked about, with its score: enough to replay another threshold or budget without a call.",
    "outputs.recalled": "A stored output was given back.",
    "outputs.fault": "The store, a parser, the ledger, the judge's code or the door's own failed; the answer stood.",
    "outputs.forgot": "The memory of what was shown in a session was emptied.",
    "evidence.decision": "One review of one pair, with what it rests on: offers by hash and size, and the coverage by our own count. No text of an artifact.",
    "evidence.read": "A text was served to a reviewer, or refused, and why.",
    "evidence.ack": "Changed texts were accepted without a review, or a baseline was retired: hashes before and after.",
    "lab.freeze": "A plan was frozen, or a frozen plan was made known to this record: from here on the hashes of its surfaces stand in it.",
    "lab.run": "A run over a surface began, ended, or ended with parts missing.",
    "lab.select": "The plan's order chose a policy, or nothing was eligible.",
    "lab.surface_opened": "A sealed surface was opened, before anything on it was scored. It is opened once.",
    "lab.confirm": "The chosen policy was measured on the sealed surface, and which gates failed.",
    "lab.promote": "A number was written to the user's file, because every gate held.",
    "lab.promote_refused": "A number was not written: which gates failed or were not shown.",
    "lab.calibrate": "The local judge was fitted; the artefact was written, or refused by a gate.",
}


def page() -> str:
    """The whole page, in Markdown.

    Raises:
        KeyError: An event has no meaning, or its prefix no section.
    """
    parts = [HEAD]
    for prefix in dict.fromkeys(name.partition(".")[0] for name in EVENTS):
        parts.append(
            f"\n## {SECTIONS[prefix]}\n\n| event | meaning | fields | kept in |\n|---|---|---|---|\n"
        )
        for name, event in EVENTS.items():
            if name.partition(".")[0] == prefix:
                parts.append(f"| `{name}` | {MEANINGS[name]} | {fields_of(event)} | `{event.row}` |\n")
    return "".join(parts)


def fields_of(event: EventType) -> str:
    """The fields of an event, each with its closed list of words where it has one."""
    texts = []
    for field in event.fields:
        words = event.words.get(field, ())
        texts.append(f"`{field}`" + (f" ({', '.join(words)})" if words else ""))
    return ", ".join(texts)


if __name__ == "__main__":
    print(page(), end="")
