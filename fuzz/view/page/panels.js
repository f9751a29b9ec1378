// panels.js - what stands beside the timeline: the source, stacks, values, memory, the rule.
"use strict";

const CELLS_SHOWN = 64, STACK_SHOWN = 24;

const CLASSES = { "a": "act", ".": "aside", "b": "off", "r": "off", "e": "off", "w": "wait", "c": "gather", "f": "ended", "m": "memory" };
const LEGEND = {
    run: "takes part in this step", act: "can run", aside: "set aside on its warp's stack", off: "b r e: left by break, return, exit",
    wait: "waits at a barrier", gather: "waits for the rest of its warp", ended: "has ended",
    memory: "waits for its memory operations", flight: "a memory operation of it takes this step",
};
const WARP_LEGEND = ["run", "act", "aside", "off", "wait", "ended"], THREAD_LEGEND = ["run", "act", "wait", "ended"];
const LEGENDS = {
    warps: WARP_LEGEND, crs: WARP_LEGEND, threads: THREAD_LEGEND, blocks: THREAD_LEGEND, cta: THREAD_LEGEND,
    splits: ["run", "act", "wait", "gather", "ended"], vectors: ["run", "act", "aside", "ended"],
};

function buildLegend({ view, caches }) {
    const text = (kind) => (kind === "aside" && view === "vectors" ? "not enabled" : LEGEND[kind]);
    return element("ul", { class: "legend" }, ...[...LEGENDS[view], ...(caches ? ["memory", "flight"] : [])].map((kind) => element("li", {}, element("i", { class: kind }), text(kind))));
}

// ---- the source ----

const WORDS = /(\/\*[\s\S]*?(?:\*\/|$)|\/\/.*)|\b(kernel|void|int|private|shared|global|input|if|else|while|break|return|exit|barrier|assert|assume|havoc|launch|expect|goto|block|const|unsigned|float)\b|\b(\d+|0x[0-9a-fA-F]+)\b/g;

// Keywords, numbers and comments told apart; `open`: the line begins within a comment. Whether the next one does.
function putCode(node, text, open) {
    const add = (kind, piece) => node.append(kind ? element("span", { class: kind }, piece) : plain(piece));
    if (open) {
        const end = text.indexOf("*/");
        if (end < 0) {
            add("c", text);
            return true;
        }
        add("c", text.slice(0, end + 2));
        text = text.slice(end + 2);
    }
    let last = 0, inside = false;
    for (const match of text.matchAll(WORDS)) {
        add(null, text.slice(last, match.index));
        add(match[1] ? "c" : match[2] ? "k" : "n", match[0]);
        last = match.index + match[0].length;
        inside = Boolean(match[1]) && match[1].startsWith("/*") && !match[1].endsWith("*/");
    }
    add(null, text.slice(last));
    return inside;
}

class SourcePanel {
    constructor(page, onLine) {
        this.lines = [];
        this.box = element("div", { class: "source", tabindex: "0", role: "group", "aria-label": "The kernel's text, with the threads at each line" });
        let open = false;
        page.source.replace(/\n$/, "").split("\n").forEach((text, i) => {
            const chips = page.sides.map((_, s) => element("span", { class: `chips side${s}` }));
            const code = element("code", {});
            open = putCode(code, text, open);
            const number = element("button", { class: "number", type: "button", tabindex: "-1", title: "to the next step at this line (with Shift: the one before)" }, String(i + 1));
            number.addEventListener("click", (event) => onLine(i + 1, event.shiftKey ? -1 : 1));
            const row = element("div", { class: "row" }, number, ...chips, code);
            this.lines.push({ row, chips });
            this.box.append(row);
        });
        page.sides.forEach((side) => this.markRace(side));
        this.filled = page.sides.map(() => []);
        this.now = page.sides.map(() => null);
    }

    markRace(side) {
        if (!side.race)
            return;
        for (const [thread, , line, kind] of [side.race.first, side.race.second])
            if (this.lines[line - 1])
                this.lines[line - 1].row.append(element("span", { class: "racer", title: `${side.subject}: one of two accesses that race` }, `race: thread ${thread} ${kind}s ${side.race.place}`.replace("atomics", "changes")));
    }

