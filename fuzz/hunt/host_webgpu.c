/*
 * host_webgpu.c - the page that shows a finding in a browser: the text, the buffer, and the words that are wrong.
 */
#include "fuzz/hunt/host.h"

static const char script[] =
    "async function show() {\n"
    "    const adapter = await navigator.gpu.requestAdapter();\n"
    "    const requiredFeatures = ['subgroups'].filter(f => adapter.features.has(f));\n"
    "    const device = await adapter.requestDevice({requiredFeatures});\n"
    "    const module = device.createShaderModule({code});\n"
    "    const said = (await module.getCompilationInfo()).messages.filter(m => m.type == "
    "'error');\n"
    "    if (said.length) return said.map(m => `${m.lineNum}:${m.linePos}: ${m.message}`);\n"
    "    const pipeline = await device.createComputePipelineAsync(\n"
    "        {layout: 'auto', compute: {module, entryPoint: 'k0'}});\n"
    "    const usage = GPUBufferUsage, words = new Int32Array(initial), size = words.byteLength;\n"
    "    const buffer = device.createBuffer(\n"
    "        {size, usage: usage.STORAGE | usage.COPY_SRC | usage.COPY_DST});\n"
    "    const copy = device.createBuffer({size, usage: usage.MAP_READ | usage.COPY_DST});\n"
    "    device.queue.writeBuffer(buffer, 0, words);\n"
    "    const encoder = device.createCommandEncoder(), pass = encoder.beginComputePass();\n"
    "    pass.setPipeline(pipeline);\n"
    "    pass.setBindGroup(0, device.createBindGroup({\n"
    "        layout: pipeline.getBindGroupLayout(0),\n"
    "        entries: [{binding: 0, resource: {buffer}}]}));\n"
    "    pass.dispatchWorkgroups(blocks);\n"
    "    pass.end();\n"
    "    encoder.copyBufferToBuffer(buffer, 0, copy, 0, size);\n"
    "    device.queue.submit([encoder.finish()]);\n"
    "    await copy.mapAsync(GPUMapMode.READ);\n"
    "    const actual = new Int32Array(copy.getMappedRange());\n"
    "    const wrong = expected.map((word, i) =>\n"
    "        word == actual[i] ? '' : `word ${i} is ${actual[i]}, not ${word}`).filter(x => x);\n"
    "    return wrong.length ? wrong : ['all words are right'];\n"
    "}\n"
    "show().catch(e => [e.message]).then(lines => {\n"
    "    document.body.textContent = lines.join('\\n');\n"
    "});\n";

static void put_words(struct text *text, const char *name, const int32_t *words, uint32_t count)
{
    text_format(text, "const %s = [", name);
    for (uint32_t i = 0; i < count; i++)
        text_format(text, "%s%d", i ? ", " : "", (int)words[i]);
    text_put(text, "];\n");
}

const char *host_page(struct arena *arena, const struct hunt_finding *f,
                      const struct emitted *emitted, const char *kernel)
{
    struct text text = text_begin(arena);
    text_format(&text, "<!doctype html>\n<!-- %s -->\n<body></body>\n<script>\n",
                host_run_command(arena, f));
    text_format(&text, "const code = `\n%s`;\nconst blocks = %u;\n", kernel,
                (unsigned)emitted->blocks);
    put_words(&text, "initial", emitted->initial, emitted->words);
    put_words(&text, "expected", f->expected->final, f->expected->words);
    text_format(&text, "%s</script>\n", script);
    return text.bytes;
}
