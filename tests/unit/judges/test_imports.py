import subprocess
import sys

import pytest

HEAVY = ("numpy", "onnxruntime", "tokenizers", "scipy", "pydantic", "rich", "re2", "asyncio", "dataclasses")
NETWORK = ("socket", "ssl", "http", "http.client", "urllib.request", "httpx2", "httpcore2")


def loaded(code):
    """The modules that a fresh interpreter holds after running some code."""
    found = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(' '.join(sys.modules))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(found.stdout.split())


@pytest.mark.parametrize(
    "module",
    [
        *("", ".bounded", ".batches", ".rubric", ".scripted", ".redact", ".profiles", ".local", ".parse"),
        *(".limits", ".consent", ".keyfile"),
    ],
)
def test_importing_judges_loads_no_client_no_model_and_no_numbers(module):
    found = loaded(f"import admit.judges{module}")
    assert not found & set(HEAVY)
    assert not found & set(NETWORK)


def test_the_lexical_judge_answers_without_numpy_or_a_model():
    code = (
        "from admit.core.question import Ask\n"
        "from admit.judges.load import load_judge\n"
        "from admit.judges.rubric import outputs_question\n"
        "judge = load_judge('local', config={'judge.local.mode': 'lexical'})\n"
        "ask = Ask('outputs', 'disk full', (), (outputs_question('q1', 'disk full'),), None, 60000, 'r')\n"
        "assert judge.ask(ask).status == 'judged'\n"
    )
    found = loaded(code)
    assert not found & (set(HEAVY) - {"dataclasses"})
    assert not found & set(NETWORK)
