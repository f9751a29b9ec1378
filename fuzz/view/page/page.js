// page.js - the page: its parts, its keys, and where in the execution it is.
"use strict";

const PANELS = [
    ["stack", "Stack", showStack], ["barriers", "Barriers", showBarriers], ["memory", "Memory", showMemory], ["caches", "Caches", showCaches], ["values", "Values", showValues],
    ["flow", "Control flow", showFlow], ["rule", "Rule", showRule],
];
const SPEEDS = [["1 a second", 1000], ["3 a second", 333], ["10 a second", 100], ["60 a second", 16]];

class Page {
    constructor(data, root) {
        this.data = data;
        this.root = root;
        this.executions = data.sides.map((side, i) => new Execution(side, i));
        this.at = 0; // number of the moment
        this.pinned = data.sides.map(() => null);
        this.makeMoments();
        this.build();
        this.fromHash();
        window.addEventListener("hashchange", () => this.fromHash());
        window.addEventListener("resize", () => this.redraw());
        window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
        document.addEventListener("keydown", (event) => this.key(event));
    }

    // ---- moments: of one execution its steps, of two the pairs of steps that belong together ----

    makeMoments() {
        const [a, b] = this.executions;
        this.moments = [[0, 0]];
        this.parting = this.givenParting();
        if (!b) {
            for (let i = 1; i <= a.count; i++)
                this.moments.push([i, 0]);
            return;
        }
        const { map, parting, related } = alignExecutions(a, b);
        this.relation = new Relation(this, related);
        this.parting = this.parting || parting;
        let i = 0, j = 0;
        while (i < a.count || j < b.count) {
            const ahead = i < a.count ? map[0][i + 1] : 0, behind = j < b.count ? map[1][j + 1] : 0;
            if (i === a.count || (j < b.count && ahead > j + 1))
                j++;
            else if (j === b.count || (ahead <= j && behind > i + 1))
                i++;
            else {
                i++;
                j++;
            }
            this.moments.push([i, j]);
        }
    }

    // Where an oracle says that they part.
    givenParting() {
        const { parting, parts } = this.data;
        const at = this.executions.map((e, s) => parts[s] - e.first + 1);
        if (!parting || parts[0] === 0 || at[0] < 1 || at[0] > this.executions[0].count)
            return null;
        return { text: parting, at: at.map((n, s) => (parts[s] > 0 && n >= 1 && n <= this.executions[s].count ? n : -1)) };
    }

    partingText() {
        return this.parting.text || partingWords(...this.executions, this.parting);
    }

