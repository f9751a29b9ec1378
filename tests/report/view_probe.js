// Works pages in the frame, one after another - keys, clicks, the address - and says what came of it, a line a question, in
// #said (view.sh). Which pages, at which widths, and which questions: `asked`, set by the page around the frame.
"use strict";

const frame = document.querySelector("iframe");
const said = [];

function expect(what, found, wanted) {
    said.push(found === wanted ? `ok ${what}` : `WRONG ${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}

function later(ms) {
    return new Promise((resolve) => setTimeout(resolve, ms));
}

class Hand {
    constructor(frame) {
        this.window = frame.contentWindow;
        this.document = frame.contentDocument;
    }
    all(selector) { return [...this.document.querySelectorAll(selector)]; }
    one(selector) { return this.document.querySelector(selector); }
    key(key, shiftKey = false) {
        this.document.dispatchEvent(new this.window.KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true }));
    }
    click(selector, index = 0) { this.all(selector)[index].click(); }
    text(selector, index = 0) { return (this.all(selector)[index] || { textContent: null }).textContent; }
    step() { return Number((this.window.location.hash.match(/step=(\d+)/) || [])[1]); }
    line() { return Number((this.one(".now0 .number") || { textContent: "0" }).textContent); }
    choose(name) {
        const select = this.one("#jump");
        select.value = [...select.querySelectorAll("option")].find((o) => o.textContent.startsWith(name)).value;
        select.dispatchEvent(new this.window.Event("change"));
    }
    point(x) {
        const canvas = this.one("canvas"), box = canvas.getBoundingClientRect();
        for (const type of ["pointerdown", "pointerup"])
            canvas.dispatchEvent(new this.window.PointerEvent(type, { clientX: box.left + x, clientY: box.top + 30, pointerId: 1, bubbles: true }));
    }
    cells(name) {
        const row = this.all(".variable").find((v) => v.querySelector(".name code").textContent === name);
        return [...row.querySelectorAll(".cell b")].map((b) => b.textContent).join(" ");
    }
}

const questions = {
    // What is true of every page.
    layout(hand) {
        const root = hand.document.scrollingElement;
        expect("width", root.scrollWidth, root.clientWidth);
        expect("requests", hand.window.performance.getEntriesByType("resource").length, 0);
        const ids = hand.all("[id]").map((e) => e.id);
        expect("ids", ids.length, new Set(ids).size);
        expect("pale text", pale(hand.window, hand.document).slice(0, 4).join("; "), "");
        expect("names", hand.all("button, select, input").filter((b) => !b.textContent && !b.getAttribute("aria-label")).length, 0);
        expect("sentences", hand.all(".says p").length > 0, true);
    },
    // Threads over time.
    timeline(hand) {
        const canvas = hand.one("canvas");
        const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        const colors = new Set();
        for (let i = 0; i < pixels.length; i += 4)
            colors.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
        expect("a picture", colors.size > 3, true);
    },
    // Program 1 of the first paper: 17 steps, b ends as {0, 1, 1, 4}.
    program1(hand) {
        expect("at first", hand.text("#count"), "step 0 of 17");
        for (let i = 0; i < 3; i++)
            hand.key("ArrowRight");
        expect("three on", hand.step(), 3);
        hand.key("ArrowLeft");
        expect("one back", hand.step(), 2);
        hand.click("#forward");
        hand.click("#forward");
        expect("buttons", hand.step(), 4);
        expect("the line", hand.line(), 4);
        hand.key("n");
        expect("the next at this line", [hand.step(), hand.line()].join(), "11,4");
        hand.key("N");
        expect("and back", hand.step(), 4);
        hand.all(".number")[5].click();
        expect("a line's number", [hand.step(), hand.line()].join(), "8,6");
        expect("who writes", hand.text(".says p", 1), "This reads b[3] and writes b[3] = 4.");
        expect("a cell lights up", hand.all(".cell.written").map((c) => c.textContent).join(), "34w 3");
        expect("who is where", hand.all(".chip").map((c) => c.textContent).sort().join(), "0,1\u20132,3");
        expect("the stack", hand.all("ol.stack li b").map((b) => b.textContent).join(), "line 6,sync,line 9,line 4,brk,line 11,call,line 15,call");
        expect("what was popped", hand.all("ol.stack li.gone").length, 1);
        expect("the rule", hand.text(".panel.rule b"), "assign");
        expect("its premises", hand.text("pre.rule").includes("x = e; W, Theta+, mu  ==>"), true);
        expect("the blocks", hand.all(".flow .block").map((b) => [...b.querySelectorAll(".code")].map((c) => c.textContent).join("|")).join(" / "),
            "3 i = a[tid];|3 j = b[tid]; / 4 while (i > 0) ... / 5 if (j > 2 * i) ... / 6 b[tid] = b[tid] + i;|9 i = i - 1; / 8 break; / 11 return;");
        expect("who took which edge", hand.all(".flow .label text").map((t) => t.firstChild.textContent).join(" | "), "0\u20133 | yes 1\u20133 | no 0 | yes 3 | no 1\u20132 |  |  | ");
        expect("where threads meet", hand.all(".flow .meets").map((t) => t.textContent).join(), "the end,\u22c8 meets again: line 4, line 5");
        expect("a link", hand.one("#link").getAttribute("href"), "#step=8");
        expect("private values", hand.all("table.values tbody tr").map((r) => r.textContent).join(), "i0111,j0113");
        hand.key("End");
        expect("the end", hand.step(), 17);
        expect("the result", hand.cells("b"), "0 1 1 4");
        hand.key("Home");
        expect("the start", hand.step(), 0);
        expect("memory goes back, too", hand.cells("b"), "0 1 1 3");
        hand.key("PageDown");
        expect("ten on", hand.step(), 10);
        hand.choose("break");
        expect("the next step of a rule", hand.step(), 10);
        hand.key("Home");
        hand.choose("break");
        expect("the next step of a rule, from the start", hand.step(), 6);
        hand.point(10);
        expect("a thread is pinned", [hand.step(), hand.text(".panel.stack h3")].join(), "14,Stack of warp 0");
        hand.point(10);
        hand.all(".flow .block")[0].dispatchEvent(new hand.window.MouseEvent("click", { bubbles: true }));
        expect("a block leads to its step", hand.line(), 3);
        hand.point(60);
        expect("a click into the picture", hand.step() > 0 && hand.step() < 6, true);
        hand.one("#slider").value = "9";
        hand.one("#slider").dispatchEvent(new hand.window.Event("input"));
        expect("the slider", hand.step(), 9);
        const before = hand.step();
        for (const key of ["+", "-", "0", "x"])
            hand.key(key);
        expect("zooming goes nowhere", hand.step(), before);
    },
    async playing(hand) {
        hand.key("Home");
        hand.key(" ");
        await later(1500);
        const step = hand.step();
        expect("it plays", step >= 2 && step <= 6, true);
        hand.key(" ");
        await later(1000);
        expect("it stops", hand.step(), step);
        hand.window.location.hash = "#step=12";
        await later(100);
        expect("the address", hand.text("#count"), "step 12 of 17");
    },
    // The spin lock: what a newcomer must be told.
    lock(hand) {
        const why = hand.text(".verdict.side0");
        for (const part of ["Never ends: after 3 steps the same 2 steps come again and again", "In each round thread 1 looks at lock at line 10, finds 1, and goes round again",
            "What could change that stands at line 12", "Thread 0 is set aside: a warp with a stack runs one path at a time",
            "It would go on at line 11. It is taken up only when thread 1 leaves the loop", "Each waits for the other"])
            expect(part, why.includes(part), true);
        const other = hand.text(".verdict.side1");
        for (const part of ["All threads end, after 22 steps", "Under threads thread 0 is not kept waiting: at step 13 it comes to line 12 and sets lock to 0"])
            expect(part, other.includes(part), true);
        expect("the parting", hand.text(".verdict.part").startsWith("They part at thread 0: simt takes it nowhere after step 3, threads takes it to line 11"), true);
        hand.click(".rescue button");
        expect("the step that helps", hand.window.location.hash.endsWith("other=13"), true);
        expect("lock is free", hand.all(".side1 .cell b").map((b) => b.textContent).join(), "0,1");
        hand.click(".verdict.part button");
        expect("where they part", hand.step(), 3);
        expect("aside", hand.text(".side0 .says").includes("Thread 0 is set aside under the token \u201cbrk\u201d (the end of a loop): a warp runs one path at a time, and its path goes on at line 11 only when thread 1 has finished its."), true);
        expect("the projection", hand.text(".side0 .relates"), "Projection: this is step 5 (thread 0) and step 6 (thread 1) of threads.");
        expect("and back", hand.text(".side1 .relates"), "Projection: this is step 3 (thread 1) of simt.");
        expect("drawn between them", hand.all(".relation path").length, 2);
        hand.click(".race button");
        expect("the race", hand.all(".racer").length, 2);
        hand.choose("the loop that never ends");
        expect("the loop", hand.step(), 4);
        expect("round", hand.text(".inloop"), "Round 1 of a loop that never ends.");
    },
    // The predicated program goes through blocks that do nothing for a thread.
    stutter(hand) {
        const said = new Set();
        for (let i = 0; i < 60; i++) {
            hand.key("ArrowRight");
            const text = hand.text(".side0 .relates");
            said.add(text.replace(/[0-9].*/, ""));
            expect("as many lines as are said", hand.all(".relation.side0").length >= (text.match(/step [0-9]/g) || []).length, true);
        }
        expect("steps that stand for one, and such that stand for none", [...said].sort().join(" / "), " / Stutter: this is step ");
    },
    // A hang of the termination matrix.
    witness(hand) {
        expect("what it is", hand.text(".note"), "threads under hsa: may hang; thread 0 spins on lock at line 10; thread 1 would write it at line 12, but only the unfinished one with the lowest number must be let run");
        expect("a loop", hand.text(".verdict.side0 h2").includes("Never ends: after"), true);
        expect("how", hand.text(".verdict.side0").includes("Who steps next is chosen so that it hangs, as hsa allows."), true);
        hand.choose("the loop that never ends");
        expect("round", hand.text(".inloop"), "Round 1 of a loop that never ends.");
    },
    // Both hang, in loops of their own: the pages' ends are no parting.
    bothHang(hand) {
        expect("no parting", hand.text(".verdict.part"), "As far as the page has both, each thread comes to the same lines under both.");
    },
    // A stale line of an L1, in eight micro steps.
    async staleLine(hand) {
        const head = (text) => hand.text(".side h2") === text;
        expect("the weak outcome is chosen", hand.text(".side h2"), "printed P1:r1 = 1, P1:r2 = 0");
        expect("outcomes", hand.all("table.outcomes tbody tr").map((r) => [...r.children].map((c) => c.textContent).join(" ")).join(" / "),
            ["0, P1:r2 = 0 yes yes yes yes \u2013 yes yes", "0, P1:r2 = 1 yes yes yes yes \u2013 yes yes", "1, P1:r2 = 0 no yes yes yes \u2013 no no", "1, P1:r2 = 1 yes yes yes yes \u2013 yes yes"].map((r) => `P1:r1 = ${r}`).join(" / "));
        expect("the weak one is marked", hand.all("tr.weak").length, 1);
        expect("at first", hand.text("#count"), "step 0 of 8");
        expect("what is warm", hand.text(".says").includes("x = 0 in the L1 of SM 1"), true);
        hand.key("ArrowRight");
        hand.key("ArrowRight");
        expect("the write", hand.text(".says").includes("L2: x = 1. The L1 of SM 1 still has x = 0: nobody tells it."), true);
        expect("the stale cell", hand.all(".cell.racy").map((c) => c.textContent).join(), "x0stale");
        hand.key("End");
        expect("what is read", hand.text(".says").includes("r2 = 0: the old value, from the L1; L2 holds x = 1."), true);
        expect("the end", hand.text(".says .inloop"), "The end: P1:r1 = 1, P1:r2 = 0. One instruction after another never gives this.");
        expect("the address", hand.window.location.hash, "#model=printed&outcome=1,0&step=8");
        hand.click("table.outcomes tbody tr:nth-child(4) button", 0);
        expect("another outcome", head("sc P1:r1 = 1, P1:r2 = 1") && hand.step() === 0, true);
        hand.window.location.hash = "#model=ptx75&outcome=0,1&step=0";
        await later(100);
        expect("the address chooses, too", head("ptx75 P1:r1 = 0, P1:r2 = 1"), true);
    },
    // A kernel over caches: a load takes the old value from the L1 of its SM.
    caches(hand) {
        expect("what it is", hand.text(".verdict.side0").includes("Memory is the caches of 2011"), true);
        const go = (step) => {
            hand.key("Home");
            for (let i = 0; i < step; i++)
                hand.key("ArrowRight");
            return hand.all(".says p").map((p) => p.textContent).join(" ");
        };
        expect("it asks", go(7), "Thread 0 (warp 0) executes line 20: \u201cst.global.u32 [x], 1;\u201d. This asks to write x = 1: an operation is under way, and the thread goes on meanwhile. Thread 0 now waits for memory operations under way.");
        expect("not written yet", hand.cells("x"), "0");
        expect("under way", hand.all("ol.flights li").map((l) => l.textContent).join(), "0 20: st.global.u32 [x], 1;L2 is written next");
        expect("the line is asked for", go(9).includes("The L1 of SM 1 makes room for the line of x, and asks L2 for it."), true);
        expect("a register has its value", go(11).includes("%r1 becomes 0. With that it has ended."), true);
        expect("a copy stays behind", go(14).includes("x = 1 in L2, for all SMs; the L1 of SM 1 still has x = 0, and nobody tells it."), true);
        expect("written now", hand.cells("x"), "1");
        expect("the stale cell", hand.all(".caches .cell.racy").map((c) => c.textContent).join(), "x0stale");
        expect("the old value", go(22).includes("%r3 becomes 0. That is the old value of x, from the L1 of SM 1: L2 has 1. With that it has ended."), true);
        expect("nothing is under way", hand.text(".caches .hint"), "No memory operation is under way.");
        hand.click(".race button");
        expect("the race is where it was asked for", hand.step(), 8);
    },
    // Message passing with a scope that is too narrow, as a graph.
    graph(hand) {
        expect("the weak outcome is chosen", hand.text(".side h2"), "ptx75 P1:r1 = 1, P1:r2 = 0");
        expect("events", hand.all(".graph .event").map((e) => e.firstChild.nextSibling.textContent).join(" / "), "a: writes x = 1 / b: writes y = 1 / c: reads y = 1 / d: reads x = 0");
        expect("instructions", hand.all(".graph .code").map((e) => e.textContent).join(" / "), "st.weak x 1 / st.release.gpu y 1 / ld.acquire.cta r1 y / ld.weak r2 x");
        expect("arrows", hand.all(".graph .arrow").map((e) => e.getAttribute("class")).join(" / "), "arrow po circle / arrow po circle / arrow rf circle / arrow fr circle");
        expect("no steps", hand.window.getComputedStyle(hand.one(".controls")).display, "none");
        expect("the circle", hand.text(".says").includes("a before b (in program order), b before c (the value is read from it), c before d (in program order) and d before a (the read does not see the write) would be a circle"), true);
        hand.click("table.outcomes tbody tr:nth-child(4) td:last-child button");
        expect("an order", hand.text(".says").includes("One instruction after another gives the same: a, b, c, d."), true);
        hand.click("table.outcomes tbody tr:nth-child(4) button");
        expect("steps again", hand.window.getComputedStyle(hand.one(".controls")).display, "flex");
    },
    // Why a model has not an outcome: an axiom and its circle, or all its states.
    refused(hand) {
        hand.click("table.outcomes tbody tr:nth-child(1) td:last-child button");
        expect("what is asked", hand.text(".side h2"), "ptx75 why not P0:r1 = 0, P1:r2 = 0");
        expect("why", hand.text(".says").includes("2 executions would end so, and all are forbidden; this one shows it best."), true);
        expect("the axiom", hand.text(".says").includes("ptx75 forbids this by the axiom Causality"), true);
        expect("the circle", hand.text(".says").includes("Here f before a (the read does not see the write), a before b (in program order), b before e (the order of sc fences) and e before f (in program order) would be a circle."), true);
        expect("drawn", hand.all(".graph .arrow.circle").length, 4);
        expect("its address", hand.window.location.hash, "#model=ptx75&outcome=0,0&step=0");
        hand.click("table.outcomes tbody tr:nth-child(1) td:nth-child(2) button");
        expect("sc, by the axioms", hand.text(".says").includes("sc forbids this by the axiom Sequential consistency: all instructions have one order."), true);
        hand.click("table.outcomes tbody tr:nth-child(1) td:nth-child(5) button");
        expect("caches, by all states", /All [0-9,]+ states that the test can be in under coherent were looked at, and no execution ends so\./.test(hand.text(".says")), true);
        expect("no picture", hand.all(".graph").length, 0);
        hand.click("table.outcomes tbody tr:nth-child(2) td:nth-child(5) button");
        expect("steps again", hand.window.getComputedStyle(hand.one(".controls")).display, "flex");
    },
    hostile(hand) {
        expect("no image", hand.all("img").length, 0);
        expect("the text", hand.text(".row code", 1).includes("</script><img src=x onerror=alert(1)> [U+202E]"), true);
    },
    finding(hand) {
        expect("a link to the step", hand.step() > 0 || hand.text("#count") !== "step 0 | 0", true);
        expect("two sides", hand.all(".side").length, 2);
    },
    ready(hand) {
        said.push(`ready in ${hand.document.documentElement.dataset.ready} ms`);
        hand.key("End");
        said.push(`${hand.text("#count")}`);
    },
};

function load(page, width) {
    frame.style.width = `${width}px`;
    return new Promise((resolve) => {
        frame.addEventListener("load", resolve, { once: true });
        frame.src = page;
    });
}

window.addEventListener("load", async () => {
    for (const [page, width, names] of asked) {
        await load(page, width);
        said.push(`= ${page} ${width} ${names}`);
        try {
            for (const name of names.split(","))
                await questions[name](new Hand(frame));
        } catch (error) {
            said.push(`WRONG ${error.message}`);
        }
    }
    document.getElementById("said").textContent = `\n${said.join("\n")}\n`;
});
