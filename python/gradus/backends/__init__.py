"""What operations on a GPU compute with, under the names of torch.backends."""

import sys

from .. import _gradus


class _Matmul:
    @property
    def allow_tf32(self) -> bool:
        """Whether products of float32 may use TF32."""
        return _gradus.get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, on: bool) -> None:
        _gradus.set_float32_matmul_precision("high" if on else "highest")


class _Cudnn:
    """cuDNN's switches. Kernels are chosen by rules, and give the same bits each time: benchmark and
    deterministic are kept and change nothing."""

    benchmark, deterministic, enabled = False, True, True

    @property
    def allow_tf32(self) -> bool:
        """Whether convolutions of float32 may use TF32."""
        return _gradus._allows_tf32_convolutions()

    @allow_tf32.setter
    def allow_tf32(self, on: bool) -> None:
        _gradus._allow_tf32_convolutions(on)


class cuda:
    """Products on a GPU: cuda.matmul.allow_tf32."""

    matmul = _Matmul()


cudnn = _Cudnn()


class mps:
    """GPUs of Apple, which gradus does not use."""

    @staticmethod
    def is_available() -> bool:
        """False."""
        return False

    is_built = is_available


# import gradus.backends.cudnn as cudnn
sys.modules.update({f"{__name__}.cuda": cuda, f"{__name__}.cudnn": cudnn, f"{__name__}.mps": mps})  # type: ignore[dict-item]
