"""From a frozen plan to a confirmed policy: what each step allows and refuses."""

import json
import shutil

import pytest

from admit.errors import LabError, PlanError, SealError, SurfaceError
from admit.lab import confirm as confirming
from admit.lab import run as running
from admit.lab import selection
from admit.lab.journal import Journal
from admit.ledger.memory import MemoryLedger

from .samples import Lab, write_plan


def test_the_steps_of_an_experiment_stand_in_the_ledger_in_their_order(lab):
    frozen, chosen = lab.selected()
    assert chosen.policy is not None
    done = confirming.confirm(frozen, chosen, lab.journal)
    assert lab.steps() == [
        "freeze frozen",
        "run start",
        "run complete",
        "select selected",
        "surface_opened",
        f"confirm {done.result}",
    ]


def test_a_plan_edited_after_freezing_is_refused_with_the_first_key_that_differs_and_both_hashes(lab):
    was = lab.freeze().hash
    write_plan(lab.folder, recall_min="0.90", seed="8")
    with pytest.raises(PlanError) as refused:
        lab.frozen()
    assert refused.value.key == "seed"
    assert was in str(refused.value) and str(refused.value).count("sha256:") == 2
    with pytest.raises(PlanError, match="seed differs"):
        lab.freeze()


def test_a_frozen_file_that_was_edited_is_no_plan_of_this_ledger(lab):
    frozen = lab.freeze()
    path = lab.path.with_suffix(".frozen.json")
    value = json.loads(path.read_text())
    value["needed"] = 1
    path.write_text(json.dumps(value))
    with pytest.raises(PlanError, match="knows no plan"):
        lab.frozen()
    assert frozen.hash == lab.path.with_suffix(".frozen.sha256").read_text().strip()


def test_a_plan_that_came_frozen_is_made_known_to_another_ledger_under_the_same_hash(lab):
    first = lab.freeze()
    lab.journal = Journal(MemoryLedger())
    with pytest.raises(PlanError, match="admit lab freeze"):
        lab.frozen()
    assert lab.freeze().hash == first.hash
    assert lab.frozen().hash == first.hash


def test_where_a_surface_lies_is_no_part_of_the_plan(lab):
    first = lab.freeze()
    shutil.move(lab.folder / "dev", lab.folder / "elsewhere")
    lab.path.write_text(lab.path.read_text().replace('path = "dev"', 'path = "elsewhere"'))
    assert lab.frozen().hash == first.hash


def test_rows_that_changed_after_freezing_are_refused_with_the_file_and_both_hashes(lab):
    frozen = lab.freeze()
    tasks = lab.folder / "dev" / "tasks.jsonl"
    tasks.write_text(tasks.read_text().replace("please create the lamp", "please create a lamp"))
    with pytest.raises(SurfaceError) as refused:
        running.run(frozen, lab.journal)
    assert "tasks.jsonl" in str(refused.value) and str(refused.value).count("sha256:") == 2


@pytest.mark.parametrize("role", ["confirm", "dev"])
def test_a_sealed_surface_cannot_be_read_by_run(lab, role):
    frozen = lab.freeze()
    if role == "dev":
        (lab.folder / "dev" / "surface.json").write_text('{"state": "sealed"}')
    with pytest.raises(SealError):
        running.run(frozen, lab.journal, role)
    assert lab.steps() == ["freeze frozen"]


def test_a_plan_that_would_tune_on_a_sealed_surface_cannot_be_frozen(lab):
    (lab.folder / "dev" / "surface.json").write_text('{"state": "sealed"}')
    with pytest.raises(LabError, match="sealed"):
        lab.freeze()


def test_a_killed_run_goes_on_where_it_was_and_scores_no_case_twice(lab, monkeypatch):
    frozen = lab.freeze()
    whole = running.run(frozen, lab.journal)
    folder = frozen.folder / "dev"
    shard = sorted(folder.iterdir())[0]
    shard.unlink()
    worked = []
    from admit.lab import batch

    plain = batch.run_shard
    monkeypatch.setattr(batch, "run_shard", lambda one: worked.append(one.size) or plain(one))
    again = running.run(frozen, lab.journal)
    assert len(worked) == 1
    assert again.hash == whole.hash and again.rows == whole.rows
    assert again.attempt == 2


def test_a_shard_that_fails_leaves_the_others_and_nothing_is_chosen_from_the_run(lab, monkeypatch):
    from admit.lab import batch

    plain = batch.score

    def broken(gate, case, size, policies):
        if size == 36:
            raise ZeroDivisionError("broken")
        return plain(gate, case, size, policies)

    monkeypatch.setattr(batch, "score", broken)
    frozen = lab.freeze()
    done = running.run(frozen, lab.journal)
    assert len(done.missing) == 1 and "36 routes" in done.missing[0] and "broken" in done.missing[0]
    assert {row.size for row in done.rows} == {12}
    with pytest.raises(LabError, match="incomplete"):
        selection.select(frozen, lab.journal)
    assert lab.steps()[-1] == "run incomplete"


