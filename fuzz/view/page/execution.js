// execution.js - what the page holds, unpacked: an execution whose state at any step can be asked for.
// view_side.c says how it was packed.
"use strict";

const LETTERS = " a.brewcfm"; // of a thread; its place here is its code in the timeline
const RAN = 16; // added to the code of a thread that takes part in the step
const MEMORY = 32; // added to the code of one whose memory operation takes it
const ASKS = 3; // added to the kind of an access that is asked for: its operation does it later
const LANES_SHOWN = 256;
const KEYFRAME = 512; // steps between two states that are kept

const KINDS = ["reads", "writes", "atomic"];

function expandRow(row, count) {
    if (!Array.isArray(row))
        return new Array(count).fill(row);
    if (Array.isArray(row[1]))
        return row[1];
    return Array.from({ length: count }, (_, i) => row[0] + i * row[1]);
}

function lanesOf(mask, first) {
    const lanes = [];
    for (let i = 0; i < mask.length; i++)
        if (mask[i] === "1")
            lanes.push(first + i);
    return lanes;
}

// One step, unpacked: who, which rule, what it executed, and what became of the actors.
class Execution {
    constructor(side, index) {
        this.side = side;
        this.index = index;
        this.count = side.kept;
        this.first = side.first;
        this.shown = Math.min(side.threads, LANES_SHOWN);
        this.shapes = new Array(side.shapes.length);
        this.accessSets = new Array(side.accesses.length);
        this.valueSets = new Array(side.values.length);
        this.actorOf = new Int32Array(side.threads).fill(-1);
        side.actors.forEach(([first, lanes], actor) => {
            for (let t = first; t < first + lanes && t < side.threads; t++)
                this.actorOf[t] = actor;
        });
        this.cells = side.cells.map(([name, space, block, address, length, isArray, values]) =>
            ({ name, space, block, address, length, isArray: isArray === 1, values }));
        this.build();
    }

    // ---- steps ----

    shape(i) {
        const number = this.side.steps[3 * i];
        if (!this.shapes[number]) {
            const [rule, actor, stm, first, mask, executed, states, truth, environment] = this.side.shapes[number];
            const info = stm < 0 ? null : this.side.stms[stm];
            this.shapes[number] = {
                rule, actor, stm, executed: this.side.texts[executed], states,
                line: info ? info[0] : 0, threads: lanesOf(this.side.texts[mask], first),
                environment: environment === 1, truth: truth === undefined || truth === null ? null : lanesOf(this.side.texts[truth], first),
            };
        }
        return this.shapes[number];
    }

    // [{kind, thread, address, value}]
    accesses(i) {
        const number = this.side.steps[3 * i + 1] - 1;
        if (number < 0)
            return [];
        if (!this.accessSets[number]) {
            const list = [];
            for (const group of this.side.accesses[number]) {
                if (!Array.isArray(group))
                    continue; // how many more there were
                const [kind, count] = group;
                const [threads, addresses, values] = group.slice(2).map((row) => expandRow(row, count));
                for (let k = 0; k < count; k++)
                    list.push({ kind, thread: threads[k], address: addresses[k], value: values ? Number(values[k]) : null });
            }
            this.accessSets[number] = list;
        }
        return this.accessSets[number];
    }

    // [{place, threads, values}]: what threads wrote that only they see
    privates(i) {
        const number = this.side.steps[3 * i + 2] - 1;
        if (number < 0)
            return [];
        if (!this.valueSets[number])
            this.valueSets[number] = this.side.values[number].map(([place, first, mask, row]) => {
                const threads = lanesOf(mask, first);
                return { place, threads, values: expandRow(row, threads.length) };
            });
        return this.valueSets[number];
    }

    // ---- states ----

    start() {
        const side = this.side;
        const words = this.cells.reduce((most, c) => Math.max(most, c.address / side.units + c.values.length), 0);
        const state = {
            at: 0, memory: new Int32Array(words), places: new Map(),
            nodes: new Int32Array(side.actors.length), leaders: new Int32Array(side.actors.length),
            letters: new Uint8Array(this.shown),
        };
        for (const cell of this.cells)
            cell.values.forEach((value, k) => { state.memory[cell.address / side.units + k] = value; });
        for (const [name, values] of side.private)
            state.places.set(name, values.slice());
        side.states.forEach((change) => this.applyState(state, change));
        return state;
    }

    applyState(state, [actor, text, node, leader]) {
        const letters = this.side.texts[text];
        const first = this.side.actors[actor][0];
        state.nodes[actor] = node;
        state.leaders[actor] = leader === undefined ? actor : leader;
        for (let k = 0; k < letters.length && first + k < this.shown; k++)
            state.letters[first + k] = LETTERS.indexOf(letters[k]);
    }

