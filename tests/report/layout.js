// Compares pictures of pages with what is stored of them: squares of SQUARE pixels, the lightness of each as a digit of base 16.
// `pictures` - a name, a file, where in it the picture begins -, their `height` and `stored` are set by the page (layout.sh).
// What it says stands in #said, a line a picture; with `blessing`, what is to be stored.
"use strict";

const SQUARE = 25;
// A square differs if its lightness does by more than one of sixteen steps; a layout, if more than one square in a hundred does.
const STEPS = 1, SHARE = 0.01;

function squaresOf(image, top) {
    const canvas = document.createElement("canvas"), width = image.naturalWidth;
    [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, -top);
    const { data } = context.getImageData(0, 0, width, height), rows = [];
    for (let y = 0; y + SQUARE <= height; y += SQUARE) {
        let row = "";
        for (let x = 0; x + SQUARE <= width; x += SQUARE) {
            let sum = 0;
            for (let i = 0; i < SQUARE * SQUARE; i++) {
                const at = 4 * ((y + Math.floor(i / SQUARE)) * width + x + i % SQUARE);
                sum += 0.299 * data[at] + 0.587 * data[at + 1] + 0.114 * data[at + 2];
            }
            row += Math.min(15, Math.floor(sum / (SQUARE * SQUARE * 16))).toString(16);
        }
        rows.push(row);
    }
    return rows;
}

// How many squares differ, and where the first of them is.
function compare(found, wanted) {
    if (found.length !== wanted.length || found[0].length !== wanted[0].length)
        return { share: 1, where: "another size" };
    let count = 0, where = "";
    found.forEach((row, y) => [...row].forEach((digit, x) => {
        if (Math.abs(parseInt(digit, 16) - parseInt(wanted[y][x], 16)) <= STEPS)
            return;
        where = where || `from ${x * SQUARE},${y * SQUARE} on`;
        count++;
    }));
    return { share: count / (found.length * found[0].length), where };
}

function load(url) {
    return new Promise((resolve, reject) => {
        const image = new Image();
        image.onload = () => resolve(image);
        image.onerror = () => reject(new Error(`no picture ${url}`));
        image.src = url;
    });
}

window.addEventListener("load", async () => {
    const said = [];
    for (const [i, [name, file, top]] of pictures.entries()) {
        try {
            const found = squaresOf(await load(file), top);
            if (blessing) {
                said.push(`= ${name}`, ...found);
                continue;
            }
            const { share, where } = compare(found, stored[i]);
            said.push(`${share <= SHARE ? "same" : "DIFFERS"} ${name}: ${(100 * share).toFixed(1)} % of its squares ${where}`);
        } catch (error) {
            said.push(`DIFFERS ${name}: ${error.message}`);
        }
    }
    document.getElementById("said").textContent = `\n${said.join("\n")}\n`;
});
