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
    load_code,
    load_documentation,
    load_neighbours,
    load_ranks,
    load_spans,
    read_lines,
)
from encode import Encoder
from evaluate import measure_answers, measure_ranking, measure_spans
from examples import Examples
from model import load_base
from negatives import find_negatives
from quantize import fake_quantize, write_weights
from tables import make_table_questions
from torch import multiprocessing
from torch.nn import functional

PEAK_LEARNING_RATE = 1.5e-4
WARM_UP = 0.06
BATCH_SIZE = 128
# Weights are averaged over the last part of the training.
AVERAGED_SHARE = 0.25
AVERAGE_EVERY = 50
TEMPERATURE = 2.0
SPAN_WEIGHT = 0.8
# Share of the loss that comes from the outputs of the previous generation.
TAUGHT_SHARE = 0.65
# Share of the ranking rows without negatives of their own for which negatives are looked for.
MINED_RANKS = 0.45
# Share of the packages of written questions that are only measured with.
HELD_OUT_WRITTEN = 0.12
# Share of the packages of source code that are only measured with.
HELD_OUT_CODE = 0.1


def log(*parts) -> None:
    print(f"{time.time() - STARTED:7.1f}s", *parts, flush=True)


STARTED = time.time()


def prepare(_: int, arguments) -> None:
    """Writes the examples for training by group, and the rows for measuring."""
    device = get_device()
    rng = random.Random(1)
    encoder = Encoder(arguments.base / "tokenizer.json")
    spans = load_spans(arguments.data, rng)
    ranks = load_ranks(arguments.data, rng)
    written, neighbours = load_neighbours(arguments.own / "neighbours.jsonl.gz")
    written += load_documentation(arguments.own / "questions.jsonl.gz")
    code = load_code(arguments.own / "code.jsonl.gz")
    pool = [
        Row("", entry["passage"], HEADING_SEPARATOR.join(heading for heading in entry["headings"] if heading not in entry["passage"]))
        for entry in read_lines(arguments.own / "passages.jsonl.gz")
    ]
    log(f"{len(spans)} span rows, {len(ranks)} ranking rows, {len(written)} written rows, {len(code)} code rows")
    log(f"{len(neighbours)} rows of neighbouring passages without an answer")
    log(f"{len(pool)} passages of documentation")

    held = split_held_out(spans, written, code)
    out = {id(row) for rows in held.values() for row in rows}
    spans = [row for row in spans if id(row) not in out]
    written = [row for row in written if id(row) not in out]
    neighbours = [row for row in neighbours if not is_held_out(row.source, HELD_OUT_WRITTEN)]
    code = [row for row in code if not is_held_out(row.source, HELD_OUT_CODE)]
    every = round(1 / arguments.sample)
    torch.save({name: rows[::every] for name, rows in held.items()}, arguments.work / "held.pt")
    spans, ranks, written, neighbours, code, pool = (rows[::every] for rows in (spans, ranks, written, neighbours, code, pool))

    documentation = [(row.passage, row.headings, row.source) for row in [*pool, *(row for row in ranks if "docs-" in row.source)]]
    made = generate_questions(documentation, rng, arguments.made)
    tables = make_table_questions(rng, round(arguments.tables * arguments.sample))
    log(f"{len(made)} made rows, {len(tables)} table rows")
    reader = load_base(arguments.base)
    reader.to(device).eval()
    groups = {"spans": spans, "written": written, "neighbours": neighbours, "code": code, "made": made, "tables": tables, "ranks": ranks}
    by_source: dict[str, list[Row]] = {}
    for row in spans:
        if row.answers:
            by_source.setdefault(row.source, []).append(row)
    groups["mined spans"] = [
        negative for rows in by_source.values() for negative in find_negatives(reader, encoder, rows, [], 1, rng, device)
    ]
    log("mined spans")
    groups["mined written"] = find_negatives(reader, encoder, [row for row in written if row.answers], pool, 4, rng, device)
    groups["mined code"] = find_negatives(reader, encoder, [row for row in code if row.relevant], code, 2, rng, device)
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
    for index, name in enumerate(SHARES):
        Examples.encode(encoder, groups[name], index).save(arguments.work / f"examples-{index}.pt")
    log("encoded")


