"""Timing of one side: repeated calls, each waited for, the best of them."""

import json
import time

import torch


def emit(name: str, value: float, unit: str, **extra) -> None:
    print(json.dumps({"name": name, "value": value, "unit": unit, **extra}), flush=True)


class Timer:
    """Best of repeated calls: on a shared machine everything else is other people's work."""

    def __init__(self, device: str, mode: str = "eager", cpu_time: bool = False):
        self.device = device
        self.mode = mode
        self.clock = time.process_time if cpu_time else time.perf_counter

    def compiled(self, model):
        if self.mode == "aot_eager":
            return torch.compile(model, backend="aot_eager")
        if self.mode != "compile":
            return model
        return torch.compile(model, backend="inductor" if self.device == "cpu" else "tpu")

    def wait(self) -> None:
        if self.device != "cpu":
            torch.accelerator.synchronize()

    def once(self, fn) -> float:
        self.wait()
        start = self.clock()
        kept = fn()  # in the fused mode a value that nobody keeps is never computed
        self.wait()
        seconds = self.clock() - start
        del kept
        return seconds

    def best(self, fn, count: int, warmup: int = 3) -> float:
        for _ in range(warmup):
            fn()
        return min(self.once(fn) for _ in range(count))

    def best_of_many(self, fn, seconds: float = 0.6) -> float:
        """Of short work: as often as fits into `seconds`, so that some call ran undisturbed."""
        best, end = self.once(fn), time.perf_counter() + seconds
        while time.perf_counter() < end:
            best = min(best, self.once(fn))
        return best
