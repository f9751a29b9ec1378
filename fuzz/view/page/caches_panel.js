// caches_panel.js - an execution over caches: the operations under way, what the L1s hold, and the words for their steps.
"use strict";

// After `at` steps: the operations under way, and the lines of each L1.
function cachesAt(execution, at) {
    const { sms, at: rows, flights, lines } = execution.side.caches, size = 2 + sms;
    let low = 0, high = rows.length / size - 1;
    while (low < high) {
        const middle = low + high + 1 >> 1;
        if (rows[middle * size] <= at)
            low = middle;
        else
            high = middle - 1;
    }
    const row = rows.slice(low * size, low * size + size);
    return { flights: flights[row[1]], l1: row.slice(2).map((number) => lines[number]) };
}

function lineWords(execution, line) {
    const [first, awaited, valid, dirty, values] = line, { words } = execution.side.caches;
    return Array.from({ length: words }, (_, k) => {
        const cell = execution.cellAt((first + k) * execution.side.units);
        return {
            word: first + k, known: cell !== undefined, name: cell ? execution.addressName((first + k) * execution.side.units) : `word ${first + k}`,
            value: values[k], valid: (valid >> 4 * k & 15) === 15, dirty: (dirty >> 4 * k & 15) !== 0, awaited: awaited === 1,
        };
    });
}

// What is there of a line, or else that it is awaited.
function lineName(execution, line) {
    const known = lineWords(execution, line).filter((w) => w.known);
    return known.length ? listed(known.slice(0, 3).map((w) => w.name)) + (known.length > 3 ? " \u2026" : "") : "local memory";
}

function isStale(state, word) {
    return word.known && word.valid && !word.dirty && state.memory[word.word] !== word.value;
}

// Old copies that a write leaves behind.
function staleWords(execution, at, address) {
    const { l1 } = cachesAt(execution, at), state = execution.state(at), word = Math.floor(address / execution.side.units);
    const old = [];
    l1.forEach((lines, sm) => lines.forEach((line) => lineWords(execution, line).forEach((w) => {
        if (w.word === word && isStale(state, w))
            old.push(`the L1 of SM ${sm} still has ${w.name} = ${w.value}, and nobody tells it`);
    })));
    return old;
}

// How the L1s differ from what they were.
function l1Words(execution, at, words) {
    const [before, now] = [cachesAt(execution, at - 1), cachesAt(execution, at)];
    now.l1.forEach((lines, sm) => {
        const find = (list, first) => list.find((line) => line[0] === first);
        for (const line of lines) {
            const was = find(before.l1[sm], line[0]), name = lineName(execution, line);
            if (!was && line[1])
                words.push(`The L1 of SM ${sm} makes room for the line of ${name}, and asks L2 for it.`);
            else if (line[2] && (!was || was[2] !== line[2]))
                words.push(`The line of ${name} is in the L1 of SM ${sm} now.`);
        }
        for (const line of before.l1[sm])
            if (!find(lines, line[0]))
                words.push(`The L1 of SM ${sm} drops the line of ${lineName(execution, line)}${execution.shape(at - 1).stm < 0 ? ", as it may at any time" : ""}.`);
            else if (line[3] && !find(lines, line[0])[3])
                words.push(`The L1 of SM ${sm} writes its line of ${lineName(execution, line)} back.`);
    });
}

// A load that ends took an old value, if the L1 of its SM still has one of what it asked for.
function oldWords(execution, at, shape) {
    let i = at - 2;
    while (i >= 0 && (execution.shape(i).environment || execution.shape(i).stm !== shape.stm || execution.shape(i).actor !== shape.actor))
        i--;
    const state = execution.state(at), { l1 } = cachesAt(execution, at), { side } = execution;
    for (const access of i >= 0 ? execution.accesses(i).filter((a) => a.kind === ASKS) : []) {
        const sm = Math.floor(access.thread / side.block) % side.caches.sms, word = Math.floor(access.address / side.units);
        const old = l1[sm].flatMap((line) => lineWords(execution, line)).find((w) => w.word === word && isStale(state, w));
        if (old)
            return [`That is the old value of ${old.name}, from the L1 of SM ${sm}: L2 has ${state.memory[word]}.`];
    }
    return [];
}

