"""Worker of bm25s: all fields as one text, English stop words, Snowball stems; one job on standard input."""

import json
import sys
import time

import bm25s
import Stemmer

job = json.load(sys.stdin)
stemmer = Stemmer.Stemmer("english")
options = {"stopwords": "en", "stemmer": stemmer, "show_progress": False}
index = bm25s.BM25()
index.index(bm25s.tokenize(job["texts"], **options), show_progress=False)
orders, spent = [], []
for query in job["queries"]:
    begin = time.process_time()
    asked = bm25s.tokenize([query], return_ids=False, **options)
    found, scores = index.retrieve(asked, k=min(job["k"], len(job["texts"])), show_progress=False)
    spent.append((time.process_time() - begin) * 1_000)
    orders.append([int(one) for one, score in zip(found[0], scores[0], strict=True) if score > 0])
print(json.dumps({"rows": {"bm25s": {"orders": orders, "ms": spent}}, "version": bm25s.__version__}))
