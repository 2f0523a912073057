"""Prepares the examples: loads the data, looks for negatives, and encodes the rows of each group."""

import random
import time

import torch
from data import (
    HEADING_SEPARATOR,
    Row,
    generate_questions,
    get_language,
    is_held_out,
    load_code,
    load_documentation,
    load_languages,
    load_neighbours,
    load_ranks,
    load_spans,
    read_lines,
)
from encode import Encoder
from examples import Examples
from model import load_model
from negatives import find_negatives
from tables import make_table_questions

# Share of the ranking rows without negatives of their own for which negatives are looked for.
MINED_RANKS = 0.45
# Share of the packages of written questions that are only measured with.
HELD_OUT_WRITTEN = 0.12
# Share of the invented documents that are only measured with.
HELD_OUT_INVENTED = 0.1
# Share of the packages of source code that are only measured with.
HELD_OUT_CODE = 0.1
# Rows of each group in an epoch: a share of the group, drawn anew for each epoch.
SHARES = {
    "spans": 1, "written": 2.5, "neighbours": 1, "code": 1, "made": 0.7, "tables": 0.6, "ranks": 0.35, "languages": 0.6,
    "mined spans": 0.4, "mined written": 0.6, "mined code": 0.5, "mined made": 0.5, "mined ranks": 0.9, "mined languages": 0.35,
    "invented": 4, "invented neighbours": 1.5, "mined invented": 1,
}  # fmt: skip


STARTED = time.time()


def log(*parts) -> None:
    print(f"{time.time() - STARTED:7.1f}s", *parts, flush=True)


def get_device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def prepare(_: int, arguments) -> None:
    """Writes the examples for training by group, and the rows for measuring."""
    device = get_device()
    rng = random.Random(1)
    encoder = Encoder(arguments.tokenizer)
    spans = load_spans(arguments.data, rng)
    ranks = load_ranks(arguments.data, rng)
    written, neighbours = load_neighbours(arguments.own / "neighbours.jsonl.gz")
    written += load_documentation(arguments.own / "questions.jsonl.gz")
    invented, invented_others = load_neighbours(arguments.own / "invented.jsonl.gz")
    code = load_code(arguments.own / "code.jsonl.gz")
    pool = [
        Row("", entry["passage"], HEADING_SEPARATOR.join(heading for heading in entry["headings"] if heading not in entry["passage"]))
        for entry in read_lines(arguments.own / "passages.jsonl.gz")
    ]
    log(f"{len(spans)} span rows, {len(ranks)} ranking rows, {len(written)} written rows, {len(code)} code rows")
    languages = load_languages(arguments.languages, rng) if arguments.languages else []
    log(f"{len(languages)} rows in other languages")
    log(f"{len(invented)} rows over invented documents, {len(invented_others)} over their other passages")
    log(f"{len(neighbours)} rows of neighbouring passages without an answer")
    log(f"{len(pool)} passages of documentation")

    held = split_held_out(spans, written, code, invented)
    out = {id(row) for rows in held.values() for row in rows}
    spans = [row for row in spans if id(row) not in out]
    written = [row for row in written if id(row) not in out]
    neighbours = [row for row in neighbours if not is_held_out(row.source, HELD_OUT_WRITTEN)]
    invented, invented_others = ([row for row in rows if not is_held_out(row.source, HELD_OUT_INVENTED)] for rows in (invented, invented_others))
    code = [row for row in code if not is_held_out(row.source, HELD_OUT_CODE)]
    every = round(1 / arguments.sample)
    torch.save({name: rows[::every] for name, rows in held.items()}, arguments.work / "held.pt")
    spans, ranks, written, neighbours, code, pool, languages = (
        rows[::every] for rows in (spans, ranks, written, neighbours, code, pool, languages)
    )

    documentation = [(row.passage, row.headings, row.source) for row in [*pool, *(row for row in ranks if "docs-" in row.source)]]
    made = generate_questions(documentation, rng, arguments.made)
    tables = make_table_questions(rng, round(arguments.tables * arguments.sample))
    log(f"{len(made)} made rows, {len(tables)} table rows")
    reader = load_model(arguments.base)
    reader.to(device).eval()
    groups = {"spans": spans, "written": written, "neighbours": neighbours, "code": code, "made": made, "tables": tables, "ranks": ranks, "languages": languages}
    groups |= {"invented": invented, "invented neighbours": invented_others}
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
    groups["mined languages"] = [
        negative
        for language in sorted({get_language(row) for row in languages})
        for negative in find_negatives(reader, encoder, [row for row in languages if get_language(row) == language], [], 1, rng, device)
    ]
    groups["mined invented"] = [
        negative
        for language, others in {"en": pool, **{name: [row for row in languages if get_language(row) == name] for name in ("de", "es")}}.items()
        for negative in find_negatives(reader, encoder, [row for row in invented if row.answers and row.language == language], others, 2, rng, device)
    ]
    log({name: len(rows) for name, rows in groups.items()}, "held out:", {name: len(rows) for name, rows in held.items()})
    for index, name in enumerate(SHARES):
        Examples.encode(encoder, groups[name], index).save(arguments.work / f"examples-{index}.pt")
    log("encoded")


def split_held_out(spans: list[Row], written: list[Row], code: list[Row], invented: list[Row]) -> dict[str, list[Row]]:
    """Returns rows for measuring, which come from other passages or packages than those for training."""
    return {
        "wiki": [row for row in spans if row.source == "squadshifts-new_wiki" and is_held_out(row.passage, 0.04)],
        "policy": [row for row in spans if row.source in ("policyqa", "conditionalqa") and is_held_out(row.passage, 0.06)],
        "written": [row for row in written if is_held_out(row.source, HELD_OUT_WRITTEN)],
        "invented": [row for row in invented if is_held_out(row.source, HELD_OUT_INVENTED)],
        # Rows whose answer is not known cannot be measured.
        "code": [row for row in code if is_held_out(row.source, HELD_OUT_CODE) and row.answer is not None],
        "tables": make_table_questions(random.Random(7), 600),
    }