def split_held_out(spans: list[Row], written: list[Row], code: list[Row]) -> dict[str, list[Row]]:
    """Returns rows for measuring, which come from other passages or packages than those for training."""
    return {
        "wiki": [row for row in spans if row.source == "squadshifts-new_wiki" and is_held_out(row.passage, 0.04)],
        "policy": [row for row in spans if row.source in ("policyqa", "conditionalqa") and is_held_out(row.passage, 0.06)],
        "written": [row for row in written if is_held_out(row.source, HELD_OUT_WRITTEN)],
        # Rows whose answer is not known cannot be measured.
        "code": [row for row in code if is_held_out(row.source, HELD_OUT_CODE) and row.answer is not None],
        "tables": make_table_questions(random.Random(7), 600),
    }


# Rows of each group in an epoch: a share of the group, drawn anew for each epoch.
SHARES = {
    "spans": 1, "written": 2.5, "neighbours": 1, "code": 1, "made": 0.7, "tables": 0.6, "ranks": 0.35,
    "mined spans": 0.4, "mined written": 0.6, "mined code": 0.5, "mined made": 0.5, "mined ranks": 0.9,
}  # fmt: skip


def draw_epoch(examples: Examples, rng: np.random.Generator) -> np.ndarray:
    """Returns the indices of an epoch's rows."""
    drawn = []
    for index, share in enumerate(SHARES.values()):
        group = np.flatnonzero(examples.group == index)
        drawn += [group] * int(share)
        drawn.append(rng.choice(group, int(len(group) * (share - int(share))), replace=False))
    return np.concatenate(drawn)


def compute_loss(outputs, batch) -> torch.Tensor:
    begins, ends, relevance = outputs
    known = (batch["begin"] >= 0).sum().clamp(min=1)
    loss = functional.binary_cross_entropy_with_logits(relevance, batch["relevant"])
    for given, target in ((begins, batch["begin"]), (ends, batch["end"])):
        loss = loss + SPAN_WEIGHT * functional.cross_entropy(given, target, ignore_index=-1, reduction="sum") / known
    if "taught" not in batch:
        return loss
    taught_begins, taught_ends, taught_relevance = batch["taught"]
    distilled = functional.mse_loss(torch.sigmoid(relevance), torch.sigmoid(taught_relevance)) * 4
    for given, target in ((begins, taught_begins), (ends, taught_ends)):
        distilled = distilled + TEMPERATURE**2 * functional.kl_div(
            functional.log_softmax(given / TEMPERATURE, -1), functional.softmax(target / TEMPERATURE, -1), reduction="batchmean"
        )
    return (1 - TAUGHT_SHARE) * loss + TAUGHT_SHARE * distilled