    // Which threads stand at which line, and which line was executed last.
    show(s, execution, at, follow) {
        for (const chips of this.filled[s])
            chips.replaceChildren();
        this.filled[s] = [];
        const state = execution.state(at), groups = new Map();
        for (let t = 0; t < execution.shown; t++) {
            const { line } = execution.place(state, t);
            if (line === 0)
                continue;
            const kind = CLASSES[LETTERS[state.letters[t]]] || "act", key = `${line} ${kind}`;
            if (!groups.has(key))
                groups.set(key, { line, kind, threads: [] });
            groups.get(key).threads.push(t);
        }
        for (const { line, kind, threads } of groups.values()) {
            const entry = this.lines[line - 1];
            if (!entry)
                continue;
            entry.chips[s].append(element("span", { class: `chip ${kind}`, title: `${execution.side.subject}: ${threadsText(threads, execution.side.threads)} next ${threads.length === 1 ? "executes" : "execute"} this line` }, shortRanges(threads)));
            this.filled[s].push(entry.chips[s]);
        }
        const line = at > 0 ? execution.shape(at - 1).line : 0;
        if (this.now[s])
            this.now[s].row.classList.remove(`now${s}`);
        this.now[s] = this.lines[line - 1] || null;
        if (this.now[s]) {
            this.now[s].row.classList.add(`now${s}`);
            if (follow)
                this.reveal(this.now[s].row);
        }
    }

    reveal(row) {
        const top = row.offsetTop - this.box.offsetTop, bottom = top + row.offsetHeight;
        if (top < this.box.scrollTop + 20)
            this.box.scrollTop = Math.max(0, top - 40);
        else if (bottom > this.box.scrollTop + this.box.clientHeight - 20)
            this.box.scrollTop = bottom - this.box.clientHeight + 40;
    }
}

function shortRanges(numbers) {
    const parts = [];
    for (let i = 0, end; i < numbers.length; i = end) {
        for (end = i + 1; end < numbers.length && numbers[end] === numbers[end - 1] + 1;)
            end++;
        parts.push(end - i > 1 ? `${numbers[i]}\u2013${numbers[end - 1]}` : String(numbers[i]));
    }
    return parts.length > 2 ? `${numbers.length}\u00d7` : parts.join(",");
}

// ---- stacks ----

function maskBoxes(execution, mask) {
    if (!mask)
        return null;
    const boxes = element("span", { class: "mask", "aria-label": `lanes ${mask}` });
    for (const bit of mask.slice(0, 64))
        boxes.append(element("i", { class: bit === "1" ? "on" : "" }));
    return boxes;
}

const STATEMENTS = ["stm", "cont", "pc", "pending", "left"];

function stackEntry(execution, stack, i, kind) {
    const { kind: what, mask, text } = stack[i];
    const statement = STATEMENTS.includes(what);
    return element("li", { class: `${kind} ${statement ? "statement" : "token"}` },
        element("b", {}, statement ? (execution.line(stack[i].stm) ? `line ${execution.line(stack[i].stm)}` : what) : what), maskBoxes(execution, mask),
        statement || (what === "call" && !mask) || !["brk", "div", "sync", "call"].includes(what) ? element("code", {}, text) : null,
        element("span", { class: "means" }, entryText(execution, stack, i)));
}

// Entries that this step pushed are marked, those that it took away stand above, struck through.
function stackList(execution, before, after, actor, leader) {
    const list = element("ol", { class: "stack" });
    const stacks = [before, after].map((node) => Object.assign(execution.stack(node), { actor, leader }));
    const kept = new Set(stacks[0].map((e) => e.node));
    const now = new Set(stacks[1].map((e) => e.node));
    stacks[0].forEach((e, i) => {
        if (!now.has(e.node) && i < 6)
            list.append(stackEntry(execution, stacks[0], i, "gone"));
    });
    stacks[1].slice(0, STACK_SHOWN).forEach((e, i) => {
        list.append(stackEntry(execution, stacks[1], i, kept.has(e.node) ? "" : "new"));
    });
    if (stacks[1].length > STACK_SHOWN)
        list.append(element("li", { class: "more" }, `${stacks[1].length - STACK_SHOWN} entries more below`));
    if (stacks[1].length === 0)
        list.append(element("li", { class: "empty" }, "empty: nothing left to do"));
    return list;
}

