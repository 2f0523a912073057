"""Makes the pairs that the embedding model is trained with: a question, its passage, and known passages that do not answer it."""

import json
import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from data import Row, load_code, load_documentation, load_neighbours, load_ranks, load_spans

# Longer passages are cut to windows of a size that the product's passages have.
MAX_CHARACTERS = 1100
WINDOW = (500, 1000)
MAX_WRITTEN_CHARACTERS = 1700
# Many passages are best known by their beginning.
BEGINNING_SHARE = 0.6
QAMR_QUESTIONS_PER_SENTENCE = 3
MIN_QUESTION_CHARACTERS = 8
MAX_NEGATIVES = 2
# A run of 119 characters or more that a passage has in common with a measured text is always found.
MEASURED_RUN, MEASURED_EVERY = 80, 40


@dataclass
class Pair:
    question: str
    # Indices of the passage that belongs to the question, and of passages that do not.
    passage: int
    negatives: list[int]
    # Batches have pairs of one group, so that the other passages of the batch are hard to tell apart.
    group: str


class PairMaker:
    def __init__(self, rng: random.Random):
        self.rng = rng
        self.pairs: list[Pair] = []
        # Index of each passage by its text.
        self.passages: dict[str, int] = {}

    def add(self, question: str, text: str, negatives: list[str], group: str) -> None:
        self.pairs.append(Pair(question, self.add_passage(text), [self.add_passage(negative) for negative in negatives], group))

    def add_passage(self, text: str) -> int:
        return self.passages.setdefault(text.strip(), len(self.passages))

    def add_spans(self, rows: list[Row]) -> None:
        others = group_others(rows)
        asked: Counter[str] = Counter()
        for row in rows:
            if not row.relevant:
                continue
            if row.source == "qamr":
                asked[row.passage] += 1
                if asked[row.passage] > QAMR_QUESTIONS_PER_SENTENCE:
                    continue
            text = self.crop(row.passage, row.answer)
            self.add(row.question, text, [self.crop(other.passage) for other in others[row.question][:MAX_NEGATIVES]], row.source)

    def add_ranks(self, rows: list[Row]) -> None:
        by_source: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            by_source[row.source].append(row)
        for source, part in by_source.items():
            others = group_others(part)
            for row in part:
                if row.relevant and len(row.question) >= MIN_QUESTION_CHARACTERS:
                    window = self.crop(row.passage)
                    text = f"{row.headings}\n{window}" if row.headings else window
                    self.add(row.question, text, [other.passage for other in self.draw(others[row.question])], source)

    def add_written(self, rows: list[Row], group: str) -> None:
        others = group_others(rows)
        for row in rows:
            if row.relevant:
                text = row.text[:MAX_WRITTEN_CHARACTERS] if row.answer else self.crop(row.text)
                negatives = [other.text[:MAX_WRITTEN_CHARACTERS] for other in self.draw(others[row.question])]
                self.add(row.question, text, negatives, group)

    def draw(self, others: list[Row]) -> list[Row]:
        return self.rng.sample(others, min(MAX_NEGATIVES, len(others)))

    def crop(self, text: str, answer: tuple | None = None) -> str:
        """Cuts a long text to a window, with the answer if there is one."""
        if len(text) <= MAX_CHARACTERS:
            return text
        length = self.rng.randint(*WINDOW)
        if answer:
            latest = max(0, min(answer[0], len(text) - length))
            begin = self.rng.randint(min(latest, max(0, answer[1] - length)), latest)
        else:
            begin = 0 if self.rng.random() < BEGINNING_SHARE else self.rng.randint(0, len(text) - length)
        return text[begin : begin + length]


def group_others(rows: list[Row]) -> dict[str, list[Row]]:
    """Returns the rows whose passages do not answer, by question."""
    others: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if not row.relevant:
            others[row.question].append(row)
    return others


def make_pairs(data: Path, own: Path, measured: Path, rng: random.Random) -> tuple[list[Pair], list[str]]:
    """Returns the pairs in random order, and the passages that they refer to."""
    maker = PairMaker(rng)
    maker.add_spans(load_spans(data, rng))
    maker.add_ranks(load_ranks(data, rng))
    maker.add_written(load_documentation(own / "questions.jsonl.gz"), "written")
    for name in ("neighbours", "invented"):
        written, others = load_neighbours(own / f"{name}.jsonl.gz")
        maker.add_written([*written, *others], name)
    maker.add_written(load_code(own / "code.jsonl.gz"), "code")
    rng.shuffle(maker.pairs)
    passages = list(maker.passages)
    return remove_measured(maker.pairs, passages, measured), passages


def remove_measured(pairs: list[Pair], passages: list[str], folder: Path) -> list[Pair]:
    """Leaves out questions and passages of the retrieval sets in the folder: what is measured with must not be trained on."""
    runs, questions = set(), set()
    for path in folder.glob("*/corpus.jsonl"):
        for text in read_texts(path):
            runs.update(text[at : at + MEASURED_RUN] for at in range(0, len(text) - MEASURED_RUN + 1, MEASURED_EVERY))
        questions.update(read_texts(path.with_name("queries.jsonl")))
    if not runs:
        raise SystemExit(f"{folder} has no retrieval sets: folders with corpus.jsonl and queries.jsonl.")
    shared = {index for index, passage in enumerate(passages) if has_run(normalize(passage), runs)}
    kept = [pair for pair in pairs if pair.passage not in shared and normalize(pair.question) not in questions]
    for pair in kept:
        pair.negatives = [index for index in pair.negatives if index not in shared]
    return kept


def has_run(text: str, runs: set[str]) -> bool:
    return any(text[at : at + MEASURED_RUN] in runs for at in range(len(text) - MEASURED_RUN + 1))


def read_texts(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as file:
        return [normalize(json.loads(line)["text"]) for line in file if line.strip()]


def normalize(text: str) -> str:
    return " ".join(text.lower().split())


def take_sample(pairs: list[Pair], passages: list[str], share: float) -> tuple[list[Pair], list[str]]:
    """Returns the first pairs, and only the passages that they refer to."""
    pairs = pairs[: round(len(pairs) * share)]
    used: dict[int, int] = {}
    for pair in pairs:
        pair.passage, *pair.negatives = (used.setdefault(index, len(used)) for index in (pair.passage, *pair.negatives))
    return pairs, [passages[index] for index in used]
