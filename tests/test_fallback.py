"""Operators without a row run on the CPU: right in every form, counted, told as the user wants."""

import os
import subprocess
import sys
import warnings

import pytest
import torch
from oracle import check


def inputs(device):
    a = (torch.arange(24.0).reshape(4, 6) / 5 + 0.1).to(device)
    return a, (torch.arange(24.0).reshape(4, 6).flip(0) / 7 + 0.2).to(device)


FORMS = {
    "functional": lambda a, b: torch.igamma(a, b),
    "transposed": lambda a, b: torch.igamma(a.t(), b.t()),
    "in place": lambda a, b: (a.igamma_(b), a),
    "view in place": lambda a, b: (a[1:, ::2].igamma_(b[1:, ::2]), a),
    "out": lambda a, b: torch.igamma(a, b, out=torch.empty_like(a)),
    "strided out": lambda a, b: torch.igamma(a, b, out=torch.empty(6, 4, device=a.device).t()),
    "out of another size": lambda a, b: torch.igamma(a, b, out=torch.empty(0, device=a.device)),
    "several results": lambda a, b: torch.mode(a.round(), 1),
    "strided result": lambda a, b: torch.linalg.qr(a.t() @ a + torch.eye(6, device=a.device))[1],
    "renorm in place": lambda a, b: (a.renorm_(2, 0, 0.5), a),
}


@pytest.mark.usefixtures("highest")
@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    before = torch.tpu.counters()["fallbacks"]
    check(lambda device: FORMS[form](*inputs(device)), tolerance=(1e-5, 1e-5))
    assert torch.tpu.counters()["fallbacks"] > before


def test_gradients_pass():
    def program(device):
        x = (torch.arange(6.0) + 0.5).to(device).requires_grad_()
        return torch.autograd.grad(torch.special.i1(x * 0.3).sum(), x)

    check(program, tolerance=(1e-5, 1e-5))


PROGRAM = """
import warnings, torch
x = torch.ones(3, device="tpu")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    try:
        print(torch.igamma(x, x).cpu().sum().item() > 0, torch.igamma(x, x).device)
    except NotImplementedError as error:
        print("refused", "igamma" in str(error) and "fallback=error" in str(error))
print(len([w for w in told if "igamma" in str(w.message)]))
print((x + 1).tolist())
"""


@pytest.mark.parametrize(
    "mode, wanted",
    [
        ("warn", ["True tpu:0", "1"]),
        ("quiet", ["True tpu:0", "0"]),
        ("error", ["refused True", "0"]),
    ],
)
def test_what_the_user_is_told(mode, wanted):
    env = {**os.environ, "TPUTORCH_OPTIONS": f"quiet=1 fallback={mode}"}
    out = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=120
    )
    assert out.returncode == 0, out.stderr
    assert out.stdout.splitlines() == [*wanted, "[2.0, 2.0, 2.0]"]


def test_what_the_cpu_refuses_too_is_no_missing_kernel():
    before = torch.tpu.counters()["fallbacks"]
    x = torch.ones(4, 5, device="tpu")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="same dtype|expected m1 and m2|dtype"):
            torch.nn.Linear(5, 3).to("tpu")(x.double())
        with pytest.raises(RuntimeError, match="dtype|same"):
            x.double() @ x.t()
    assert [w for w in seen if "has no kernel" in str(w.message)] == []
    assert torch.tpu.counters()["fallbacks"] == before
