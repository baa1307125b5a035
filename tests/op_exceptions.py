"""Samples of op_db that cannot agree with the CPU, each with its reason. (entry, dtype or "*")."""

_PARTIAL_VIEW = (
    "the sample is a view of a larger storage that as_strided reaches outside of; moving a view "
    "to a "
    "device moves only its own elements"
)
_HALF_COMPLEX = "complex32 does not exist on the device"

EXCEPTIONS = {
    ("as_strided.partial_views", "*"): _PARTIAL_VIEW,
    ("chalf", "*"): _HALF_COMPLEX,
}

GRADIENT_EXCEPTIONS = {
    ("as_strided.partial_views", "*"): _PARTIAL_VIEW,
    ("chalf", "*"): _HALF_COMPLEX,
}

# Entries whose result has other strides than the CPU's.
OTHER_STRIDES = {
    "linalg.lstsq": "runs on the CPU through an empty out= tensor, which PyTorch resizes "
    "row-major on "
    "the device; LAPACK leaves the solution column-major in the CPU's own",
}

# Entries whose gradient formula cancels: rtol, atol.
GRADIENT_TOLERANCE = {
    # On the CPU float32 is 2.8e-3 from float64 for the sample that spans the range, here 4.3e-3.
    "logcumsumexp": (2e-3, 1e-2),
}
