"""Linear algebra, under the names of torch.linalg."""

from . import _gradus

__all__: list[str] = []
for _name in dir(_gradus):
    if _name.startswith("linalg_"):
        globals()[_name[7:]] = getattr(_gradus, _name)
        __all__.append(_name[7:])
