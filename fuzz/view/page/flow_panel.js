// flow_panel.js - the control-flow graph as a picture: blocks one below the other, edges that skip forward on the right,
// those that go back on the left.
"use strict";

const FLOW = { width: 236, line: 15, pad: 6, gap: 26, lane: 13, rows: 4, chars: 33, label: 44 };
const FLOW_BLOCKS = 120;

function shortened(text, most) {
    return text.length > most ? `${text.slice(0, most - 1)}\u2026` : text;
}

class FlowPicture {
    constructor(flow, made, onStm) {
        this.flow = flow;
        this.made = made;
        this.blocks = made.blocks.slice(0, FLOW_BLOCKS).map((i) => flow.blocks[i]);
        this.row = new Map(this.blocks.map((b, i) => [b.index, i]));
        this.layLanes();
        this.layRows();
        this.svg = shape("svg", { class: "flow", width: this.right, height: this.bottom, viewBox: `0 0 ${this.right} ${this.bottom}`, role: "group", "aria-label": "The control-flow graph" });
        this.edges = this.laid.map((e) => this.drawEdge(e));
        this.nodes = this.blocks.map((b, i) => this.drawBlock(b, this.tops[i], onStm));
        this.svg.append(...this.edges.map((e) => e.label));
    }

    // ---- places ----

    // Edges that do not go to the next block get a lane each, the short ones nearest.
    layLanes() {
        const end = this.blocks.length;
        this.laid = this.made.edges.filter((e) => this.row.has(e.from) && (e.to < 0 || this.row.has(e.to)))
            .map((edge) => ({ edge, from: this.row.get(edge.from), to: edge.to < 0 ? end : this.row.get(edge.to) }));
        this.lanes = { left: [], right: [] };
        for (const e of [...this.laid].sort((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from))) {
            e.way = e.to <= e.from ? "left" : e.to > e.from + 1 ? "right" : "down";
            if (e.way === "down")
                continue;
            const lanes = this.lanes[e.way], top = Math.min(e.from, e.to), bottom = Math.max(e.from, e.to);
            e.lane = lanes.findIndex((taken) => taken.every(([a, b]) => bottom <= a || top >= b));
            if (e.lane < 0)
                e.lane = lanes.push([]) - 1;
            lanes[e.lane].push([top, bottom]);
        }
    }

    layRows() {
        this.x = 12 + this.lanes.left.length * FLOW.lane + (this.lanes.left.length ? FLOW.label : 0);
        this.right = this.x + FLOW.width + this.lanes.right.length * FLOW.lane + (this.lanes.right.length ? FLOW.label : 0) + 12;
        this.tops = [];
        let y = 8;
        for (const block of this.blocks) {
            this.tops.push(y);
            block.height = 2 * FLOW.pad + FLOW.line * (Math.min(block.stms.length, FLOW.rows) + (block.stms.length > FLOW.rows ? 1 : 0) + (block.meets.length ? 1 : 0));
            y += block.height + FLOW.gap;
        }
        this.end = y + 4;
        this.bottom = y + 26;
    }

    // ---- drawing ----

    drawBlock(block, y, onStm) {
        const { side } = this.flow.execution;
        const group = shape("g", { class: "block", role: "button", tabindex: "0", "aria-label": `to the next step of ${this.names(block)}` },
            shape("rect", { x: this.x, y, width: FLOW.width, height: block.height, rx: 5 }));
        let line = y + FLOW.pad + 11;
        const put = (text, kind) => {
            group.append(shape("text", { x: this.x + 8, y: line, class: kind }, text));
            line += FLOW.line;
        };
        if (block.meets.length)
            put(`\u22c8 meets again: ${block.meets.map((b) => this.names(this.flow.blocks[b])).join(", ")}`, "meets");
        for (const stm of block.stms.slice(0, FLOW.rows)) {
            const [number, text] = side.stms[stm];
            put(shortened(`${number ? `${number} ` : ""}${text.replace("while\u00b0", "while")}`, FLOW.chars), "code");
        }
        if (block.stms.length > FLOW.rows)
            put(`\u2026 ${block.stms.length - FLOW.rows} more`, "more");
        const act = () => onStm(block);
        group.addEventListener("click", act);
        group.addEventListener("keydown", (event) => {
            if (event.key === "Enter")
                act();
        });
        const chips = shape("g", { class: "who" });
        group.append(chips);
        this.svg.append(group);
        return { block, group, chips, y };
    }

    names(block) {
        const stm = block.stms[block.stms.length - 1], line = this.flow.execution.line(stm);
        return line ? `line ${line}` : `pc ${stm}`;
    }

