#!/usr/bin/python3
"""Writes fft.txt: what PyTorch makes of Fourier transforms. Needs PyTorch 2.

Complex numbers are written as pairs. tests/fft/pytorch_test.cpp names the same calls.
"""
import pathlib

import torch

torch.manual_seed(11)
x = torch.randn(2, 3, 4, dtype=torch.float64)
z = torch.randn(2, 3, 4, dtype=torch.complex128)
signal = torch.randn(2, 20, dtype=torch.float64)
window = torch.hann_window(6, dtype=torch.float64)
fft = torch.fft

CASES = {
    **{f"{name} n={n} dim={dim} norm={norm}": getattr(fft, name)(x if name in ("rfft", "ihfft") else z, n, dim, norm)
       for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
       for n in (None, 3, 6) for dim in (-1, 1) for norm in (None, "forward", "ortho")},
    **{f"{name} s={s} norm={norm}": getattr(fft, name)(
        x if name.startswith(("rfft", "ihfft")) else z, s, norm=norm)
       for base in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for name in (base + "2", base + "n")
       for s in (None, (4, 3)) for norm in (None, "ortho")},
    "fftn dim=2,0": fft.fftn(z, dim=(2, 0)), "rfftn dim=2,0": fft.rfftn(x, dim=(2, 0)),
    "irfftn dim=2,1": fft.irfftn(z, dim=(2, 1)), "hfftn dim=2,1": fft.hfftn(z, dim=(2, 1)),
    "fftfreq": fft.fftfreq(7, 0.3, dtype=torch.float64), "rfftfreq": fft.rfftfreq(7, 0.3, dtype=torch.float64),
    "fftshift": fft.fftshift(x), "ifftshift dim=2": fft.ifftshift(x, 2),
    "stft": torch.stft(signal, 8, 3, 6, window, return_complex=True),
    "stft plain": torch.stft(signal, 8, 3, 6, window, center=False, normalized=True, return_complex=True),
    "stft whole": torch.stft(signal, 8, pad_mode="constant", onesided=False, return_complex=True),
    "istft": torch.istft(torch.stft(signal, 8, 3, 6, window, return_complex=True), 8, 3, 6, window, length=17),
}


def text(value):
    if value.is_complex():
        value = torch.view_as_real(value.resolve_conj())
    sizes = ",".join(map(str, value.shape))
    return " ".join(["float64", f"[{sizes}]", *(repr(float(v)) for v in value.contiguous().view(-1))])


lines = ["# Written by fft.py from PyTorch " + torch.__version__.split("+")[0] + "."]
lines += [f"let {name} = {text(value)}" for name, value in (("x", x), ("z", z), ("signal", signal), ("window", window))]
lines += [f"{name} = {text(value)}" for name, value in CASES.items()]
(pathlib.Path(__file__).parent / "fft.txt").write_text("\n".join(lines) + "\n")
