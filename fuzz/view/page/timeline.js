// timeline.js - lanes x time on a canvas: a row is a thread, a column a step. From all steps at once to single ones.
"use strict";

const LABELS = 40; // width of the numbers of the threads
const HEADER = 20; // height of the numbers of the steps
const PX_MOST = 28, MERGE = 32; // widest step; steps that one pixel looks at, at most

const LOOK = {
    " ": null, "a": { fill: "--active" }, ".": { fill: "--aside", hatch: "/" }, "b": { fill: "--off", letter: "b" },
    "r": { fill: "--off", letter: "r" }, "e": { fill: "--off", letter: "e" }, "w": { fill: "--wait", hatch: "." },
    "c": { fill: "--gather", hatch: "-" }, "f": { fill: "--ended" }, "m": { fill: "--memory", hatch: "." },
};

class Timeline {
    constructor(execution, canvas, onSeek, onLane) {
        this.execution = execution;
        this.canvas = canvas;
        this.rows = execution.shown;
        this.height = Math.max(2, Math.min(22, Math.floor(300 / this.rows)));
        this.px = 0;
        this.left = 0;
        this.marks = [];
        this.onDraw = () => {}; // after a zoom
        this.patterns = new Map();
        const seek = (event) => onSeek(this.stepAt(event.clientX - canvas.getBoundingClientRect().left));
        canvas.addEventListener("pointerdown", (event) => {
            const box = canvas.getBoundingClientRect(), row = Math.floor((event.clientY - box.top - HEADER) / this.height);
            if (event.clientX - box.left < LABELS) {
                if (row >= 0 && row < this.rows)
                    onLane(row);
                return;
            }
            canvas.setPointerCapture(event.pointerId);
            this.drags = true;
            seek(event);
        });
        canvas.addEventListener("pointermove", (event) => { if (this.drags) seek(event); });
        canvas.addEventListener("pointerup", () => { this.drags = false; });
        canvas.addEventListener("pointercancel", () => { this.drags = false; });
        canvas.addEventListener("wheel", (event) => {
            if (!event.ctrlKey && !event.metaKey && !event.altKey)
                return;
            event.preventDefault();
            this.zoom(event.deltaY < 0 ? 1.25 : 0.8, event.clientX - canvas.getBoundingClientRect().left);
        }, { passive: false });
    }

    // Colours are those of the page, light or dark.
    readColors() {
        const style = getComputedStyle(document.documentElement);
        this.colors = (name) => style.getPropertyValue(name).trim();
        this.patterns.clear();
    }

    resize() {
        const ratio = window.devicePixelRatio || 1, width = this.canvas.parentElement.clientWidth;
        if (width === 0)
            return;
        this.width = width;
        this.total = HEADER + this.rows * this.height + 6;
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(this.total * ratio);
        this.canvas.style.width = `${width}px`;
        this.canvas.style.height = `${this.total}px`;
        this.ctx = this.canvas.getContext("2d");
        this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
        if (this.px === 0)
            this.px = Math.max(this.least(), Math.min(22, Math.max(6, this.fitting())));
        this.px = Math.max(this.px, this.least());
    }

    fitting() { return (this.width - LABELS - 8) / Math.max(1, this.execution.count); }
    least() { return Math.min(PX_MOST, this.fitting()); }
    visible() { return (this.width - LABELS) / this.px; }
    x(step) { return LABELS + (step - 1 - this.left) * this.px; }

    stepAt(x) {
        return Math.max(0, Math.min(this.execution.count, Math.floor((x - LABELS) / this.px + this.left) + 1));
    }

    clamp() {
        this.left = Math.max(0, Math.min(this.left, this.execution.count - this.visible() + 1));
    }

    zoom(factor, x) {
        const anchor = x === undefined ? this.x(this.at) : x;
        const step = (anchor - LABELS) / this.px + this.left;
        this.px = Math.max(this.least(), Math.min(PX_MOST, this.px * factor));
        this.left = step - (anchor - LABELS) / this.px;
        this.draw(this.at, true);
        this.onDraw();
    }

