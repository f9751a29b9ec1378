// words.js - what happens, in plain words: of a step, of an end, of a loop, of two executions that part.
"use strict";

function ranges(numbers) {
    const parts = [];
    for (let i = 0, end; i < numbers.length; i = end) {
        for (end = i + 1; end < numbers.length && numbers[end] === numbers[end - 1] + 1;)
            end++;
        parts.push(end - i > 2 ? `${numbers[i]} to ${numbers[end - 1]}` : numbers.slice(i, end).join(", "));
    }
    return parts.join(", ");
}

function threadsText(threads, total) {
    if (threads.length === 0)
        return "no thread";
    if (threads.length === total && total > 1)
        return total === 2 ? "both threads" : `all ${total} threads`;
    return `${threads.length === 1 ? "thread" : "threads"} ${ranges(threads)}`;
}

const TOKENS = {
    brk: "the end of a loop", sync: "the end of an if", div: "the other branch of an if", call: "the end of a function",
};

// An entry of a stack, to somebody who has not read the papers.
function entryText(execution, stack, i) {
    const { kind, mask, stm, text } = stack[i];
    const side = execution.side;
    const first = side.view === "splits" ? splitFirst(side, stack.leader || 0) : side.actors[stack.actor || 0][0];
    const who = mask ? threadsText(lanesOf(mask, first), side.threads) : "";
    const line = execution.lineBelow(stack, i + 1);
    const then = line ? ` at line ${line}` : "";
    switch (kind) {
    case "stm":
    case "pc":
        return i === 0 ? "next" : "then";
    case "cont":
        return i === 0 ? "next: the loop's condition again" : "then the loop's condition again";
    case "pending":
        return "the value is read, the write comes next";
    case "waits":
        return "waits";
    case "left":
        return "left to do";
    case "pcs":
        return "each lane's own pc";
    default:
    }
    const does = (verb) => (mask && lanesOf(mask, first).length === 1 ? verb.replace(/^(go|\w+)/, (v) => (v === "go" ? "goes" : `${v}s`)) : verb);
    if (side.view === "crs")
        return `${kind === "div" ? `then ${who} ${does("go on")}` : `${who} ${does("gather")}`} at ${execution.line(stm) ? `line ${execution.line(stm)}` : `pc ${stm}`}`;
    if (!mask)
        return kind === "brk" ? "here the loop ends" : "here the function ends";
    if (side.view === "splits")
        return `waits here until ${who} have come or left`;
    if (kind === "div")
        return `then ${who} ${does("take the other branch")}`;
    if (kind === "sync")
        return `then ${who} ${does("run")} together again${then}`;
    if (kind === "brk")
        return `the loop's end: when it is on top, ${who} ${does("go on")}${then}`;
    return `the end of ${text}(): ${who} ${does("return")}`;
}

// ---- who is where ----

function splitFirst(side, thread) {
    const block = Math.floor(thread / side.block) * side.block;
    return block + Math.floor((thread - block) / side.warp) * side.warp;
}

function changed(execution, at, from, to) {
    const threads = [];
    for (let t = 0; t < execution.shown; t++) {
        const before = execution.letter(at - 1, t), after = execution.letter(at, t);
        if (before !== after && from.includes(before) && after === to)
            threads.push(t);
    }
    return threads;
}

function actorText(execution, shape) {
    const side = execution.side;
    if (side.view === "warps" || side.view === "crs")
        return side.actors.length > 1 ? ` (warp ${shape.actor})` : "";
    return "";
}

function tokenText(execution, shape) {
    const kind = (shape.executed.match(/^<(\w+)/) || [])[1];
    const all = execution.side.actors.length > 1 ? `Warp ${shape.actor}` : "The warp";
    if (execution.side.view === "splits")
        return TOKENS[kind] ? `${capital(threadsText(shape.threads, execution.side.threads))} come to ${TOKENS[kind]}.` : "";
    if (execution.side.view === "threads")
        return `${capital(threadsText(shape.threads, execution.side.threads))} comes to ${TOKENS[kind] || "the end"}.`;
    return TOKENS[kind] ? `${all} takes the topmost token off its stack: ${TOKENS[kind]}.` : "";
}

