"""Trains the reading model, measures it and writes its int8 weights. docs/reader.md describes data and figures."""

import argparse
import json
import random
import time
from pathlib import Path

import numpy as np
import torch
from data import (
    HEADING_SEPARATOR,
    Row,
    generate_questions,
    is_held_out,
    load_documentation,
    load_ranks,
    load_spans,
    read_lines,
)
from encode import Encoder, make_batches, pad
from evaluate import measure_answers, measure_ranking, measure_spans
from model import load_base
from negatives import find_negatives
from quantize import fake_quantize, write_weights
from torch.nn import functional

PEAK_LEARNING_RATE = 1.5e-4
WARM_UP = 0.06
BATCH_SIZE = 128
# Weights are averaged over the last part of the training.
AVERAGED_SHARE = 0.2
AVERAGE_EVERY = 50
TEMPERATURE = 2.0
SPAN_WEIGHT = 0.8
# Share of the ranking rows without negatives of their own for which negatives are looked for.
MINED_RANKS = 0.45


def log(*parts) -> None:
    print(f"{time.monotonic() - STARTED:7.1f}s", *parts, flush=True)


STARTED = time.monotonic()


def prepare(arguments, encoder, device) -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
    """Returns training rows by group and rows for measuring, which come from other passages or packages."""
    rng = random.Random(1)
    spans = load_spans(arguments.data, rng)
    ranks = load_ranks(arguments.data, rng)
    written = load_documentation(arguments.own / "questions.jsonl.gz")
    pool = [
        Row("", entry["passage"], HEADING_SEPARATOR.join(heading for heading in entry["headings"] if heading not in entry["passage"]))
        for entry in read_lines(arguments.own / "passages.jsonl.gz")
    ]
    log(f"{len(spans)} span rows, {len(ranks)} ranking rows, {len(written)} written rows, {len(pool)} passages of documentation")

    held = {
        "wiki": [row for row in spans if row.source == "squadshifts-new_wiki" and is_held_out(row.passage, 0.04)],
        "policy": [row for row in spans if row.source in ("policyqa", "conditionalqa") and is_held_out(row.passage, 0.06)],
        "written": [row for row in written if is_held_out(row.source, 0.12)],
    }
    out = {id(row) for rows in held.values() for row in rows}
    spans = [row for row in spans if id(row) not in out]
    written = [row for row in written if id(row) not in out]

    documentation = [(row.passage, row.headings, row.source) for row in [*pool, *(row for row in ranks if "docs-" in row.source)]]
    made = generate_questions(documentation, rng, arguments.made)
    reader = load_base(arguments.base)
    reader.to(device).eval()
    answered = [row for row in spans if row.answers]
    groups = {"spans": spans, "written": written, "made": made, "ranks": ranks}
    by_source: dict[str, list[Row]] = {}
    for row in answered:
        by_source.setdefault(row.source, []).append(row)
    groups["mined spans"] = [
        negative for rows in by_source.values() for negative in find_negatives(reader, encoder, rows, [], 1, rng, device)
    ]
    groups["mined written"] = find_negatives(reader, encoder, [row for row in written if row.answers], pool, 4, rng, device)
    groups["mined made"] = find_negatives(reader, encoder, made, [], 1, rng, device)
    labelled = {row.source for row in ranks if not row.relevant}
    unlabelled: dict[str, list[Row]] = {}
    for row in ranks:
        if row.source not in labelled and rng.random() < MINED_RANKS:
            unlabelled.setdefault(row.source, []).append(row)
    groups["mined ranks"] = [
        negative for rows in unlabelled.values() for negative in find_negatives(reader, encoder, rows, [], 1, rng, device)
    ]
    log({name: len(rows) for name, rows in groups.items()}, "held out:", {name: len(rows) for name, rows in held.items()})
    return groups, held


# Rows of each group in an epoch: a share of the group, drawn anew for each epoch.
SHARES = {
    "spans": 1, "written": 3, "made": 0.7, "ranks": 0.35, "mined spans": 0.4, "mined written": 1, "mined made": 0.5, "mined ranks": 0.9,
}  # fmt: skip


def draw_epoch(items: dict[str, list[dict]], rng: random.Random) -> list[dict]:
    drawn = []
    for name, group in items.items():
        share = SHARES[name]
        drawn += group * int(share) + rng.sample(group, int(len(group) * (share - int(share))))
    return drawn