    fit() {
        this.px = this.least();
        this.left = 0;
        this.draw(this.at);
        this.onDraw();
    }

    hatch(look) {
        const key = look.fill + look.hatch;
        if (!this.patterns.has(key)) {
            const tile = document.createElement("canvas");
            tile.width = tile.height = 6;
            const c = tile.getContext("2d");
            c.fillStyle = this.colors(look.fill);
            c.fillRect(0, 0, 6, 6);
            c.strokeStyle = c.fillStyle = this.colors("--hatch");
            c.beginPath();
            if (look.hatch === "/") {
                c.moveTo(-1, 7);
                c.lineTo(7, -1);
            } else if (look.hatch === "-") {
                c.moveTo(0, 3);
                c.lineTo(6, 3);
            } else
                c.fillRect(2, 2, 2, 2);
            c.stroke();
            this.patterns.set(key, this.ctx.createPattern(tile, "repeat"));
        }
        return this.patterns.get(key);
    }

    paint(code, x, y, width) {
        const ran = (code & RAN) !== 0, letter = LETTERS[code & (RAN - 1)], look = LOOK[letter], c = this.ctx;
        const gap = width >= 5 ? 1 : 0, h = this.height - (this.height > 5 ? 2 : this.height > 2 ? 1 : 0);
        this.paintState(ran, letter, look, x, y, width, gap, h);
        if (code & MEMORY) {
            c.fillStyle = this.colors("--run");
            c.fillRect(x + gap / 2, y + Math.ceil(2 * h / 3), Math.max(0.6, width - gap), Math.floor(h / 3) || 1);
        }
    }

    paintState(ran, letter, look, x, y, width, gap, h) {
        const c = this.ctx;
        if (!ran && !look)
            return;
        if (!ran && letter === "f") {
            c.fillStyle = this.colors("--ended");
            c.fillRect(x, y + h / 2, width, 1);
            return;
        }
        c.fillStyle = ran ? this.colors("--run") : look.hatch && width >= 4 && h >= 5 ? this.hatch(look) : this.colors(look.fill);
        c.fillRect(x + gap / 2, y, Math.max(0.6, width - gap), h);
        if (look && look.letter && width >= 9 && h >= 9) {
            c.fillStyle = this.colors(ran ? "--run-text" : "--off-text");
            c.textAlign = "center";
            c.fillText(look.letter, x + width / 2, y + h - 3);
        }
    }

    // The steps from..to as one: who took part in one of them did.
    merged(from, to, row) {
        const { timeline, shown } = this.execution;
        const every = Math.max(1, Math.floor((to - from) / MERGE));
        let code = timeline[to * shown + row];
        for (let s = from; s <= to; s += every)
            code |= timeline[s * shown + row] & (RAN | MEMORY);
        return code;
    }

    drawRow(row, y) {
        const { timeline, shown, count } = this.execution;
        const first = Math.max(1, Math.floor(this.left) + 1);
        const last = Math.min(count, Math.ceil(this.left + this.visible()) + 1);
        if (this.px < 1) {
            for (let x = 0; x < this.width - LABELS; x++) {
                const from = Math.floor(x / this.px + this.left) + 1, to = Math.min(count, Math.floor((x + 1) / this.px + this.left));
                if (from >= 1 && from <= count)
                    this.paint(this.merged(from, Math.max(from, to), row), LABELS + x, y, 1);
            }
            return;
        }
        for (let s = first; s <= last; s++)
            this.paint(timeline[s * shown + row], this.x(s), y, this.px);
    }

