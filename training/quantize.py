"""Writes the weights as bytes with one scale per row, as the build expects them."""

from pathlib import Path

import torch
from model import MAX_TOKENS, Reader, to_base_name
from safetensors.torch import save_file

# 7 bits for products: without VNNI, x64 adds pairs of byte products in 16 bits, which 8-bit weights overflow.
PRODUCT_LIMIT = 64
TABLE_LIMIT = 127


def quantize_rows(matrix: torch.Tensor, limit: int) -> tuple[torch.Tensor, torch.Tensor]:
    scale = matrix.abs().amax(1, keepdim=True).clamp(min=1e-12) / limit
    return (matrix / scale).round().to(torch.int8), scale[:, 0]


def is_product(name: str) -> bool:
    return name.startswith("layers.") and name.endswith(".weight") and "norm" not in name


def fake_quantize(reader: Reader) -> dict:
    """Returns the weights as the int8 model has them, for measuring."""
    state = reader.state_dict()
    for name, tensor in state.items():
        if is_product(name) or name == "words.weight":
            values, scale = quantize_rows(tensor.float(), TABLE_LIMIT if name == "words.weight" else PRODUCT_LIMIT)
            state[name] = values.float() * scale[:, None]
    return state


def write_weights(reader: Reader, path: Path, metadata: dict[str, str]) -> None:
    tensors = {}
    for name, tensor in reader.state_dict().items():
        tensor = tensor.detach().float().cpu()
        target = to_base_name(name)
        if is_product(name) or name == "words.weight":
            values, scale = quantize_rows(tensor, TABLE_LIMIT if name == "words.weight" else PRODUCT_LIMIT)
            tensors[target], tensors[f"{target}.scale"] = values.contiguous(), scale.contiguous()
        elif name == "positions.weight":
            tensors[target] = tensor[:MAX_TOKENS].half().contiguous()
        else:
            tensors[target] = tensor.contiguous()
    save_file(tensors, str(path), metadata)
