import pytest

from admit.config.keys import shipped
from admit.core.question import Ask
from admit.errors import ConfigError
from admit.judges.bounded import BoundedJudge
from admit.judges.clock import FrozenClock
from admit.judges.load import load_judge
from admit.judges.profiles import (
    ASSUMED,
    DoorProfile,
    Line,
    Profile,
    address_of,
    deadline_warning,
    profile,
    threshold,
)
from admit.judges.rubric import outputs_question
from admit.judges.scripted import ScriptedJudge

CHAT = Profile(
    "x", "chat", "m", {"guidance": DoorProfile(40, 0.3, 2000), "tools": DoorProfile(14, 0.3, 2000)}
)


def test_the_local_profile_is_what_ships():
    found = profile("local")
    assert (found.backend, found.model) == ("local", "minilm-int8")
    assert found.doors == {
        "guidance": DoorProfile(8, None, 1000),
        "tools": DoorProfile(24, None, 1000),
        "outputs": DoorProfile(24, None, 2000),
    }
    assert "evidence" not in found.doors


def test_a_setting_stands_above_what_ships():
    values = {**shipped(), "judge.profiles.local.guidance.max_candidates": 33}
    assert profile("local", values).doors["guidance"] == DoorProfile(33, None, 1000)
    assert profile("local").doors["guidance"].max_candidates == 8


def test_an_own_profile_inherits_from_the_one_of_its_backend():
    values = {"judge.profiles.mine.backend": "local", "judge.profiles.mine.outputs.threshold": 0.7}
    found = profile("mine", values)
    assert found.doors["outputs"] == DoorProfile(24, 0.7, 2000)
    assert found.doors["guidance"] == DoorProfile(8, None, 1000)


@pytest.mark.parametrize(
    ("name", "values", "key"),
    [
        ("nope", {}, "judge.profile"),
        ("mine", {"judge.profiles.mine.backend": "oracle"}, "judge.profiles.mine.backend"),
    ],
)
def test_what_does_not_exist_is_an_error_that_names_what_does(name, values, key):
    with pytest.raises(ConfigError, match="there are: local") as caught:
        load_judge(name, config=values)
    assert caught.value.key == key


@pytest.mark.parametrize(
    ("name", "values", "what"),
    [
        ("openai-compatible", {}, "destination"),
        ("ollama", {}, "model"),
        ("command", {}, "argv"),
        ("mine", {"judge.profiles.mine.backend": "chat"}, "destination"),
        ("mine", {"judge.profiles.mine.backend": "systemone", "judge.profiles.mine.destination": "x"},
         "destination"),
        ("jev", {"judge.profiles.jev.destination": "https://me:secret@host"}, "destination"),
    ],
)  # fmt: skip
def test_what_a_profile_lacks_is_named(name, values, what):
    with pytest.raises(ConfigError) as caught:
        profile(name, values)
    assert caught.value.key == f"judge.profiles.{name}.{what}"
    assert "secret" not in str(caught.value)


def test_an_address_is_scheme_host_and_port():
    assert address_of("https://API.typesafe.ai/v1") == "https://api.typesafe.ai:443"
    assert address_of("http://[::1]:8000") == "http://[::1]:8000"
    assert address_of("https://bücher_2.example.:8443/v1?a=b") == "https://bücher_2.example.:8443"
    assert profile("jev").address == "https://api.typesafe.ai:443"
    assert profile("jev").url == "https://api.typesafe.ai/v1/systemone"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h", "https://", "http://a b", "http://a..b", "http://exa%6dple", "http://127.0.0.1%x", "http://.h",
        "http://127.0.0.1:0", "http://127.0.0.1:99999", "http://[::1", "http://h\\@g",
    ],
)  # fmt: skip
def test_what_names_no_server_for_certain_is_no_destination(url):
    with pytest.raises(ConfigError) as caught:
        profile("mine", {"judge.profiles.mine.backend": "systemone", "judge.profiles.mine.destination": url})
    assert caught.value.key == "judge.profiles.mine.destination"


