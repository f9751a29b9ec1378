#!/usr/bin/env python3
"""rows_gpu.py SIMTFUZZ FOLDER [SEED [COUNT]]: an entry for each instruction of generated programs, for a GPU.

The instructions are those that COUNT programs of `gen --features instructions` hold (6,000 by default), with the kinds of
operands that they have there. An entry applies one of them to 256 tuples of operands at their bounds, those of warps also by
two parts of a warp; modules that ptxas takes, manifest and operands lie in FOLDER. There, on the machine with the GPU:

    for m in m*.ptx; do ptxas -arch=sm_90a -O3 -o ${m%.ptx}.cubin $m; done; ./run_gpu manifest results

(run_gpu.c). Then, anywhere, `rows_gpu.py --cases FOLDER` writes each entry with its results as a case for `check`.
"""
import os
import random
import re
import struct
import subprocess
import sys

TUPLES, OPERANDS, IN, OUT, MODULE = 256, 4, 32, 16, 150
TARGET = ".version 8.6\n.target sm_90a\n.address_size 64\n"
NO_ROWS = set("ld st ldu atom red bra brx bar barrier call ret exit trap mov cvta isspacep activemask nanosleep fence membar "
              "pmevent prefetch prefetchu nop brkpt".split())
WARP = ("vote", "shfl", "match", "redux")
NAMES = {"t": "r", "i": "r", "m": "r", "n": "r", "even": "r", "half": "r", "q": "p", "f": "p",
         "a": "w", "base": "w", "ga": "w", "sa": "w", "la": "w", "gs": "w", "gl": "w"}
WORD = {"p": "pred", "h": "b16", "r": "b32", "w": "b64"}
EDGES = {
    "i": [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff, 0x7fffffff,
          0x80000000, 0xffffffff, 1 << 32, 2**63 - 1, 2**63, 2**64 - 1, 0x00ff00ff, 0x80808080, 0x01010101],
    "f32": [0, 1, 0x7fffff, 0x800000, 0x3f000000, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40490fdb, 0x4b7fffff,
            0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x5f000000, 0x477fefff, 0x477ff000, 0x33800000, 0x387fe000,
            0x7e800001, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000],
    "f64": [0, 1, (1 << 52) - 1, 1 << 52, 0x3fe0000000000000, 0x3ff0000000000000, 0x3ff0000010000000, 0x3ff8000000000000,
            0x41dfffffffc00000, 0x41e0000000000000, 0x41f0000000000000, 0x43e0000000000000, 0x43f0000000000000,
            0x47efffffe0000000, 0x47effffff0000000, 0x36a0000000000000, 0x40effc0000000000, 0x40effe0000000000,
            0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff0000000000001, 0x7ff8000000000000],
    "f16": [0, 1, 0x3ff, 0x400, 0x3555, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0x6400, 0x7800, 0x7bff, 0x7c00, 0x7c01, 0x7e00],
    "bf16": [0, 1, 0x7f, 0x80, 0x3eab, 0x3f00, 0x3f7f, 0x3f80, 0x3f81, 0x4049, 0x4b00, 0x4f00, 0x5f00, 0x7f7f, 0x7f80,
             0x7f81, 0x7fc0],
}
BITS = {"i": 64, "f32": 32, "f64": 64, "f16": 16, "bf16": 16}


def value_of(draw, kind):
    chance = draw.random()
    if chance < 0.2:
        return draw.getrandbits(64)
    if chance < 0.35:
        kind = draw.choice(list(EDGES))
    value, bits = 0, BITS[kind]
    for at in range(0, 64, bits):
        piece = draw.choice(EDGES[kind]) if draw.random() < 0.75 else draw.getrandbits(bits)
        if draw.random() < 0.3:
            piece = -piece if kind == "i" else piece ^ 1 << (bits - 1)
        value |= (piece & (1 << bits) - 1) << at
    return value


