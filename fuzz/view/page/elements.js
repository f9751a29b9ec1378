// elements.js - parts of pages: elements, shapes, words in a row. Before all other scripts.
"use strict";

const CHARACTERS_HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

// Text of a kernel may turn the direction of writing around: such characters are shown by name.
function plain(text) {
    return text.replace(CHARACTERS_HIDDEN, (c) => `[U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

function element(name, attributes, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {}))
        if (value !== null && value !== undefined && value !== false)
            node.setAttribute(key, value === true ? "" : value);
    node.append(...children.map((c) => (typeof c === "string" ? plain(c) : c)).filter((c) => c !== null));
    return node;
}

function shape(name, attributes, ...children) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes))
        node.setAttribute(key, String(value));
    node.append(...children.map((c) => (typeof c === "string" ? plain(c) : c)));
    return node;
}

function listed(words) {
    return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

function capital(text) {
    return text.charAt(0).toUpperCase() + text.slice(1);
}
