"""Measures rapidfuzz and nomenklatura on the data of the bench, in CPU time."""
import importlib.metadata
import json
import sys
import time

with open(sys.argv[1]) as f:
    data = json.load(f)


def best_f1(scores):
    best = (0, 0)
    for threshold in [t / 100 for t in range(40, 100)]:
        hits = sum(1 for s, (_, _, _, m) in zip(scores, data["pairs"]) if s >= threshold and m)
        wrong = sum(1 for s, (_, _, _, m) in zip(scores, data["pairs"]) if s >= threshold and not m)
        missed = sum(1 for s, (_, _, _, m) in zip(scores, data["pairs"]) if s < threshold and m)
        best = max(best, (2 * hits / max(2 * hits + wrong + missed, 1), threshold))
    return best


def rapidfuzz():
    from rapidfuzz import fuzz, process

    names = [n.lower() for n in data["list"]]
    queries = [q.lower() for q in data["queries"]]
    start = time.process_time()
    for query in queries:
        process.extractOne(query, names, scorer=fuzz.token_sort_ratio, score_cutoff=80)
    seconds = time.process_time() - start
    scores = [fuzz.token_sort_ratio(a.lower(), b.lower()) / 100 for _, a, b, _ in data["pairs"]]
    print("  rapidfuzz %s token_sort: %.0f names a second against the list; F1 of pairs %.3f at its best threshold, %.2f" % (
        importlib.metadata.version("rapidfuzz"), len(queries) / seconds, *best_f1(scores)))


def nomenklatura():
    from followthemoney import model
    from nomenklatura.matching import LogicV2, ScoringConfig

    def entity(schema, name, key):
        return model.get_proxy({"id": key, "schema": schema, "properties": {"name": [name]}})

    config = ScoringConfig.defaults()
    start = time.process_time()
    scores = [LogicV2.compare(entity(s, a, "a"), entity(s, b, "b"), config).score for s, a, b, _ in data["pairs"]]
    seconds = time.process_time() - start
    print("  nomenklatura %s logic-v2: %.0f pairs a second; F1 of pairs %.3f at its best threshold, %.2f" % (
        importlib.metadata.version("nomenklatura"), len(scores) / seconds, *best_f1(scores)))


for peer in (rapidfuzz, nomenklatura):
    try:
        peer()
    except Exception as e:
        print("  %s: not measured: %s" % (peer.__name__, e))
