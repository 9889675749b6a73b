"""What an agent used next, derived from the messages of a run written for these tests."""

import json

from outputs_bench import agent_runs


def run_of(*commands_and_outputs, task="Blueprints with an empty name should be refused."):
    messages = [
        {"role": "system", "content": "You work in a shell."},
        {"role": "user", "content": f"<pr_description>\n{task}\n</pr_description>"},
    ]
    for command, output in commands_and_outputs:
        messages.append({"role": "assistant", "content": f"THOUGHT: look.\n\n```bash\n{command}\n```"})
        messages.append(
            {"role": "user", "content": f"<returncode>1</returncode>\n<output>\n{output}\n</output>"}
        )
    return messages


def next_of(*commands_and_outputs, **given):
    turn = next(agent_runs.turns(run_of(*commands_and_outputs, **given)))
    return agent_runs.used_next(turn)


def test_a_path_first_seen_in_the_output_and_opened_next_is_wanted():
    assert next_of(("ls -R", "src/app.py\nsrc/blueprints.py"), ("cat src/blueprints.py", "")) == (
        "src/blueprints.py",
    )


def test_what_the_task_or_an_earlier_message_named_is_not():
    assert next_of(
        ("ls", "setup_state\nsrc/app.py"), ("grep setup_state src/app.py", ""), task="Fix setup_state"
    ) == ("src/app.py",)


def test_identifiers_count_when_they_look_like_code():
    used = next_of(
        ("cat x", "def make_setup_state():\nbanana\n__init__"),
        ("grep -n 'make_setup_state banana __init__' x", ""),
    )
    assert used == ("make_setup_state",)


def test_a_numbered_line_inside_a_printed_range_is_wanted_with_its_text():
    output = "src/app.py:40:def first():\nsrc/app.py:212:def second():\nsrc/other.py:210:def third():"
    assert "src/app.py:212:def second():" in next_of(
        ("grep -rn def", output), ("sed -n '200,230p' src/app.py", "")
    )
    assert "src/other.py:210:def third():" not in next_of(
        ("grep -rn def", output), ("sed -n '200,230p' src/app.py", "")
    )


def test_only_the_next_three_commands_count():
    outputs = (
        [("ls", "late_name early_name")] + [(f"echo {n}", "") for n in range(3)] + [("cat late_name", "")]
    )
    assert next_of(*outputs) == ()


def test_an_output_that_the_host_cut_keeps_both_ends_and_says_so():
    content = (
        "<returncode>0</returncode>\n<warning>too long</warning><output_head>\nfirst\n</output_head>\n"
        "<elided_chars>\n900 characters elided\n</elided_chars>\n<output_tail>\nlast\n</output_tail>"
    )
    text, cut = agent_runs.output_text(content)
    assert cut and text.split("\n") == ["first", "", "[900 characters elided]", "last", ""]


def test_the_case_is_given_the_task_and_the_command_but_not_the_thought(tmp_path):
    folder = tmp_path / "outputs" / "agent-runs"
    folder.mkdir(parents=True)
    messages = run_of(
        ("cat big", "filler\n" * 2_000 + "def make_setup_state(): ..."), ("grep make_setup_state", "")
    )
    (folder / "some-run.traj.json").write_text(json.dumps({"messages": messages}))
    (case,) = agent_runs.load(tmp_path)
    assert case.id == "some-run/3" and case.group == "some-run" and case.exit_code == 1
    assert case.task == "Blueprints with an empty name should be refused.\ncat big"
    assert case.wanted == ("make_setup_state",) and case.measure == "share"