function showStack(box, execution, at, pinned) {
    const state = execution.state(at), earlier = execution.state(Math.max(0, at - 1));
    const side = execution.side;
    const splits = side.view === "splits";
    let actor = pinned !== null ? execution.actorOf[pinned] : at > 0 ? execution.shape(at - 1).actor : 0;
    box.replaceChildren();
    if (splits) {
        showSplits(box, execution, state, earlier, actor);
        return;
    }
    const what = side.view === "warps" || side.view === "crs" ? "warp" : side.view === "vectors" ? "block" : "thread";
    box.append(element("h3", {}, what === "warp" ? `Stack of warp ${actor}` : `What ${what} ${actor} has left to do`),
        element("p", { class: "hint" }, what === "warp" ? "The topmost entry is next. Tokens (brk, div, sync, call) hold the threads that wait for the paths above them." : "The topmost entry is next."),
        stackList(execution, earlier.nodes[actor], state.nodes[actor], actor));
}

// The splits of a warp: each its threads, and a stack of its own.
function showSplits(box, execution, state, earlier, actor) {
    const first = splitFirst(execution.side, actor), groups = new Map();
    for (let t = first; t < Math.min(first + execution.side.warp, execution.shown); t++) {
        const leader = state.leaders[t];
        if (!groups.has(leader))
            groups.set(leader, []);
        groups.get(leader).push(t);
    }
    box.append(element("h3", {}, `The warp's ${groups.size === 1 ? "one split" : `${groups.size} splits`}`),
        element("p", { class: "hint" }, "Threads of a split run together; splits run independently, and gather at tokens."));
    for (const [leader, threads] of groups) {
        box.append(element("h4", {}, capital(threadsText(threads, execution.side.threads))),
            stackList(execution, earlier.nodes[leader], state.nodes[leader], leader, leader));
    }
}

// ---- memory ----

function showMemory(box, execution, at) {
    const state = execution.state(at), side = execution.side;
    const touched = new Map();
    for (const access of at > 0 ? execution.accesses(at - 1) : []) {
        const word = Math.floor(access.address / side.units);
        const t = touched.get(word) || { readers: [], writers: [], askers: [] };
        t[access.kind % ASKS === 0 ? "readers" : access.kind >= ASKS ? "askers" : "writers"].push(access.thread);
        touched.set(word, t);
    }
    box.replaceChildren(element("h3", {}, side.caches ? "L2 and shared memory, for all threads" : "Memory that threads share"));
    if (execution.cells.length === 0)
        box.append(element("p", { class: "hint" }, "The kernel has none."));
    for (const cell of execution.cells)
        box.append(memoryRow(execution, state, cell, touched));
}

function memoryRow(execution, state, cell, touched) {
    const base = cell.address / execution.side.units;
    const hits = [...touched.keys()].filter((w) => w >= base && w < base + cell.length);
    let from = 0;
    if (cell.length > CELLS_SHOWN && hits.length > 0)
        from = Math.max(0, Math.min(cell.length - CELLS_SHOWN, Math.min(...hits) - base - 4));
    const row = element("div", { class: "cells" });
    const last = Math.min(cell.length, from + CELLS_SHOWN);
    const block = cell.space === "shared" && execution.side.threads > execution.side.block ? ` of block ${cell.block}` : "";
    for (let k = from; k < last; k++) {
        const t = touched.get(base + k), known = k < cell.values.length;
        const who = t ? [...new Set([...t.writers, ...t.readers, ...t.askers])].sort((a, b) => a - b) : [];
        const races = execution.side.race && Math.floor(execution.side.race.address / execution.side.units) === base + k;
        row.append(element("div", {
            class: `cell${races ? " racy" : ""}${t && t.writers.length ? " written" : t ? " read" : ""}`,
            title: t ? `${[t.writers.length ? `written by ${threadsText([...new Set(t.writers)], 0)}` : "", t.askers.length ? `to be written by ${threadsText([...new Set(t.askers)], 0)}` : "", t.readers.length ? `read by ${threadsText([...new Set(t.readers)], 0)}` : ""].filter(Boolean).join(", ")}` : null,
        }, cell.isArray ? element("span", { class: "index" }, String(k)) : null, element("b", {}, known ? String(state.memory[base + k]) : "?"),
        t ? element("span", { class: "who" }, `${t.writers.length ? "w" : t.askers.length ? "asks" : "r"} ${shortRanges(who)}`) : null));
    }
    if (last < cell.length || from > 0)
        row.append(element("span", { class: "hint" }, `${from} to ${last - 1} of ${cell.length}`));
    return element("div", { class: "variable" }, element("span", { class: "name" }, element("code", {}, cell.name), element("small", {}, `${cell.space}${block}`)), row);
}