@pytest.mark.parametrize("rest", ["/?q=1", "#f", "/v1?"])
def test_a_destination_ends_before_its_query(rest):
    own = {"backend": "systemone", "destination": f"http://127.0.0.1:8000{rest}"}
    with pytest.raises(ConfigError, match="write what follows"):
        profile("mine", {f"judge.profiles.mine.{name}": value for name, value in own.items()})


def test_a_threshold_goes_with_its_model():
    own = {"judge.profiles.mine.backend": "systemone"}
    assert profile("mine", own).shadow("outputs") is None
    other = {**own, "judge.profiles.mine.model": "jev-2"}
    assert profile("mine", other).shadow("outputs") == "unverified"
    set_again = {**other, "judge.profiles.mine.outputs.threshold": 1.2}
    assert profile("mine", set_again).shadow("outputs") is None
    assert profile("mine", set_again).shadow("guidance") == "unverified"
    assert profile("mine", other).shadow("evidence") is None


def test_a_price_goes_with_its_server():
    own = {"judge.profiles.mine.backend": "systemone"}
    assert profile("mine", own).price_in == profile("jev").price_in
    here = {**own, "judge.profiles.mine.destination": "http://127.0.0.1:8000"}
    assert (profile("mine", here).price_in, profile("mine", here).price_out) == (None, None)
    assert profile("mine", {**here, "judge.profiles.mine.price_in": 0.1}).price_in == 0.1


@pytest.mark.parametrize("model", ["jev-latest", "~typesafe/jev"])
def test_a_model_name_that_moves_only_records(model):
    values = {"judge.profiles.jev.model": model, "judge.profiles.jev.outputs.threshold": 1.5}
    assert profile("jev", values).shadow("outputs") == "alias"


def test_a_loaded_judge_answers_within_its_deadline():
    judge = load_judge("local", config={"judge.local.mode": "lexical"})
    questions = (outputs_question("q1", "the disk is full"),)
    reply = judge.ask(Ask("outputs", "disk full?", (), questions, None, 60_000, "r1"))
    assert isinstance(judge, BoundedJudge)
    assert reply.status == "judged"


def test_the_least_time_for_a_call_and_the_clock_are_passed_on():
    judge = load_judge("local", config={"judge.min_call_ms": 500}, clock=FrozenClock())
    questions = (outputs_question("q1", "text"),)
    assert judge.ask(Ask("outputs", "t", (), questions, None, 499, "r1")).reason == "deadline_before_call"


def test_a_threshold_is_the_profiles_or_that_of_the_calibration():
    judge = load_judge("local", config={"judge.local.mode": "lexical"})
    assert 0 < threshold(profile("local"), "outputs", judge) < 3
    assert (
        threshold(profile("local", {"judge.profiles.local.outputs.threshold": 1.5}), "outputs", judge) == 1.5
    )
    assert threshold(profile("local"), "tools", judge) is None
    assert threshold(profile("local"), "outputs", ScriptedJudge({})) is None


def test_a_cap_that_the_deadline_cannot_hold_is_warned_about():
    assert deadline_warning(CHAT, "guidance") == (
        "x.guidance: 40 candidates take about 4.6 s (0.6 s + 0.1 s × 40, assumed), "
        "timeout_ms is 2,000: requests will fall back"
    )


def test_a_cap_that_just_fits_is_not_warned_about():
    assert Line(600, 100, "assumed") == ASSUMED
    assert deadline_warning(CHAT, "tools") is None


def test_a_fitted_line_replaces_the_assumed_one():
    assert deadline_warning(CHAT, "guidance", Line(100, 10, "fitted, 30 calls")) is None
    warning = deadline_warning(profile("local"), "outputs", Line(100, 200, "fitted, 44 calls"))
    assert "24 candidates take about 4.9 s (0.1 s + 0.2 s × 24, fitted, 44 calls)" in warning


def test_what_is_not_known_or_not_judged_is_not_warned_about():
    assert deadline_warning(profile("local"), "guidance") is None
    assert deadline_warning(CHAT, "evidence") is None
