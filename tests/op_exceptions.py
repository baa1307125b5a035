"""Samples of op_db that cannot agree with the CPU, each with its reason. (entry, dtype or "*")."""

EXCEPTIONS: dict = {}

GRADIENT_EXCEPTIONS: dict = {}
