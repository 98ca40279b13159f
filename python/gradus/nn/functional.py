"""Functions of layers, under the names of torch.nn.functional."""

from .. import _forms, _gradus

__all__ = []


def _take(name, function):
    globals()[name] = function
    __all__.append(name)


# Functions that are rows of the tables are the same under both names.
for _name in dir(_gradus):
    if not _name.startswith("_") and not isinstance(getattr(_gradus, _name), type) and \
            callable(getattr(_gradus, _name)):
        _take(_name, getattr(_forms, _name, None) or getattr(_gradus, _name))
# Functions with options.
for _name in dir(_gradus._nn.functional):
    if not _name.startswith("_"):
        _take(_name, getattr(_gradus._nn.functional, _name))


_take("logsigmoid", _gradus.log_sigmoid)


# Functions whose arguments come in another order than those of the rows.
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False,
               momentum=0.1, eps=1e-5):
    """Each channel less its mean, over its deviation, times weight, + bias."""
    return _gradus.batch_norm(input, weight, bias, running_mean, running_var, training, momentum,
                              eps, True)


def interpolate(input, size=None, scale_factor=None, *options, **keywords):
    """The input at another size. One size or factor is that of every dimension.

    size, scale_factor: one of them. mode: nearest, nearest-exact, linear, bilinear, bicubic,
    trilinear or area. align_corners: whether the corners stay where they are.
    """
    def of_all(value):
        if isinstance(value, (list, tuple)):
            return value if len(value) != 1 else list(value) * (input.dim() - 2)
        return value if value is None else [value] * (input.dim() - 2)

    return _gradus._nn.functional.interpolate(input, of_all(size), of_all(scale_factor), *options,
                                              **keywords)


def embedding(input, weight, padding_idx=None, scale_grad_by_freq=False):
    """Rows of weight, in the shape of input."""
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx < 0:
        padding_idx += weight.shape[0]
    return _gradus.embedding(weight, input, padding_idx, scale_grad_by_freq)


__all__ += ["batch_norm", "embedding", "interpolate"]
