import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.guidance.targets import MOST_CHARS, write_targets


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("echo a > x.md", ("x.md",)),
        ("echo a >x.md 2>>err.log", ("x.md", "err.log")),
        ("make > out 2>&1", ("out",)),
        ("cat a | tee -a y.txt z", ("y.txt", "z")),
        ("sed -i 's/a/b/' f.py", ("f.py",)),
        ("sed -i.bak -e 's/a/b/' f.py g", ("f.py", "g")),
        ("sed 's/a/b/' f.py", ()),
        ("cp a b", ("b",)),
        ("cp a c d/", ("d/", "d/a", "d/c")),
        ("cp -t d a b", ("d", "d/a", "d/b")),
        ("/bin/mv old.md new.md", ("new.md",)),
        ("install -m 644 a b", ("b",)),
        ("dd if=x of=/tmp/y", ("/tmp/y",)),
        ("FOO=1 sudo tee /etc/x", ("/etc/x",)),
        ("cd a && echo b > c; echo d > e", ("a/c", "a/e")),
        ("(cd a; (cd b; echo > 1); echo > 2) && echo > 3", ("a/b/1", "a/2", "3")),
        ("cd /abs && cd 'my dir' && tee x", ("/abs/my dir/x",)),
        ("cd $HOME && echo > y; cd - && echo > z", ("y", "z")),
        ("(cd a && tee x);(tee y)", ("a/x", "y")),
        ("make > >(tee log) 2>&1", ("log",)),
        ("make >& log", ("log",)),
        ("cat <<EOF > f.txt\nhello > world\nEOF\necho x>z", ("f.txt", "z")),
        ("cat <<< word > q", ("q",)),
        ("grep '>' x.md", ()),
        ("tee 'a>b'", ("a>b",)),
        ("echo x > /dev/null", ()),
        ("echo 'never closed", ()),
        ("echo a >", ()),
        ("", ()),
    ],
)
def test_what_a_command_writes_is_read_from_its_words(command, paths):
    assert write_targets(command) == paths


def test_a_command_that_carries_data_derives_nothing():
    assert write_targets("echo a > x " + "y" * MOST_CHARS) == ()


@given(st.text(alphabet="a >|&;<'\"\\\n-=tesdcp.", max_size=60))
def test_no_command_is_too_odd(command):
    for path in write_targets(command):
        assert path
