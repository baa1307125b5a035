"""Cholesky, triangular systems, Fourier transforms and pairwise distances on the device."""

import pytest
import torch

pytestmark = pytest.mark.usefixtures("highest", "no_fallback")
G = torch.Generator().manual_seed(3)
A = torch.randn(2, 4, 4, generator=G)
SPD = A @ A.mT + 3 * torch.eye(4)
B = torch.randn(2, 4, 3, generator=G)
SIGNAL = torch.randn(3, 6, 10, generator=G)
WAVE = torch.complex(SIGNAL, SIGNAL.flip(0))
P, Q = torch.randn(5, 3, generator=G), torch.randn(4, 3, generator=G)


def gradient(f, *inputs):
    def run(d):
        moved = [x.clone().to(d).requires_grad_() for x in inputs]
        y = f(*moved)
        (y * torch.arange(y.numel(), device=d).reshape(y.shape).cos()).sum().backward()
        return [x.grad for x in moved]

    return run


CASES = {
    "cholesky": lambda d: torch.linalg.cholesky(SPD.to(d)),
    "cholesky of one": lambda d: torch.linalg.cholesky(SPD[0].double().to(d)),
    "cholesky upper": lambda d: torch.linalg.cholesky(SPD.to(d), upper=True),
    "cholesky_ex": lambda d: torch.linalg.cholesky_ex(SPD.to(d)),
    "cholesky_solve": lambda d: torch.cholesky_solve(B.to(d), torch.linalg.cholesky(SPD).to(d)),
    "cholesky_solve upper": lambda d: torch.cholesky_solve(
        B.to(d), torch.linalg.cholesky(SPD, upper=True).to(d), upper=True
    ),
    "solve upper": lambda d: torch.linalg.solve_triangular(SPD.to(d), B.to(d), upper=True),
    "solve lower": lambda d: torch.linalg.solve_triangular(SPD.to(d), B.to(d), upper=False),
    "solve right": lambda d: torch.linalg.solve_triangular(
        SPD.to(d), B.mT.to(d), upper=True, left=False
    ),
    "solve unit": lambda d: torch.linalg.solve_triangular(
        SPD.to(d), B.to(d), upper=False, unitriangular=True
    ),
    "solve one matrix": lambda d: torch.linalg.solve_triangular(SPD[0].to(d), B.to(d), upper=True),
    "rfft": lambda d: torch.fft.rfft(SIGNAL.to(d)),
    "rfft odd, longer": lambda d: torch.fft.rfft(SIGNAL.to(d), n=13),
    "rfft of a middle dimension": lambda d: torch.fft.rfft(SIGNAL.to(d), dim=1, norm="ortho"),
    "rfftn": lambda d: torch.fft.rfftn(SIGNAL.to(d), dim=(2, 0)),
    "fft of real": lambda d: torch.fft.fft(SIGNAL.to(d)),
    "fft": lambda d: torch.fft.fft(WAVE.to(d), dim=0, norm="forward"),
    "fft2": lambda d: torch.fft.fft2(WAVE.to(d)),
    "ifft": lambda d: torch.fft.ifft(WAVE.to(d)),
    "ifftn": lambda d: torch.fft.ifftn(WAVE.to(d), norm="ortho"),
    "irfft": lambda d: torch.fft.irfft(WAVE.to(d)),
    "irfft odd": lambda d: torch.fft.irfft(WAVE.to(d), n=19),
    "irfft2": lambda d: torch.fft.irfft2(WAVE.to(d), norm="forward"),
    "fft double": lambda d: torch.fft.fft(WAVE.to(torch.complex128).to(d)),
    "stft": lambda d: torch.stft(
        SIGNAL.flatten().to(d), 32, window=torch.hann_window(32, device=d), return_complex=True
    ),
    "gradient of rfft": gradient(lambda x: torch.fft.rfft(x).abs(), SIGNAL),
    "gradient of irfft": gradient(lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2), SIGNAL),
    "gradient of cholesky": gradient(lambda x: torch.linalg.cholesky(x), SPD),
    "gradient of a solve": gradient(
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=True), SPD, B
    ),
    **{
        f"cdist {p}": lambda d, p=p: torch.cdist(P.to(d), Q.to(d), p=p)
        for p in (0.0, 0.5, 1.0, 2.0, 3.0, float("inf"))
    },
    **{
        f"gradient of cdist {p}": gradient(lambda x, y, p=p: torch.cdist(x, y, p=p), P, Q)
        for p in (1.0, 1.5, 2.0, 3.0, float("inf"))
    },
    "cdist in batches": lambda d: torch.cdist(P.expand(2, 5, 3).to(d), Q.to(d)),
}


@pytest.mark.parametrize("name", CASES)
def test_as_on_the_cpu(name):
    wanted, found = CASES[name]("cpu"), CASES[name]("tpu")
    if isinstance(wanted, torch.Tensor):
        wanted, found = [wanted], [found]
    for a, b in zip(wanted, found, strict=True):
        assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
        torch.testing.assert_close(b.cpu(), a, rtol=2e-5, atol=2e-5)


def test_a_matrix_without_a_root_is_told():
    bad = torch.diag(torch.tensor([1.0, 2.0, -3.0]))
    with pytest.raises(torch.linalg.LinAlgError, match="not positive-definite"):
        torch.linalg.cholesky(bad.tpu())
    assert torch.linalg.cholesky_ex(bad.tpu()).info.item() != 0


def test_coinciding_points_have_no_slope():
    x = P.tpu().requires_grad_()
    torch.cdist(x, P.tpu()).sum().backward()
    assert torch.isfinite(x.grad).all()
