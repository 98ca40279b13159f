"""Fourier transforms, under the names of torch.fft."""

from . import _gradus

__all__: list[str] = []
for _name in dir(_gradus):
    if _name.startswith("fft_"):
        globals()[_name[4:]] = getattr(_gradus, _name)
        __all__.append(_name[4:])
