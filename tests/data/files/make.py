#!/usr/bin/env python3
"""Writes the files of this folder, with NumPy and Pillow: arrays and pictures that the tests of data/readers read.

The pixel of channel c at (y, x) is (60 c + 20 y + 7 x) mod 256; JPEG files hold two squares of one color each.
"""
import os

import numpy
from PIL import Image

here = os.path.dirname(os.path.abspath(__file__))


def picture(channels, dtype=numpy.uint8):
    c, y, x = numpy.meshgrid(range(channels), range(4), range(5), indexing="ij")
    pixels = ((60 * c + 20 * y + 7 * x) % 256).astype(dtype).transpose(1, 2, 0)
    return pixels[:, :, 0] if channels == 1 else pixels


def save(name, image, **options):
    image.save(os.path.join(here, name), **options)


for name, channels in (("gray.png", 1), ("gray_alpha.png", 2), ("rgb.png", 3), ("rgba.png", 4)):
    save(name, Image.fromarray(picture(channels)))
save("palette.png", Image.fromarray(picture(3)).quantize(20))
save("deep.png", Image.fromarray(picture(1, numpy.uint16) * 257))
squares = numpy.zeros((8, 16, 3), numpy.uint8)
squares[:, :8] = (200, 30, 40)
squares[:, 8:] = (10, 120, 250)
save("rgb.jpg", Image.fromarray(squares), quality=95, subsampling=0)
save("gray.jpg", Image.fromarray(squares[:, :, 0]), quality=95)

a = numpy.arange(6).reshape(2, 3)
numpy.save(os.path.join(here, "fortran.npy"), numpy.asfortranarray(a.astype("<f4")))
numpy.save(os.path.join(here, "big_endian.npy"), a.astype(">i2"))
arrays = {"x": a.astype("<f8") / 2, "flag": a % 2 == 0, "empty": numpy.zeros((0, 3), "<i4"), "number": numpy.float16(1.5)}
numpy.savez(os.path.join(here, "stored.npz"), **arrays)
numpy.savez_compressed(os.path.join(here, "deflated.npz"), **arrays)