function accessWords(execution, at) {
    const writes = new Map(), reads = new Map(), atomics = new Map();
    let asks = "";
    for (const access of execution.accesses(at - 1)) {
        const name = execution.addressName(access.address), kind = access.kind % ASKS;
        if (access.kind >= ASKS)
            asks = "asks to ";
        if (kind === 2)
            atomics.set(name, access.value);
        else if (kind === 0)
            reads.set(name, access.address);
        else
            writes.set(name, access.value);
    }
    const words = [];
    const state = execution.state(at);
    const word = (address) => state.memory[Math.floor(address / execution.side.units)];
    const some = (map, say) => {
        const list = [...map].slice(0, 4).map(say);
        if (map.size > 4)
            list.push(`${map.size - 4} more`);
        return listed(list);
    };
    const verb = (text) => (asks ? asks + text : text.replace(/(read|write)\b/g, "$1s"));
    if (reads.size > 0)
        words.push(`${verb("read")} ${some(reads, ([name, address]) => (asks || writes.has(name) ? name : `${name} (${word(address)})`))}`);
    if (atomics.size > 0)
        words.push(`${verb("read and write")} ${some(atomics, ([name, value]) => (asks ? name : `${name}, which is ${value} afterwards`))}, at once`);
    if (writes.size > 0)
        words.push(`${verb("write")} ${some(writes, ([name, value]) => `${name} = ${value}`)}`);
    return words;
}

// Sentences of what the step that leads to `at` does.
function stepWords(execution, at) {
    const side = execution.side;
    if (at === 0)
        return side.first > 1 ? [`The page begins after step ${side.first - 1}.`]
            : ["The start: nothing has been executed yet. Step with the arrow keys, or press play."];
    const shape = execution.shape(at - 1);
    if (shape.environment) {
        const said = environmentWords(execution, at);
        moveWords(execution, at, said);
        return said;
    }
    const words = [];
    const who = capital(threadsText(shape.threads, side.threads)) + actorText(execution, shape);
    const plural = shape.threads.length !== 1;
    if (shape.stm >= 0 && shape.executed)
        words.push(`${who} ${plural ? "execute" : "executes"} ${shape.line ? `line ${shape.line}` : "a step that is not in the text"}: \u201c${shape.executed.replace("while\u00b0", "while")}\u201d.`);
    else
        words.push(tokenText(execution, shape) || (side.rules[shape.rule][0] === "none" ? "No rule applies." : `${who}: ${shape.executed ? `\u201c${shape.executed}\u201d, by the rule ` : ""}${side.rules[shape.rule][0]}.`));
    guardWords(execution, shape, words);
    const accesses = accessWords(execution, at);
    if (accesses.length > 0)
        words.push(`This ${listed(accesses)}${execution.accesses(at - 1).some((a) => a.kind >= ASKS) ? ": an operation is under way, and the thread goes on meanwhile" : ""}.`);
    if (side.caches)
        l1Words(execution, at, words);
    privateWords(execution, at, words);
    moveWords(execution, at, words);
    return words;
}

// What threads wrote that only they see.
function privateWords(execution, at, words) {
    for (const { place, threads, values } of execution.privates(at - 1).slice(0, 3)) {
        const all = values.every((v) => v === values[0]);
        const few = !all && threads.length <= 4;
        const shown = all ? `${values[0]}` : few ? listed(values.map((v, k) => `${v} in thread ${threads[k]}`)) : `${values.slice(0, 8).join(", ")}${values.length > 8 ? " \u2026" : ""}`;
        words.push(`${place} becomes ${shown}${all && threads.length > 1 ? " in each of them" : ""}.`);
    }
}

