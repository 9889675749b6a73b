"""The order of runs: dependencies, forbidden surfaces, and arms that close before a surface is known."""

import pytest

from admit.core.events import sha256
from admit.errors import LabError, PlanError
from admit.lab import confirm, run
from admit.lab.surface import load

from .samples import Lab, rows, write_plan, write_surface

OTHER = sha256(b"another plan")


def test_a_plan_does_not_start_before_the_named_run_ended_with_its_result(tmp_path):
    lab = Lab(tmp_path, depends_on=f'[{{run = "{OTHER}", result = "passed"}}]')
    frozen = lab.freeze()
    with pytest.raises(PlanError, match=f"{OTHER} must have ended with passed; nothing is recorded"):
        run.run(frozen, lab.journal)
    lab.journal.write("confirm", plan=OTHER, result="failed")
    with pytest.raises(PlanError, match="confirm: failed"):
        run.run(frozen, lab.journal)
    lab.journal.write("confirm", plan=OTHER, result="passed")
    assert not run.run(frozen, lab.journal).missing


def test_a_forbidden_surface_cannot_be_frozen_into_a_plan(tmp_path):
    first = Lab(tmp_path)
    hash = load(tmp_path / "dev").hash
    first.path = write_plan(tmp_path, forbidden_surfaces=f'["{hash}"]')
    with pytest.raises(LabError, match=hash):
        first.freeze()


def held_out(lab, arm, plan):
    """A plan whose arm must have closed before a held-out surface."""
    surface = write_surface(lab.folder / "held-out", rows("gladly"))
    lab.path = write_plan(
        lab.folder,
        "held-out",
        name='"held-out"',
        arms_close_before=f'"{load(surface).hash}"',
        arms=f'[{{policy = "{arm}", plan = "{plan}"}}]',
    )
    lab.path.write_text(lab.path.read_text().replace('path = "dev"', 'path = "held-out"'))
    return lab.freeze()


def test_an_arm_that_was_confirmed_before_the_held_out_surface_was_registered_may_enter(lab):
    frozen, chosen = lab.selected()
    assert confirm.confirm(frozen, chosen, lab.journal).result == "passed"
    later = held_out(lab, chosen.policy, frozen.hash)
    assert not run.run(later, lab.journal).missing


def test_an_arm_that_was_confirmed_after_the_held_out_surface_was_registered_is_refused(lab):
    frozen, chosen = lab.selected()
    later = held_out(lab, chosen.policy, frozen.hash)
    confirm.confirm(frozen, chosen, lab.journal)
    with pytest.raises(PlanError, match=f"arms: {chosen.policy} did not pass"):
        run.run(later, lab.journal)


def test_an_arm_enters_only_under_the_plan_that_confirmed_it(lab):
    frozen, chosen = lab.selected()
    confirm.confirm(frozen, chosen, lab.journal)
    later = held_out(lab, chosen.policy, OTHER)
    with pytest.raises(PlanError, match="arms"):
        run.run(later, lab.journal)
