// graph.js - an execution as a graph: events of each thread one below the other, and which write a read takes its value
// from (rf), which write to a word comes first (co), which writes come after a read (fr).
"use strict";

const GRAPH = { column: 270, row: 78, width: 166, height: 40, left: 30, top: 26 };
const RELATIONS = [
    ["po", "program order"], ["rf", "a read takes its value from a write"], ["co", "this write to the word is earlier"],
    ["fr", "the read is before this write"], ["sync", "release and acquire synchronise"], ["sc", "order of sc fences"],
    ["bar", "a barrier"], ["rmw", "two halves of an atomic operation"], ["dep", "needs the value that was read"],
];
const WHY = {
    po: "in program order", rf: "the value is read from it", co: "the write is earlier", fr: "the read does not see the write",
    sync: "they synchronise", sc: "the order of sc fences", bar: "a barrier", obs: "its value is read there",
    rmw: "the other half of the same atomic operation", dep: "that needs its value", fence: "a fence lies between",
};

class Graph {
    // `refusal`: why the model does not allow the execution, or nothing.
    constructor(data, model, graph, refusal) {
        this.data = data;
        this.model = model;
        this.graph = graph;
        this.events = graph.events;
        this.edges = this.makeEdges();
        this.refusal = refusal || null;
        this.cycle = refusal ? refusal.circle.map(([name, a, b]) => ({ name, a, b })) : this.findCycle();
    }

    letter(i) { return i < 26 ? String.fromCharCode(97 + i) : `${String.fromCharCode(97 + i % 26)}${Math.floor(i / 26)}`; }

    text(i) {
        const e = this.events[i];
        const does = { read: `reads ${e.word} = ${e.value}`, write: `writes ${e.word} = ${e.value}`, fence: "fence", barrier: "barrier" }[e.kind];
        return `${this.letter(i)}: ${does}`;
    }

    code(i) { return this.model.code[this.events[i].thread][this.events[i].pc]; }

    // What is drawn: of orders only what does not follow from the rest.
    makeEdges() {
        const has = (name) => new Set(this.graph[name].map(([a, b]) => a * 64 + b));
        const edges = [];
        for (const [name] of RELATIONS) {
            const pairs = this.graph[name], all = has(name), co = has("co");
            const between = (a, b, c) => (name === "fr" ? all.has(a * 64 + c) && co.has(c * 64 + b) : all.has(a * 64 + c) && all.has(c * 64 + b));
            const order = name === "po" || name === "co" || name === "fr" || name === "sc";
            for (const [a, b] of pairs)
                if (!order || !this.events.some((_, c) => c !== a && c !== b && between(a, b, c)))
                    edges.push({ name, a, b });
        }
        return edges;
    }

    // The shortest circle of program order, rf, co and fr: then no order of all instructions gives what was read.
    findCycle() {
        const next = this.events.map(() => []);
        for (const name of ["rf", "co", "fr", "po"])
            for (const [a, b] of this.graph[name])
                next[a].push({ name, a, b });
        let best = null;
        this.events.forEach((_, start) => {
            const way = new Map(), queue = [start];
            for (let k = 0; k < queue.length; k++)
                for (const edge of next[queue[k]]) {
                    if (edge.b === start) {
                        const found = [edge];
                        while (found[0].a !== start)
                            found.unshift(way.get(found[0].a));
                        if (!best || found.length < best.length)
                            best = found;
                    } else if (!way.has(edge.b)) {
                        way.set(edge.b, edge);
                        queue.push(edge.b);
                    }
                }
        });
        return best;
    }

    // All events in an order that program order, rf, co and fr agree with.
    inOrder() {
        const waits = this.events.map((_, i) => ["po", "rf", "co", "fr"].flatMap((name) => this.graph[name].filter(([, b]) => b === i).map(([a]) => a)));
        const done = [];
        while (done.length < this.events.length)
            done.push(this.events.findIndex((_, i) => !done.includes(i) && waits[i].every((a) => done.includes(a))));
        return done;
    }

    words() {
        const says = [];
        this.events.forEach((e, i) => {
            if (e.kind !== "read")
                return;
            const from = this.graph.rf.find(([, b]) => b === i);
            const past = this.edges.filter((d) => d.name === "fr" && d.a === i && d.b !== i).map((d) => this.letter(d.b));
            const sees = past.length ? ` It does not see ${listed(past)}.` : "";
            says.push(from ? `P${e.thread} reads ${e.word} = ${e.value} (${this.letter(i)}) from ${this.letter(from[0])}, a write of P${this.events[from[0]].thread}.${sees}`
                : `P${e.thread} reads ${e.word} = ${e.value} (${this.letter(i)}): what ${e.word} holds at the beginning.${sees}`);
        });
        for (const [a, b] of this.graph.sync)
            says.push(`${capital(this.letter(a))} and ${this.letter(b)} synchronise: what is before ${this.letter(a)} in P${this.events[a].thread} is seen behind ${this.letter(b)} in P${this.events[b].thread}.`);
        if (this.refusal) {
            const chain = this.cycle.map((d) => `${this.letter(d.a)} before ${this.letter(d.b)} (${WHY[d.name]})`);
            says.push(`${this.model.name} forbids this by the axiom ${this.refusal.axiom}: ${this.refusal.says}. Here ${listed(chain)} would be a circle.`);
        } else if (this.cycle) {
            const chain = this.cycle.map((d) => `${this.letter(d.a)} before ${this.letter(d.b)} (${WHY[d.name]})`);
            says.push(`No order of the instructions, one after another, gives this: ${listed(chain)} would be a circle. ${this.model.name} does not ask for one order of all.`);
        } else {
            says.push(`One instruction after another gives the same: ${this.inOrder().map((i) => this.letter(i)).join(", ")}.`);
        }
        return says;
    }

