"""PyTorch on TPUs: ``import torch`` is enough for ``device="tpu"`` to work.

PyTorch loads this package through its ``torch.backends`` entry point. What users touch is
``torch.tpu`` (see :mod:`tputorch.tpu`); importing this package by hand does the same, no more.
"""

import torch  # noqa: F401  (loads this back end through the entry point when that is on)

from tputorch._load import load
from tputorch._version import __version__

load()

__all__ = ["__version__"]
