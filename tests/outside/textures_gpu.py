#!/usr/bin/env python3
"""textures_gpu.py FOLDER [SEED [COUNT]]: COUNT textures (1,650 by default), each read by one instruction at 256 places, for a GPU.

FOLDER gets `manifest` and `in`, which textures_gpu.cu takes, on a GPU and here:

    ./textures_gpu manifest in gpu                          simtfuzz exec -- ./textures_gpu manifest in here

Then `textures_gpu.py --compare FOLDER here gpu` tells by kinds of textures how many left the same, and how far others are apart.
"""
import collections
import math
import random
import struct
import sys

PLACES = 256
GEOMETRIES = {"1d": (7, 32, 129, 10000), "2d": (5, 3), "3d": (3, 4, 2), "a1d": (6, 3), "a2d": (4, 3, 2)}
FORMATS = ("u8", "s8", "u16", "s16", "f16", "u32", "s32", "f32")
MODES = ("clamp", "wrap", "mirror", "border")


class Case:
    """A line of the manifest: the instruction, and the texture in words."""

    def __init__(self, instruction, texture):
        self.instruction, self.texture = instruction, texture
        self.format, self.size, *self.words = texture.split(":")
        self.type, _, channels = self.format.partition("x")
        self.channels = int(channels or 1)
        self.sizes = [int(n) for n in self.size.split("x")]


def draw_case(draw):
    geometry = draw.choice(list(GEOMETRIES))
    kind = draw.choice(FORMATS)
    sizes = (draw.choice(GEOMETRIES["1d"]),) if geometry == "1d" else GEOMETRIES[geometry]
    words = [draw.choice(MODES) for _ in range(draw.choice((1, 1, 3)))]
    unit = kind[0] != "f" and "32" not in kind and draw.random() < 0.5
    floats = unit or kind[0] == "f"
    words += ["layers"] * (geometry[0] == "a") + ["unit"] * unit
    words += ["linear"] * (floats and draw.random() < 0.5) + ["normalized"] * (draw.random() < 0.5)
    result = "f32" if floats else kind[0] + "32"
    gathers, whole = geometry == "2d" and draw.random() < 0.3, draw.random() < 0.25
    instruction = f"tld4.{draw.choice('rgba')}.2d.v4.{result}.f32" if gathers else \
        f"tex.{geometry}.v4.{result}.{'s32' if whole else 'f32'}"
    return Case(instruction, f"{kind}{draw.choice(('', 'x2', 'x4'))}:{'x'.join(map(str, sizes))}:{':'.join(words)}")


def texels(draw, case):
    """Finite numbers: what a NaN or an infinity makes of a sum is no question of filters."""
    count = math.prod(case.sizes) * case.channels
    if case.type == "f32":
        return struct.pack(f"<{count}f", *(draw.uniform(-64, 64) for _ in range(count)))
    if case.type == "f16":
        return struct.pack(f"<{count}e", *(draw.uniform(-2, 2) for _ in range(count)))
    return draw.randbytes(count * int(case.type[1:]) // 8)


def coordinates(draw, case):
    whole = case.instruction.endswith(".s32")

    def one(axis):
        if whole:
            return struct.pack("<i", draw.randint(-3, 9))
        size = case.sizes[min(axis, len(case.sizes) - 1)]
        place = draw.choice((draw.uniform(-1.5, 2.5) * size, draw.randint(-2 * size, 3 * size), draw.uniform(0, size),
                             draw.randint(-512 * size, 1024 * size) / 512))
        return struct.pack("<f", place / size if "normalized" in case.words else place)

    data = b""
    for _ in range(PLACES):
        layer = struct.pack("<i", draw.randint(-1, 4))
        data += one(0) + one(1) + (layer if "layers" in case.words else one(2)) + bytes(4)
    return data


def make(folder, seed, count):
    draw = random.Random(seed)
    with open(f"{folder}/manifest", "w") as manifest, open(f"{folder}/in", "wb") as out:
        for _ in range(count):
            case = draw_case(draw)
            texel, places = texels(draw, case), coordinates(draw, case)
            texel += bytes(-len(texel) % 16)
            manifest.write(f"{case.instruction} {case.texture} {out.tell()} {out.tell() + len(texel)} {PLACES}\n")
            out.write(texel + places)


def compare(folder, here, there):
    """By kind: textures, those with the same words, words, other words, and of floats the largest difference."""
    rows = collections.defaultdict(lambda: [0, 0, 0, 0, 0.0])
    with open(f"{folder}/manifest") as manifest, open(f"{folder}/{here}", "rb") as ours, open(f"{folder}/{there}", "rb") as theirs:
        for line in manifest:
            instruction, texture, _, _, count = line.split()
            case, count = Case(instruction, texture), int(count) * 4
            a, b = (struct.unpack(f"<{count}I", f.read(4 * count)) for f in (ours, theirs))
            other = [k for k in range(count) if a[k] != b[k]]
            base, geometry = instruction.split(".")[0], instruction.split(".")[1 if instruction.startswith("tex") else 2]
            between = base == "tex" and "linear" in case.words and instruction.endswith(".f32")
            row = rows[f"{base} {geometry} {case.type}{' unit' if 'unit' in case.words else ''}{' between texels' if between else ''}"]
            row[0] += 1
            row[1] += not other
            row[2] += count
            row[3] += len(other)
            if ".v4.f32." in instruction:
                for k in other:
                    x, y = (struct.unpack("<f", struct.pack("<I", v[k]))[0] for v in (a, b))
                    row[4] = max(row[4], abs(x - y))
    for name, (cases, same, words, other, apart) in sorted(rows.items()):
        print(f"{name}: {same} of {cases} textures the same; {other} of {words} words differ" + (f", by {apart:.3g} at most" if other else ""))
    print(f"{sum(r[1] for r in rows.values())} of {sum(r[0] for r in rows.values())} textures left the same")


if sys.argv[1] == "--compare":
    compare(*sys.argv[2:])
else:
    make(sys.argv[1], int(sys.argv[2], 0) if len(sys.argv) > 2 else 1, int(sys.argv[3]) if len(sys.argv) > 3 else 1650)
