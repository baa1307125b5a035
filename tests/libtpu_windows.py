"""Runs every kind of window on a weight of 33.5 MB and says which programs that took.

Child of test_libtpu.py, with option dump=FOLDER. Prints {name: [files]} as JSON.
"""

import json
import sys
from pathlib import Path

import torch

ROWS, COLUMNS = 2048, 4096


def weight(dtype=torch.float32, rows=ROWS, columns=COLUMNS):
    return torch.ones(rows, columns, dtype=torch.float32).to(dtype).to("tpu")


F = weight()
HALF = weight(torch.bfloat16, ROWS, 2 * COLUMNS)
FLAGS = weight(torch.bool, 4 * ROWS, COLUMNS)
COMPLEX = weight(torch.complex64, ROWS // 2, COLUMNS)
INTS = weight(torch.int64, ROWS // 2, COLUMNS)
ODD = (4097, 5)  # strides that no dimension of the weight divides

# name -> what is run. The names' first words are the kinds of solution.
WINDOWS = {
    "whole write": lambda: F.fill_(2),
    "whole transposed read": lambda: F.t().clone(),
    "box row write": lambda: F[5].add_(1),
    "box rows read": lambda: F[5:9].clone(),
    "box block write": lambda: F[3:7, 100:228].mul_(2),
    "box column write": lambda: F.t()[7].add_(1),
    "box stepped write": lambda: F[4:80:4, 8:64:2].add_(1),
    "box stepped read": lambda: F[4:80:4, 8:64:2].clone(),
    "box heads write": lambda: F.view(ROWS, 32, 128)[9, 3].add_(1),
    "box split read": lambda: F.view(ROWS, 32, 128).transpose(1, 2)[3:9].clone(),
    "flat range write": lambda: F.view(-1)[1000:9000].add_(1),
    "flat range read": lambda: F.view(-1)[1000:9000].clone(),
    "flat diagonal write": lambda: F.diagonal().zero_(),
    "flat diagonal read": lambda: F.diagonal().clone(),
    "gather read": lambda: F.as_strided((3, 4), ODD).clone(),
    "gather write": lambda: F.as_strided((3, 4), ODD).add_(1),
    "gather overlapping read": lambda: F[3].unfold(0, 64, 16).clone(),
    "bits row write": lambda: F.view(torch.int32)[5].add_(1),
    "narrow half row write": lambda: F.view(torch.bfloat16)[5].add_(1),
    "narrow half row read": lambda: F.view(torch.bfloat16)[5].clone(),
    "narrow byte row write": lambda: F.view(torch.uint8)[5].fill_(1),
    "narrow byte row read": lambda: F.view(torch.uint8)[5].clone(),
    "wide double row write": lambda: HALF.view(torch.float32)[5].add_(1),
    "wide double row read": lambda: HALF.view(torch.float32)[5].clone(),
    "narrow int row write": lambda: INTS.view(torch.int32)[5].add_(1),
    "bool row write": lambda: FLAGS[5].logical_not_(),
    "bool bytes row read": lambda: FLAGS.view(torch.uint8)[5].clone(),
    "complex row write": lambda: COMPLEX[5].add_(1),
    "complex real row write": lambda: COMPLEX.real[5].add_(1),
    "complex parts row read": lambda: torch.view_as_real(COMPLEX)[5].clone(),
}


def main(folder: str) -> None:
    seen = {path.name for path in Path(folder).iterdir()}
    took = {}
    for name, run in WINDOWS.items():
        run()
        torch.tpu.synchronize()
        now = {path.name for path in Path(folder).iterdir()}
        took[name] = sorted(now - seen)
        seen = now
    print(json.dumps(took))


if __name__ == "__main__":
    main(sys.argv[1])