// Sentences of a step that no thread takes: of an operation, or of a cache.
function environmentWords(execution, at) {
    const shape = execution.shape(at - 1), words = [];
    if (shape.stm >= 0)
        words.push(`The memory operation of ${threadsText(shape.threads, execution.side.threads)}, \u201c${shape.executed}\u201d${shape.line ? ` of line ${shape.line}` : ""}, takes a step.`);
    l1Words(execution, at, words);
    for (const access of execution.accesses(at - 1)) {
        const old = staleWords(execution, at, access.address);
        words.push(`${execution.addressName(access.address)} = ${access.value} ${execution.cellAt(access.address) && execution.cellAt(access.address).space === "shared" ? "in shared memory" : "in L2, for all SMs"}${old.length ? `; ${listed(old)}` : ""}.`);
    }
    const { flights } = cachesAt(execution, at);
    const mine = flights.find(([actor, , stm]) => actor === shape.actor && stm === shape.stm);
    privateWords(execution, at, words);
    if (shape.stm >= 0 && !mine && execution.privates(at - 1).length > 0)
        words.push(...oldWords(execution, at, shape));
    if (shape.stm >= 0)
        words.push(mine ? `It is still under way: ${execution.side.texts[mine[3]]}.` : "With that it has ended.");
    return words;
}

function showOperations(execution, { flights }, shape) {
    if (flights.length === 0)
        return element("p", { class: "hint" }, "No memory operation is under way.");
    return element("ol", { class: "flights" }, ...flights.map(([actor, mask, stm, next]) => {
        const threads = lanesOf(mask, execution.side.actors[actor][0]), line = execution.line(stm);
        const acts = shape && shape.environment && shape.stm === stm && shape.actor === actor;
        return element("li", { class: acts ? "acts" : null }, element("span", { class: "chip memory" }, shortRanges(threads)), " ",
            element("code", {}, `${line ? `${line}: ` : ""}${execution.side.stms[stm][1]}`), element("span", { class: "means" }, execution.side.texts[next]));
    }));
}

function showL1(execution, at, lines, before) {
    const state = execution.state(at), cells = [];
    for (const line of lines)
        for (const w of lineWords(execution, line).filter((word) => word.known || word.valid)) {
            const earlier = before.find((l) => l[0] === line[0]);
            const was = earlier ? lineWords(execution, earlier).find((other) => other.word === w.word) : null;
            const stale = isStale(state, w), is = !w.valid ? (w.awaited ? "awaited" : "") : stale ? "stale" : w.dirty ? "not in L2" : "";
            cells.push(element("span", { class: `cell${stale ? " racy" : ""}${!was || was.value !== w.value || was.valid !== w.valid ? " written" : ""}` },
                element("span", { class: "index" }, w.name), element("b", {}, w.valid ? String(w.value) : "?"), element("span", { class: "who" }, is)));
        }
    return element("div", { class: "cells" }, ...(cells.length ? cells : [element("span", { class: "hint" }, "empty")]));
}

function showCaches(box, execution, at) {
    box.replaceChildren();
    if (!execution.side.caches)
        return;
    const [now, before] = [cachesAt(execution, at), cachesAt(execution, Math.max(0, at - 1))];
    box.append(element("h3", {}, "Memory operations under way"), showOperations(execution, now, at > 0 ? execution.shape(at - 1) : null));
    now.l1.forEach((lines, sm) => {
        const blocks = execution.side.threads / execution.side.block, { sms } = execution.side.caches;
        const runs = sms < blocks ? `: blocks ${Array.from({ length: blocks }, (_, b) => b).filter((b) => b % sms === sm).slice(0, 4).join(", ")}` : blocks > 1 ? `: block ${sm}` : "";
        box.append(element("h4", {}, `L1 of SM ${sm}${runs}`), showL1(execution, at, lines, before.l1[sm]));
    });
}