    momentOf(s, at) {
        let low = 0, high = this.moments.length - 1;
        while (low < high) {
            const middle = low + high >> 1;
            if (this.moments[middle][s] < at)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    // ---- the parts ----

    build() {
        const { data } = this;
        document.documentElement.classList.add(data.sides.length > 1 ? "two" : "one");
        this.source = new SourcePanel(data, (line, way) => this.findStep((shape) => shape.line === line, way));
        this.parts = this.executions.map((execution, s) => this.buildSide(execution, s));
        this.root.append(this.buildHeader(), this.buildControls(),
            element("main", { class: "parts" },
                element("section", { class: "text", "aria-label": "The kernel" }, element("h2", {}, "The kernel"), this.source.box),
                ...this.parts.map((p) => p.section), this.relation ? this.relation.picture : null), this.buildFooter());
        for (const part of this.relation ? this.parts : [])
            part.timeline.onDraw = () => this.relation.draw(this.moments[this.at]);
    }

    buildHeader() {
        const { data } = this;
        const launch = `${data.threads} thread${data.threads === 1 ? "" : "s"} a block, ${data.warp} a warp, ${data.blocks} block${data.blocks === 1 ? "" : "s"}`;
        const header = element("header", { class: "top" }, element("h1", {}, `${data.kernel}`),
            element("p", { class: "launch" }, `${data.name}; ${launch}`));
        if (data.note)
            header.append(element("p", { class: "note" }, data.note));
        this.executions.forEach((execution, s) => header.append(this.buildVerdict(execution, s)));
        if (this.parting)
            header.append(this.withLink("verdict part", this.partingText(), "Show where they part", () => this.goTo(this.momentOf(0, this.parting.at[0]))));
        else if (this.executions.length > 1 && !runSameProgram(...this.executions))
            header.append(element("p", { class: "verdict part" }, "The two run different forms of the kernel: steps are put beside each other by thread and line."));
        else if (this.executions.length > 1)
            header.append(element("p", { class: "verdict part" }, "As far as the page has both, each thread comes to the same lines under both."));
        return header;
    }

    buildVerdict(execution, s) {
        const { side } = execution;
        const bad = side.end.status !== "terminated";
        const box = element("section", { class: `verdict ${bad ? "bad" : "good"} side${s}` },
            element("h2", {}, element("span", { class: `tag side${s}` }, side.subject), ` ${endWords(execution)}`),
            element("p", { class: "hint" }, `${side.subject.includes(":") ? `${capital(side.sentence)}. ` : ""}${VIEWS[side.view]}${side.caches ? OVER_CACHES : ""} ${capital(scheduleText(side.schedule))}.`));
        const why = loopWords(execution);
        if (why.length > 0)
            box.append(element("ul", { class: "why" }, ...why.map((w) => element("li", {}, w))));
        const other = this.executions[1 - s];
        for (const { step, text } of other ? rescueWords(other, execution) : [])
            box.append(this.withLink("rescue", text, `Show step ${step}`, () => this.goTo(this.momentOf(s, step - execution.first + 1))));
        const race = this.findRace(execution);
        if (side.race && !race)
            box.append(element("p", { class: "race" }, `A data race, in steps that the page does not have: ${side.race.says}.`));
        else if (race)
            box.append(this.withLink("race", `A data race: ${side.race.says}. No barrier lies between the two accesses, so either may come first (atomics, and so locks, do not count).`, "Show the race", () => this.goToRace(s)));
        const last = side.first + side.kept - 1;
        if (side.first > 1 || last < side.taken)
            box.append(element("p", { class: "windowed" }, `The page has steps ${side.first} to ${last} of ${side.taken}; simtfuzz view --from STEP shows others.`));
        return box;
    }

    withLink(kind, text, link, act) {
        const button = element("button", { type: "button", class: "link" }, link);
        button.addEventListener("click", act);
        return element("p", { class: kind }, text, " ", button);
    }

    button(id, label, title, act) {
        const b = element("button", { type: "button", id, title }, label);
        b.setAttribute("aria-label", title);
        b.addEventListener("click", act);
        return b;
    }

    buildControls() {
        this.slider = element("input", { type: "range", id: "slider", min: "0", max: String(this.moments.length - 1), value: "0", "aria-label": "Step" });
        this.slider.addEventListener("input", () => this.goTo(Number(this.slider.value)));
        this.count = element("output", { id: "count", for: "slider" });
        this.link = element("a", { id: "link", href: "#", title: "A link to this step" }, "link");
        this.speed = element("select", { id: "speed", "aria-label": "Speed" }, ...SPEEDS.map(([name, ms]) => element("option", { value: String(ms), selected: ms === 333 }, name)));
        this.playButton = this.button("play", "\u25b6", "Play (space)", () => this.play());
        return element("nav", { class: "controls", "aria-label": "Steps" },
            this.button("start", "|<", "To the start (Home)", () => this.goTo(0)),
            this.button("back", "<", "One step back (left arrow)", () => this.goTo(this.at - 1)),
            this.playButton,
            this.button("forward", ">", "One step on (right arrow)", () => this.goTo(this.at + 1)),
            this.button("end", ">|", "To the end (End)", () => this.goTo(this.moments.length - 1)),
            this.slider, this.count, this.link, this.speed, this.buildJumps(),
            this.button("zoom-out", "\u2212", "Zoom out (-)", () => this.zoom(0.5)), this.button("zoom-in", "+", "Zoom in (+)", () => this.zoom(2)),
            this.button("fit", "all", "All steps at once (0)", () => this.parts.forEach((p) => p.timeline.fit())));
    }

    buildJumps() {
        const jumps = element("select", { id: "jump", "aria-label": "Go to" }, element("option", { value: "" }, "go to \u2026"));
        const acts = new Map();
        const add = (group, name, act) => {
            acts.set(String(acts.size), act);
            group.append(element("option", { value: String(acts.size - 1) }, name));
        };
        if (this.parting)
            add(jumps, "where they part", () => this.goTo(this.momentOf(0, this.parting.at[0])));
        this.executions.forEach((execution, s) => {
            const { side } = execution, of = this.executions.length > 1 ? ` of ${side.subject}` : "";
            if (side.loop)
                add(jumps, `the loop that never ends${of}`, () => this.goTo(this.momentOf(s, side.loop.stem - side.first + 2)));
            if (side.race && this.parts[s].timeline.arrow)
                add(jumps, `the race${of}`, () => this.goToRace(s));
            const group = element("optgroup", { label: `next step by rule${of}` });
            for (const [number, [name]] of Object.entries(side.rules))
                add(group, name, () => this.findStep((shape) => shape.rule === Number(number), 1, s));
            jumps.append(group);
        });
        jumps.addEventListener("change", () => {
            const act = acts.get(jumps.value);
            jumps.value = "";
            if (act)
                act();
        });
        return jumps;
    }

    buildSide(execution, s) {
        const { side } = execution;
        execution.onStm = (asks) => this.findStep((shape) => asks(shape.stm), 1, s) || this.findStep((shape) => asks(shape.stm), -1, s);
        const canvas = element("canvas", { role: "img", "aria-label": `Threads over time under ${side.subject}: a row is a thread, a column a step` });
        const says = element("div", { class: "says", "aria-live": "polite" });
        const timeline = new Timeline(execution, canvas, (step) => this.goTo(this.momentOf(s, step)), (thread) => this.pin(s, thread));
        if (side.loop) {
            const from = side.loop.stem - side.first + 2;
            timeline.marks.push({ from, to: from + side.loop.length - 1, color: "--bad", text: "the loop" });
        }
        timeline.arrow = this.findRace(execution);
        if (this.parting && this.parting.at[s] > 0)
            timeline.marks.push({ from: this.parting.at[s], color: "--bad" });
        const boxes = PANELS.map(([name]) => element("div", { class: `panel ${name}` }));
        const legend = buildLegend(side);
        const threads = side.threads > execution.shown ? element("p", { class: "hint" }, `The first ${execution.shown} of ${side.threads} threads.`) : null;
        const section = element("section", { class: `side side${s}`, "aria-label": `Execution under ${side.subject}` },
            element("h2", {}, element("span", { class: `tag side${s}` }, side.subject), " ", element("span", { class: "where" })),
            says, element("div", { class: "time" }, canvas), this.relation ? this.relation.lines[s] : null, threads, legend, element("div", { class: "panels" }, ...boxes));
        return { section, canvas, says, timeline, boxes, where: section.querySelector(".where") };
    }

    buildFooter() {
        return element("footer", {}, "Keys: \u2190 \u2192 a step, PgUp PgDn ten, Home End, space plays, + \u2212 0 zoom, n N the next and the last step at this line, t the next of this thread. A line's number leads to the next step there, a thread's number to its next step, and keeps its stack in view. Ctrl and the wheel zoom the picture. Nothing on this page is loaded from elsewhere.");
    }

    // ---- where it is ----

    goTo(moment, keepHash) {
        this.at = Math.max(0, Math.min(this.moments.length - 1, moment));
        const pair = this.moments[this.at];
        this.executions.forEach((execution, s) => this.showSide(execution, s, pair[s]));
        if (this.relation)
            this.relation.draw(pair);
        this.slider.value = String(this.at);
        const steps = this.executions.map((e, s) => (e.first - 1 + pair[s]).toLocaleString("en"));
        this.count.textContent = this.executions.length > 1 ? `step ${steps.join(" | ")}`
            : `step ${steps[0]} of ${(this.executions[0].first - 1 + this.executions[0].count).toLocaleString("en")}`;
        this.link.setAttribute("href", this.hash());
        if (!keepHash)
            history.replaceState(null, "", this.hash());
        if (this.at === this.moments.length - 1)
            this.stop();
    }

    hash() {
        const [i, j] = this.moments[this.at];
        const [a, b] = this.executions;
        return `#step=${i + a.first - 1}${b ? `&other=${j + b.first - 1}` : ""}`;
    }

    fromHash() {
        const of = (name) => (window.location.hash.match(new RegExp(`[#&]${name}=(\\d+)`)) || [])[1];
        const [step, other] = [of("step"), of("other")];
        const [a, b] = this.executions;
        const start = this.parting && this.parting.text ? this.momentOf(0, this.parting.at[0]) : 0;
        let moment = step === undefined ? other === undefined || !b ? start : this.momentOf(1, Number(other) - b.first + 1) : this.momentOf(0, Number(step) - a.first + 1);
        if (step !== undefined && other !== undefined && b)
            while (moment + 1 < this.moments.length && this.moments[moment][1] < Number(other) - b.first + 1 && this.moments[moment + 1][0] <= Number(step) - a.first + 1)
                moment++;
        this.goTo(moment, true);
    }

    showSide(execution, s, at) {
        const part = this.parts[s];
        if (part.at === at)
            return;
        part.at = at;
        part.where.textContent = `step ${(execution.first - 1 + at).toLocaleString("en")} of ${execution.side.taken.toLocaleString("en")}`;
        part.says.replaceChildren(...stepWords(execution, at).map((w) => element("p", {}, w)));
        const { loop } = execution.side;
        if (loop && execution.first - 1 + at > loop.stem)
            part.says.append(element("p", { class: "inloop" }, `Round ${Math.floor((execution.first - 2 + at - loop.stem) / loop.length) + 1} of a loop that never ends.`));
        if (this.parting && at === this.parting.at[s])
            part.says.append(element("p", { class: "inloop" }, this.partingText()));
        this.source.show(s, execution, at, s === 0 || this.moments.length === 0);
        part.timeline.draw(at);
        PANELS.forEach(([, , show], k) => show(part.boxes[k], execution, at, this.pinned[s]));
    }

    // The next step (way 1) or the one before (-1) of which the question holds.
    findStep(asks, way, only) {
        for (let m = this.at + way; m >= 0 && m < this.moments.length; m += way)
            for (let s = 0; s < this.executions.length; s++) {
                const at = this.moments[m][s], before = this.moments[m - 1 < 0 ? 0 : m - 1][s];
                if ((only === undefined || only === s) && at > 0 && at !== before && asks(this.executions[s].shape(at - 1))) {
                    this.goTo(m);
                    return true;
                }
            }
        return false;
    }

    // A thread that stays in view: its stack is shown whoever steps, and `t` goes to its next step. Again: nobody.
    pin(s, thread) {
        this.pinned[s] = this.pinned[s] === thread ? null : thread;
        const part = this.parts[s];
        part.timeline.pinned = this.pinned[s];
        part.at = -1;
        if (this.pinned[s] === null || !this.findStep((shape) => shape.threads.includes(thread), 1, s))
            this.goTo(this.at);
    }

    // The steps of the two accesses that race, if the page has them: {step, thread} each.
    findRace(execution) {
        const { race } = execution.side;
        if (!race)
            return null;
        const makes = (access, i) => execution.accesses(i).some((a) => a.address === race.address && a.thread === access[0]);
        let last = -1;
        for (let i = 0; i < execution.count; i++) {
            const shape = execution.shape(i);
            if (shape.environment)
                continue;
            if (makes(race.first, i) && shape.stm === race.first[1])
                last = i;
            if (makes(race.second, i) && shape.stm === race.second[1] && last >= 0)
                return [{ step: last + 1, thread: race.first[0] }, { step: i + 1, thread: race.second[0] }];
        }
        return null;
    }

    goToRace(s) {
        const { arrow } = this.parts[s].timeline;
        if (arrow)
            this.goTo(this.momentOf(s, arrow[1].step));
    }

    // ---- keys ----

    key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT" || event.target === this.slider && event.key.startsWith("Arrow"))
            return;
        const [i] = this.moments[this.at];
        const shape = i > 0 ? this.executions[0].shape(i - 1) : null;
        const keys = {
            "ArrowRight": () => this.goTo(this.at + 1), "ArrowLeft": () => this.goTo(this.at - 1),
            "PageDown": () => this.goTo(this.at + 10), "PageUp": () => this.goTo(this.at - 10),
            "Home": () => this.goTo(0), "End": () => this.goTo(this.moments.length - 1), " ": () => this.play(),
            "+": () => this.zoom(2), "=": () => this.zoom(2), "-": () => this.zoom(0.5), "0": () => this.parts.forEach((p) => p.timeline.fit()),
            "n": () => shape && this.findStep((other) => other.line === shape.line, 1, 0),
            "N": () => shape && this.findStep((other) => other.line === shape.line, -1, 0),
            "t": () => shape && this.findStep((other) => other.threads.includes(this.pinned[0] === null ? shape.threads[0] : this.pinned[0]), 1, 0),
        };
        if (!keys[event.key] || event.key === " " && event.target.tagName === "BUTTON")
            return;
        event.preventDefault();
        keys[event.key]();
    }

    zoom(factor) { this.parts.forEach((p) => p.timeline.zoom(factor)); }

    play() {
        if (this.timer) {
            this.stop();
            return;
        }
        if (this.at === this.moments.length - 1)
            this.goTo(0);
        this.playButton.textContent = "||";
        this.timer = setInterval(() => this.goTo(this.at + 1), Number(this.speed.value));
    }

    stop() {
        clearInterval(this.timer);
        this.timer = null;
        this.playButton.textContent = "\u25b6";
    }

    redraw() {
        for (const part of this.parts) {
            part.timeline.readColors();
            part.timeline.resize();
            part.timeline.draw(part.at || 0);
        }
        if (this.relation)
            this.relation.draw(this.moments[this.at]);
    }
}

const began = performance.now();
const page = new Page(JSON.parse(document.getElementById("execution").textContent), document.getElementById("view"));
page.redraw();
document.documentElement.dataset.ready = String(Math.round(performance.now() - began));
