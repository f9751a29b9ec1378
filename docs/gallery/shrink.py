#!/usr/bin/env python3
"""shrink.py FROM.png TO.png: the same picture with at most 256 colours, which is what a page has but for soft edges.

Needs nothing but Python: screenshots of Chromium are 8-bit RGB or RGBA without interlacing.
"""
import collections
import struct
import sys
import zlib


def chunks(data):
    at = 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + length]
        at += length + 12


def unfilter(raw, width, height, size):
    rows, stride, at, above = [], width * size, 0, bytearray(width * size)
    for _ in range(height):
        kind, row = raw[at], bytearray(raw[at + 1:at + 1 + stride])
        at += stride + 1
        if kind == 1:
            for i in range(size, stride):
                row[i] = row[i] + row[i - size] & 255
        elif kind == 2:
            row = bytearray(a + b & 255 for a, b in zip(row, above))
        elif kind == 3:
            for i in range(stride):
                row[i] = row[i] + ((row[i - size] if i >= size else 0) + above[i]) // 2 & 255
        elif kind == 4:
            for i in range(stride):
                a, b, c = row[i - size] if i >= size else 0, above[i], above[i - size] if i >= size else 0
                p = a + b - c
                pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                row[i] = row[i] + (a if pa <= pb and pa <= pc else b if pb <= pc else c) & 255
        rows.append(row)
        above = row
    return rows


def nearest(color, palette):
    return min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(color, palette[i])))


def main(source, target):
    data = open(source, "rb").read()
    parts = list(chunks(data))
    width, height, depth, kind = struct.unpack(">IIBB", parts[0][1][:10])
    assert depth == 8 and kind in (2, 6), "not a screenshot"
    size = 3 if kind == 2 else 4
    raw = zlib.decompress(b"".join(body for name, body in parts if name == b"IDAT"))
    pixels = [[tuple(row[i:i + 3]) for i in range(0, len(row), size)] for row in unfilter(raw, width, height, size)]
    counts = collections.Counter(color for row in pixels for color in row)
    palette = [color for color, _ in counts.most_common(256)]
    number = {color: i for i, color in enumerate(palette)}
    for color in counts:
        if color not in number:
            number[color] = nearest(color, palette)
    rows = b"".join(b"\0" + bytes(number[color] for color in row) for row in pixels)
    with open(target, "wb") as out:
        out.write(data[:8])
        for name, body in ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
                           (b"PLTE", b"".join(bytes(color) for color in palette)),
                           (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")):
            out.write(struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)))


main(*sys.argv[1:])
