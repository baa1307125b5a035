"""Bug reports about processes: visible devices, exits, forks."""

import os
import subprocess
import sys

import pytest
import torch

OPTIONS = os.environ.get("TPUTORCH_OPTIONS", "")


def child(program: str, options: str = OPTIONS, timeout: int = 120):
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "TPUTORCH_OPTIONS": options},
    )


@pytest.mark.parametrize("count", [1, 3])
def test_up_148_the_device_count_is_what_can_be_opened(count):
    program = (
        "import torch\n"
        "n = torch.tpu.device_count()\n"
        "for i in range(n):\n"
        "    torch.ones(2, device=f'tpu:{i}').cpu()\n"
        "try:\n"
        "    torch.ones(2, device=f'tpu:{n}').cpu()\n"
        "except RuntimeError:\n"
        "    print(n, torch.accelerator.device_count())\n"
    )
    out = child(program, f"devices={count} quiet=1")
    assert out.stdout.strip() == f"{count} {count}", out.stderr


def test_up_149_a_process_that_died_leaves_nothing_behind():
    died = child("import torch, os; torch.ones(2, device='tpu').cpu(); os.kill(os.getpid(), 9)")
    assert died.returncode == -9
    program = "import torch; print((torch.ones(2, device='tpu') + 1).tolist())"
    for out in (child(program), child(program)):
        assert out.stdout.strip() == "[2.0, 2.0]", out.stderr
        assert out.returncode == 0


def test_up_151_forks_before_the_first_use_share_the_data():
    program = (
        "import torch, os\n"
        "data = torch.arange(1000.0)\n"
        "pids = []\n"
        "for i in range(2):\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        x = data.to('tpu') * (i + 1)\n"
        "        os._exit(0 if x.sum().item() == 499500 * (i + 1) else 1)\n"
        "    pids.append(pid)\n"
        "print([os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]) for p in pids])\n"
    )
    out = child(program)
    assert out.stdout.strip() == "[0, 0]", out.stderr


@pytest.mark.vtpu("XLA:CPU logs to standard error itself")
def test_up_152_two_processes_at_once_are_quiet():
    program = "import torch\nfor _ in range(3): torch.ones(2, device='tpu').sum().item()"
    first = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    second = child(program)
    assert second.returncode == 0 and second.stderr == ""
    assert first.communicate(timeout=120)[1] == ""


def test_up_184_devices_by_number():
    program = (
        "import torch\n"
        "x = torch.zeros(2, device='tpu:0')\n"
        "print(x.to(1).device, torch.zeros(2).to(1).device, x.to('tpu:1').add(1).tolist())\n"
        "try:\n"
        "    torch.zeros(2).to(torch.tpu.device_count()).cpu()\n"
        "except RuntimeError as error:\n"
        "    print('does not exist' in str(error))\n"
    )
    out = child(program, "devices=2 quiet=1")
    assert out.stdout.split("\n")[:2] == ["tpu:1 tpu:1 [1.0, 1.0]", "True"], out.stderr


def test_up_184_a_number_alone_means_this_accelerator():
    assert torch.zeros(2).to(0).device == torch.device("tpu:0")
