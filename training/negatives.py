"""Looks for passages that resemble the question but do not answer it, by the similarity of the base model."""

import random

import torch
from data import Row
from model import embed

# A passage that is nearly as similar as the true one may well answer the question too.
MAX_SHARE_OF_TRUE_SCORE = 0.95
CANDIDATES = 30


@torch.no_grad()
def embed_texts(reader, encoder, texts: list[str], device: str) -> torch.Tensor:
    encodings = encoder.tokenizer.encode_batch([text[:2000] for text in texts])
    order = sorted(range(len(texts)), key=lambda index: len(encodings[index].ids))
    vectors = torch.empty(len(texts), 384, device=device)
    for start in range(0, len(order), 512):
        part = order[start : start + 512]
        length = min(256, max(len(encodings[index].ids) for index in part))
        ids = torch.zeros(len(part), length, dtype=torch.long)
        for at, index in enumerate(part):
            tokens = encodings[index].ids[:length]
            ids[at, : len(tokens)] = torch.tensor(tokens)
        ids = ids.to(device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            vectors[part] = embed(reader, ids, ids != 0)
    return vectors


def find_negatives(reader, encoder, rows: list[Row], pool: list[Row], per_row: int, rng: random.Random, device: str) -> list[Row]:
    """Returns rows with the same questions and other passages of the pool. `pool` may be the rows themselves."""
    texts: dict[str, Row] = {}
    for row in [*pool, *rows]:
        texts.setdefault(row.text, row)
    passages = list(texts.values())
    positions = {text: index for index, text in enumerate(texts)}
    lowered = [text.lower() for text in texts]
    vectors = embed_texts(reader, encoder, list(texts), device)
    questions = embed_texts(reader, encoder, [row.question for row in rows], device)
    negatives = []
    for start in range(0, len(rows), 2048):
        scores = questions[start : start + 2048] @ vectors.T
        best, indices = scores.topk(min(CANDIDATES, len(passages)), dim=1)
        own = [positions[row.text] for row in rows[start : start + 2048]]
        true_scores = scores[torch.arange(len(own)), torch.tensor(own, device=device)].tolist()
        for row, true_score, candidates, values in zip(rows[start : start + 2048], true_scores, indices.tolist(), best.tolist()):
            wanted = [answer.lower() for answer in row.answers]
            chosen = []
            for index, value in zip(candidates, values):
                other = passages[index]
                if value > MAX_SHARE_OF_TRUE_SCORE * true_score or other.passage == row.passage:
                    continue
                if any(word in lowered[index] for word in wanted):
                    continue
                # Overlapping texts of the same section answer the same questions.
                if other.passage[:80] in row.passage or row.passage[:80] in other.passage:
                    continue
                chosen.append(other)
                if len(chosen) == 3 * per_row:
                    break
            for other in rng.sample(chosen, min(per_row, len(chosen))):
                answer = () if row.answer is not None else None
                negatives.append(Row(row.question, other.passage, other.headings, answer, False, f"mined/{row.source}"))
    return negatives