def instructions(text):
    """Of each mnemonic and number of operands: the classes of the results, and of each source a class or an immediate."""
    found = {}
    for line in text.splitlines():
        match = re.match(r"\t(?:@!?\w+ )?([a-z][\w.:]*) (.+);$", line)
        if not match or match.group(1).split(".")[0] in NO_ROWS:
            continue
        operands = [o.strip() for o in re.split(r",(?![^{]*})", match.group(2))]
        row = found.setdefault((match.group(1), len(operands)), [None] * len(operands))
        for k, operand in enumerate(operands):
            classes = [NAMES.get(o.lstrip("!-")) or (o.lstrip("!-")[0] if re.match(r"!?[phrw]\d+$", o) else None)
                       for o in operand.split("|")]
            if k == 0:
                better = row[0] is None or None in row[0] or len(classes) > len(row[0])
                row[0] = classes if better else row[0]
            elif classes[0]:
                row[k] = ("!" if operand[0] == "!" else "", classes[0])
            elif row[k] is None:
                row[k] = (operand, None)
    return {key: row for key, row in found.items() if all(row[0])}


def kind_of(mnemonic):
    for word in reversed(mnemonic.split(".")):
        for kind in ("bf16", "f16", "f32", "f64"):
            if word in (kind, kind + "x2") or (word, kind) == ("tf32", "f32"):
                return kind
    return "i"


def widened(name, c):
    return {"w": f"mov.b64 %y, {name};", "r": f"cvt.u64.u32 %y, {name};", "h": f"cvt.u64.u16 %y, {name};",
            "p": f"selp.b64 %y, 1, 0, {name};"}[c]


def entry(name, mnemonic, row, split):
    base = mnemonic.split(".")[0]
    code, sources = [], []
    for k, (mode, c) in enumerate(row[1:]):
        if c is None:
            sources.append(mode)
            continue
        code.append(f"ld.global.u64 %x, [%in+{8 * k}];")
        code += {"w": [f"mov.b64 %w{k}, %x;"], "r": [f"cvt.u32.u64 %r{k}, %x;"], "h": [f"cvt.u16.u64 %h{k}, %x;"],
                 "p": ["and.b64 %x, %x, 1;", f"setp.ne.u64 %p{k}, %x, 0;"]}[c]
        sources.append(f"{mode}%{c}{k}")
    if base in WARP and ".sync" in mnemonic:
        sources[-1] = "%m"
    results = [f"%d{c}{k}" for k, c in enumerate(row[0])]
    own = f"{mnemonic} {'|'.join(results)}, {', '.join(sources)};"
    if split:
        code += ["and.b32 %c, %t, 31;", "setp.lt.u32 %p9, %c, 13;", "mov.u32 %m, 8191;", "@%p9 bra L1;",
                 "mov.u32 %m, 4294959104;", "L1:", "@!%p9 bra L2;", own, "bra L3;", "L2:", own, "L3:"]
    else:
        code.append("mov.u32 %m, 4294967295;")
        code += ["sub.cc.u32 %c, %t, 16;"] * (base == "subc") + ["add.cc.u32 %c, %t, 4294967280;"] * (base in ("addc", "madc"))
        code.append(own)
    if ".cc" in mnemonic:
        code += [("subc" if base in ("sub", "subc") else "addc") + ".u32 %c, 0, 0;", widened("%c", "r"),
                 "st.global.u64 [%out+8], %y;"]
    for k, c in enumerate(row[0]):
        code += [widened(results[k], c), f"st.global.u64 [%out+{8 * k}], %y;"]
    registers = [f"\t.reg .{WORD[c]} %{c}<10>, %d{c}<2>;" for c in WORD]
    return "\n".join([f".visible .entry {name}(.param .u64 from, .param .u64 to)", "{", *registers,
                      "\t.reg .b32 %t, %m, %c;", "\t.reg .b64 %x, %y, %in, %out;", "\tld.param.u64 %in, [from];",
                      "\tld.param.u64 %out, [to];", "\tmov.u32 %t, %tid.x;", f"\tmad.wide.u32 %in, %t, {IN}, %in;",
                      f"\tmad.wide.u32 %out, %t, {OUT}, %out;", *("\t" + line for line in code), "\tret;", "}", ""])