// For whom the condition of a branch or a loop holds.
function guardWords(execution, shape, words) {
    if (!shape.truth)
        return;
    const total = execution.side.threads, fails = shape.threads.filter((t) => !shape.truth.includes(t));
    const loops = shape.executed.startsWith("while");
    const round = (threads) => (loops ? `, which ${threads.length === 1 ? "goes" : "go"} round the loop` : "");
    const leave = (threads) => (loops ? `, which ${threads.length === 1 ? "leaves" : "leave"} the loop` : "");
    if (fails.length === 0)
        words.push(shape.threads.length === 1 ? "The condition holds." : `The condition holds for ${shape.threads.length === total ? "all of them" : threadsText(shape.threads, total)}.`);
    else if (shape.truth.length === 0)
        words.push(shape.threads.length === 1 ? "The condition does not hold." : "The condition holds for none of them.");
    else
        words.push(`The condition holds for ${threadsText(shape.truth, total)}${round(shape.truth)}, and not for ${threadsText(fails, total)}${leave(fails)}.`);
}

function moveWords(execution, at, words) {
    const side = execution.side;
    const text = (threads) => capital(threadsText(threads, side.threads));
    const is = (threads) => (threads.length === 1 ? "is" : "are");
    const aside = changed(execution, at, "abrew", ".");
    const named = (holder) => `\u201c${holder.kind}\u201d${TOKENS[holder.kind] ? ` (${TOKENS[holder.kind]})` : ""}`;
    if (aside.length > 0) {
        const state = execution.state(at);
        const { line, holder } = execution.place(state, aside[0]);
        const running = [];
        for (let t = 0; t < execution.shown; t++)
            if (execution.letter(at, t) === "a" && execution.actorOf[t] === execution.actorOf[aside[0]])
                running.push(t);
        words.push(`${text(aside)} ${is(aside)} set aside${holder ? ` under the token ${named(holder)}` : ""}: ` +
            `a warp runs one path at a time${line ? `, and ${aside.length === 1 ? "its" : "their"} path goes on at line ${line}` : ""}` +
            `${running.length ? ` only when ${threadsText(running, side.threads)} ${running.length === 1 ? "has" : "have"} finished ${running.length === 1 ? "its" : "theirs"}` : ""}.`);
    }
    const again = changed(execution, at, ".brec", "a");
    if (again.length > 0)
        words.push(`${text(again)} can run ${side.view === "splits" ? "on" : "again"}.`);
    const ways = [["b", "left the loop by break, and wait for its end"], ["r", "returned, and wait for the function's end"],
        ["e", "ended by exit"]];
    for (const [letter, how] of ways) {
        const gone = changed(execution, at, "a.wc", letter);
        if (gone.length > 0)
            words.push(`${text(gone)} ${gone.length === 1 ? "has" : "have"} ${gone.length === 1 ? how.replace("and wait", "and waits") : how}.`);
    }
    const waits = changed(execution, at, "a.", "w");
    if (waits.length > 0)
        words.push(`${text(waits)} now ${waits.length === 1 ? "waits" : "wait"} at a barrier for the others.`);
    const memory = changed(execution, at, "a.w", "m");
    if (memory.length > 0)
        words.push(`${text(memory)} now ${memory.length === 1 ? "waits" : "wait"} for memory operations under way.`);
    const done = changed(execution, at, "m", "a");
    if (done.length > 0)
        words.push(`${text(done)} need${done.length === 1 ? "s" : ""} to wait for memory no longer.`);
    const gathers = changed(execution, at, "a", "c");
    if (gathers.length > 0)
        words.push(`${text(gathers)} ${gathers.length === 1 ? "waits" : "wait"} at a convergence barrier for the rest of the warp.`);
    const on = changed(execution, at, "w", "a");
    if (on.length > 0)
        words.push(`The barrier opens: ${threadsText(on, side.threads)} ${on.length === 1 ? "goes" : "go"} on.`);
    const ended = changed(execution, at, "a.brewc", "f");
    if (ended.length > 0)
        words.push(`${text(ended)} ${ended.length === 1 ? "has" : "have"} ended.`);
}

const OVER_CACHES = " Memory is the caches of 2011: what a thread asks for is done later, in small steps; each SM has an L1, and nothing keeps them up to date.";

// What a semantics is, to somebody who has not read the papers.
const VIEWS = {
    warps: "The threads of a warp run together. Where they part, the warp runs one path to its end; the others lie on its stack until then.",
    crs: "The threads of a warp run together. Where they part, the branch unit runs one path; the others lie as tokens on its stack until then.",
    threads: "Every thread runs by itself, independently of the others: a scheduler picks one for each step.",
    splits: "The threads of a warp run together. Where they part, the parts run independently, and gather again at convergence barriers.",
    blocks: "Every thread runs by itself through the blocks of the control-flow graph: a scheduler picks one for each step.",
    vectors: "All threads of a block go through one program together; each statement acts for those that are enabled.",
    cta: "Every thread runs by itself, with a program counter of its own: a scheduler picks one for each step.",
};