    // ---- the picture ----

    place(i) {
        const e = this.events[i];
        const row = this.events.slice(0, i).filter((other) => other.thread === e.thread).length;
        return { x: GRAPH.left + e.thread * GRAPH.column, y: GRAPH.top + row * GRAPH.row };
    }

    // Between the borders of two boxes, a little aside for each relation, so that arrows do not lie on one another.
    line(edge) {
        const kinds = RELATIONS.map(([name]) => name), aside = (kinds.indexOf(edge.name) - 3) * 5;
        const a = this.place(edge.a), b = this.place(edge.b), half = GRAPH.width / 2, middle = GRAPH.height / 2;
        if (a.x === b.x) {
            if (edge.name === "po" && b.y - a.y === GRAPH.row)
                return { d: `M${a.x + half},${a.y + GRAPH.height} L${b.x + half},${b.y - 5}`, x: a.x + half + 12, y: (a.y + b.y + GRAPH.height) / 2 + 4 };
            const x = a.x + (edge.name === "po" ? 0 : GRAPH.width), bend = edge.name === "po" ? x - 24 : x + 26 + Math.abs(aside);
            const [from, to] = [a.y + middle + (b.y > a.y ? 6 : -6), b.y + middle + (b.y > a.y ? -6 : 6)];
            return { d: `M${x},${from} C${bend},${from} ${bend},${to} ${x + (edge.name === "po" ? -5 : 5)},${to}`, x: (x + 3 * bend) / 4, y: (from + to) / 2 };
        }
        const right = b.x > a.x, x1 = right ? a.x + GRAPH.width : a.x, x2 = right ? b.x - 6 : b.x + GRAPH.width + 6;
        const [y1, y2] = [a.y + middle + aside, b.y + middle + aside];
        const t = 0.2;
        return { d: `M${x1},${y1} L${x2},${y2}`, x: x1 + (x2 - x1) * t, y: y1 + (y2 - y1) * t - 3 };
    }

    head(name) {
        return shape("marker", { id: `head-${name}`, viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 11, markerHeight: 11, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" },
            shape("path", { d: "M0,0 L8,4 L0,8 z", class: `head ${name}` }));
    }

    draw() {
        const inCycle = (d) => this.cycle && this.cycle.some((c) => c.name === d.name && c.a === d.a && c.b === d.b);
        const edges = [...this.edges, ...(this.cycle || []).filter((c) => !this.edges.some((d) => d.name === c.name && d.a === c.a && d.b === c.b))];
        const places = this.events.map((_, i) => this.place(i));
        const width = GRAPH.left + this.data.threads.length * GRAPH.column, height = Math.max(...places.map((p) => p.y)) + GRAPH.height + 12;
        const picture = shape("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
            "aria-label": `Events of ${this.data.name} and how they are related; the sentences beside it say the same` });
        picture.append(shape("defs", {}, ...RELATIONS.map(([name]) => this.head(name))));
        this.data.threads.forEach((t, i) => picture.append(shape("text", { class: "column", x: GRAPH.left + i * GRAPH.column, y: 14 }, `P${i}: block ${t.cta}${this.data.threads.some((o) => o.gpu !== t.gpu) ? ` of GPU ${t.gpu}` : ""}`)));
        for (const edge of edges) {
            const { d, x, y } = this.line(edge);
            picture.append(shape("g", { class: `arrow ${edge.name}${inCycle(edge) ? " circle" : ""}` },
                shape("path", { d, "marker-end": `url(#head-${edge.name})` }), edge.name === "po" && !inCycle(edge) ? "" : shape("text", { x, y }, edge.name)));
        }
        this.events.forEach((e, i) => picture.append(shape("g", { class: `event ${e.kind}` },
            shape("rect", { x: places[i].x, y: places[i].y, width: GRAPH.width, height: GRAPH.height, rx: 6 }),
            shape("text", { x: places[i].x + 8, y: places[i].y + 17 }, this.text(i)),
            shape("text", { class: "code", x: places[i].x + 8, y: places[i].y + 32 }, this.code(i)))));
        return picture;
    }

    legend() {
        const there = RELATIONS.filter(([name]) => this.edges.some((d) => d.name === name));
        return element("ul", { class: "legend" }, ...there.map(([name, means]) => element("li", {}, element("i", { class: `line ${name}` }), `${name}: ${means}`)));
    }
}
