"""The reading model: MiniLM-L6 with three outputs: begin and end of the answer, and relevance."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional

MAX_TOKENS = 384


class Reader(nn.Module):
    """Scores each token as the begin and end of the answer (the first token: no answer), and whether the passage answers at all."""

    def __init__(self, config: dict):
        super().__init__()
        width = config["hidden_size"]
        self.words = nn.Embedding(config["vocab_size"], width)
        self.positions = nn.Embedding(config["max_position_embeddings"], width)
        self.embedding_norm = nn.LayerNorm(width, eps=config["layer_norm_eps"])
        self.layers = nn.ModuleList(Layer(config) for _ in range(config["num_hidden_layers"]))
        self.span = nn.Linear(width, 2)
        self.relevance = nn.Linear(width, 1)
        self.dropout = nn.Dropout(config["hidden_dropout_prob"])
        for head in (self.span, self.relevance):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor):
        positions = torch.arange(ids.shape[1], device=ids.device)
        state = self.dropout(self.embedding_norm(self.words(ids) + self.positions(positions)))
        attend = mask[:, None, None, :]
        for layer in self.layers:
            state = layer(state, attend)
        spans = self.span(state).float().masked_fill(~mask[..., None], -1e4)
        return spans[..., 0], spans[..., 1], self.relevance(state[:, 0]).float()[:, 0]


class Layer(nn.Module):
    def __init__(self, config: dict):
        super().__init__()
        width, inner = config["hidden_size"], config["intermediate_size"]
        self.heads = config["num_attention_heads"]
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.attended = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=config["layer_norm_eps"])
        self.inner = nn.Linear(width, inner)
        self.outer = nn.Linear(inner, width)
        self.outer_norm = nn.LayerNorm(width, eps=config["layer_norm_eps"])
        self.dropout = nn.Dropout(config["hidden_dropout_prob"])

    def forward(self, state, attend):
        batch, length, width = state.shape
        query, key, value = (
            part(state).view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=attend)
        attended = self.attended(mixed.transpose(1, 2).reshape(batch, length, width))
        state = self.attention_norm(state + self.dropout(attended))
        return self.outer_norm(state + self.dropout(self.outer(functional.gelu(self.inner(state)))))


# Name of each part in this file, and in the weights of all-MiniLM-L6-v2.
LAYER_NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "outer_norm": "output.LayerNorm",
}


def to_base_name(name: str) -> str:
    """Returns the name that the embedding model's weights use, so that the build writes both models with the same code."""
    if name.startswith("layers."):
        _, index, part, kind = name.split(".")
        return f"encoder.layer.{index}.{LAYER_NAMES[part]}.{kind}"
    return {
        "words.weight": "embeddings.word_embeddings.weight",
        "positions.weight": "embeddings.position_embeddings.weight",
        "embedding_norm.weight": "embeddings.LayerNorm.weight",
        "embedding_norm.bias": "embeddings.LayerNorm.bias",
    }.get(name, name)


def find_weights(folder: Path) -> Path:
    return next(folder.glob("model*.safetensors"))


def load_base(folder: Path) -> Reader:
    """Loads the weights of the embedding model; the outputs start with random weights."""
    config = json.loads((folder / "config.json").read_text())
    base = load_file(str(find_weights(folder)))
    # Every token has type 0, so its embedding becomes a part of the positions.
    base["embeddings.position_embeddings.weight"] = (
        base["embeddings.position_embeddings.weight"].float() + base["embeddings.token_type_embeddings.weight"].float()[0]
    )
    reader = Reader(config)
    state = reader.state_dict()
    for name in state:
        if to_base_name(name) in base:
            state[name] = base[to_base_name(name)].float()
    reader.load_state_dict(state)
    return reader


def load_model(path: Path) -> Reader:
    return load_base(path) if path.is_dir() else load_weights(path)


def load_weights(path: Path) -> Reader:
    """Loads weights that quantize.py wrote, to continue from them or to learn from their outputs."""
    stored = load_file(str(path))
    names = [name for name in stored if not name.endswith(".scale")]
    tensors = {name: stored[name].float() * stored[f"{name}.scale"][:, None] if f"{name}.scale" in stored else stored[name].float() for name in names}
    width = tensors["embeddings.LayerNorm.weight"].shape[0]
    config = {
        "vocab_size": tensors["embeddings.word_embeddings.weight"].shape[0],
        "max_position_embeddings": tensors["embeddings.position_embeddings.weight"].shape[0],
        "num_hidden_layers": sum(name.endswith("intermediate.dense.bias") for name in tensors),
        "intermediate_size": tensors["encoder.layer.0.intermediate.dense.bias"].shape[0],
        "hidden_size": width, "num_attention_heads": 12, "layer_norm_eps": 1e-12, "hidden_dropout_prob": 0.1,
    }  # fmt: skip
    reader = Reader(config)
    reader.load_state_dict({name: tensors.get(to_base_name(name), tensor) for name, tensor in reader.state_dict().items()})
    return reader


def embed(reader: Reader, ids: torch.Tensor, mask: torch.Tensor, first_token=False) -> torch.Tensor:
    """Embeds texts as the embedding model does: by the mean of the tokens, or by the first token for models that were trained so."""
    positions = torch.arange(ids.shape[1], device=ids.device)
    state = reader.embedding_norm(reader.words(ids) + reader.positions(positions))
    for layer in reader.layers:
        state = layer(state, mask[:, None, None, :])
    pooled = state[:, 0] if first_token else (state * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    return functional.normalize(pooled.float(), dim=-1)
