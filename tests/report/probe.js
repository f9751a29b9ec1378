// Looks at the page in each frame and says what it saw, a line a frame, in #said (browser.sh), with contrast.js before it.
"use strict";

// What the tabulator key comes to: in the order of the document, what is not folded away.
function reached(document) {
    const focusable = "a[href], summary, [tabindex='0']";
    return [...document.querySelectorAll(focusable)].filter((element) => {
        element.focus();
        return document.activeElement === element;
    });
}

function look(frame) {
    const window = frame.contentWindow;
    const document = frame.contentDocument;
    const findings = [...document.querySelectorAll("details.finding")];
    const folded = document.querySelectorAll("details:not([open])");
    const summaries = reached(document).filter((element) => element.matches("details.finding > summary"));
    folded.forEach((element) => { element.open = true; });
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    const requests = window.performance.getEntriesByType("resource").length;
    const words = pale(window, document);
    const root = document.scrollingElement;
    folded.forEach((element) => { element.open = false; });
    window.document.activeElement.blur();
    return [
        `= ${frame.getAttribute("src")} ${root.clientWidth}: width ${root.scrollWidth}`,
        `findings ${findings.length}`,
        `reached ${summaries.length}`,
        `duplicates ${ids.length - new Set(ids).size}`,
        `requests ${requests}`,
        `low contrast ${words.length} ${words.slice(0, 5).join(", ")}`,
        `unfolded ${folded.length}`,
        `scheme ${window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"}`,
    ].join("; ");
}

window.addEventListener("load", () => {
    const said = [...document.querySelectorAll("iframe")].map(look);
    document.getElementById("said").textContent = `\n${said.join("\n")}\n`;
});