    drawEdge(e) {
        const top = this.tops[e.from] + this.blocks[e.from].height, ends = e.to === this.blocks.length;
        const target = ends ? this.end : this.tops[e.to];
        const centre = this.x + FLOW.width / 2;
        let path, label;
        if (e.way === "down") {
            path = `M${centre} ${top}V${target - 1}`;
            label = { x: centre + 6, y: top + 16, "text-anchor": "start" };
        } else {
            const left = e.way === "left", edgeX = left ? this.x : this.x + FLOW.width;
            const out = edgeX + (left ? -1 : 1) * (6 + (e.lane + 0.4) * FLOW.lane);
            const from = top - 10 - (left ? 0 : e.lane % 2 * 4), to = ends ? target : target + 12 + (left ? 0 : e.lane % 3 * 4);
            path = `M${edgeX} ${from}H${out}V${to}H${ends ? centre + 12 : edgeX + (left ? -1 : 1)}`;
            label = { x: out + (left ? -3 : 4), y: from + (left ? -10 : 16), "text-anchor": left ? "end" : "start" };
        }
        const line = shape("path", { d: path, fill: "none" }), text = shape("text", label);
        const head = this.drawHead(e, target, ends, centre);
        const group = shape("g", { class: `edge${e.edge.seen ? " seen" : ""}` }, line, head);
        this.svg.append(group);
        if (ends && !this.hasEnd) {
            this.hasEnd = true;
            this.svg.append(shape("text", { x: centre, y: this.end + 14, class: "meets", "text-anchor": "middle" }, "the end"));
        }
        return { ...e, group, text, label: shape("g", { class: "label" }, text) };
    }

    drawHead(e, target, ends, centre) {
        if (e.way === "down")
            return shape("path", { class: "head", d: `M${centre - 4} ${target - 6}L${centre} ${target}L${centre + 4} ${target - 6}Z` });
        const left = e.way === "left", x = ends ? centre + 11 : left ? this.x : this.x + FLOW.width;
        const y = ends ? target : target + 12 + (left ? 0 : e.lane % 3 * 4), back = left ? -6 : 6;
        return shape("path", { class: "head", d: `M${x + back} ${y - 4}L${x} ${y}L${x + back} ${y + 4}Z` });
    }

    // ---- at a step ----

    show(at) {
        const { execution } = this.flow, state = execution.state(at);
        for (const { edge, group, text, label } of this.edges) {
            const taken = this.flow.taken(edge, at), now = taken && taken.step === at;
            group.setAttribute("class", `edge${edge.seen ? " seen" : ""}${now ? " now" : taken ? "" : " never"}`);
            label.setAttribute("class", `label${now ? " now" : ""}`);
            text.replaceChildren([EDGE_SAYS[edge.kind], taken ? shortRanges(taken.threads) : ""].filter(Boolean).join(" "), ...taken ? [shape("title", {}, `${capital(threadsText(taken.threads, execution.side.threads))} took this edge at step ${taken.step + execution.first - 1}; it was taken ${taken.times} time${taken.times === 1 ? "" : "s"} so far`)] : []);
        }
        const stm = at > 0 ? execution.shape(at - 1).stm : -1, groups = this.whoIsWhere(state);
        for (const { block, group, chips, y } of this.nodes) {
            group.setAttribute("class", `block${block.stms.includes(stm) ? " now" : ""}`);
            chips.replaceChildren();
            let x = this.x + FLOW.width - 4;
            for (const { kind, threads } of groups.get(block.index) || []) {
                const words = shortRanges(threads), width = 6.6 * words.length + 8;
                x -= width;
                chips.append(shape("rect", { x, y: y - 7, width, height: 14, rx: 4, class: kind }), shape("text", { x: x + width / 2, y: y + 4, "text-anchor": "middle" }, words,
                    shape("title", {}, `${capital(threadsText(threads, execution.side.threads))} next ${threads.length === 1 ? "comes" : "come"} here`)));
                x -= 3;
            }
        }
    }

    whoIsWhere(state) {
        const { execution } = this.flow, groups = new Map();
        for (let t = 0; t < execution.shown; t++) {
            const { stm } = execution.place(state, t), block = stm === null || stm < 0 ? -1 : this.flow.blockOf[stm];
            if (block < 0)
                continue;
            const kind = CLASSES[LETTERS[state.letters[t]]] || "act", list = groups.get(block) || [];
            groups.set(block, list);
            const same = list.find((g) => g.kind === kind);
            if (same)
                same.threads.push(t);
            else
                list.push({ kind, threads: [t] });
        }
        return groups;
    }
}

// The graph of the function whose statement was executed last.
function showFlow(box, execution, at) {
    if (!execution.flow)
        execution.flow = new Flow(execution);
    const { flow } = execution;
    const stm = at > 0 ? execution.shape(at - 1).stm : -1, block = stm >= 0 ? flow.blockOf[stm] : -1;
    const number = block >= 0 ? flow.blocks[block].function : box.flowNumber || 0;
    const made = flow.functions[number];
    if (!made)
        return;
    if (!box.picture || box.flowNumber !== number || box.flowEdges !== made.edges.length) {
        box.picture = new FlowPicture(flow, made, (b) => execution.onStm((s) => b.stms.includes(s)));
        box.flowNumber = number;
        box.flowEdges = made.edges.length;
        const hidden = made.blocks.length - box.picture.blocks.length;
        box.replaceChildren(element("h3", {}, "Control flow: who took which edge last"),
            element("div", { class: "flowbox", tabindex: "0", role: "group", "aria-label": "Control flow" }, box.picture.svg));
        if (hidden > 0)
            box.append(element("p", { class: "hint" }, `${hidden} more blocks are not shown.`));
    }
    box.picture.show(at);
    const now = box.picture.nodes.find((n) => n.block.index === block), view = box.querySelector(".flowbox");
    if (now && (now.y < view.scrollTop || now.y + now.block.height > view.scrollTop + view.clientHeight))
        view.scrollTop = Math.max(0, now.y - 60);
}