    drawLabels() {
        const c = this.ctx, side = this.execution.side;
        const every = Math.max(1, Math.ceil(12 / this.height));
        c.fillStyle = this.colors("--page");
        c.fillRect(0, 0, LABELS - 1, this.total);
        for (let row = 0; row < this.rows; row++) {
            const y = HEADER + row * this.height;
            if (row > 0 && (row % side.block) % side.warp === 0) {
                c.fillStyle = this.colors("--line");
                c.fillRect(0, y - 1, this.width, 1);
            }
            if (row % every !== 0 && row !== this.pinned)
                continue;
            c.fillStyle = this.colors(row === this.pinned ? "--link" : "--muted");
            c.textAlign = "right";
            c.fillText((row === this.pinned ? "\u25b8" : "") + String(row), LABELS - 8, y + Math.min(this.height, 13) - 2);
        }
    }

    drawScale() {
        const c = this.ctx, first = this.execution.first;
        let every = 1;
        for (const step of [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000]) {
            every = step;
            if (step * this.px >= 46)
                break;
        }
        c.fillStyle = this.colors("--muted");
        c.textAlign = "left";
        const last = Math.min(this.execution.count, this.left + this.visible());
        for (let s = Math.max(1, Math.ceil(this.left)); s <= last; s++)
            if ((s + first - 1) % every === 0 || every === 1)
                c.fillText(String(s + first - 1), this.x(s) + 2, HEADER - 7);
    }

    // Marks: {from, to, color, text}: a bracket above steps, or, without `to`, a line before one.
    drawMarks() {
        const c = this.ctx;
        for (const mark of this.marks) {
            const x = this.x(mark.from);
            c.fillStyle = c.strokeStyle = this.colors(mark.color);
            if (mark.to === undefined) {
                if (x >= LABELS - 2)
                    c.fillRect(x - 1, 0, 2, this.total);
                continue;
            }
            const end = this.x(mark.to + 1), from = Math.max(LABELS, x);
            if (end <= LABELS)
                continue;
            c.fillRect(from, HEADER - 4, end - from, 2);
            c.fillRect(from, HEADER - 4, 2, this.total);
            if (mark.text && end - from > 60) {
                c.textAlign = "left";
                c.fillText(mark.text, from + 4, this.total - 1);
            }
        }
    }

    // Two accesses that race, and the way from the one to the other.
    drawArrow() {
        if (!this.arrow)
            return;
        const c = this.ctx, [from, to] = this.arrow;
        const [x1, x2] = [from, to].map(({ step }) => this.x(step) + this.px / 2);
        const [y1, y2] = [from, to].map(({ thread }) => HEADER + (Math.min(thread, this.rows - 1) + 0.5) * this.height);
        if (x2 < LABELS || x1 > this.width)
            return;
        c.strokeStyle = c.fillStyle = this.colors("--bad");
        c.lineWidth = 2;
        c.beginPath();
        c.moveTo(x1, y1);
        c.quadraticCurveTo((x1 + x2) / 2, Math.min(y1, y2) - 10, x2, y2);
        c.stroke();
        c.lineWidth = 1;
        for (const [x, y] of [[x1, y1], [x2, y2]]) {
            c.beginPath();
            c.arc(x, y, 4, 0, 7);
            c.fill();
        }
    }

    draw(at, keep) {
        this.at = at;
        if (!this.width)
            return;
        if (!keep && (at - 1 < this.left + 1 || at > this.left + this.visible() - 2))
            this.left = at - this.visible() / 2;
        this.clamp();
        const c = this.ctx;
        if (!this.colors)
            this.readColors();
        c.clearRect(0, 0, this.width, this.total);
        c.font = "11px ui-monospace, monospace";
        for (let row = 0; row < this.rows; row++)
            this.drawRow(row, HEADER + row * this.height + 1);
        this.drawScale();
        this.drawMarks();
        this.drawArrow();
        if (at > 0) {
            c.strokeStyle = this.colors("--now");
            c.lineWidth = 2;
            c.strokeRect(this.x(at), HEADER - 2, Math.max(2, this.px), this.rows * this.height + 3);
            c.lineWidth = 1;
        }
        this.drawLabels();
    }
}
