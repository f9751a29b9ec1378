#!/usr/bin/env python3
"""litmus_gpu.py SIMTFUZZ FOLDER OUTPUT.cu: litmus tests of the field's text as one CUDA program, which runs each many times.

Build it with `nvcc -arch=native -O3`; `./program [SECONDS A TEST] [SEED]` prints a line a test: how often each result was
seen, which of them sequential consistency has not, and which ptx75 forbids (there should be none). Threads stand in the
blocks that the test says; each lane of 128 is an instance of its own. Tests of several GPUs, and those in which threads may wait
for ever, are left out, and said so.
"""
import os
import re
import subprocess
import sys

LANES = 128  # instances of a thread in a block
BLOCKS = 256  # of the test; all are resident


class Skip(Exception):
    pass


def read_test(path):
    text = open(path).read()
    name = re.search(r"^PTX (\S+)", text, re.M).group(1)
    init_text = re.search(r"\{(.*?)\}", text, re.S).group(1)
    rows = [[cell.strip() for cell in line.rstrip(" ;").split("|")]
            for line in text[text.index("}") + 1:].splitlines() if line.rstrip().endswith(";")]
    heads, rows = rows[0], rows[1:]
    threads = []
    for number, head in enumerate(heads):
        place = re.match(r"P(\d+)\s*@\s*cta (\d+)\s*,\s*gpu (\d+)", head)
        if place.group(3) != "0":
            raise Skip("several GPUs")
        threads.append({"number": number, "cta": int(place.group(2)),
                        "code": [r[number] for r in rows if number < len(r) and r[number]]})
    init = {}
    for piece in filter(None, (p.strip() for p in init_text.split(";"))):
        key, value = (x.strip() for x in piece.split("="))
        init[key] = int(value)
    return name, init, threads


def outcomes(simtfuzz, path):
    """What an outcome shows, and the sets of outcomes by model."""
    text = subprocess.run([simtfuzz, "litmus", path], capture_output=True, text=True).stdout
    shown = re.search(r"^  outcome\s+(.*)$", text, re.M).group(1).split()
    sets = {}
    for model in ("sc", "ptx60", "ptx75"):
        line = re.search(rf"^  {model}\s+(.*)$", text, re.M).group(1)
        if "says nothing" in line or "loops cut" in line:
            sets[model] = None
        else:
            sets[model] = re.sub(r"   \(.*", "", line).split()
    return shown, sets


def statement(text, regs, locations, barriers):
    label = re.match(r"^(\w+):$", text)
    if label:
        return f"{label.group(1)}:"
    op, _, rest = text.partition(" ")
    args = [a.strip() for a in rest.split(",")] if rest else []
    words = op.split(".")

    def value(a):
        if re.match(r"^r\d+$", a):
            regs.add(a)
            return a
        return a

    def place(a):
        if a not in locations:
            raise Skip(f"the word {a}")
        return f"[a_{a}]"

    sem = "." + ".".join(w for w in words[1:] if w in ("relaxed", "acquire", "release", "acq_rel", "volatile"))
    scope = "".join("." + w for w in words[1:] if w in ("cta", "gpu", "sys"))
    sem = "" if sem == "." else sem
    if words[0] == "ld" and re.match(r"^-?\d+$", args[1]):
        return f"mov.u32 {value(args[0])}, {args[1]};"
    if words[0] == "ld":
        return f"ld{sem}{scope}.global.u32 {value(args[0])}, {place(args[1])};"
    if words[0] == "st":
        return f"st{sem}{scope}.global.u32 {place(args[0])}, {value(args[1])};"
    if words[0] in ("atom", "red"):
        kind = words[-1]
        kind_type = {"add": "u32", "sub": "u32", "min": "u32", "max": "u32"}.get(kind, "b32")
        at = 1 if words[0] == "atom" else 0
        if not at and "acq" in sem:
            raise Skip("PTX has no red that acquires")
        operands = [value(a) for a in args[at + 1:]]
        if kind == "sub":
            kind, operands = "add", [str(-int(operands[0]))]
        result = f"{value(args[0])}, " if at else ""
        return f"{words[0]}{sem}{scope}.global.{kind}.{kind_type} {result}{place(args[at])}, {', '.join(operands)};"
    if words[0] in ("fence", "membar"):
        return f"{op};"
    if words[:2] == ["bar", "cta"]:
        count = int(args[1]) if len(args) > 1 else barriers[args[0]]
        return f"bar.{words[2]} {args[0]}, {count * LANES};"
    if words[0] == "mov":
        return f"mov.u32 {value(args[0])}, {value(args[1])};"
    if words[0] == "add":
        return f"add.u32 {value(args[0])}, {value(args[1])}, {value(args[2])};"
    if words[0] in ("beq", "bne"):
        return (f"setp.{words[0][1:]}.u32 p, {value(args[0])}, {value(args[1])}; @p bra {args[2]};")
    if words[0] == "goto":
        return f"bra {args[0]};"
    raise Skip(op)


