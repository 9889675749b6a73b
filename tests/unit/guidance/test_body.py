"""A body is read when it is shown."""

from __future__ import annotations

from admit.guidance.body import body


def test_a_body_is_given_as_it_stands(guidance):
    text = "\r\n# T\r\n\n```\n---\n```\nno end"
    guidance.way("user", "a", "description: d", text)
    assert body(guidance.only()) == text and guidance.only().chars == len(text)


def test_a_body_that_was_edited_comes_without_its_new_front_matter(guidance):
    path = guidance.way("user", "a", "description: d", "old")
    way = guidance.only()
    path.write_text("---\ndescription: a longer one\n---\nnew")
    assert body(way) == "new"


def test_a_body_that_cannot_be_read_is_none(guidance, tmp_path):
    path = guidance.way("user", "a")
    way = guidance.only()
    path.unlink()
    assert body(way) is None
    secret = tmp_path / "secret"
    secret.write_text("key")
    path.symlink_to(secret)
    assert body(way) is None
    path.unlink()
    path.write_bytes(b"\0")
    assert body(way) is None
