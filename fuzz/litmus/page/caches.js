// caches.js - an execution in micro steps: what stands in the L1 of each SM and in L2, what is under way, and what a
// step does, in words.
"use strict";

const MOVE = { start: 0, instruction: 1, step: 2, empty: 3, drop: 4, back: 5 };

class Caches {
    constructor(data, model, steps) {
        this.data = data;
        this.model = model;
        this.steps = steps;
        this.sms = [...new Set(data.threads.map((t) => t.sm))].sort();
        this.flat = model.name === "sc";
    }

    code(t, pc) { return this.model.code[t][pc]; }

    wordsIn(line) { return this.data.words.filter((w) => w.line === line).sort((a, b) => a.offset - b.offset); }

    lineName(line) { return listed(this.wordsIn(line).map((w) => w.name)) || "no word of this test"; }

    // A word in an L1: {value, valid, dirty, stale}; null: its line is not there.
    cached(step, sm, word) {
        const line = word.line === undefined ? null : step.l1[sm][word.line];
        if (!line)
            return null;
        const bit = 1 << word.offset, valid = (line[2] & bit) !== 0, dirty = (line[3] & bit) !== 0;
        return { value: line[word.offset], valid, dirty, pending: line[4] !== 0, stale: valid && !dirty && line[word.offset] !== step.words[word.word] };
    }

    // ---- words ----

    words(at) {
        const step = this.steps[at], before = this.steps[at - 1];
        if (at === 0)
            return [...this.startWords(step), ...this.issueWords(null, step)];
        const says = [this.moveWords(before, step)];
        this.lineWords(before, step, says);
        this.valueWords(before, step, says);
        this.endWords(before, step, says);
        if (says.length === 1 && step.move[0] === MOVE.step)
            says.push(this.quietWords(before, step));
        return [...says, ...this.issueWords(before, step)];
    }

    startWords(step) {
        const warm = this.sms.flatMap((sm) => this.data.words.filter((w) => (this.cached(step, sm, w) || {}).valid).map((w) => `${w.name} = ${this.cached(step, sm, w).value} in the L1 of SM ${sm}`));
        return ["The start.", ...(warm.length ? [`Here before anything happens: ${listed(warm)}.`] : [])];
    }

    moveWords(before, step) {
        const [kind, who, place] = step.move, thread = before.threads[who];
        switch (kind) {
        case MOVE.instruction:
            return `P${who} executes \u201c${this.code(who, thread.pc)}\u201d.`;
        case MOVE.step:
            return `P${who}: a step of \u201c${this.code(who, thread.flight[place][0])}\u201d.`;
        case MOVE.empty:
            return `P${who}\u2019s membar empties the L1 of SM ${this.data.threads[who].sm}.`;
        case MOVE.drop:
            return `SM ${who} drops the line of ${this.lineName(place)} from its L1, as it may at any time.`;
        default:
            return `SM ${who} writes its line of ${this.lineName(place)} back.`;
        }
    }

    lineWords(before, step, says) {
        for (const sm of this.sms)
            step.l1[sm].forEach((line, i) => {
                const was = before.l1[sm][i], name = this.lineName(i), here = `the L1 of SM ${sm}`;
                if (!was && line && line[4])
                    says.push(`${capital(here)} makes room for the line of ${name}; L2 will be asked for it.`);
                else if (line && line[2] && (!was || was[2] !== line[2]))
                    says.push(`The line of ${name} is in ${here} now.`);
                else if (was && !line && step.move[0] === MOVE.step)
                    says.push(`${capital(here)} drops the line of ${name}.`);
            });
    }

    valueWords(before, step, says) {
        this.data.words.forEach((w) => {
            if (before.words[w.word] !== step.words[w.word])
                says.push(`${this.flat ? "" : w.line === undefined ? "" : "L2: "}${w.name} = ${step.words[w.word]}.${this.staleWords(step, w)}`);
        });
        step.threads.forEach((t, i) => t.flight.forEach((slot, k) => {
            const was = before.threads[i].flight[k];
            if (slot && was && (slot[3] !== was[3] || slot[4] !== was[4] || (slot[1] === 2 && was[1] === 1)))
                says.push("L2 has answered; what it said is on its way.");
        }));
    }

    // A step that changes no cell: it looks for the line that it would drop, or waits for one.
    quietWords(before, step) {
        const [, who, place] = step.move, sm = this.data.threads[who].sm, slot = step.threads[who].flight[place];
        const moved = slot && slot[1] !== before.threads[who].flight[place][1];
        return moved ? `The L1 of SM ${sm} has no line that it must drop; L2 comes next.` : "It waits for its line.";
    }

    // Copies that the write leaves behind.
    staleWords(step, word) {
        const old = this.sms.filter((sm) => (this.cached(step, sm, word) || {}).stale);
        return old.length ? ` The L1 of SM ${old.join(", ")} still has ${word.name} = ${this.cached(step, old[0], word).value}: nobody tells it.` : "";
    }