// ---- private values ----

function showValues(box, execution, at) {
    const state = execution.state(at);
    box.replaceChildren(element("h3", {}, "Values that only the thread sees"));
    const places = [...state.places];
    if (places.length === 0) {
        box.append(element("p", { class: "hint" }, "None yet."));
        return;
    }
    const fresh = new Map();
    for (const { place, threads } of at > 0 ? execution.privates(at - 1) : [])
        fresh.set(place, new Set(threads));
    const head = element("tr", {}, element("th", { scope: "col" }, "thread"));
    const shown = Math.min(execution.shown, 64);
    for (let t = 0; t < shown; t++)
        head.append(element("th", { scope: "col", class: execution.ran(at, t) ? "ran" : "" }, String(t)));
    const body = element("tbody", {});
    places.sort((a, b) => (fresh.has(b[0]) ? 1 : 0) - (fresh.has(a[0]) ? 1 : 0) || 0);
    for (const [name, row] of places.slice(0, 40)) {
        const line = element("tr", {}, element("th", { scope: "row" }, element("code", {}, name)));
        for (let t = 0; t < shown; t++)
            line.append(element("td", { class: fresh.has(name) && fresh.get(name).has(t) ? "fresh" : "" }, row[t] === null || row[t] === undefined ? "" : String(row[t])));
        body.append(line);
    }
    box.append(element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Private values" }, element("table", { class: "values" }, element("thead", {}, head), body)));
    if (places.length > 40 || execution.shown > shown)
        box.append(element("p", { class: "hint" }, `Shown: ${Math.min(40, places.length)} of ${places.length} places, ${shown} of ${execution.side.threads} threads.`));
}

// ---- the rule ----

function showRule(box, execution, at) {
    box.replaceChildren(element("h3", {}, "The rule that fired"));
    if (at === 0) {
        box.append(element("p", { class: "hint" }, "None yet: this is the start."));
        return;
    }
    const [name, semantics, source, text] = execution.side.rules[execution.shape(at - 1).rule];
    box.append(element("p", {}, element("b", {}, name), ` of ${semantics}: ${source}`), element("pre", { class: "rule" }, text));
}

// ---- barriers ----

// Who waits where: at barriers of the block, at those of a warp.
function showBarriers(box, execution, at) {
    const state = execution.state(at), side = execution.side, groups = new Map();
    for (let t = 0; t < execution.shown; t++) {
        const letter = LETTERS[state.letters[t]];
        if (letter !== "w" && letter !== "c")
            continue;
        const { line, stack } = execution.place(state, t);
        const named = stack.find((e) => e.kind === "waits");
        const key = `${letter} ${Math.floor(t / side.block)} ${named ? named.text : line}`;
        if (!groups.has(key))
            groups.set(key, { letter, line, named, block: Math.floor(t / side.block), threads: [] });
        groups.get(key).threads.push(t);
    }
    box.replaceChildren();
    if (groups.size === 0)
        return;
    box.append(element("h3", {}, "Who waits"));
    for (const { letter, line, named, block, threads } of groups.values()) {
        const where = letter === "c" ? "at a convergence barrier" : named ? named.text : `at the barrier${line ? ` of line ${line}` : ""}`;
        const all = letter === "w" ? ` (${threads.length} of the ${side.block} of block ${block})` : "";
        box.append(element("p", {}, element("span", { class: `chip ${CLASSES[letter]}` }, shortRanges(threads)), ` ${where}${all}`));
    }
}
