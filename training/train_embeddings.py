"""Trains the embedding model further on pairs of questions and passages, and writes the mean of several trainings."""

import argparse
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from encode import Encoder
from model import embed, find_weights, load_base, to_base_name
from pairs import Pair, make_pairs, normalize, take_sample
from prepare import get_device, log
from safetensors.torch import load_file, save_file
from torch.nn import functional

MAX_QUESTION_TOKENS = 40
MAX_PASSAGE_TOKENS = 160
PAD_TO = 16
CHUNK = 20_000
EMBED_BATCH = 1024
WARM_UP_STEPS = 40
# The rate stays at its peak for the first tenth of the training.
PEAK_SHARE = 0.1
SCORE_SCALE = 20
TAUGHT_SCALE = 40
# A passage that the teacher finds so much more similar than the true one may well answer the question too.
TAUGHT_MARGIN = 0.03
# Weight of finding the question of a passage, beside finding the passage of a question.
QUESTION_WEIGHT = 0.5


@dataclass
class Run:
    rate: float
    steps: int
    # Weights of the losses: the pairs, and the teacher's similarities.
    pairs: float
    taught: float
    # How often an epoch has the pairs over source code.
    code: int
    seed: int


RUNS = {
    "A": Run(3e-5, 627, pairs=1, taught=0, code=1, seed=1),
    "B": Run(6e-5, 587, pairs=0.5, taught=1, code=3, seed=1),
    "C": Run(8e-5, 682, pairs=0.5, taught=1, code=3, seed=2),
    "D": Run(5e-5, 703, pairs=1, taught=1, code=2, seed=3),
}