    endWords(before, step, says) {
        const [kind, who, place] = step.move;
        const was = before.threads[who], is = step.threads[who];
        if (kind !== MOVE.step && kind !== MOVE.instruction)
            return;
        const code = kind === MOVE.step ? this.code(who, was.flight[place][0]) : "";
        const old = this.data.words.find((w) => new RegExp(`\\b${w.name}\\b`).test(code) && (this.cached(before, this.data.threads[who].sm, w) || {}).stale);
        is.regs.forEach((value, r) => {
            const name = this.data.threads[who].registers[r];
            const reads = new RegExp(`\\b${name}\\b`).test(kind === MOVE.step ? code.split(" ")[1] || "" : name);
            if (value !== was.regs[r] || (kind === MOVE.step && reads && is.flight[place] === null))
                says.push(old && value !== before.words[old.word] ? `${name} = ${value}: the old value, from the L1; L2 holds ${old.name} = ${before.words[old.word]}.` : `${name} = ${value}.`);
        });
        if (kind === MOVE.step && is.flight[place] === null)
            says.push("With that it has ended.");
    }

    issueWords(before, step) {
        const says = [];
        step.threads.forEach((t, i) => {
            const from = before ? before.threads[i].pc + (step.move[0] === MOVE.instruction && step.move[1] === i ? 1 : 0) : 0;
            for (let pc = from; pc < t.pc && !this.flat; pc++)
                says.push(`P${i} \u201c${this.code(i, pc)}\u201d: ${t.flight.some((s) => s && s[0] === pc) ? "begins" : "done"}.`);
        });
        return says;
    }

    // ---- the panels ----

    show(box, at) {
        const step = this.steps[at];
        box.replaceChildren(element("div", { class: "machines" }, ...this.sms.map((sm) => this.showSm(step, at, sm))), this.showMemory(step, at));
    }

    showSm(step, at, sm) {
        const threads = this.data.threads.map((t, i) => (t.sm === sm ? i : -1)).filter((i) => i >= 0);
        const parts = threads.map((i) => this.showThread(step, at, i));
        if (!this.flat)
            parts.push(element("h4", {}, `L1 of SM ${sm}`), element("div", { class: "cells" }, ...this.showL1(step, at, sm)));
        return element("section", { class: "machine" }, element("h3", {}, this.flat ? listed(threads.map((i) => `P${i}`)) : `SM ${sm}`), ...parts);
    }

    showThread(step, at, i) {
        const t = step.threads[i], before = this.steps[Math.max(0, at - 1)].threads[i];
        const row = (text, pc) => {
            const flight = t.flight.some((s) => s && s[0] === pc);
            const acts = at > 0 && step.move[1] === i && ((step.move[0] === MOVE.step && before.flight[step.move[2]][0] === pc) || (step.move[0] === MOVE.instruction && before.pc === pc));
            const state = flight ? "under way" : pc < t.pc ? "done" : pc === t.pc ? "next" : "";
            return element("li", { class: `${state === "under way" ? "flying" : state}${acts ? " acts" : ""}` }, element("code", {}, text), element("small", {}, state));
        };
        const registers = this.data.threads[i].registers.map((name, r) => element("span", { class: `cell${at > 0 && before.regs[r] !== t.regs[r] ? " written" : ""}` }, element("span", { class: "index" }, name), element("b", {}, String(t.regs[r]))));
        return element("div", { class: "thread" }, element("h4", {}, `P${i}`), element("ol", { class: "program" }, ...this.model.code[i].map(row)), element("div", { class: "cells" }, ...registers));
    }

    showL1(step, at, sm) {
        const cells = this.data.words.filter((w) => this.cached(step, sm, w)).map((w) => {
            const c = this.cached(step, sm, w), was = at > 0 ? this.cached(this.steps[at - 1], sm, w) : c;
            const is = !c.valid ? "awaited" : c.stale ? "stale" : c.dirty ? "not in L2" : "";
            return element("span", { class: `cell${c.stale ? " racy" : ""}${!was || was.value !== c.value || was.valid !== c.valid ? " written" : ""}` },
                element("span", { class: "index" }, w.name), element("b", {}, c.valid ? String(c.value) : "?"), element("span", { class: "who" }, is));
        });
        return cells.length ? cells : [element("span", { class: "hint" }, "empty")];
    }

    showMemory(step, at) {
        const before = this.steps[Math.max(0, at - 1)];
        const cells = this.data.words.map((w) => element("span", { class: `cell${before.words[w.word] !== step.words[w.word] ? " written" : ""}` }, element("span", { class: "index" }, w.name), element("b", {}, String(step.words[w.word]))));
        return element("section", { class: "machine" }, element("h3", {}, this.flat ? "Memory" : "L2, which all SMs share"), element("div", { class: "cells" }, ...cells));
    }
}
