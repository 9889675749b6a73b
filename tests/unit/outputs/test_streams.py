import pytest

from admit.outputs.model import RawOutput

from .cases import CONFIG, Door, body_of, steps, text_of

OUT = text_of(steps(0, 900))
ERR = text_of(steps(0, 900, "on the error stream"))
SMALL = text_of(steps(0, 100))


def admitted(out: str, err: str, *, exit_code: int | None = 0, config=CONFIG):
    stdout = RawOutput.of(out, exit_code=exit_code, stream="stdout")
    stderr = RawOutput.of(err, exit_code=exit_code, stream="stderr")
    return Door(config).gate.admit_streams(stdout, stderr)


@pytest.mark.parametrize(("exit_code", "first"), [(0, 4_000), (None, 4_000), (1, 3_000)])
def test_two_long_streams_share_the_budget_two_to_one_and_one_to_one_when_the_command_failed(
    exit_code, first
):
    out, err = admitted(OUT, ERR, exit_code=exit_code)
    assert 0.9 * first < len(body_of(out.text)) <= first
    assert 0.9 * (6_000 - first) < len(body_of(err.text)) <= 6_000 - first


def test_a_short_stream_is_left_alone_and_the_long_one_has_the_whole_budget():
    out, err = admitted(OUT, SMALL)
    assert 5_400 < len(body_of(out.text)) <= 6_000 and err.text == SMALL and not err.changed
    out, err = admitted(SMALL, ERR)
    assert 5_400 < len(body_of(err.text)) <= 6_000 and out.text == SMALL


def test_the_budget_that_is_shared_is_the_configured_one():
    out, err = admitted(OUT, ERR, config=CONFIG._replace(max_kept_chars=9_000))
    assert 5_400 < len(body_of(out.text)) <= 6_000 and len(body_of(err.text)) <= 3_000


def test_each_stream_is_stored_by_itself_and_keeps_its_own_lines():
    out, err = admitted(OUT, ERR)
    assert out.id != err.id
    assert "on the error stream" not in out.text and "of the build" not in err.text


def test_the_task_and_the_session_count_for_both():
    door = Door()
    pair = RawOutput.of(SMALL, exit_code=0), RawOutput.of(ERR, exit_code=0)
    door.gate.admit_streams(*pair, session="s")
    again = door.gate.admit_streams(*pair, session="s")
    assert [one.how for one in again] == ["duplicate", "duplicate"]


def test_case_5_the_end_of_each_stream_is_there():
    """case 5"""
    for exit_code in (0, 1):
        for text, whole in zip(admitted(OUT, ERR, exit_code=exit_code), (OUT, ERR), strict=True):
            assert text.text.endswith(whole[-900:])
