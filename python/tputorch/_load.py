"""Makes ``device="tpu"`` known to PyTorch: called once, by ``import torch`` or ``import tputorch``.

No device is opened here: that happens at the first tensor. Nothing is printed.
"""

import os

_loaded = False


def load() -> None:
    """Registers device, operators and ``torch.tpu``. Safe to call again."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    import torch

    torch.utils.rename_privateuse1_backend("tpu")
    from tputorch import _C

    _C.set_library_folder(os.path.dirname(os.path.abspath(_C.__file__)))
    for module in (torch, _C):  # lines in here are not the user's
        _C.pass_over_folder(os.path.dirname(os.path.abspath(module.__file__)))
    _C.register_rows()
    from tputorch import _exit, _patch, tpu

    torch._register_device_module("tpu", tpu)
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    _patch.install()
    _exit.install()
