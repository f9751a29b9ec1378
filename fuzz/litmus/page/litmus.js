// litmus.js - the page of a litmus test: which outcomes each memory has, and an execution that shows the chosen one.
"use strict";

const MODELS = {
    sc: "one whole instruction after another; nothing else is possible",
    printed: "the caches of the 2011 report: an L1 in each SM, one L2, and nothing that keeps the L1s up to date",
    llh: "printed, and one thread\u2019s operations on one word stay in order, except two loads",
    coherent: "printed, and all operations of one thread on one word stay in order; stores write before they discard the line of their own L1",
    asplos15: "the axioms of Alglave et al. (ASPLOS 2015)",
    ptx60: "the memory consistency model of PTX since version 6.0",
    ptx75: "the memory consistency model of PTX 7.5",
};
const SPEEDS = [["1 a second", 1000], ["3 a second", 333], ["10 a second", 100]];

class LitmusPage {
    constructor(data, root) {
        this.data = data;
        this.rows = this.makeRows();
        this.at = 0;
        this.build(root);
        this.fromHash();
        window.addEventListener("hashchange", () => this.fromHash());
        document.addEventListener("keydown", (event) => this.key(event));
    }

    // Each outcome that some model has, with what each model has of it.
    makeRows() {
        const rows = new Map();
        this.data.models.forEach((model, m) => (model.outcomes || []).forEach((outcome) => {
            const key = outcome.values.join(",");
            if (!rows.has(key))
                rows.set(key, { key, values: outcome.values, of: new Map(), no: new Map() });
            rows.get(key).of.set(m, outcome);
        }));
        // What the condition asks for and no model has.
        this.data.models.forEach((model) => (model.refusals || []).forEach(({ values }) => {
            const key = values.join(",");
            if (!rows.has(key))
                rows.set(key, { key, values, of: new Map(), no: new Map() });
        }));
        return [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    }

    name(row) { return this.data.observe.map((o, i) => `${o} = ${row.values[i]}`).join(", ") || "the end"; }

    weak(row) { return row.of.size > 0 && !row.of.has(0); }

    // ---- the parts ----

    build(root) {
        const { data } = this;
        root.className = "one litmus";
        this.title = element("h2", {});
        this.hint = element("p", { class: "hint" });
        this.says = element("div", { class: "says", "aria-live": "polite" });
        this.picture = element("div", { class: "picture" });
        this.controls = this.buildControls();
        root.append(element("header", { class: "top" }, element("h1", {}, data.name),
            element("p", { class: "launch" }, `${data.threads.length} threads${data.asks ? `; asked: ${data.asks}` : ""}`)),
        element("section", { class: "verdict outcomes" }, element("h2", {}, "What can come out"), this.buildIntroduction(), element("div", { class: "scroll" }, this.buildTable())),
        this.controls,
        element("main", { class: "parts" }, element("section", { class: "text" }, element("h2", {}, "The test"), element("div", { class: "source" }, element("pre", {}, data.source))),
            element("section", { class: "side side0" }, this.title, this.hint, this.says, this.picture)),
        element("footer", {}, "Keys: \u2190 \u2192 a step, Home End, space plays. Nothing on this page is loaded from elsewhere."));
    }

    buildIntroduction() {
        const weak = this.rows.filter((r) => this.weak(r)), none = this.rows.filter((r) => r.of.size === 0);
        const why = none.length ? ` What the test asks about no memory has: ${none.map((r) => this.name(r)).join("; ")}.` : "";
        const choose = "Choose a yes to see an execution that ends so, a no to see why there is none.";
        if (weak.length === 0)
            return element("p", {}, `Every outcome is one that the instructions have, one after another.${why} ${choose}`);
        return element("p", {}, `${weak.length === 1 ? "One outcome is" : `${weak.length} outcomes are`} not what the instructions give one after another (sc): ${weak.length === 1 ? "it is" : "they are"} marked.${why} ${choose}`);
    }

    buildTable() {
        const heads = this.data.models.map((m) => element("th", { scope: "col", title: MODELS[m.name] }, m.name));
        const cell = (row, m) => {
            if (this.data.models[m].silent)
                return element("td", { class: "silent", title: this.data.models[m].silent }, "\u2013");
            const outcome = row.of.get(m);
            if (!outcome)
                return this.noCell(row, m);
            if (!outcome.steps && !outcome.graph)
                return element("td", {}, "yes");
            const button = element("button", { type: "button", "aria-label": `${this.name(row)} under ${this.data.models[m].name}` }, "yes");
            button.addEventListener("click", () => this.choose(m, row, 0));
            outcome.button = button;
            return element("td", {}, button);
        };
        const silent = this.data.models.filter((m) => m.silent).map((m) => `${m.name} says nothing: ${m.silent}`);
        return element("div", {}, element("table", { class: "outcomes" }, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "outcome"), ...heads)),
            element("tbody", {}, ...this.rows.map((row) => element("tr", { class: this.weak(row) ? "weak" : null }, element("th", { scope: "row" }, this.name(row)), ...this.data.models.map((_, m) => cell(row, m)))))),
        silent.length ? element("p", { class: "hint" }, `${silent.join("; ")}.`) : null);
    }

    // An outcome that a model has not leads to why.
    noCell(row, m) {
        const refusal = (this.data.models[m].refusals || []).find((r) => r.values.join(",") === row.key);
        if (!refusal)
            return element("td", { class: "no" }, "no");
        const button = element("button", { type: "button", class: "no", "aria-label": `Why ${this.data.models[m].name} has no ${this.name(row)}` }, "no");
        button.addEventListener("click", () => this.choose(m, row, 0));
        row.no.set(m, { refusal, button });
        return element("td", { class: "no" }, button);
    }

    noWords(model, { axiom, candidates }) {
        if (axiom && candidates === 1)
            return ["One execution would end so, and it is forbidden."];
        if (axiom)
            return [`${candidates.toLocaleString("en")} executions would end so, and all are forbidden; this one shows it best.`];
        if (candidates === 0)
            return ["Whatever writes the reads take their values from, and in whatever order the writes are, nothing ends so."];
        return [`All ${model.states.toLocaleString("en")} states that the test can be in under ${model.name} were looked at, and no execution ends so.`];
    }

    button(id, label, title, act) {
        const b = element("button", { type: "button", id, title, "aria-label": title }, label);
        b.addEventListener("click", act);
        return b;
    }

    buildControls() {
        this.slider = element("input", { type: "range", id: "slider", min: "0", value: "0", "aria-label": "Step" });
        this.slider.addEventListener("input", () => this.goTo(Number(this.slider.value)));
        this.count = element("output", { id: "count", for: "slider" });
        this.link = element("a", { id: "link", href: "#", title: "A link to this step" }, "link");
        this.speed = element("select", { id: "speed", "aria-label": "Speed" }, ...SPEEDS.map(([name, ms]) => element("option", { value: String(ms) }, name)));
        this.playButton = this.button("play", "\u25b6", "Play (space)", () => this.play());
        return element("nav", { class: "controls", "aria-label": "Steps" },
            this.button("start", "|<", "To the start (Home)", () => this.goTo(0)), this.button("back", "<", "One step back (left arrow)", () => this.goTo(this.at - 1)),
            this.playButton, this.button("forward", ">", "One step on (right arrow)", () => this.goTo(this.at + 1)),
            this.button("end", ">|", "To the end (End)", () => this.goTo(this.last())), this.slider, this.count, this.link, this.speed);
    }

    // ---- where it is ----

    last() { return this.view instanceof Caches ? this.view.steps.length - 1 : 0; }

    choose(m, row, at, keepHash) {
        const no = row.no.get(m), outcome = row.of.get(m) || no, model = this.data.models[m];
        if (this.outcome)
            this.outcome.button.removeAttribute("aria-pressed");
        [this.m, this.row, this.outcome] = [m, row, outcome];
        outcome.button.setAttribute("aria-pressed", "true");
        if (no)
            this.view = no.refusal.axiom ? new Graph(this.data, { ...model, code: this.codeOf(m) }, no.refusal.graph, no.refusal) : null;
        else
            this.view = outcome.steps ? new Caches(this.data, model, outcome.steps) : new Graph(this.data, model, outcome.graph);
        this.title.replaceChildren(element("span", { class: "tag side0" }, model.name), ` ${no ? "why not " : ""}${this.name(row)}`);
        this.hint.textContent = `${capital(MODELS[model.name])}.`;
        this.controls.classList.toggle("still", this.last() === 0);
        this.slider.max = String(this.last());
        if (this.view instanceof Graph) {
            this.says.replaceChildren(...[...(no ? this.noWords(model, no.refusal) : []), ...this.view.words()].map((w) => element("p", {}, w)));
            this.picture.replaceChildren(element("div", { class: "graphbox" }, this.view.draw()), this.view.legend());
        }
        if (!this.view) {
            this.says.replaceChildren(...this.noWords(model, no.refusal).map((w) => element("p", {}, w)));
            this.picture.replaceChildren();
        }
        this.goTo(at, keepHash);
    }

    // The instructions as the axioms have them: those of a model of axioms, also for sc.
    codeOf(m) {
        const axioms = this.data.models.find((model) => !model.steps && model.code);
        return (this.data.models[m].steps && axioms ? axioms : this.data.models[m]).code;
    }

    goTo(at, keepHash) {
        this.at = Math.max(0, Math.min(this.last(), at));
        this.slider.value = String(this.at);
        this.count.textContent = this.last() ? `step ${this.at} of ${this.last()}` : "a graph has no steps";
        if (this.view instanceof Caches) {
            this.says.replaceChildren(...this.view.words(this.at).map((w) => element("p", {}, w)));
            if (this.at === this.last())
                this.says.append(element("p", { class: this.weak(this.row) ? "inloop" : null }, `The end: ${this.name(this.row)}.${this.weak(this.row) ? " One instruction after another never gives this." : ""}`));
            this.view.show(this.picture, this.at);
        }
        this.link.setAttribute("href", this.hash());
        if (!keepHash)
            history.replaceState(null, "", this.hash());
        if (this.at === this.last())
            this.stop();
    }

    hash() { return `#model=${this.data.models[this.m].name}&outcome=${this.row.key}&step=${this.at}`; }

    // A weak outcome first, of the model that people run under.
    usual() {
        const order = this.data.models.map((_, m) => m).filter((m) => m > 0);
        if (this.data.models.every((m) => m.name !== "ptx75" || !m.silent) && this.data.asks)
            order.reverse();
        const shown = (row, m) => row.of.has(m) && (row.of.get(m).steps || row.of.get(m).graph);
        for (const asks of [(row) => this.weak(row), () => true])
            for (const m of [...order, 0])
                for (const row of this.rows)
                    if (asks(row) && shown(row, m))
                        return [m, row];
        return null;
    }

    fromHash() {
        const of = (name) => (decodeURIComponent(window.location.hash).match(new RegExp(`[#&]${name}=([^&]*)`)) || [])[1];
        const m = this.data.models.findIndex((model) => model.name === of("model")), row = this.rows.find((r) => r.key === of("outcome"));
        const there = m >= 0 && row && (row.no.has(m) || row.of.get(m) && row.of.get(m).button), chosen = there ? [m, row] : this.usual();
        if (chosen)
            this.choose(...chosen, there ? Number(of("step")) || 0 : 0, true);
    }

    key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT" || event.target === this.slider)
            return;
        const keys = { "ArrowRight": () => this.goTo(this.at + 1), "ArrowLeft": () => this.goTo(this.at - 1), "Home": () => this.goTo(0), "End": () => this.goTo(this.last()), " ": () => this.play() };
        if (!keys[event.key] || event.key === " " && event.target.tagName === "BUTTON")
            return;
        event.preventDefault();
        keys[event.key]();
    }

    play() {
        if (this.timer) {
            this.stop();
            return;
        }
        if (this.at === this.last())
            this.goTo(0);
        if (this.last() === 0)
            return;
        this.playButton.textContent = "||";
        this.timer = setInterval(() => this.goTo(this.at + 1), Number(this.speed.value));
    }

    stop() {
        clearInterval(this.timer);
        this.timer = null;
        this.playButton.textContent = "\u25b6";
    }
}

const began = performance.now();
const page = new LitmusPage(JSON.parse(document.getElementById("execution").textContent), document.getElementById("view"));
document.documentElement.dataset.ready = String(Math.round(performance.now() - began));