def train(arguments, examples: Examples, seed: int, epochs: int, device: str):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    reader = load_base(arguments.base)
    reader.to(device).train()
    plan = [batch for _ in range(epochs) for batch in examples.make_batches(draw_epoch(examples, rng), BATCH_SIZE, rng)]
    decayed = [p for p in reader.parameters() if p.dim() > 1]
    others = [p for p in reader.parameters() if p.dim() == 1]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=PEAK_LEARNING_RATE, fused=device == "cuda")
    warm_up = max(1, int(WARM_UP * len(plan)))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: step / warm_up if step < warm_up else max(0.02, (len(plan) - step) / (len(plan) - warm_up))
    )
    average, averaged = None, 0
    for step, rows in enumerate(plan):
        batch = examples.collate(rows)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            outputs = reader(batch["ids"], batch["mask"])
        loss = compute_loss(outputs, batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 1000 == 0:
            log(f"seed {seed}, step {step} of {len(plan)}, loss {loss.item():.3f}")
        if step >= (1 - AVERAGED_SHARE) * len(plan) and step % AVERAGE_EVERY == 0:
            state = {name: tensor.detach().clone() for name, tensor in reader.state_dict().items()}
            averaged += 1
            average = state if average is None else {name: average[name] + (state[name] - average[name]) / averaged for name in average}
    reader.load_state_dict(average or reader.state_dict())
    return reader.eval()


def train_model(index: int, arguments, generation: int, epochs: int) -> None:
    """Trains one model of a generation. Runs in its own process, beside the others of the generation."""
    device = get_device()
    torch.set_num_threads(2)
    examples = Examples.load([arguments.work / f"examples-{group}.pt" for group in range(len(SHARES))], device)
    if generation:
        examples.load_taught(arguments.work / f"taught-{generation - 1}.pt")
    reader = train(arguments, examples, arguments.seed + 10 * generation + index, epochs, device)
    torch.save(reader.state_dict(), arguments.work / f"model-{generation}-{index}.pt")
    if generation + 1 < len(arguments.generations):
        torch.save(examples.run(reader), arguments.work / f"outputs-{generation}-{index}.pt")
    figures = measure(arguments, reader, *load_measuring(arguments), device, brief=True)
    log(f"generation {generation + 1}, model {index + 1}:", json.dumps(figures))


def average_outputs(arguments, generation: int, count: int) -> None:
    """Writes the mean of a generation's outputs, which the next one learns from."""
    outputs = [torch.load(arguments.work / f"outputs-{generation}-{index}.pt") for index in range(count)]
    mean = [torch.stack([output[part].float() for output in outputs]).mean(0).half() for part in range(3)]
    torch.save(mean, arguments.work / f"taught-{generation}.pt")


def finish(_: int, arguments) -> None:
    """Averages the weights of the last generation, measures them before and after rounding, and writes them."""
    last = len(arguments.generations) - 1
    states = [torch.load(arguments.work / f"model-{last}-{index}.pt", map_location="cpu") for index in range(arguments.generations[last][0])]
    reader = load_base(arguments.base)
    reader.load_state_dict({name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]})
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    write_weights(reader, arguments.out, {"base": "all-MiniLM-L6-v2", "seed": str(arguments.seed)})
    device = get_device()
    reader.to(device).eval()
    measuring = load_measuring(arguments)
    figures = {"float": measure(arguments, reader, *measuring, device)}
    reader.load_state_dict(fake_quantize(reader))
    figures["int8 weights"] = measure(arguments, reader, *measuring, device, brief=True)
    arguments.out.with_suffix(".json").write_text(json.dumps(figures, indent=1))
    log(json.dumps(figures, indent=1))


def load_measuring(arguments) -> tuple[Encoder, dict[str, list[Row]]]:
    return Encoder(arguments.base / "tokenizer.json"), torch.load(arguments.work / "held.pt", weights_only=False)


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


def get_device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="folder of the embedding package's weights")
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data")
    parser.add_argument("--own", type=Path, default=Path(__file__).parent / "data", help="folder of the written questions")
    parser.add_argument("--evaluation", type=Path, help="folder of search results to measure with")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder for intermediate files, about 6 GB")
    parser.add_argument(
        "--generations", default="3x4,3x7", help="models and epochs of each generation; each learns from the mean of the one before"
    )
    parser.add_argument("--made", type=int, default=12000, help="questions made from patterns")
    parser.add_argument("--tables", type=int, default=14000, help="questions over invented tables")
    parser.add_argument("--sample", type=float, default=1, help="share of the data, for trying the code")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.generations = [tuple(map(int, generation.split("x"))) for generation in arguments.generations.split(",")]
    arguments.work.mkdir(parents=True, exist_ok=True)
    # Models of a generation share the GPU, each in its own process: one alone does not fill it.
    # Results in the work folder are used again, so that an interrupted training can continue.
    if not (arguments.work / f"examples-{len(SHARES) - 1}.pt").exists():
        multiprocessing.spawn(prepare, (arguments,))
    for generation, (count, epochs) in enumerate(arguments.generations):
        is_last = generation + 1 == len(arguments.generations)
        if all((arguments.work / f"model-{generation}-{index}.pt").exists() for index in range(count)):
            continue
        multiprocessing.spawn(train_model, (arguments, generation, epochs), nprocs=count)
        if not is_last:
            average_outputs(arguments, generation, count)
    multiprocessing.spawn(finish, (arguments,))


if __name__ == "__main__":
    main()