    // The step number state.at is taken.
    advance(state) {
        const i = state.at++;
        const units = this.side.units;
        for (const change of this.shape(i).states)
            this.applyState(state, change);
        for (const access of this.accesses(i)) {
            if (access.kind === 0 || access.kind >= ASKS)
                continue;
            const word = Math.floor(access.address / units);
            if (word >= state.memory.length)
                continue;
            if (units === 1) {
                state.memory[word] = access.value;
                continue;
            }
            const bits = 32 / units, shift = access.address % units * bits, mask = (1 << bits) - 1;
            state.memory[word] = state.memory[word] & ~(mask << shift) | (access.value & mask) << shift;
        }
        for (const { place, threads, values } of this.privates(i)) {
            let row = state.places.get(place);
            if (!row)
                state.places.set(place, row = new Array(this.shown).fill(null));
            threads.forEach((thread, k) => {
                if (thread < this.shown)
                    row[thread] = values[k];
            });
        }
    }

    copy(state) {
        return {
            at: state.at, memory: state.memory.slice(), nodes: state.nodes.slice(), leaders: state.leaders.slice(),
            letters: state.letters.slice(), places: new Map([...state.places].map(([name, row]) => [name, row.slice()])),
        };
    }

    // One pass: a code for each thread and step, and a state every so often.
    build() {
        const state = this.start(), width = this.shown;
        this.timeline = new Uint8Array(width * (this.count + 1));
        this.keyframes = [this.copy(state)];
        this.timeline.set(state.letters, 0);
        for (let i = 0; i < this.count; i++) {
            this.advance(state);
            const row = (i + 1) * width;
            this.timeline.set(state.letters, row);
            for (const thread of this.shape(i).threads)
                if (thread < width)
                    this.timeline[row + thread] |= this.shape(i).environment ? MEMORY : RAN;
            if (state.at % KEYFRAME === 0)
                this.keyframes.push(this.copy(state));
        }
        this.last = null;
    }

    // After `at` steps of those that the page has. What comes back is not to be changed.
    state(at) {
        let from = this.last && this.last.at <= at && at - this.last.at <= KEYFRAME ? this.last : null;
        if (!from)
            from = this.keyframes[Math.floor(at / KEYFRAME)];
        const state = this.copy(from);
        while (state.at < at)
            this.advance(state);
        this.last = state;
        return state;
    }

    letter(at, thread) {
        return LETTERS[this.timeline[at * this.shown + thread] & (RAN - 1)];
    }

    ran(at, thread) {
        return (this.timeline[at * this.shown + thread] & RAN) !== 0;
    }

    // ---- stacks ----

    // Topmost first: {kind, mask, stm, text, node}
    stack(node) {
        const entries = [];
        for (; node !== 0; node = this.side.nodes[2 * node + 1]) {
            const [kind, mask, stm, text] = this.side.entries[this.side.nodes[2 * node]];
            entries.push({ kind, mask, stm, text, node });
        }
        return entries;
    }

    line(stm) {
        return stm === null || stm === undefined || stm < 0 || !this.side.stms[stm] ? 0 : this.side.stms[stm][0];
    }

    // Where execution goes on below the entry at `i` of a stack, null: nowhere.
    stmBelow(stack, i) {
        const entry = stack.slice(i).find((e) => e.stm !== null);
        return entry ? entry.stm : null;
    }

    lineBelow(stack, i) {
        return this.line(this.stmBelow(stack, i));
    }

    // The statement and line at which the thread goes on, and, where its warp keeps it on the stack, the token that holds it.
    place(state, thread) {
        const actor = this.actorOf[thread];
        const stack = this.stack(state.nodes[actor]);
        const letter = LETTERS[state.letters[thread]];
        const lane = thread - this.side.actors[actor][0];
        if (letter === "f")
            return { stm: null, line: 0, holder: null, stack };
        if (".bre".includes(letter) && (this.side.view === "warps" || this.side.view === "crs")) {
            const awaits = { "b": ["brk"], "r": ["call"], "e": [] }[letter];
            const at = stack.findIndex((e) => e.mask && e.mask[lane] === "1" && (!awaits || awaits.includes(e.kind)));
            if (at < 0)
                return { stm: null, line: 0, holder: null, stack };
            const held = this.side.view === "crs" ? stack[at].stm : this.stmBelow(stack, at + 1);
            return { stm: held, line: this.line(held), holder: stack[at], at, stack };
        }
        const stm = this.stmBelow(stack, 0);
        return { stm, line: this.line(stm), holder: null, stack };
    }

