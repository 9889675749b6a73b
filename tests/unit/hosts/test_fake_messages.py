"""The fake of the messages API plays its script, whatever the client asks twice."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

from admit.hosts.fake_messages import Call, FakeMessages, call_id

SCRIPT = (Call("Bash", {"command": "make"}), Call("Read", {"file_path": "/a"}))
TOOLS = [{"name": "Bash"}]


def ask(url, body, method="POST"):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data if method == "POST" else None, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def streamed(url, messages, **fields):
    """The message that a stream of events spells."""
    status, text = ask(f"{url}/v1/messages?beta=true", {"messages": messages, "stream": True, **fields})
    assert status == 200
    parts = [part.split("\n") for part in text.strip().split("\n\n")]
    assert all(event == f"event: {json.loads(data[6:])['type']}" for event, data in parts)
    told = [json.loads(data[6:]) for _, data in parts]
    assert [one["type"] for one in told] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    block, delta = told[1]["content_block"], told[2]["delta"]
    if block["type"] == "text":
        block = {**block, "text": delta["text"]}
    else:
        block = {**block, "input": json.loads(delta["partial_json"])}
    return {**told[0]["message"], "content": [block], **told[4]["delta"]}


def after(*calls):
    """A conversation in which these calls are done."""
    messages = [{"role": "user", "content": "go on"}]
    for k, call in enumerate(calls):
        use = {"type": "tool_use", "id": call_id(k), "name": call.tool, "input": call.input}
        result = {"type": "tool_result", "tool_use_id": call_id(k), "content": f"result {k}"}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return messages


def test_each_turn_gets_the_next_call_and_the_last_turn_ends():
    with FakeMessages(SCRIPT) as fake:
        for k, call in enumerate(SCRIPT):
            message = streamed(fake.url, after(*SCRIPT[:k]), tools=TOOLS)
            assert message["stop_reason"] == "tool_use"
            (block,) = message["content"]
            assert block == {"type": "tool_use", "id": call_id(k), "name": call.tool, "input": call.input}
        message = streamed(fake.url, after(*SCRIPT), tools=TOOLS)
        assert (message["stop_reason"], message["content"][0]["text"]) == ("end_turn", "done")


def test_a_request_that_comes_again_gets_the_same_call_again():
    with FakeMessages(SCRIPT) as fake:
        first, again = (streamed(fake.url, after(SCRIPT[0]), tools=TOOLS) for _ in range(2))
        assert first["content"] == again["content"] and len(fake.requests) == 2


def test_a_request_without_tools_is_no_turn():
    with FakeMessages(SCRIPT, aside="a summary") as fake:
        status, text = ask(f"{fake.url}/v1/messages", {"messages": after()})
        assert status == 200 and json.loads(text)["content"] == [{"type": "text", "text": "a summary"}]
        assert fake.turns == [] and len(fake.requests) == 1


def test_it_says_what_the_model_was_told():
    with FakeMessages(SCRIPT) as fake:
        assert (fake.told(), fake.result_of(0)) == ("", None)
        messages = [
            *after(SCRIPT[0]),
            {"role": "system", "content": [{"type": "text", "text": "a reminder"}]},
        ]
        streamed(fake.url, messages, tools=TOOLS, system=[{"type": "text", "text": "be brief"}])
        assert (fake.result_of(0), fake.result_of(1)) == ("result 0", None)
        told = fake.told()
        assert all(text in told for text in ("be brief", "go on", "result 0", "a reminder"))
        assert "make" not in told


@pytest.mark.parametrize("method, status", [("HEAD", 200), ("GET", 404)])
def test_a_client_that_looks_whether_it_is_there_finds_it(method, status):
    with FakeMessages() as fake:
        assert ask(f"{fake.url}/", b"", method)[0] == status


def test_tokens_are_counted_roughly():
    with FakeMessages() as fake:
        status, text = ask(f"{fake.url}/v1/messages/count_tokens", {"messages": []})
        assert (status, json.loads(text)) == (200, {"input_tokens": len('{"messages": []}') // 4})


@pytest.mark.parametrize(
    "body, path, status", [(b"{", "/v1/messages", 400), (b"[]", "/v1/messages", 400), (b"{}", "/", 404)]
)
def test_what_it_does_not_know_is_an_error_and_no_request(body, path, status):
    with FakeMessages() as fake:
        assert ask(f"{fake.url}{path}", body)[0] == status and fake.requests == []


def test_it_listens_inside_its_context_alone():
    fake = FakeMessages()
    with pytest.raises(RuntimeError), fake:
        assert fake.url.startswith("http://127.0.0.1:")
        url = fake.url
        fake.__exit__()
        with pytest.raises(urllib.error.URLError):
            ask(url, b"{}")
        _ = fake.url
