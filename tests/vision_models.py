"""torchvision without its compiled half: two operators of it are declared by hand, because it names
them when it is imported (by timm, by transformers) and nothing here calls them."""

import importlib.util

import pytest
import torch

_library = None


def declare_operators() -> None:
    """Lets torchvision be imported next to a PyTorch that its compiled half does not fit."""
    global _library
    if _library is not None or importlib.util.find_spec("torchvision") is None:
        return
    _library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            _library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def timm():
    """The module timm, or a skip."""
    declare_operators()
    return pytest.importorskip("timm", reason="random models of the timm library")
