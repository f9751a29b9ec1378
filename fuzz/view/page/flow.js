// flow.js - the control-flow graph: statements joined into blocks, where parted threads meet, who took which edge when.
"use strict";

const EDGE_SAYS = ["", "yes", "no"]; // by kind, view_flow.c

class Flow {
    constructor(execution) {
        this.execution = execution;
        const { flow, stms } = execution.side;
        this.next = stms.map(() => []);
        this.before = stms.map(() => 0);
        for (let i = 0; i < flow.length; i += 3) {
            const to = flow[i + 1] < stms.length ? flow[i + 1] : -1; // behind the last one nothing is left
            this.next[flow[i]].push({ to, kind: flow[i + 2] });
            if (to >= 0)
                this.before[to]++;
        }
        this.blockOf = new Int32Array(stms.length).fill(-1);
        this.blocks = [];
        this.functions = execution.side.functions.map((entry, number) => this.makeFunction(entry, number));
        this.watch();
    }

    // ---- blocks ----

    makeFunction(entry, number) {
        const heads = new Set([entry]), seen = new Set(), todo = [entry];
        while (todo.length > 0) {
            const stm = todo.pop();
            if (seen.has(stm))
                continue;
            seen.add(stm);
            for (const { to } of this.next[stm]) {
                if (to < 0)
                    continue;
                todo.push(to);
                if (this.next[stm].length > 1 || this.before[to] > 1)
                    heads.add(to);
            }
        }
        const order = [...heads].sort((a, b) => this.place(a) - this.place(b) || a - b);
        const blocks = order.map((head) => this.makeBlock(head, heads, number));
        const made = { number, blocks: blocks.map((b) => b.index), edges: [], entry };
        for (const block of blocks)
            for (const { to, kind } of this.next[block.stms[block.stms.length - 1]])
                this.addEdge(made, block, to < 0 ? null : this.blocks[this.blockOf[to]], kind);
        this.findMeetings(made);
        return made;
    }

    // Blocks stand as the text has them; what is generated, by its number.
    place(stm) {
        const { stms, program } = this.execution.side;
        return program === "structured" || stms[stm][0] > 0 && stms.every(([line], i) => line > 0 || this.next[i].length === 0) ? stms[stm][0] : stm;
    }

    makeBlock(head, heads, number) {
        const block = { index: this.blocks.length, function: number, stms: [head], edges: [], meets: [] };
        this.blocks.push(block);
        for (let stm = head; ;) {
            this.blockOf[stm] = block.index;
            if (this.next[stm].length !== 1 || this.next[stm][0].to < 0 || heads.has(this.next[stm][0].to))
                return block;
            block.stms.push(stm = this.next[stm][0].to);
        }
    }

    addEdge(made, from, to, kind, seen) {
        const edge = { from: from.index, to: to ? to.index : -1, kind, seen: Boolean(seen), steps: [], threads: [], index: made.edges.length };
        made.edges.push(edge);
        from.edges.push(edge);
        return edge;
    }

    // A block where all ways from a branch come together again: its immediate postdominator.
    findMeetings(made) {
        const after = new Map();
        for (const b of made.blocks)
            after.set(b, new Set([...made.blocks, -1]));
        const all = (b) => this.blocks[b].edges.map((e) => (e.to < 0 ? new Set([-1]) : after.get(e.to)));
        for (let changed = true; changed;) {
            changed = false;
            for (const b of [...made.blocks].reverse()) {
                const sets = all(b), both = new Set([b]);
                for (const x of sets.length ? sets[0] : [])
                    if (sets.every((s) => s.has(x)))
                        both.add(x);
                changed = changed || both.size !== after.get(b).size;
                after.set(b, both);
            }
        }
        for (const b of made.blocks) {
            const others = [...after.get(b)].filter((x) => x !== b && x >= 0);
            const nearest = others.find((x) => after.get(x).size === others.length + (after.get(b).has(-1) ? 1 : 0));
            if (this.blocks[b].edges.length > 1 && nearest !== undefined)
                this.blocks[nearest].meets.push(b);
        }
    }

    // ---- who took which edge ----

    watch() {
        const { execution } = this, threads = execution.shown;
        const last = this.functions.map(() => new Int32Array(threads).fill(-1));
        for (let i = 0; i < execution.count; i++) {
            const shape = execution.shape(i);
            if (shape.stm < 0 || this.blockOf[shape.stm] < 0)
                continue;
            const block = this.blocks[this.blockOf[shape.stm]], before = last[block.function];
            this.note(i + 1, shape, block, before);
            const parted = shape.truth && this.noteBranch(i + 1, shape, block);
            for (const t of shape.threads)
                if (t < threads)
                    before[t] = parted ? -1 : shape.stm;
        }
    }

    // A branch says at once who takes which edge, also of those that are set aside before they get there.
    noteBranch(step, shape, block) {
        if (shape.stm !== block.stms[block.stms.length - 1] || !block.edges.some((e) => e.kind > 0))
            return false;
        const fails = shape.threads.filter((t) => !shape.truth.includes(t));
        for (const edge of block.edges) {
            const threads = edge.kind === 2 ? fails : shape.truth;
            if (edge.kind > 0 && threads.length > 0)
                this.put(edge, step, threads);
        }
        return true;
    }

    put(edge, step, threads) {
        edge.steps.push(step);
        edge.threads.push(threads);
    }

    note(step, shape, block, before) {
        const taken = new Map();
        for (const t of shape.threads) {
            const edge = before[t] >= 0 ? this.edgeTo(before[t], shape.stm, block) : null;
            if (!edge)
                continue;
            if (!taken.has(edge))
                taken.set(edge, []);
            taken.get(edge).push(t);
        }
        for (const [edge, threads] of taken)
            this.put(edge, step, threads.length === shape.threads.length ? shape.threads : threads);
    }

    // The edge by which a thread came from its last statement of the function to this one. The branch unit's stack leads to
    // places that the text does not say: such edges are known when they are taken.
    edgeTo(from, stm, block) {
        const source = this.blocks[this.blockOf[from]];
        if (stm !== block.stms[0] || from !== source.stms[source.stms.length - 1])
            return null;
        const edge = source.edges.find((e) => e.to === block.index);
        const made = this.functions[block.function];
        if (edge || stm === made.entry || !this.execution.side.view.startsWith("c") || source.edges.some((e) => e.to < 0 && source.edges.length === 1))
            return edge;
        return this.addEdge(made, source, block, 0, true);
    }

    // Who took the edge last, up to this step: {threads, step, times}; or null.
    taken(edge, at) {
        let low = 0, high = edge.steps.length;
        while (low < high) {
            const middle = low + high >> 1;
            if (edge.steps[middle] <= at)
                low = middle + 1;
            else
                high = middle;
        }
        return low === 0 ? null : { threads: edge.threads[low - 1], step: edge.steps[low - 1], times: low };
    }
}
