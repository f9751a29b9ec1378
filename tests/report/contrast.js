// How well text can be read: for the probes of pages (probe.js, view_probe.js).
"use strict";

function luminance(color) {
    const parts = color.match(/[\d.]+/g).map(Number);
    const [r, g, b] = parts.slice(0, 3).map((value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one, other) {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
}

function isClear(color) {
    return color === "transparent" || /, 0\)$/.test(color);
}

// What is behind an element: the first ancestor that paints.
function background(window, element) {
    for (let at = element; at; at = at.parentElement) {
        const color = window.getComputedStyle(at).backgroundColor;
        if (!isClear(color))
            return color;
    }
    return "rgb(255, 255, 255)";
}

// AA: 4.5, for large text 3. Pictures have text and shapes of their own: text on the page's card there.
function pale(window, document) {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.getClientRects().length || element.closest(".xt, style"))
            continue;
        const style = window.getComputedStyle(element);
        const large = parseFloat(style.fontSize) >= 24 ||
            (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
        const ratio = contrast(element.closest("svg") ? style.fill : style.color, background(window, element));
        if (ratio < (large ? 3 : 4.5))
            found.push(`${element.tagName}.${element.getAttribute("class")} ${ratio.toFixed(2)}`);
    }
    return found;
}