function scheduleText(schedule) {
    const words = {
        rr: "whoever can step does, in turn", sequential: "the first one that can step goes on until it cannot",
        reverse: "the last one that can step goes on until it cannot", uniform: "who steps next is drawn at random",
        "its tape": "who steps next is as it was recorded", "its own tape": "who steps next is as it was recorded",
        "the same tape": "who steps next is as it was recorded of the first", "after the warp, thread by thread": "each thread takes the steps that the warp took with it, as long as it can",
    };
    if (schedule.startsWith("a hang under "))
        return `who steps next is chosen so that it hangs, as ${schedule.slice(13)} allows`;
    return words[schedule] || `who steps next is up to the schedule ${schedule}`;
}

// ---- how it ends ----

const ENDS = {
    terminated: "All threads end", assert_fails: "An assertion fails", barrier_divergence: "A barrier can never open: some threads cannot come to it",
    out_of_bounds: "An access lies outside of its variable", call_depth: "Calls are nested too deeply", infeasible: "An assumption does not hold, so this execution counts for nothing",
    deadlock: "Deadlock: all threads that are left wait", nonterminating: "Never ends", step_limit: "Still running where the page stops",
    stuck: "No rule applies any more", barrier_error: "A barrier is used wrongly", unsupported: "Not supported",
};

function endWords(execution) {
    const { end, taken, loop } = execution.side;
    if (loop)
        return `Never ends: after ${loop.stem} steps the same ${loop.length === 1 ? "step comes" : `${loop.length} steps come`} again and again.`;
    const where = end.thread === null ? "" : `: thread ${end.thread}${end.line ? `, line ${end.line}` : ""}${end.text ? ` (${end.text})` : ""}`;
    return `${ENDS[end.status] || end.status}, after ${taken} step${taken === 1 ? "" : "s"}${where}.`;
}

// What a loop that never ends is made of: who runs in it, what it reads, who is kept from writing that.
function loopFacts(execution) {
    const { loop, first } = execution.side;
    const begin = loop ? loop.stem - (first - 1) : -1;
    if (begin < 0 || begin + loop.length > execution.count)
        return null;
    const runs = new Set(), lines = new Set(), reads = new Map();
    for (let i = begin; i < begin + loop.length; i++) {
        const shape = execution.shape(i);
        shape.threads.forEach((t) => runs.add(t));
        if (shape.line)
            lines.add(shape.line);
        for (const access of execution.accesses(i))
            if (access.kind % ASKS !== 1)
                reads.set(access.address, { address: access.address, line: shape.line, thread: access.thread });
    }
    const state = execution.state(begin);
    const kept = [];
    for (let t = 0; t < execution.shown; t++)
        if (!runs.has(t) && !"fe".includes(LETTERS[state.letters[t]]))
            kept.push(t);
    return { begin, runs: [...runs].sort((a, b) => a - b), lines, reads: [...reads.values()], kept, state };
}

// Statements outside of the loop that write what the loop reads.
function rescuers(execution, facts) {
    const names = new Set(facts.reads.map((r) => (execution.cellAt(r.address) || {}).name));
    const found = new Map();
    execution.side.stms.forEach(([line, text, , writes], stm) => {
        if (line && !facts.lines.has(line) && writes.some((v) => names.has(execution.side.variables[v])))
            found.set(line, { line, text, stm, names: writes.map((v) => execution.side.variables[v]).filter((n) => names.has(n)) });
    });
    return [...found.values()];
}

