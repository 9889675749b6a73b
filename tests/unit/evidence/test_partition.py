"""Which models count as one reviewer."""

from __future__ import annotations

import pytest

from admit.config.judge_keys import PROFILE_FIELDS, PROFILES
from admit.evidence.partition import BUCKETS, UNNAMED, partition


@pytest.mark.parametrize(
    ("model", "bucket"),
    [
        ("claude-opus-4-5-20251101", "claude-opus-4.5"),
        ("claude-opus-4-5", "claude-opus-4.5"),
        ("Claude-Opus-4-5[1m]", "claude-opus-4.5"),
        ("jev-1.13.0", "jev-1.13"),
        ("typesafe/jev-1.13-20260917", "jev-1.13"),
        ("My-Model [fast]", "my-model"),
        ("qwen3:8b", "qwen3:8b"),
        ("  ", UNNAMED),
        ("[1m]", UNNAMED),
        (None, UNNAMED),
    ],
)
def test_a_model_is_in_its_bucket_and_an_unknown_one_alone(model, bucket):
    assert partition(model) == bucket


def test_an_effort_is_looked_for_before_the_bare_id():
    buckets = {"m-high": "strong", "m": "plain"}
    assert partition("M[1m]", "High", buckets=buckets) == "strong"
    assert partition("m", "low", buckets=buckets) == "plain"
    assert partition("m", " ", buckets=buckets) == "plain"
    assert partition("n", "high", buckets=buckets) == "n"


def test_the_partition_of_a_local_model_names_its_weights():
    assert partition("MiniLM", weights="sha256:ab") == "minilm@sha256:ab"
    assert partition("MiniLM", weights="sha256:cd") != partition("MiniLM", weights="sha256:ab")


def test_a_bucket_is_its_own_partition_and_ids_are_as_they_are_looked_for():
    assert all(partition(bucket) == bucket for bucket in BUCKETS.values())
    assert all(id == id.lower() and "[" not in id for id in BUCKETS)


def test_every_shipped_model_that_can_review_is_in_a_bucket():
    named = [PROFILE_FIELDS[name].get("model") for name, doors in PROFILES.items() if "evidence" in doors]
    models = [model for model in named if model]
    assert models and all(model.lower() in BUCKETS for model in models)
