"""Trains the reading model, measures it and writes its int8 weights. docs/reader.md describes data and figures."""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from data import Row
from encode import Encoder
from evaluate import measure_answers, measure_ranking, measure_spans, measure_xquad
from examples import Examples
from model import load_model
from prepare import SHARES, get_device, log, prepare
from quantize import fake_quantize, write_weights
from torch import multiprocessing
from torch.nn import functional

WARM_UP = 0.06
BATCH_SIZE = 128
# Weights are averaged over the last part of the training.
AVERAGED_SHARE = 0.25
AVERAGE_EVERY = 50
# Steps by which the speed is measured, if the time is limited.
TIMED_FROM, TIMED_TO = 60, 160
TEMPERATURE = 2.0
SPAN_WEIGHT = 0.8
# Share of the loss that comes from the outputs of the previous generation.
TAUGHT_SHARE = 0.65


def draw_epoch(examples: Examples, rng: np.random.Generator, old: float) -> np.ndarray:
    """Returns the indices of an epoch's rows."""
    drawn = []
    for index, (name, share) in enumerate(SHARES.items()):
        share *= 1 if "invented" in name else old
        group = np.flatnonzero(examples.group == index)
        drawn += [group] * int(share)
        drawn.append(rng.choice(group, int(len(group) * (share - int(share))), replace=False))
    return np.concatenate(drawn)


def compute_loss(outputs, batch) -> torch.Tensor:
    begins, ends, relevance = outputs
    losses = functional.binary_cross_entropy_with_logits(relevance, batch["relevant"], reduction="none")
    weight = SPAN_WEIGHT * len(relevance) / (batch["begin"] >= 0).sum().clamp(min=1)
    for given, target in ((begins, batch["begin"]), (ends, batch["end"])):
        losses = losses + weight * functional.cross_entropy(given, target, ignore_index=-1, reduction="none")
    if "taught" not in batch:
        return losses.mean()
    taught_begins, taught_ends, taught_relevance = batch["taught"]
    distilled = (torch.sigmoid(relevance) - torch.sigmoid(taught_relevance)) ** 2 * 4
    for given, target in ((begins, taught_begins), (ends, taught_ends)):
        distilled = distilled + TEMPERATURE**2 * functional.kl_div(
            functional.log_softmax(given / TEMPERATURE, -1), functional.softmax(target / TEMPERATURE, -1), reduction="none"
        ).sum(-1)
    share = TAUGHT_SHARE * batch["is_taught"]
    return ((1 - share) * losses + share * distilled).mean()


def train(arguments, examples: Examples, seed: int, epochs: int, device: str):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    reader = load_model(arguments.start or arguments.base)
    reader.to(device).train()
    model = torch.compile(reader, dynamic=True) if arguments.compile else reader
    plan = [batch for _ in range(epochs) for batch in examples.make_batches(draw_epoch(examples, rng, arguments.old), BATCH_SIZE, rng)]
    decayed = [p for p in reader.parameters() if p.dim() > 1]
    others = [p for p in reader.parameters() if p.dim() == 1]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=arguments.rate, fused=device == "cuda")
    steps = len(plan)

    def compute_rate(step: int) -> float:
        warm_up = max(1, int(WARM_UP * steps))
        return step / warm_up if step < warm_up else max(0.02, (steps - step) / (steps - warm_up))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, compute_rate)
    average, averaged = None, 0
    for step, rows in enumerate(plan):
        if step >= steps:
            break
        if step == TIMED_FROM:
            started = time.time()
        if step == TIMED_TO and arguments.minutes:
            torch.cuda.synchronize()
            per_step = (time.time() - started) / (TIMED_TO - TIMED_FROM)
            steps = min(steps, int(arguments.minutes * 60 / per_step))
            log(f"seed {seed}, {per_step * 1000:.1f} ms per step, {steps} of {len(plan)} steps")
        batch = examples.collate(rows)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            outputs = model(batch["ids"], batch["mask"])
        loss = compute_loss(outputs, batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 1000 == 0:
            log(f"seed {seed}, step {step} of {steps}, loss {loss.item():.3f}")
        if step >= (1 - AVERAGED_SHARE) * steps and step % AVERAGE_EVERY == 0:
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
        examples.load_taught(arguments.work / f"taught-{generation - 1}.pt", {index for index, name in enumerate(SHARES) if name in arguments.untaught.split(",")})
    reader = train(arguments, examples, arguments.seed + 10 * generation + index, epochs, device)
    torch.save(reader.state_dict(), arguments.work / f"model-{arguments.name}{generation}-{index}.pt")
    if generation < arguments.last:
        torch.save(examples.run(reader), arguments.work / f"outputs-{generation}-{index}.pt")
    figures = measure(arguments, reader, *load_measuring(arguments), device, brief=True)
    log(f"generation {generation + 1}, model {index + 1}:", json.dumps(figures))


def average_outputs(arguments, generation: int, count: int) -> None:
    """Writes the mean of a generation's outputs, which the next one learns from."""
    outputs = [torch.load(arguments.work / f"outputs-{generation}-{index}.pt") for index in range(count)]
    mean = [torch.stack([output[part].float() for output in outputs]).mean(0).half() for part in range(3)]
    torch.save(mean, arguments.work / f"taught-{generation}.pt")


def teach(_: int, arguments) -> None:
    """Writes the outputs of the teacher, which the first generation learns from."""
    examples = Examples.load([arguments.work / f"examples-{group}.pt" for group in range(len(SHARES))], get_device())
    torch.save(examples.run(load_model(arguments.teacher).to(get_device()).eval()), arguments.work / "taught-0.pt")
    log("teacher")


def finish(_: int, arguments) -> None:
    """Averages the weights of the last generation, measures them before and after rounding, and writes them."""
    last = arguments.last
    states = [
        torch.load(arguments.work / f"model-{arguments.name}{last}-{index}.pt", map_location="cpu") for index in range(arguments.generations[-1][0])
    ]
    reader = load_model(arguments.start or arguments.base)
    reader.load_state_dict({name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]})
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    write_weights(reader, arguments.out, {"seed": str(arguments.seed)})
    device = get_device()
    reader.to(device).eval()
    measuring = load_measuring(arguments)
    figures = {"float": measure(arguments, reader, *measuring, device)}
    reader.load_state_dict(fake_quantize(reader))
    figures["int8 weights"] = measure(arguments, reader, *measuring, device, brief=True)
    arguments.out.with_suffix(".json").write_text(json.dumps(figures, indent=1))
    log(json.dumps(figures, indent=1))


