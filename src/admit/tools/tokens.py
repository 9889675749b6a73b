"""How many tokens definitions take, by a counter that has a name; nothing is ever fetched.

``estimate`` is a quarter of a token for each ASCII character and one for any other. ``tokenizer:PATH`` is a
`tokenizer.json` of the Hugging Face form. ``tiktoken:NAME`` is an encoding of OpenAI's, if tiktoken has its
file on this machine.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from admit.errors import ConfigError
from admit.text.tokens import COUNTER, estimate_tokens

from .export import EXPORTERS, wire
from .model import Route

KEY = "tools.counter"
_TIKTOKEN_FILES = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


class Counter(NamedTuple):
    """What counts tokens.

    Attributes:
        name: Stands beside every figure.
        tokens: How many a text takes.
    """

    name: str
    tokens: Callable[[str], int]

    def shown(self, tokens: int) -> str:
        """A figure as people read it: ``~412`` where it is an estimate."""
        return f"~{tokens:,}" if self.name == COUNTER else f"{tokens:,}"


ESTIMATE = Counter(COUNTER, estimate_tokens)


@lru_cache(maxsize=8)
def counter(name: str) -> Counter:
    """The counter of a name.

    Raises:
        ConfigError: There is no such counter, or what it needs is not on this machine.
    """
    kind, _, rest = name.partition(":")
    if name == COUNTER:
        return ESTIMATE
    if kind == "tokenizer" and rest:
        return Counter(name, _tokenizer(os.path.expanduser(rest)))
    if kind == "tiktoken" and rest:
        return Counter(name, _tiktoken(rest))
    raise ConfigError(
        f"there is no counter {name!r}; choose estimate, tokenizer:PATH or tiktoken:NAME", key=KEY
    )


def schema_tokens(routes: Iterable[Route], by: Counter = ESTIMATE, form: str = "openai") -> int:
    """Tokens of all definitions as the exporter of `form` sends them, less those of an empty list."""
    return by.tokens(wire(EXPORTERS[form](list(routes)).tools)) - by.tokens("[]")


def route_tokens(route: Route, by: Counter = ESTIMATE, form: str = "openai") -> int:
    """Tokens of one definition with the comma after it, for walking a budget."""
    return by.tokens(wire(EXPORTERS[form]([route]).tools)[1:-1] + ",")


def _tokenizer(path: str) -> Callable[[str], int]:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise ConfigError("tokenizer: needs a package; pip install tokenizers", key=KEY) from None
    try:
        with open(path, encoding="utf-8") as file:
            loaded: Any = Tokenizer.from_str(file.read())
    except (OSError, ValueError) as fault:
        raise ConfigError(f"{path} cannot be read: {fault}", key=KEY) from None
    except Exception as fault:  # the library raises its own faults as bare Exception
        raise ConfigError(f"{path} is no tokenizer.json: {fault}", key=KEY) from None
    loaded.no_truncation()
    loaded.no_padding()
    return lambda text: len(loaded.encode(_encodable(text), add_special_tokens=False).ids)


def _tiktoken(name: str) -> Callable[[str], int]:
    """An encoding whose file is there already, for tiktoken would fetch a missing one."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    folder = folder or os.path.join(tempfile.gettempdir(), "data-gym-cache")
    held = os.path.join(folder, hashlib.sha1(_TIKTOKEN_FILES.format(name).encode()).hexdigest())
    if not os.path.isfile(held):
        raise ConfigError(f"the file of tiktoken:{name} is not in {folder}; nothing is fetched", key=KEY)
    try:
        tiktoken: Any = import_module("tiktoken")
        load: Any = import_module("tiktoken.load")
    except ImportError:
        raise ConfigError("tiktoken: needs a package; pip install tiktoken", key=KEY) from None
    fetch = load.read_file
    try:
        # A file whose hash is wrong would be fetched anew.
        load.read_file = _refuse
        encoding = tiktoken.get_encoding(name)
    except (ValueError, OSError) as fault:
        raise ConfigError(f"tiktoken:{name} cannot be used: {fault}", key=KEY) from None
    finally:
        load.read_file = fetch
    return lambda text: len(encoding.encode(_encodable(text), disallowed_special=()))


def _refuse(path: str) -> bytes:
    raise OSError(f"{path} would have to be fetched")


def _encodable(text: str) -> str:
    """The text with a mark for each half of a surrogate pair, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8")