def accepted(entries, path):
    """Those of the entries that ptxas takes; they stand in the file then."""
    while entries:
        starts, line = [], TARGET.count("\n")
        for text in entries.values():
            starts.append(line)
            line += text.count("\n")
        with open(path, "w") as out:
            out.write(TARGET + "".join(entries.values()))
        said = subprocess.run(["ptxas", "-arch=sm_90a", "-O0", "-o", "/dev/null", path], capture_output=True, text=True)
        if said.returncode == 0:
            break
        wrong = {sum(start < int(at) for start in starts) - 1 for at in re.findall(r", line (\d+); (?:error|fatal)", said.stderr)}
        if not wrong:
            sys.exit(said.stderr)
        entries = {name: text for k, (name, text) in enumerate(entries.items()) if k not in wrong}
    return entries


def make(simtfuzz, folder, seed, count):
    os.makedirs(folder, exist_ok=True)
    draw = random.Random(seed)
    for kind in EDGES:
        with open(f"{folder}/in-{kind}.bin", "wb") as out:
            out.write(struct.pack(f"<{TUPLES * OPERANDS}Q", *(value_of(draw, kind) for _ in range(TUPLES * OPERANDS))))
    text = subprocess.run([simtfuzz, "gen", "--features", "none,instructions", "--seed", str(seed), "--count", str(count)],
                          capture_output=True, text=True, check=True).stdout
    rows, entries, kinds = instructions(text), {}, {}
    for (mnemonic, operands), row in sorted(rows.items()):
        for split in (False, True)[:2 if mnemonic.split(".")[0] in WARP else 1]:
            name = f"k{len(entries)}"
            entries[name] = entry(name, mnemonic, row, split)
            kinds[name] = kind_of(mnemonic)
    taken = 0
    with open(f"{folder}/manifest", "w") as manifest:
        for number, first in enumerate(range(0, len(entries), MODULE)):
            some = dict(list(entries.items())[first:first + MODULE])
            for name in accepted(some, f"{folder}/m{number}.ptx"):
                manifest.write(f"m{number}.cubin {name} 1 {TUPLES} 0 in-{kinds[name]}.bin {TUPLES * OUT}\n")
                taken += 1
    print(f"{len(entries)} entries, {taken} that ptxas takes")


def write_cases(folder):
    with open(f"{folder}/results", "rb") as results, open(f"{folder}/manifest") as manifest:
        for line in manifest:
            module, name, blocks, threads, _, operands, size = line.split()
            with open(f"{folder}/{name}.bin", "wb") as out:
                out.write(results.read(int(size)))
            module = open(f"{folder}/{module.replace('.cubin', '.ptx')}").read()
            start = module.index(f".visible .entry {name}(")
            text = module[start:module.index("\n}\n", start) + 3]
            with open(f"{folder}/{name}.ptx", "w") as out:
                out.write(f"// simtfuzz: entry={name} blocks={blocks} threads={threads} bind:0=0x7f0000000000 "
                          f"bind:1=0x7f1000000000\n// simtfuzz: memory:in=0x7f0000000000:"
                          f"{os.path.getsize(f'{folder}/{operands}')}:file:{operands} memory:out=0x7f1000000000:{size} "
                          f"result:out=file:{name}.bin\n{TARGET}{text}")


if sys.argv[1] == "--cases":
    write_cases(sys.argv[2])
else:
    make(sys.argv[1], sys.argv[2], int(sys.argv[3], 0) if len(sys.argv) > 3 else 1,
         int(sys.argv[4]) if len(sys.argv) > 4 else 6000)