def load_measuring(arguments) -> tuple[Encoder, dict[str, list[Row]]]:
    return Encoder(arguments.tokenizer), torch.load(arguments.work / "held.pt", weights_only=False)


def measure(arguments, reader, encoder, held, device, brief=False) -> dict:
    figures = {name: measure_spans(reader, encoder, rows, device) for name, rows in held.items()}
    for path in sorted(arguments.evaluation.glob("xquad.*.json.gz")) if arguments.evaluation else []:
        figures[path.name.removesuffix(".json.gz")] = measure_xquad(reader, encoder, path, device)
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
    parser.add_argument("--base", type=Path, required=True, help="weights of the embedding model: the package's folder, or a file of quantize.py")
    parser.add_argument("--tokenizer", type=Path, default=Path(__file__).parent.parent / "models" / "tokenizer.json")
    parser.add_argument("--start", type=Path, help="weights to continue from; default: the base")
    parser.add_argument("--teacher", type=Path, help="weights of a reading model that the first generation learns from")
    parser.add_argument("--languages", type=Path, help="questions in other languages, from languages/make.py")
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data")
    parser.add_argument("--own", type=Path, default=Path(__file__).parent / "data", help="folder of the written questions")
    parser.add_argument("--evaluation", type=Path, help="folder of search results to measure with")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder for intermediate files, about 6 GB")
    parser.add_argument(
        "--generations", default="3x4,3x7", help="models and epochs of each generation; each learns from the mean of the one before"
    )
    parser.add_argument("--minutes", type=float, default=0, help="limits the time of each generation; its rate falls accordingly")
    parser.add_argument("--rate", type=float, default=1e-4, help="peak learning rate")
    parser.add_argument("--old", type=float, default=1, help="share of an epoch's rows other than those over invented documents")
    parser.add_argument(
        "--untaught", default="languages,mined languages", help="groups that only their labels teach, because the teacher does not read them well"
    )
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--name", default="", help="prefix of the models in the work folder, for several trainings on the same examples")
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
    first = 1 if arguments.teacher else 0
    arguments.last = first + len(arguments.generations) - 1
    if arguments.teacher and not (arguments.work / "taught-0.pt").exists():
        multiprocessing.spawn(teach, (arguments,))
    for generation, (count, epochs) in enumerate(arguments.generations, first):
        if all((arguments.work / f"model-{arguments.name}{generation}-{index}.pt").exists() for index in range(count)):
            continue
        multiprocessing.spawn(train_model, (arguments, generation, epochs), nprocs=count)
        if generation < arguments.last:
            average_outputs(arguments, generation, count)
    multiprocessing.spawn(finish, (arguments,))


if __name__ == "__main__":
    main()