def emit(index, name, init, threads, shown, sets):
    locations = [k for k in init if ":" not in k]
    bits = min(6, 31 // max(len(shown), 1))
    ctas = sorted({t["cta"] for t in threads})
    groups = 1
    while groups * 2 * len(ctas) <= BLOCKS:
        groups *= 2
    named = {}
    for t in threads:
        for number in {c.split()[1].rstrip(",") for c in t["code"] if c.startswith("bar.")}:
            named.setdefault((t["cta"], number), []).append(t)
    out = [f"// {name}",
           f"__global__ void test{index}(unsigned *words, unsigned *registers, struct setup s)", "{",
           f"    const unsigned cta = blockIdx.x % {len(ctas) + 1}, group = blockIdx.x / {len(ctas) + 1};",
           f"    const unsigned role = threadIdx.x / {LANES}, lane = threadIdx.x % {LANES};",
           f"    if (cta == {len(ctas)}) {{ stress(s); return; }}"]
    for c, cta in enumerate(ctas):
        for r, t in enumerate([t for t in threads if t["cta"] == cta]):
            number = t["number"]
            regs = set()
            barriers = {b: len(v) for (of, b), v in named.items() if of == cta}
            code = [statement(line, regs, locations, barriers) for line in t["code"]]
            asks = [x.split(":")[1] for x in shown if x.startswith(f"P{number}:")]
            regs |= set(asks)
            lines = ["{", ".reg .pred p;"] + [f".reg .b32 {x};" for x in sorted(regs)]
            lines += [f"mov.u32 {x}, {init.get(f'P{number}:{x}', 0)};" for x in sorted(regs)]
            lines += [f".reg .b64 a_{w};" for w in locations]
            lines += [f"mov.u64 a_{w}, %{len(asks) + k};" for k, w in enumerate(locations)]
            labels = {x.rstrip(":") for x in code if x.endswith(":")}
            for x in labels:
                code = [re.sub(rf"\b{x}\b", f"{x}_%=", y) for y in code]
            lines += code + [f"mov.u32 %{k}, {x};" for k, x in enumerate(asks)] + ["}"]
            text = "\n".join('            "%s\\n\\t"' % x
                             for x in lines)
            outs = ", ".join(f'"=r"(r{k})' for k in range(len(asks)))
            ins = ", ".join(f'"l"(words + {k}u * s.words + i * s.stride + s.offset[{k}])' for k in range(len(locations)))
            out += [f"    if (cta == {c} && role == {r}) {{ // P{number}",
                    f"        const unsigned g = (group * s.odd[{c}] + s.add[{c}]) % {groups}u;",
                    f"        const unsigned i = g * {LANES} + (lane * s.odd[{4 + r}] + s.add[{4 + r}]) % {LANES};"]
            if asks:
                out += ["        unsigned " + ", ".join(f"r{k}" for k in range(len(asks))) + ";"]
            out += [f"        wait(s, {number});",
                    "        asm volatile(", text, f"            : {outs} : {ins} : \"memory\");"]
            for k, x in enumerate(asks):
                out += [f"        registers[{shown.index(f'P{number}:{x}')}u * s.instances + i] = r{k};"]
            out += ["    }"]
    out += ["}", f"__global__ void look{index}(unsigned *words, const unsigned *registers, unsigned *table, struct setup s)",
            "{", "    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;", "    unsigned key = 0;",
            "    if (i >= s.instances)", "        return;"]
    for k, x in enumerate(shown):
        if ":" in x:
            what = f"registers[{k}u * s.instances + i]"
        else:
            w = locations.index(x)
            what = f"words[{w}u * s.words + i * s.stride + s.offset[{w}]]"
        out += [f"    key = key << {bits} | min({what}, {(1 << bits) - 1}u);"]
    for k, w in enumerate(locations):
        out += [f"    words[{k}u * s.words + i * s.stride + s.offset[{k}]] = {init[w]};"]
    out += ["    count(table, key);", "}"]
    roles = max(sum(t["cta"] == c for t in threads) for c in ctas)
    model = lambda m: "NULL" if sets[m] is None else '"%s"' % " ".join(sets[m])
    row = (f'    {{"{name}", test{index}, look{index}, {bits}, {len(shown)}, {len(ctas) + 1}, {groups}, '
           f'{roles}, {model("sc")}, {model("ptx60")}, {model("ptx75")}, "{" ".join(shown)}"}},')
    return "\n".join(out), row


HEAD = r"""// Made by litmus_gpu.py.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

enum { LANES = %d, MAX_WORDS = 4, TABLE = 1 << 12, SCRATCH = 1 << 20 };

struct setup {
    unsigned instances, words, stride, offset[MAX_WORDS]; // words: distance between two locations of a test
    unsigned odd[8], add[8], delay[4], stress, *scratch;
};

static __device__ void wait(const struct setup &s, unsigned thread)
{
    const unsigned turns = s.delay[thread] ? (threadIdx.x / 32 * 7 + blockIdx.x * 13 + s.add[0]) %% s.delay[thread] : 0;
    for (volatile unsigned k = 0; k < turns; k++)
        ;
}

static __device__ void stress(const struct setup &s)
{
    volatile unsigned *at = s.scratch;
    for (unsigned k = 0; k < s.stress; k++) {
        const unsigned place = (blockIdx.x * 4099 + threadIdx.x * 32 + k * 997) %% SCRATCH;
        at[place] = at[(place + 64) %% SCRATCH] + k;
    }
}

static __device__ void count(unsigned *table, unsigned key)
{
    const unsigned same = __match_any_sync(__activemask(), key), first = __ffs(same) - 1;
    if (threadIdx.x %% 32 != first)
        return;
    for (unsigned at = key * 2654435761u %% TABLE;; at = (at + 1) %% TABLE) {
        const unsigned old = atomicCAS(&table[2 * at], 0, key + 1);
        if (old == 0 || old == key + 1) {
            atomicAdd(&table[2 * at + 1], __popc(same));
            return;
        }
    }
}
"""

MAIN = r"""
struct row {
    const char *name;
    void (*test)(unsigned *, unsigned *, struct setup);
    void (*look)(unsigned *, const unsigned *, unsigned *, struct setup);
    unsigned bits, shown, ctas, groups, roles;
    const char *sc, *ptx60, *ptx75, *names;
};

static const struct row rows[] = {
%s
};

static unsigned long long state;
static unsigned draw(unsigned n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) %% n;
}

static bool holds(const char *set, const std::string &outcome)
{
    return !set || (std::string(" ") + set + " ").find(" " + outcome + " ") != std::string::npos;
}

static double now()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void check(const char *what)
{
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        return;
    printf("%%s: %%s\n", what, cudaGetErrorString(error));
    exit(2);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 0.5;
    static unsigned table[2 * TABLE];
    unsigned *words, *registers, *device_table, *waste, *scratch;
    const size_t words_each = (size_t)LANES * 256 * 64 + 64;
    int bad = 0;
    state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    cudaMalloc(&words, MAX_WORDS * words_each * 4);
    cudaMalloc(&registers, (size_t)16 * LANES * 256 * 4);
    cudaMalloc(&device_table, sizeof table);
    cudaMalloc(&waste, sizeof table);
    cudaMalloc(&scratch, SCRATCH * 4);
    cudaMemset(scratch, 0, SCRATCH * 4);
    cudaMemset(words, 0, MAX_WORDS * words_each * 4);
    cudaMemset(registers, 0, (size_t)16 * LANES * 256 * 4);
    check("memory");
    for (const struct row &r : rows) {
        unsigned long long runs = 0;
        cudaMemset(device_table, 0, sizeof table);
        struct setup s = {LANES * r.groups, (unsigned)words_each};
        s.scratch = scratch;
        s.stride = 1;
        const double end = now() + seconds;
        for (unsigned k = 0; now() < end; k++) {
            // The words get their first values; that is no run.
            if (k %% 16 == 0) {
                s.stride = 1u << draw(7);
                for (unsigned w = 0; w < MAX_WORDS; w++)
                    s.offset[w] = draw(32);
                cudaMemset(waste, 0, sizeof table);
                r.look<<<(s.instances + 255) / 256, 256>>>(words, registers, waste, s);
            }
            for (unsigned i = 0; i < 8; i++) {
                s.odd[i] = 2 * draw(64) + 1;
                s.add[i] = draw(LANES);
            }
            for (unsigned t = 0; t < 4; t++)
                s.delay[t] = draw(3) ? draw(1u << draw(9)) : 0;
            s.stress = draw(2) ? draw(256) : 0;
            r.test<<<r.ctas * r.groups, LANES * r.roles>>>(words, registers, s);
            r.look<<<(s.instances + 255) / 256, 256>>>(words, registers, device_table, s);
            runs += s.instances;
        }
        cudaDeviceSynchronize();
        check(r.name);
        cudaMemcpy(table, device_table, sizeof table, cudaMemcpyDeviceToHost);
        printf("%%s [%%s] runs %%llu:", r.name, r.names, runs);
        for (unsigned at = 0; at < TABLE; at++) {
            if (!table[2 * at])
                continue;
            std::string outcome;
            for (unsigned k = 0; k < r.shown; k++) {
                const unsigned value = (table[2 * at] - 1) >> r.bits * (r.shown - 1 - k) & ((1u << r.bits) - 1);
                outcome += value < 10 ? std::to_string(value) : "(" + std::to_string(value) + ")";
            }
            const bool weak = !holds(r.sc, outcome), wrong = !holds(r.ptx75, outcome);
            printf(" %%s=%%u%%s%%s", outcome.c_str(), table[2 * at + 1], weak ? "(weak)" : "",
                   wrong ? "(FORBIDDEN)" : holds(r.ptx60, outcome) ? "" : "(forbidden by ptx60)");
            bad += wrong;
        }
        printf("\n");
        fflush(stdout);
    }
    return bad > 0;
}
"""


def main():
    simtfuzz, folder, output = sys.argv[1:]
    bodies, rows = [], []
    for file in sorted(os.listdir(folder)):
        path = os.path.join(folder, file)
        try:
            name, init, threads = read_test(path)
            if "deadlock" in name:
                raise Skip("threads may wait for ever")
            shown, sets = outcomes(simtfuzz, path)
            body, row = emit(len(rows), name, init, threads, shown, sets)
            bodies.append(body)
            rows.append(row)
        except Skip as why:
            print(f"{file} is left out: {why}")
    with open(output, "w") as out:
        out.write(HEAD % LANES + "\n" + "\n\n".join(bodies) + "\n" + MAIN % "\n".join(rows))
    print(f"{len(rows)} tests")


main()
