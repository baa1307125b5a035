"""Calls for rows of the op table that PyTorch's samples do not reach."""


def run_rows_without_samples() -> None:
    """Runs each such row once; its own tests hold the values."""
