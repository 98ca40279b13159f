#!/usr/bin/env python3
"""Writes pictures.txt, with Pillow: small pictures of many kinds, and the pixels that Pillow reads in them.

A line is: name, the file in hexadecimal, then for each of L, RGB and RGBA the crc32 of the bytes that convert() gives (rows of
pixels, as tobytes() has them), or - where Pillow does not convert.
"""
import io
import os
import struct
import zlib

import numpy
from PIL import Image, ImageCms

HEIGHT, WIDTH = 9, 11
rows = []


def bytes_of(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def eight_bits(image):
    """Pillow's convert() makes 255 of every gray of 16 bits above it; of colors it takes the upper 8 bits, and so does this."""
    return Image.fromarray((numpy.asarray(image) >> 8).astype(numpy.uint8)) if image.mode == "I;16" else image


def add(name, data):
    sums = []
    for mode in ("L", "RGB", "RGBA"):
        try:
            sums.append("%08x" % zlib.crc32(eight_bits(Image.open(io.BytesIO(data))).convert(mode).tobytes()))
        except ValueError:
            sums.append("-")
    rows.append(" ".join([name, data.hex(), *sums]))


def pixels(channels, height=HEIGHT, width=WIDTH):
    """Smooth, so that files are small, with every channel another slope."""
    y, x, c = numpy.meshgrid(range(height), range(width), range(channels), indexing="ij")
    return ((23 * x + 19 * y + 71 * c + 5 * x * y) % 256).astype(numpy.uint8)


def picture(mode, height=HEIGHT, width=WIDTH):
    channels = len(Image.new(mode, (1, 1)).getbands())
    values = pixels(channels, height, width)
    return Image.frombytes(mode, (width, height), values.tobytes())


# PNG: chunks by hand, for the depths, filters and chunks that Pillow does not write.
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PALETTE = bytes((17 * i + 90 * c) % 256 for i in range(256) for c in range(3))
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def png(color, depth, before=(), interlaced=False, trns=b"", filtered=0, after=()):
    y, x, c = numpy.meshgrid(range(HEIGHT), range(WIDTH), range(CHANNELS[color]), indexing="ij")
    values = (23 * x + 19 * y + 71 * c + 5 * x * y) * (251 if depth == 16 else 1) % (1 << depth)
    data = b""
    for x0, y0, dx, dy in PASSES if interlaced else ((0, 0, 1, 1),):
        part = values[y0::dy, x0::dx]
        if part.size == 0:
            continue
        last = bytes(0)
        for row in part.reshape(part.shape[0], -1):
            bits = "".join(format(int(value), "0%db" % depth) for value in row)
            line = int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")
            bpp = max(1, CHANNELS[color] * depth // 8)
            last = last or bytes(len(line))
            left = bytes(bpp) + line
            corner = bytes(bpp) + last

            def paeth(a, b, p):
                return min((a, b, p), key=lambda v: (abs(a + b - p - v), (a, b, p).index(v)))

            predicted = {0: lambda i: 0, 1: lambda i: left[i], 2: lambda i: last[i],
                         3: lambda i: (left[i] + last[i]) // 2, 4: lambda i: paeth(left[i], last[i], corner[i])}[filtered]
            data += bytes([filtered]) + bytes((line[i] - predicted(i)) % 256 for i in range(len(line)))
            last = line
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, color, 0, 0, interlaced))
    for kind, content in before:
        out += chunk(kind, content)
    if color == 3:
        out += chunk(b"PLTE", PALETTE[:3 << depth])
    if trns:
        out += chunk(b"tRNS", trns)
    for kind, content in after:
        out += chunk(kind, content)
    packed = zlib.compress(data, 9)
    half = len(packed) // 2
    return out + chunk(b"IDAT", packed[:half]) + chunk(b"IDAT", packed[half:]) + chunk(b"IEND", b"")


for color, depths in ((0, (1, 2, 4, 8, 16)), (2, (8, 16)), (3, (1, 2, 4, 8)), (4, (8, 16)), (6, (8, 16))):
    for depth in depths:
        add("png-%d-%d" % (color, depth), png(color, depth))
        add("png-%d-%d-interlaced" % (color, depth), png(color, depth, interlaced=True))
for filtered in (1, 2, 3, 4):
    add("png-filter-%d" % filtered, png(6, 8, filtered=filtered))
add("png-transparent-gray", png(0, 8, trns=struct.pack(">H", 23)))
add("png-transparent-rgb", png(2, 8, trns=struct.pack(">HHH", 0, 71, 142)))
add("png-transparent-palette", png(3, 4, trns=bytes(range(0, 160, 10))))
add("png-transparent-palette-part", png(3, 8, trns=bytes([0, 128])))
profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
for name, chunks in (("gamma-linear", [(b"gAMA", struct.pack(">I", 100000))]), ("gamma-22", [(b"gAMA", struct.pack(">I", 45455))]),
                     ("srgb", [(b"sRGB", b"\0")]), ("chromaticities", [(b"cHRM", struct.pack(">8I", *range(10000, 90000, 10000)))]),
                     ("profile", [(b"iCCP", b"p\0\0" + zlib.compress(profile[:60], 9))]),
                     ("significant-bits", [(b"sBIT", bytes([5, 6, 5]))]), ("text", [(b"tEXt", b"Title\0a picture")]),
                     ("resolution", [(b"pHYs", struct.pack(">IIB", 2835, 2835, 1))]), ("time", [(b"tIME", bytes(7))]),
                     ("unknown", [(b"prVt", b"of one's own")])):
    add("png-" + name, png(2, 8, before=chunks))
add("png-gamma-linear-16", png(0, 16, before=[(b"gAMA", struct.pack(">I", 100000))]))
add("png-background", png(6, 8, after=[(b"bKGD", struct.pack(">HHH", 1, 2, 3))]))
add("png-exif-turned", png(2, 8, after=[(b"eXIf", b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0")]))
add("png-behind-the-end", png(2, 8) + b"more")

# JPEG
plain = picture("RGB")
for name, options in (("quality-1", {"quality": 1}), ("quality-100", {"quality": 100}), ("444", {"subsampling": 0}),
                      ("422", {"subsampling": 1}), ("420", {"subsampling": 2}),
                      ("progressive", {"progressive": True}), ("optimized", {"optimize": True}), ("rgb", {"keep_rgb": True}),
                      ("restarts", {"restart_marker_blocks": 1}), ("comment", {"comment": b"a picture"}),
                      ("resolution", {"dpi": (300, 300)}), ("profile", {"icc_profile": profile[:200]}),
                      ("exif-turned", {"exif": b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"})):
    if "optimize" not in options:
        options = {"optimize": "restart_marker_blocks" not in options and "progressive" not in options, **options}
    add("jpeg-" + name, bytes_of(plain, "JPEG", **options))
for mode in ("L", "CMYK"):
    for progressive in (False, True):
        add("jpeg-%s-%s" % (mode.lower(), "progressive" if progressive else "baseline"),
            bytes_of(picture(mode), "JPEG", optimize=True, progressive=progressive))
for height, width in ((1, 1), (1, 17), (8, 8), (16, 3)):
    add("jpeg-%d-%d" % (height, width), bytes_of(picture("RGB", height, width), "JPEG", optimize=True))

baseline = bytes_of(plain, "JPEG", optimize=True)
add("jpeg-behind-the-end", baseline + b"more")
add("jpeg-extraneous-bytes", baseline[:-2] + bytes(93) + baseline[-2:])
add("jpeg-fill-bytes", baseline[:2] + b"\xff\xff\xff" + baseline[2:])
add("jpeg-without-jfif", baseline[:2] + baseline[20:])
add("jpeg-jfif-9", baseline[:11] + b"\x09" + baseline[12:])
adobe = b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0"
ink = bytes_of(picture("CMYK"), "JPEG", optimize=True)
add("jpeg-adobe-ycc", baseline[:20] + adobe + b"\x01" + baseline[20:])
add("jpeg-adobe-unknown", baseline[:2] + adobe + b"\x05" + baseline[20:])
add("jpeg-cmyk-as-ycck", ink.replace(adobe + b"\0", adobe + b"\x02"))
add("jpeg-cmyk-without-adobe", ink.replace(adobe + b"\0", b""))

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures.txt"), "w") as out:
    out.write("\n".join(rows) + "\n")
