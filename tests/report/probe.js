// Looks at the page in the frame and says what it saw, one line, in #said (browser.sh), with contrast.js before it.
"use strict";

// What the tabulator key comes to: in the order of the document, what is not folded away.
function reached(document) {
    const focusable = "a[href], summary, [tabindex='0']";
    return [...document.querySelectorAll(focusable)].filter((element) => {
        element.focus();
        return document.activeElement === element;
    });
}

const frame = document.getElementById("f");

window.addEventListener("load", () => {
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
    parent.document.getElementById("said").textContent = [
        `width ${root.scrollWidth} of ${root.clientWidth}`,
        `findings ${findings.length}`,
        `reached ${summaries.length}`,
        `duplicates ${ids.length - new Set(ids).size}`,
        `requests ${requests}`,
        `low contrast ${words.length} ${words.slice(0, 5).join(", ")}`,
        `unfolded ${folded.length}`,
        `scheme ${window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"}`,
    ].join("; ");
});
