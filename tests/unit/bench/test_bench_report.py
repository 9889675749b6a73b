"""Tables, the plot and the runner on cases made here."""

import xml.etree.ElementTree as tree

from outputs_bench import report, runner
from outputs_bench.case import Case
from outputs_bench.plot import curve_svg
from outputs_bench.sets import SETS


def made(count=4):
    text = "\n".join(f"step {n} done" for n in range(2_000))
    return [
        Case(f"c{n}", f"g{n}", text, "", 1, (f"step {n * 600} done",), "lines", (n * 600,))
        for n in range(count)
    ]


def test_a_row_that_cannot_run_is_named_with_its_reason_and_the_others_stay(monkeypatch):
    def missing(case, budget):
        raise ImportError("no such door")

    monkeypatch.setattr(runner, "admit_output", missing)
    done = runner.run("ci", SETS["ci"], made(), 2_000)
    text = report.table(SETS["ci"], done, 2_000)
    assert "| admit | not run: ImportError: no such door |" in text
    assert "| tooltrim | not run: asked for with --peers |" in text
    assert "| oracle | 1.000 [1.000, 1.000] |" in text


def test_the_difference_is_taken_to_a_tail_of_the_size_that_was_shown(monkeypatch):
    monkeypatch.setattr(runner, "admit_output", lambda case, budget: case.wanted[0])
    done = runner.run("ci", SETS["ci"], made(), 2_000)
    ours = report.rows_of(done)[runner.OURS]
    assert [result.chars for result in ours] == [
        len("step 0 done"),
        *[len("step 600 done"), len("step 1200 done")],
        len("step 1800 done"),
    ]
    assert report.difference(SETS["ci"], ours).mean == 1.0


def test_a_plain_tail_does_not_differ_from_a_tail_of_its_size():
    done = runner.run("ci", SETS["ci"], made(), 2_000)
    assert report.difference(SETS["ci"], report.rows_of(done)["plain tail"]) == (0, 0, 0)


def test_a_row_that_shows_more_than_the_budget_and_its_header_is_marked(monkeypatch):
    monkeypatch.setattr(runner, "admit_output", lambda case, budget: case.text)
    done = runner.run("ci", SETS["ci"], made(), 2_000)
    ours = next(
        line for line in report.table(SETS["ci"], done, 2_000).split("\n") if line.startswith("| admit")
    )
    assert "(over)" in ours


def test_the_plot_is_well_formed_and_names_every_row_once():
    points = {
        "admit": {2_000: 0.5, 15_000: 0.9},
        "head + tail": {2_000: 0.5, 15_000: 0.9},
        "a<b": {2_000: 0.1, 15_000: 0.2},
    }
    root = tree.fromstring(curve_svg("Kept <here>", points))
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert all(words.count(name) == 1 for name in points)