def test_two_workers_give_what_one_gives(lab):
    frozen = lab.freeze()
    one = running.run(frozen, lab.journal)
    shutil.rmtree(frozen.folder)
    assert running.run(frozen, lab.journal, workers=2).hash == one.hash


def test_a_run_that_was_altered_is_not_chosen_from(lab):
    lab.run()
    path = lab.frozen().folder / "dev.json"
    value = json.loads(path.read_text())
    value["rows"][0][3] = []
    path.write_text(json.dumps(value))
    with pytest.raises(LabError, match="altered"):
        selection.select(lab.frozen(), lab.journal)


def test_no_eligible_policy_is_a_result_and_ends_the_line(tmp_path):
    lab = Lab(tmp_path, mean_exposed_below="0.5")
    frozen, chosen = lab.selected()
    assert chosen.policy is None and chosen.result == "nothing_eligible"
    assert all("mean_exposed_below at 12" in bars for bars in chosen.failed.values())
    with pytest.raises(LabError, match="nothing was eligible"):
        confirming.confirm(frozen, chosen, lab.journal)
    assert "surface_opened" not in lab.steps()


def test_a_second_choice_is_the_first_and_is_recorded_once(lab):
    frozen, first = lab.selected()
    assert selection.select(frozen, lab.journal) == first
    assert lab.steps().count("select selected") == 1


def test_the_attempt_stands_in_the_ledger_before_anything_sealed_is_scored(lab, monkeypatch):
    frozen, chosen = lab.selected()

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(confirming, "scored", stop)
    with pytest.raises(KeyboardInterrupt):
        confirming.confirm(frozen, chosen, lab.journal)
    assert lab.steps()[-1] == "surface_opened"
    monkeypatch.undo()
    with pytest.raises(SealError, match="opened before"):
        confirming.confirm(frozen, chosen, lab.journal)


def test_a_second_look_is_refused_also_to_another_plan(lab):
    frozen, chosen = lab.selected()
    confirming.confirm(frozen, chosen, lab.journal)
    lab.path = write_plan(lab.folder, "other", name='"other"')
    other, again = lab.selected()
    with pytest.raises(SealError, match="by the plan small"):
        confirming.confirm(other, again, lab.journal)


def test_the_same_cases_over_other_catalogs_are_a_second_look(lab):
    frozen, chosen = lab.selected()
    confirming.confirm(frozen, chosen, lab.journal)
    catalog = lab.folder / "sealed" / "catalog-36.json"
    catalog.write_text(catalog.read_text() + "\n")
    lab.path = write_plan(lab.folder, "other", name='"other"')
    other, again = lab.selected()
    assert other.data["confirm"] != frozen.data["confirm"]
    with pytest.raises(SealError, match="by the plan small"):
        confirming.confirm(other, again, lab.journal)


def test_a_surface_that_something_was_run_on_confirms_nothing(lab):
    mark = lab.folder / "sealed" / "surface.json"
    sealed = mark.read_text()
    mark.write_text('{"state": "open"}')
    both = 'path = "dev"\n[surfaces.confirm]\npath = "sealed"'
    lab.path.write_text(lab.path.read_text().replace(both, 'path = "sealed"'))
    lab.run()
    mark.write_text(sealed)
    lab.path = write_plan(lab.folder, "other", name='"other"')
    frozen, chosen = lab.selected()
    with pytest.raises(SealError, match="was run on by the plan small"):
        confirming.confirm(frozen, chosen, lab.journal)


def test_a_surface_for_confirmation_must_be_sealed(lab):
    (lab.folder / "sealed" / "surface.json").write_text("{}")
    with pytest.raises(LabError, match="confirm: the surface is not sealed"):
        lab.freeze()


def test_the_mark_beside_the_plan_keeps_the_seal_where_the_ledger_was_lost(lab):
    frozen, chosen = lab.selected()
    confirming.confirm(frozen, chosen, lab.journal)
    lab.journal = Journal(MemoryLedger())
    frozen = lab.freeze()
    with pytest.raises(SealError):
        confirming.confirm(frozen, selection.select(frozen, lab.journal), lab.journal)


def test_a_choice_that_select_did_not_make_is_not_confirmed(lab):
    frozen, chosen = lab.selected()
    other = next(one for one in frozen.plan.candidates if one != chosen.policy)
    with pytest.raises(LabError, match="not the recorded one"):
        confirming.confirm(frozen, chosen._replace(policy=other), lab.journal)
    assert "surface_opened" not in lab.steps()


def test_a_step_that_the_ledger_does_not_take_does_not_count(lab, monkeypatch):
    frozen, chosen = lab.selected()
    monkeypatch.setattr(lab.ledger, "append", lambda rec: None)
    with pytest.raises(LabError, match="did not take"):
        confirming.confirm(frozen, chosen, lab.journal)
    assert not (frozen.folder / "opened.json").exists()
