"""Turns rows into tokens and batches."""

from pathlib import Path

import numpy as np
import torch
from model import MAX_TOKENS
from tokenizers import Tokenizer

MAX_QUESTION_TOKENS = 64
START, END = 101, 102
PAD_TO = 32


class Encoder:
    def __init__(self, path: Path):
        self.tokenizer = Tokenizer.from_file(str(path))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def encode(self, rows, with_offsets=True) -> list[dict]:
        """Encodes `[START] question [END] headings and passage [END]`. Offsets in the text take time and are needed to measure only."""
        questions = self.tokenizer.encode_batch([row.question for row in rows], add_special_tokens=False)
        texts = self.tokenizer.encode_batch([row.text for row in rows], add_special_tokens=False)
        return [self.join(row, question, text, with_offsets) for row, question, text in zip(rows, questions, texts)]

    def join(self, row, question, text, with_offsets: bool) -> dict:
        ids = question.ids[:MAX_QUESTION_TOKENS]
        first = len(ids) + 2
        room = MAX_TOKENS - first - 1
        encoded = {
            "ids": np.array([START, *ids, END, *text.ids[:room], END], dtype=np.int32),
            "first": first,
            "offsets": text.offsets[:room] if with_offsets else [],
            "relevant": float(row.relevant),
            "begin": -1,
            "end": -1,
        }
        if row.answer is None:
            return encoded
        if len(row.answer) == 0:
            encoded["begin"] = encoded["end"] = 0
            return encoded
        shift = len(row.text) - len(row.passage)
        begin, end = row.answer[0] + shift, row.answer[1] + shift
        covered = [index for index, (left, right) in enumerate(text.offsets[:room]) if right > begin and left < end]
        if covered:
            encoded["begin"], encoded["end"] = first + covered[0], first + covered[-1]
        return encoded


def pad(items: list[dict], device) -> dict:
    length = max(len(item["ids"]) for item in items)
    length = min(MAX_TOKENS, (length + PAD_TO - 1) // PAD_TO * PAD_TO)
    ids = np.zeros((len(items), length), dtype=np.int64)
    mask = np.zeros((len(items), length), dtype=bool)
    for index, item in enumerate(items):
        ids[index, : len(item["ids"])] = item["ids"]
        mask[index, : len(item["ids"])] = True
    batch = {"ids": torch.from_numpy(ids), "mask": torch.from_numpy(mask)}
    for name, kind in (("begin", torch.long), ("end", torch.long), ("relevant", torch.float)):
        batch[name] = torch.tensor([item[name] for item in items], dtype=kind)
    return {name: tensor.pin_memory().to(device, non_blocking=True) if device == "cuda" else tensor for name, tensor in batch.items()}
