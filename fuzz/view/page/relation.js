// relation.js - which steps of one execution stand for those of the other, by thread: said, and drawn between the two
// pictures. Of one form of the kernel it is the projection of a warp's steps to those of its threads; a predicated or
// lock-step program has further steps, in which it stutters.
"use strict";

const RELATED_MOST = 64; // lines that are drawn

class Relation {
    constructor(page, related) {
        this.page = page;
        this.related = related;
        this.picture = shape("svg", { class: "relations", "aria-hidden": "true" });
        this.lines = page.executions.map(() => element("p", { class: "hint relates" }));
    }

    name() {
        const programs = this.page.executions.map((e) => e.side.program);
        if (programs[0] === programs[1])
            return "Projection";
        const runs = (form) => programs.some((p) => p.startsWith(form));
        return runs("lockstep") ? "\u03c6" : runs("predicated") ? "Stutter" : "Line by line";
    }

    // The steps of the other side that belong to this one: {thread, step}.
    partners(s, at) {
        const execution = this.page.executions[s], found = [];
        const step = at > 0 ? execution.shape(at - 1) : null;
        for (const thread of step && step.line ? step.threads : []) {
            const deeds = this.related.deeds[s][thread], pairs = this.related.pairs[s][thread];
            if (!deeds || !pairs)
                continue;
            let low = 0, high = deeds.steps.length - 1;
            while (low < high) {
                const middle = low + high + 1 >> 1;
                if (deeds.steps[middle] <= at - 1)
                    low = middle;
                else
                    high = middle - 1;
            }
            if (deeds.steps[low] <= at - 1 && pairs[low] >= 0)
                found.push({ thread, step: this.related.deeds[1 - s][thread].steps[pairs[low]] + 1 });
        }
        return found;
    }

    words(s, at) {
        const { executions } = this.page, other = executions[1 - s];
        const step = at > 0 ? executions[s].shape(at - 1) : null;
        if (!step || !step.line)
            return "";
        const steps = new Map();
        for (const { thread, step: to } of this.partners(s, at))
            steps.set(to, [...(steps.get(to) || []), thread]);
        if (steps.size === 0)
            return `${this.name()}: no step of ${other.side.subject} stands for this one.`;
        const parts = [...steps].sort((a, b) => a[0] - b[0]).slice(0, 8).map(([to, threads]) => `step ${to + other.first - 1} (${threadsText(threads, 0)})`);
        return `${this.name()}: this is ${listed(parts)}${steps.size > 8 ? ` and ${steps.size - 8} more` : ""} of ${other.side.subject}.`;
    }

    // ---- the picture ----

    // The middle of a cell, in the picture's coordinates; null: it is not to be seen.
    place(s, thread, step) {
        const { timeline, canvas } = this.page.parts[s], x = timeline.x(step) + timeline.px / 2;
        if (!timeline.width || x < LABELS || x > timeline.width || thread >= timeline.rows)
            return null;
        const box = canvas.getBoundingClientRect(), base = this.picture.getBoundingClientRect();
        return { x: box.left - base.left + x, y: box.top - base.top + HEADER + (thread + 0.5) * timeline.height };
    }

    line(s, thread, from, to) {
        const a = this.place(s, thread, from), b = this.place(1 - s, thread, to);
        if (!a || !b)
            return null;
        const flat = Math.abs(a.y - b.y) < 200, half = flat ? (b.x - a.x) / 2 : 0, fall = flat ? 0 : (b.y - a.y) / 2;
        return shape("g", { class: `relation side${s}` }, shape("path", { d: `M${a.x},${a.y} C${a.x + half},${a.y + fall} ${b.x - half},${b.y - fall} ${b.x},${b.y}` }),
            ...[a, b].map((p) => shape("circle", { cx: p.x, cy: p.y, r: 3.5 })));
    }

    draw(pair) {
        const seen = new Set(), lines = [];
        pair.forEach((at, s) => {
            this.lines[s].textContent = this.words(s, at);
            for (const { thread, step } of this.partners(s, at)) {
                const key = s === 0 ? `${thread} ${at} ${step}` : `${thread} ${step} ${at}`;
                const made = seen.has(key) || lines.length >= RELATED_MOST ? null : this.line(s, thread, at, step);
                seen.add(key);
                if (made)
                    lines.push(made);
            }
        });
        this.picture.replaceChildren(...lines);
    }
}