class Texts:
    """Tokens of texts as one flat tensor on the device."""

    def __init__(self, encoder: Encoder, texts: list[str], limit: int, device: str):
        lists = []
        for at in range(0, len(texts), CHUNK):
            for encoding in encoder.tokenizer.encode_batch(texts[at : at + CHUNK]):
                ids = encoding.ids
                lists.append(np.array(ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]))
        self.lengths = torch.tensor([len(ids) for ids in lists], device=device)
        self.starts = self.lengths.cumsum(0) - self.lengths
        # A batch reads up to the limit from the start of each text.
        self.ids = torch.from_numpy(np.concatenate([*lists, np.zeros(limit + PAD_TO, dtype=np.int64)])).to(device)

    def collate(self, indices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        lengths = self.lengths[indices]
        width = (int(lengths.max()) + PAD_TO - 1) // PAD_TO * PAD_TO
        positions = torch.arange(width, device=self.ids.device)
        mask = positions < lengths[:, None]
        return self.ids[self.starts[indices][:, None] + positions] * mask, mask

    @torch.no_grad()
    def embed_all(self, teacher) -> torch.Tensor:
        """Returns the teacher's vectors, which are the state of the first token."""
        order = torch.argsort(self.lengths, descending=True)
        vectors = torch.empty(len(order), teacher.words.embedding_dim, device=order.device)
        for part in order.split(EMBED_BATCH):
            vectors[part] = embed(teacher, *self.collate(part), first_token=True)
        return vectors


class Batches:
    """The pairs on the device, and batches of them that have pairs of one group."""

    def __init__(self, pairs: list[Pair], passages: list[str], encoder: Encoder, size: int, device: str):
        self.size, self.device = size, device
        self.questions = Texts(encoder, [pair.question for pair in pairs], MAX_QUESTION_TOKENS, device)
        self.passages = Texts(encoder, passages, MAX_PASSAGE_TOKENS, device)
        self.passage = torch.tensor([pair.passage for pair in pairs], device=device)
        self.negatives = torch.tensor([[*pair.negatives, -1, -1][:2] for pair in pairs], device=device)
        # Equal questions have the same number.
        numbers: dict[str, int] = {}
        self.question = torch.tensor([numbers.setdefault(normalize(pair.question), len(numbers)) for pair in pairs], device=device)
        self.groups: dict[str, np.ndarray] = {}
        names = np.array([pair.group for pair in pairs])
        for name in sorted(set(names)):
            group = np.flatnonzero(names == name)
            # Groups that are too small for batches of their own are mixed.
            key = name if len(group) >= 2 * size else "small"
            self.groups[key] = np.concatenate([self.groups.get(key, group[:0]), group])

    def load_teacher(self, folder: Path) -> None:
        teacher = load_base(folder).to(self.device).eval()
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
            self.taught_questions, self.taught_passages = self.questions.embed_all(teacher), self.passages.embed_all(teacher)

    def draw(self, code: int, rng: np.random.Generator):
        """Yields the indices of batches without an end."""
        while True:
            batches = []
            for name, group in self.groups.items():
                for _ in range(code if name == "code" else 1):
                    drawn = rng.permutation(group)
                    # A rest of less than half a batch has too few negatives.
                    batches += [drawn[at : at + self.size] for at in range(0, max(1, len(drawn) - self.size // 2), self.size)]
            for index in rng.permutation(len(batches)):
                yield torch.from_numpy(batches[index]).to(self.device)


def compute_loss(model, batches: Batches, rows: torch.Tensor, run: Run) -> torch.Tensor:
    passage, negatives = batches.passage[rows], batches.negatives[rows]
    # One known negative of each pair, if it has any.
    second = (negatives[:, 1] >= 0) & (torch.rand(len(rows), device=rows.device) < 0.5)
    chosen = torch.where(second, negatives[:, 1], negatives[:, 0])
    columns = torch.cat([passage, torch.unique(chosen[chosen >= 0])])
    with torch.autocast(batches.device, torch.bfloat16, enabled=batches.device == "cuda"):
        questions = embed(model, *batches.questions.collate(rows))
        passages = embed(model, *batches.passages.collate(columns))
    scores = SCORE_SCALE * (questions @ passages.T)
    taught = batches.taught_questions[rows] @ batches.taught_passages[columns].T
    loss = scores.new_zeros(())
    if run.pairs:
        count = len(rows)
        true = torch.arange(count, device=rows.device)
        # Not negatives: the same passage, a passage of the same question, and what the teacher finds far more similar.
        hidden = passage[:, None] == columns
        hidden[:, :count] |= batches.question[rows][:, None] == batches.question[rows]
        hidden[:, :count] |= taught[:, :count] > taught.diagonal()[:, None] + TAUGHT_MARGIN
        hidden[true, true] = False
        masked = scores.masked_fill(hidden, -1e4)
        by_passage = functional.cross_entropy(masked[:, :count].T, true)
        loss = loss + run.pairs * (functional.cross_entropy(masked, true) + QUESTION_WEIGHT * by_passage)
    if run.taught:
        target = functional.softmax(TAUGHT_SCALE * taught, 1)
        loss = loss + run.taught * functional.kl_div(functional.log_softmax(scores, 1), target, reduction="batchmean")
    return loss


def train(name: str, run: Run, steps: int, base: Path, batches: Batches):
    torch.manual_seed(run.seed)
    # Without dropout: the model stays close to its start.
    model = load_base(base).to(batches.device).eval()
    parameters = [parameter for name, parameter in model.named_parameters() if not is_output(name)]
    optimizer = torch.optim.AdamW(parameters, lr=run.rate, weight_decay=0.01, betas=(0.9, 0.98))

    def compute_rate(step: int) -> float:
        return min(1, (step + 1) / WARM_UP_STEPS) * max(0.02, min(1, (1 - step / steps) / (1 - PEAK_SHARE)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, compute_rate)
    for step, rows in zip(range(steps), batches.draw(run.code, np.random.default_rng(run.seed))):
        loss = compute_loss(model, batches, rows, run)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == steps - 1:
            log(f"{name}, step {step + 1} of {steps}, loss {loss.item():.4f}")
    return {name: tensor.detach() for name, tensor in model.state_dict().items() if not is_output(name)}


def is_output(name: str) -> bool:
    """The outputs of the reading model are no part of the embedding model."""
    return name.startswith(("span", "relevance"))


def write_weights(states: list[dict], base: Path, path: Path) -> None:
    """Writes the mean of the weights as 16-bit floats, with the names of the base and what only the base has."""
    tensors = load_file(str(find_weights(base)))
    for name in states[0]:
        tensors[to_base_name(name)] = torch.stack([state[name] for state in states]).mean(0).half().cpu().contiguous()
    # The positions include the token type.
    tensors["embeddings.token_type_embeddings.weight"].zero_()
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, str(path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="folder of the embedding model to start from")
    parser.add_argument("--teacher", type=Path, required=True, help="folder of an embedding model with the same tokens whose vector is the first token's")
    parser.add_argument("--tokenizer", type=Path, default=Path(__file__).parent.parent / "models" / "tokenizer.json")
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data")
    parser.add_argument("--own", type=Path, default=Path(__file__).parent / "data", help="folder of the written questions")
    parser.add_argument("--measured", type=Path, required=True, help="folder of the retrieval sets, which are not trained on")
    parser.add_argument("--runs", default=",".join(RUNS), help="trainings whose weights are averaged")
    parser.add_argument("--batch", type=int, default=512, help="pairs in a batch")
    parser.add_argument("--sample", type=float, default=1, help="share of the pairs and steps, for trying the code")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    pairs, passages = make_pairs(arguments.data, arguments.own, arguments.measured, random.Random(1))
    log(f"{len(pairs)} pairs, {len(passages)} passages")
    pairs, passages = take_sample(pairs, passages, arguments.sample)
    batches = Batches(pairs, passages, Encoder(arguments.tokenizer), arguments.batch, get_device())
    batches.load_teacher(arguments.teacher)
    log("teacher")
    states = []
    for name in arguments.runs.split(","):
        run = RUNS[name]
        states.append(train(name, run, max(1, round(run.steps * arguments.sample)), arguments.base, batches))
    write_weights(states, arguments.base, arguments.out)


if __name__ == "__main__":
    main()