def compute_loss(outputs, batch, teachers) -> torch.Tensor:
    begins, ends, relevance = outputs
    known = (batch["begin"] >= 0).sum().clamp(min=1)
    loss = functional.binary_cross_entropy_with_logits(relevance, batch["relevant"])
    for given, target in ((begins, batch["begin"]), (ends, batch["end"])):
        loss = loss + SPAN_WEIGHT * functional.cross_entropy(given, target, ignore_index=-1, reduction="sum") / known
    if not teachers:
        return loss
    with torch.no_grad():
        taught = [teacher(batch["ids"], batch["mask"]) for teacher in teachers]
        wanted = [torch.stack([output[index] for output in taught]).mean(0) for index in range(3)]
    distilled = functional.mse_loss(torch.sigmoid(relevance), torch.sigmoid(wanted[2])) * 4
    for given, target in zip((begins, ends), wanted[:2]):
        distilled = distilled + TEMPERATURE**2 * functional.kl_div(
            functional.log_softmax(given / TEMPERATURE, -1), functional.softmax(target / TEMPERATURE, -1), reduction="batchmean"
        )
    return 0.4 * loss + 0.6 * distilled


def train(arguments, items, seed: int, epochs: int, device: str, teachers=()):
    torch.manual_seed(seed)
    np.random.seed(seed)
    rng = random.Random(seed)
    reader = load_base(arguments.base)
    reader.to(device).train()
    if arguments.freeze_words:
        reader.words.weight.requires_grad_(False)
    plan = [batch for _ in range(epochs) for batch in make_batches(draw_epoch(items, rng), BATCH_SIZE, rng)]
    decayed = [p for p in reader.parameters() if p.requires_grad and p.dim() > 1]
    others = [p for p in reader.parameters() if p.requires_grad and p.dim() == 1]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=PEAK_LEARNING_RATE, fused=device == "cuda")
    warm_up = int(WARM_UP * len(plan))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: step / warm_up if step < warm_up else max(0.02, (len(plan) - step) / (len(plan) - warm_up))
    )
    average, averaged = None, 0
    for step, part in enumerate(plan):
        batch = pad(part, device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            outputs = reader(batch["ids"], batch["mask"])
            loss = compute_loss(outputs, batch, teachers)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 500 == 0:
            log(f"seed {seed}, step {step} of {len(plan)}, loss {loss.item():.3f}")
        if step >= (1 - AVERAGED_SHARE) * len(plan) and step % AVERAGE_EVERY == 0:
            state = {name: tensor.detach().clone() for name, tensor in reader.state_dict().items()}
            averaged += 1
            average = state if average is None else {name: average[name] + (state[name] - average[name]) / averaged for name in average}
    reader.load_state_dict(average)
    return reader.eval()


def measure(arguments, reader, encoder, held, device, brief=False) -> dict:
    figures = {name: measure_spans(reader, encoder, rows, device) for name, rows in held.items()}
    for path in sorted(arguments.evaluation.glob("*.json")) if arguments.evaluation else []:
        if path.stem == "eval-xquad":
            figures["xquad answers"] = measure_answers(reader, encoder, path, device)
            data = json.loads(path.read_text())
            true = [
                Row(query["q"], data["documents"][query["d"]], answer=(0, 0), answers=[answer for answer, _ in query["a"]])
                for query in data["queries"]
                if query["own"]
            ]
            figures["xquad spans"] = measure_spans(reader, encoder, true, device)
        elif not brief:
            figures[path.stem] = measure_ranking(reader, encoder, path, device)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="folder of the embedding package's weights")
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data")
    parser.add_argument("--own", type=Path, default=Path(__file__).parent / "data", help="folder of the written questions")
    parser.add_argument("--evaluation", type=Path, help="folder of search results to measure with")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--teachers", type=int, default=0, help="models whose mean the final model learns from")
    parser.add_argument("--made", type=int, default=12000, help="questions made from patterns")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--freeze-words", action="store_true")
    parser.add_argument("--float", type=Path, help="also writes the float weights")
    arguments = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    encoder = Encoder(arguments.base / "tokenizer.json")
    groups, held = prepare(arguments, encoder, device)
    items = {name: encoder.encode(rows) for name, rows in groups.items()}
    # Answers that the length limit cut off teach nothing.
    items = {
        name: [item for item, row in zip(items[name], rows) if not row.answer or item["begin"] > 0] for name, rows in groups.items()
    }
    log("encoded")
    teachers = []
    for index in range(arguments.teachers):
        teachers.append(train(arguments, items, arguments.seed + 1 + index, arguments.epochs, device))
        log(f"teacher {index + 1}:", json.dumps(measure(arguments, teachers[-1], encoder, held, device, brief=True)))
    reader = train(arguments, items, arguments.seed, arguments.epochs + (1 if teachers else 0), device, teachers)
    figures = {"float": measure(arguments, reader, encoder, held, device)}
    log(json.dumps(figures, indent=1))
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    write_weights(reader, arguments.out, {"base": "all-MiniLM-L6-v2", "seed": str(arguments.seed)})
    if arguments.float:
        torch.save({name: tensor.half() for name, tensor in reader.state_dict().items()}, arguments.float)
    reader.load_state_dict(fake_quantize(reader))
    figures["int8 weights"] = measure(arguments, reader, encoder, held, device, brief=True)
    log(json.dumps(figures["int8 weights"], indent=1))
    arguments.out.with_suffix(".json").write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
