"""Imports timm without the compiled half of torchvision: two operators of it are declared by hand,
because torchvision names them when it is imported and nothing here calls them."""

import pytest
import torch


def timm():
    """The module timm, or a skip."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in (
        "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    ):
        name = schema.partition("(")[0]
        if not hasattr(torch.ops.torchvision, name):
            library.define(schema)
    timm._library = library
    return pytest.importorskip("timm", reason="random models of the timm library")
