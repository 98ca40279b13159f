"""Special functions, under the names of torch.special."""

from . import _gradus

# What PyTorch calls functions that are rows under another name.
_NAMES = {"expit": "sigmoid", "gammainc": "igamma", "gammaincc": "igammac", "gammaln": "lgamma",
          "modified_bessel_i0": "i0", "modified_bessel_i1": "i1", "multigammaln": "mvlgamma", "psi": "digamma"}
_ROWS = """bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expm1 i0 i0e i1 i1e log1p log_ndtr
log_softmax logit logsumexp modified_bessel_k0 modified_bessel_k1 ndtr ndtri polygamma round scaled_modified_bessel_k0
scaled_modified_bessel_k1 sinc softmax spherical_bessel_j0 xlog1py xlogy zeta""".split()

__all__: list[str] = []
for _name, _row in [*_NAMES.items(), *zip(_ROWS, _ROWS)]:
    globals()[_name] = getattr(_gradus, _row)
    __all__.append(_name)
