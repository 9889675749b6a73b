import pytest

from .samples import Lab


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)