    // ---- words for places in memory ----

    cellAt(address) {
        return this.cells.find((c) => address >= c.address && address < c.address + c.length * this.side.units);
    }

    addressName(address) {
        const cell = this.cellAt(address);
        if (!cell)
            return `address ${address}`;
        const element = Math.floor((address - cell.address) / this.side.units);
        const block = cell.space === "shared" && this.side.threads > this.side.block ? ` of block ${cell.block}` : "";
        return (cell.isArray ? `${cell.name}[${element}]` : cell.name) + block;
    }
}

// ---- two executions beside each other ----

// What each thread does, in order: the lines it comes to, each once while it stays there.
function deedsOf(execution) {
    const deeds = Array.from({ length: execution.shown }, () => ({ lines: [], steps: [] }));
    for (let i = 0; i < execution.count; i++) {
        const shape = execution.shape(i);
        if (shape.line === 0 || shape.environment)
            continue;
        for (const thread of shape.threads) {
            const d = deeds[thread];
            if (d && d.lines[d.lines.length - 1] !== shape.line) {
                d.lines.push(shape.line);
                d.steps.push(i);
            }
        }
    }
    return deeds;
}

// Whether there is nothing more to come than what the page has.
function isWhole(execution) {
    const side = execution.side;
    return side.first === 1 && (side.kept === side.taken && side.end.status !== "step_limit");
}

// Threads whose steps end where the page's do: not those that go round in a loop for ever.
function threadsThatEnd(execution) {
    const { loop, first } = execution.side, ends = new Array(execution.shown).fill(isWhole(execution));
    for (let i = loop ? loop.stem - first + 1 : execution.count; i < execution.count; i++)
        for (const t of execution.shape(Math.max(i, 0)).threads)
            ends[t] = false;
    return ends;
}

// Whether both run one form of the kernel, so that a thread that goes elsewhere has parted.
function runSameProgram(a, b) {
    return a.side.program === b.side.program;
}

// Two forms of one kernel have lines in common: those of each thread, in order, as far as they are found again soon.
function alignForms(deeds, map, pairs) {
    const NEAR = 64;
    deeds[0].forEach((one, t) => {
        const other = deeds[1][t];
        for (let k = 0, p = 0; other && k < other.lines.length; k++) {
            const found = one.lines.slice(p, p + NEAR).indexOf(other.lines[k]);
            if (found < 0)
                continue;
            p += found;
            const [i, j] = [one.steps[p] + 1, other.steps[k] + 1];
            map[0][i] = Math.max(map[0][i], j);
            map[1][j] = Math.max(map[1][j], i);
            pairs[0][t][p] = k;
            pairs[1][t][k] = p;
            p++;
        }
    });
}

// Steps of `b` for those of `a` by (thread, how often it has come to a line, line), and where they part. `related`: what
// each thread does, and which deed of the other side each is, or -1.
function alignExecutions(a, b) {
    const deeds = [deedsOf(a), deedsOf(b)];
    const map = [new Int32Array(a.count + 1), new Int32Array(b.count + 1)];
    const settled = [threadsThatEnd(a), threadsThatEnd(b)];
    const pairs = deeds.map((side) => side.map((d) => new Int32Array(d.lines.length).fill(-1)));
    let parting = null;
    if (!runSameProgram(a, b))
        alignForms(deeds, map, pairs);
    for (let t = 0; t < Math.min(a.shown, b.shown) && runSameProgram(a, b); t++) {
        const [one, other] = [deeds[0][t], deeds[1][t]];
        let k = 0;
        while (k < one.lines.length && k < other.lines.length && one.lines[k] === other.lines[k]) {
            const [i, j] = [one.steps[k] + 1, other.steps[k] + 1];
            map[0][i] = Math.max(map[0][i], j);
            map[1][j] = Math.max(map[1][j], i);
            pairs[0][t][k] = pairs[1][t][k] = k;
            k++;
        }
        const ends = [k === one.lines.length, k === other.lines.length];
        if (ends[0] && ends[1] || ends[0] && !settled[0][t] || ends[1] && !settled[1][t])
            continue;
        const at = [one, other].map((d, s) => (ends[s] ? (k > 0 ? d.steps[k - 1] : 0) : d.steps[k]) + 1);
        const lines = [one, other].map((d, s) => (ends[s] ? 0 : d.lines[k]));
        if (!parting || Math.max(...at) < Math.max(...parting.at))
            parting = { thread: t, at, lines };
    }
    for (const m of map)
        for (let i = 1; i < m.length; i++)
            m[i] = Math.max(m[i], m[i - 1]);
    return { map, parting, related: { deeds, pairs } };
}