function whyKept(execution, facts, t) {
    const letter = LETTERS[facts.state.letters[t]];
    const { line, holder } = execution.place(facts.state, t);
    const at = line ? ` It would go on at line ${line}.` : "";
    const runs = threadsText(facts.runs, execution.side.threads);
    if (letter === "." || letter === "b" || letter === "r")
        return `Thread ${t} is set aside: a warp with a stack runs one path at a time, and the path of thread ${t} lies below ` +
            `the running one${holder ? `, under the token \u201c${holder.kind}\u201d${TOKENS[holder.kind] ? ` (${TOKENS[holder.kind]})` : ""}` : ""}.${at} It is taken up only when ${runs} ${facts.runs.length === 1 ? "leaves" : "leave"} the loop.`;
    if (letter === "c")
        return `Thread ${t} has arrived at a convergence barrier and waits there for the rest of its warp.${at} It goes on only when ${runs} ${facts.runs.length === 1 ? "arrives" : "arrive"}.`;
    if (letter === "m")
        return `Thread ${t} waits for its memory operations.${at}`;
    if (letter === "w")
        return `Thread ${t} waits at a barrier.${at} It goes on only when all others have come there.`;
    return `Thread ${t} could run, but this schedule never picks it: a fair scheduler would.${at}`;
}

// Why a loop never ends: a list of sentences, or nothing.
function loopWords(execution) {
    const facts = loopFacts(execution);
    if (!facts)
        return [];
    const { loop } = execution.side;
    const words = [`The state after step ${loop.stem + loop.length} is the state after step ${loop.stem}, byte for byte: what follows is the same again, for ever.`];
    const value = (address) => facts.state.memory[Math.floor(address / execution.side.units)];
    const runs = threadsText(facts.runs, execution.side.threads);
    for (const read of facts.reads.slice(0, 3))
        words.push(`In each round ${runs} ${facts.runs.length === 1 ? "looks" : "look"} at ${execution.addressName(read.address)}${read.line ? ` at line ${read.line}` : ""}, ${facts.runs.length === 1 ? "finds" : "find"} ${value(read.address)}, and ${facts.runs.length === 1 ? "goes" : "go"} round again.`);
    const writers = facts.reads.length ? rescuers(execution, facts) : [];
    if (writers.length > 0)
        words.push(`What could change that stands at ${listed(writers.slice(0, 4).map((w) => `line ${w.line} (\u201c${w.text}\u201d)`))}, and nobody gets there.`);
    for (const t of facts.kept.slice(0, 3))
        words.push(whyKept(execution, facts, t));
    if (facts.kept.length > 3)
        words.push(`${capital(threadsText(facts.kept.slice(3), 0))} likewise.`);
    if (facts.kept.length > 0 && facts.kept.every((t) => LETTERS[facts.state.letters[t]] !== "a"))
        words.push("Each waits for the other: no schedule can help.");
    else if (loop.idle.length > 0)
        words.push("It is a matter of the schedule: with another one it may end.");
    return words;
}

// What the other execution does that this loop never comes to.
function rescueWords(stuck, other) {
    const facts = loopFacts(stuck);
    if (!facts || other.side.loop)
        return [];
    const lines = new Set(rescuers(stuck, facts).map((w) => w.line));
    for (let i = 0; i < other.count; i++) {
        const shape = other.shape(i);
        const thread = shape.threads.find((t) => facts.kept.includes(t));
        const write = other.accesses(i).find((a) => a.kind % ASKS !== 0);
        if (thread === undefined || !lines.has(shape.line) || !write)
            continue;
        const what = other.addressName(write.address);
        return [{ step: i + other.first, text: `Under ${other.side.subject} thread ${thread} is not kept waiting: at step ${i + other.first} it comes to line ${shape.line} and sets ${what} to ${write.value}. That is what ${threadsText(facts.runs, other.side.threads)} ${facts.runs.length === 1 ? "waits" : "wait"} for under ${stuck.side.subject}, in vain.` }];
    }
    return [];
}

function partingWords(a, b, parting) {
    const goes = (execution, line, s) => {
        if (line)
            return `${execution.side.subject} takes it to line ${line} (step ${parting.at[s] - 1 + execution.first})`;
        return `${execution.side.subject} takes it nowhere after step ${parting.at[s] - 1 + execution.first}`;
    };
    return `They part at thread ${parting.thread}: ${goes(a, parting.lines[0], 0)}, ${goes(b, parting.lines[1], 1)}.`;
}
