"""Examples for training as flat tensors on the device: batches are gathered there, so that the processor does not slow the GPU down."""

from pathlib import Path

import numpy as np
import torch
from encode import PAD_TO, Encoder
from model import MAX_TOKENS

CHUNK = 20_000
BATCHES_SORTED_TOGETHER = 64
RUN_BATCH = 512


class Examples:
    def __init__(self, ids: torch.Tensor, starts: torch.Tensor, labels: torch.Tensor, group: np.ndarray, device: str):
        """`starts` has one more entry than there are examples; `labels` has begin, end and relevance of each."""
        self.lengths = (starts[1:] - starts[:-1]).numpy()
        self.group, self.device = group, device
        # A batch reads up to MAX_TOKENS tokens from the start of each example.
        self.ids = torch.cat([ids, torch.zeros(MAX_TOKENS, dtype=torch.int32)]).to(device)
        self.starts, self.labels = starts.to(device), labels.to(device)
        self.taught = None

    @staticmethod
    def encode(encoder: Encoder, rows, group: int) -> "EncodedRows":
        ids, labels = [], []
        for at in range(0, len(rows), CHUNK):
            part = rows[at : at + CHUNK]
            for row, item in zip(part, encoder.encode(part, with_offsets=False)):
                # Answers that the length limit cut off teach nothing.
                if row.answer and item["begin"] < 0:
                    continue
                ids.append(item["ids"])
                labels.append((item["begin"], item["end"], item["relevant"]))
        return EncodedRows(ids, labels, group)

    @staticmethod
    def load(paths: list[Path], device: str) -> "Examples":
        parts = [torch.load(path) for path in paths]
        lengths = torch.cat([part["lengths"] for part in parts])
        starts = torch.cat([torch.zeros(1, dtype=torch.long), lengths.long().cumsum(0)])
        group = np.concatenate([np.full(len(part["lengths"]), part["group"]) for part in parts])
        return Examples(torch.cat([part["ids"] for part in parts]), starts, torch.cat([part["labels"] for part in parts]), group, device)

    def load_taught(self, path: Path, untaught: set[int]) -> None:
        """Loads the outputs of the teacher, which the given groups do not learn from."""
        begins, ends, relevance = torch.load(path)
        self.is_taught = torch.from_numpy(~np.isin(self.group, list(untaught))).float().to(self.device)
        padding = torch.zeros(MAX_TOKENS, dtype=begins.dtype)
        self.taught = [torch.cat([begins, padding]).to(self.device), torch.cat([ends, padding]).to(self.device), relevance.to(self.device)]

    def make_batches(self, indices: np.ndarray, size: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Batches of similar length, in random order."""
        indices = rng.permutation(indices)
        batches = []
        for start in range(0, len(indices), size * BATCHES_SORTED_TOGETHER):
            part = indices[start : start + size * BATCHES_SORTED_TOGETHER]
            part = part[np.argsort(self.lengths[part], kind="stable")]
            batches += [part[at : at + size] for at in range(0, len(part), size)]
        return [batches[index] for index in rng.permutation(len(batches))]

    def collate(self, indices: np.ndarray) -> dict:
        length = int(self.lengths[indices].max())
        length = min(MAX_TOKENS, (length + PAD_TO - 1) // PAD_TO * PAD_TO)
        rows = torch.from_numpy(indices).to(self.device)
        starts = self.starts[rows]
        positions = torch.arange(length, device=self.device)
        mask = positions < (self.starts[rows + 1] - starts)[:, None]
        places = starts[:, None] + positions
        labels = self.labels[rows]
        batch = {
            "ids": self.ids[places].long().masked_fill(~mask, 0),
            "mask": mask,
            "begin": labels[:, 0].long(),
            "end": labels[:, 1].long(),
            "relevant": labels[:, 2],
        }
        if self.taught:
            begins, ends, relevance = self.taught
            spans = [part[places].float().masked_fill(~mask, -1e4) for part in (begins, ends)]
            batch["taught"] = (*spans, relevance[rows].float())
            batch["is_taught"] = self.is_taught[rows]
        return batch

    @torch.no_grad()
    def run(self, reader) -> list[torch.Tensor]:
        """Returns the outputs of a model for all examples, in the layout of the tokens."""
        total = int(self.starts[-1])
        begins, ends = (torch.zeros(total, dtype=torch.half, device=self.device) for _ in range(2))
        relevance = torch.zeros(len(self.lengths), dtype=torch.half, device=self.device)
        order = np.argsort(self.lengths, kind="stable")
        for at in range(0, len(order), RUN_BATCH):
            indices = order[at : at + RUN_BATCH]
            batch = self.collate(indices)
            with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
                outputs = reader(batch["ids"], batch["mask"])
            rows = torch.from_numpy(indices).to(self.device)
            places = (self.starts[rows][:, None] + torch.arange(batch["mask"].shape[1], device=self.device))[batch["mask"]]
            begins[places] = outputs[0][batch["mask"]].half()
            ends[places] = outputs[1][batch["mask"]].half()
            relevance[rows] = outputs[2].half()
        return [begins.cpu(), ends.cpu(), relevance.cpu()]


class EncodedRows:
    def __init__(self, ids: list[np.ndarray], labels: list[tuple], group: int):
        self.ids, self.labels, self.group = ids, labels, group

    def save(self, path: Path) -> None:
        torch.save(
            {
                "ids": torch.from_numpy(np.concatenate(self.ids)) if self.ids else torch.zeros(0, dtype=torch.int32),
                "lengths": torch.tensor([len(ids) for ids in self.ids], dtype=torch.int32),
                "labels": torch.tensor(self.labels, dtype=torch.float32).view(-1, 3),
                "group": self.group,
            },
            path,
        )
