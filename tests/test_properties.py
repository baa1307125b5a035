"""Properties that hold for every program, tried on random ones against the CPU.

TPUTORCH_EXAMPLES=5000 tries that many instead of a few; what is tried is the same in each run.
"""

import os

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from op_graphs import Graph
from window_chains import Walk

EXAMPLES = int(os.environ.get("TPUTORCH_EXAMPLES", "60"))
SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(params=torch.tpu.EagerMode, ids=lambda mode: mode.name.lower())
def mode(request):
    with torch.tpu.set_eager_mode(request.param):
        yield request.param


def test_walks_over_views_and_writes(mode):
    @SETTINGS
    @given(st.data())
    def walk(data):
        Walk(data).run(data.draw(st.integers(1, 14)))

    walk()


def test_graphs_of_operators_with_promotion_and_broadcasting(mode):
    @SETTINGS
    @given(st.data())
    def grow(data):
        Graph(data).run(data.draw(st.integers(1, 10)))

    grow()
