"""Measures a reading model: answers, refusals and ranking."""

import bisect
import gzip
import json
import math
import re
import string
from collections import Counter
from pathlib import Path

import torch
from data import HEADING_SEPARATOR, Row
from encode import Encoder, pad

MAX_ANSWER_TOKENS = 60
BATCH = 256


@torch.no_grad()
def read(reader, encoder: Encoder, rows: list[Row], device: str) -> list[dict]:
    """Returns for each row the best span (text offsets), its score over "no answer", and the relevance."""
    reader.eval()
    items = encoder.encode(rows)
    order = sorted(range(len(items)), key=lambda index: len(items[index]["ids"]))
    results: list[dict] = [{}] * len(items)
    for start in range(0, len(order), BATCH):
        part = [items[index] for index in order[start : start + BATCH]]
        batch = pad(part, device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            begins, ends, relevance = reader(batch["ids"], batch["mask"])
        none = begins[:, 0] + ends[:, 0]
        inside = batch["mask"].clone()
        for at, item in enumerate(part):
            inside[at, : item["first"]] = False
            inside[at, len(item["ids"]) - 1] = False
        begins, ends = begins.masked_fill(~inside, -1e4), ends.masked_fill(~inside, -1e4)
        length = begins.shape[1]
        band = torch.ones(length, length, dtype=torch.bool, device=begins.device).triu().tril(MAX_ANSWER_TOKENS)
        scores = (begins[:, :, None] + ends[:, None, :]).masked_fill(~band, -1e5)
        values, flat = scores.flatten(1).max(1)
        for at, item in enumerate(part):
            index = order[start + at]
            begin, end = divmod(int(flat[at]), length)
            offsets = item["offsets"]
            if not offsets:
                results[index] = {"begin": 0, "end": 0, "span": -20.0, "relevance": float(relevance[at])}
                continue
            left, right = offsets[begin - item["first"]][0], offsets[end - item["first"]][1]
            results[index] = {
                "begin": left, "end": right, "span": float(values[at] - none[at]), "relevance": float(relevance[at]),
            }  # fmt: skip
    return results


def normalize(text: str) -> str:
    text = "".join(character for character in text.lower() if character not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def f1(text: str, answer: str) -> float:
    given, wanted = normalize(text).split(), normalize(answer).split()
    common = sum((Counter(given) & Counter(wanted)).values())
    return 2 * common / (len(given) + len(wanted)) if common else float(given == wanted)


def measure_spans(reader, encoder, rows: list[Row], device: str) -> dict:
    """Exact match and F1 with the true passage, and how well rows without an answer are told apart."""
    results = read(reader, encoder, rows, device)
    exact, scores, overlaps, positive, negative = [], [], [], [], []
    for row, result in zip(rows, results):
        if not row.answers:
            negative.append(result["span"])
            continue
        text = row.text[result["begin"] : result["end"]]
        exact.append(max(float(normalize(text) == normalize(answer)) for answer in row.answers))
        scores.append(max(f1(text, answer) for answer in row.answers))
        overlaps.append(float(scores[-1] > 0.3))
        positive.append(result["span"])
    mean = lambda numbers: round(sum(numbers) / max(1, len(numbers)), 4)  # noqa: E731
    figures = {"exact": mean(exact), "f1": mean(scores), "overlap": mean(overlaps)}
    if negative:
        threshold = sorted(positive)[len(positive) // 10]
        figures["refused at 90 % answered"] = mean([float(score < threshold) for score in negative])
        figures["pairs in order of relevance"] = measure_order(rows, results)
    return figures


def measure_order(rows: list[Row], results: list[dict]) -> float:
    """Share of the pairs of a relevant and another row in which the relevant one has the higher relevance, as reranking needs it."""
    others = sorted(result["relevance"] for row, result in zip(rows, results) if not row.relevant)
    ranks = [bisect.bisect_left(others, result["relevance"]) for row, result in zip(rows, results) if row.relevant]
    return round(sum(ranks) / max(1, len(ranks) * len(others)), 4)


def split_sentences(text: str) -> list[tuple[int, int]]:
    ends = [match.end() for match in re.finditer(r"[.!?…][\"'”’)\]]*\s+(?=[\"'“(\[]?[A-Z0-9])|\n+", text)]
    bounds = [0, *ends, len(text)]
    return [(left, right) for left, right in zip(bounds, bounds[1:]) if right > left]


def combine(result: dict, search_score: float, weights) -> float:
    return result["span"] + weights[0] * result["relevance"] + weights[1] * search_score


def measure_answers(reader, encoder, path: Path, device: str, passages: int = 8) -> dict:
    """XQuAD end to end: the quoted sentence contains the answer; questions about missing paragraphs are refused."""
    data = json.loads(path.read_text())
    rows, spans = [], []
    for query in data["queries"]:
        begin = len(rows)
        for index, _ in query["c"][:passages]:
            passage = data["passages"][index]
            rows.append(Row(query["q"], passage["t"]))
        spans.append((begin, len(rows)))
    results = read(reader, encoder, rows, device)
    figures = {}
    for weights in [(0, 0), (0.5, 2), (1, 2), (1, 4), (2, 4), (1, 6), (2, 8)]:
        own, foreign = [], []
        for query, (begin, end) in zip(data["queries"], spans):
            scored = [
                (combine(results[index], score, weights), index) for index, (_, score) in zip(range(begin, end), query["c"][:passages])
            ]
            best, index = max(scored)
            # The search score chooses between passages; it is relative and says nothing about whether there is an answer.
            confidence = results[index]["span"] + weights[0] * results[index]["relevance"]
            passage = rows[index].passage
            left = results[index]["begin"]
            sentence = next((passage[a:b] for a, b in split_sentences(passage) if a <= left < b), "")
            if query["own"]:
                own.append((confidence, any(answer in sentence for answer, _ in query["a"])))
            else:
                foreign.append(confidence)
        right = sum(correct for _, correct in own) / len(own)
        threshold = sorted(foreign)[int(0.95 * len(foreign))]
        kept = sum(correct for confidence, correct in own if confidence > threshold) / len(own)
        figures[str(weights)] = f"{right:.4f}, at 95 % refused {kept:.4f} (threshold {threshold:.2f})"
    return figures


def measure_xquad(reader, encoder, path: Path, device: str, passages: int = 8) -> dict:
    """XQuAD as `bench answers` asks it, with passages by shared words: every fourth article is not indexed."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        articles = json.load(file)["data"]
    paragraphs = [paragraph["context"] for at, article in enumerate(articles) if at % 4 != 3 for paragraph in article["paragraphs"]]
    words = [Counter(re.findall(r"\w+", paragraph.lower())) for paragraph in paragraphs]
    frequency = Counter(word for bag in words for word in bag)
    rows, queries = [], []
    for at, article in enumerate(articles):
        for paragraph in article["paragraphs"]:
            for entry in paragraph["qas"]:
                asked = set(re.findall(r"\w+", entry["question"].lower()))
                weights = {word: math.log(len(words) / frequency[word]) for word in asked if word in frequency}
                scores = [sum(w * bag[word] / (bag[word] + 1) for word, w in weights.items() if word in bag) for bag in words]
                best = sorted(range(len(words)), key=lambda index: -scores[index])[:passages]
                queries.append((len(rows), at % 4 != 3, [answer["text"] for answer in entry["answers"]]))
                rows += [Row(entry["question"], paragraphs[index]) for index in best]
    results = read(reader, encoder, rows, device)
    own, foreign = [], []
    for begin, is_own, answers in queries:
        # The rank of the search counts as in the product.
        confidence, index = max((results[index]["span"] - 0.7 * (index - begin), index) for index in range(begin, begin + passages))
        passage, left = rows[index].passage, results[index]["begin"]
        sentence = next((passage[a:b] for a, b in split_sentences(passage) if a <= left < b), "")
        if is_own:
            own.append((confidence, any(answer in sentence for answer in answers)))
        else:
            foreign.append(confidence)
    figures = {"right": round(sum(correct for _, correct in own) / len(own), 4)}
    for share in (0.9, 0.95):
        threshold = sorted(foreign)[int(share * len(foreign))]
        figures[f"right at {share} refused"] = round(sum(correct for confidence, correct in own if confidence > threshold) / len(own), 4)
    true = [
        Row(entry["question"], paragraph["context"], answer=(0, 0), answers=[answer["text"] for answer in entry["answers"]])
        for article in articles
        for paragraph in article["paragraphs"]
        for entry in paragraph["qas"]
    ]
    return {**figures, **measure_spans(reader, encoder, true, device)}


def measure_ranking(reader, encoder, path: Path, device: str, passages: int = 30) -> dict:
    data = json.loads(path.read_text())
    rows, spans = [], []
    for query in data["queries"]:
        begin = len(rows)
        for index, _ in query["c"][:passages]:
            passage = data["passages"][index]
            above = (passage["h"] or "").split(HEADING_SEPARATOR)
            headings = HEADING_SEPARATOR.join(heading for heading in above if heading not in passage["t"])
            rows.append(Row(query["q"], passage["t"], headings))
        spans.append((begin, len(rows)))
    results = read(reader, encoder, rows, device)
    figures = {}
    for depth in (10, 20, 30):
        for weight in (0, 0.1, 0.2, 0.3, 0.5, 0.7):
            total = 0.0
            for query, (begin, end) in zip(data["queries"], spans):
                ranked = [
                    ((1 - weight) * score + weight / (1 + math.exp(-results[index]["relevance"])) if at < depth else score - 10, entry)
                    for at, (index, (entry, score)) in enumerate(zip(range(begin, end), query["c"]))
                ]
                names = list(dict.fromkeys(data["passages"][entry]["d"] for _, entry in sorted(ranked, key=lambda pair: -pair[0])))
                gain = lambda grades: sum(grade / math.log2(rank + 2) for rank, grade in enumerate(grades[:10]))  # noqa: E731
                ideal = gain(sorted((grade for grade in query["r"].values() if grade > 0), reverse=True))
                total += gain([max(0, query["r"].get(name, 0)) for name in names]) / ideal
            if weight > 0 or depth == 10:
                figures[f"{depth} passages, {weight}"] = round(total / len(data["queries"]), 4)
    return figures
