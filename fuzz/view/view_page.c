/*
 * view_page.c - the page: what a browser shows before the script runs, and what the script takes.
 *
 * Its content security policy allows the page's own style sheet and script, by their SHA-256, and nothing besides.
 */
#include "fuzz/base/version.h"
#include "fuzz/out/json.h"
#include "fuzz/out/markup.h"
#include "fuzz/view/view.h"

#include <stdlib.h>
#include <string.h>

static void put_head(const struct view_document *page, FILE *out)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'sha256-",
          out);
    markup_base64(out, page->css_sha256);
    fputs("'; script-src 'sha256-", out);
    markup_base64(out, page->js_sha256);
    fputs("'; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
          out);
    markup_text(out, page->title);
    fputs(" - simtfuzz view</title>\n<style>", out);
    fputs(page->css, out);
    fputs("</style>\n</head>\n", out);
}

/* In a script element `<` would begin a tag; it stands in strings only, where \u003c is the same. */
static void put_json(const char *text, size_t length, FILE *out)
{
    for (const char *end = text + length; text < end;) {
        const char *tag = memchr(text, '<', (size_t)(end - text));
        size_t plain = (size_t)((tag ? tag : end) - text);
        fwrite(text, 1, plain, out);
        text += plain;
        if (!tag)
            return;
        fputs("\\u003c", out);
        text++;
    }
}

static char *page_json(const struct view_page *page, size_t *length)
{
    char *text = NULL;
    struct json json;
    const struct ast_launch *launch = &page->kernel->launch;
    FILE *out = open_memstream(&text, length);
    if (!out)
        return NULL;
    json_line_begin(&json, out);
    json_key_u64(&json, "version", 1);
    json_key_string(&json, "name", page->name);
    json_key_string(&json, "kernel", page->kernel->name);
    json_key_string(&json, "note", page->note);
    json_key_u64(&json, "threads", launch->threads);
    json_key_u64(&json, "warp", launch->warp);
    json_key_u64(&json, "blocks", launch->blocks);
    json_key_hex(&json, "seed", launch->seed);
    json_key_string(&json, "source", page->source);
    json_key_string(&json, "parting", page->parting);
    json_key_array_begin(&json, "parts");
    for (int i = 0; i < 2; i++)
        json_u64(&json, page->parts[i]);
    json_array_end(&json);
    json_key_array_begin(&json, "sides");
    for (uint32_t i = 0; i < page->side_count; i++)
        json_raw(&json, page->sides[i].json);
    json_array_end(&json);
    json_line_end(&json);
    fclose(out);
    return text;
}

void view_put_document(const struct view_document *page, const char *json, size_t length, FILE *out)
{
    put_head(page, out);
    fputs("<body>\n<noscript><p>This page shows an execution step by step, and needs JavaScript "
          "for that; nothing is loaded from elsewhere.</p></noscript>\n"
          "<div id=\"view\"></div>\n<script type=\"application/json\" id=\"execution\">",
          out);
    put_json(json, length, out);
    fputs("</script>\n<script>", out);
    fputs(page->js, out);
    fprintf(out, "</script>\n<!-- made by simtfuzz %s -->\n</body>\n</html>\n", SIMTFUZZ_VERSION);
}

void view_write(const struct view_page *page, FILE *out)
{
    size_t length = 0;
    char *text = page_json(page, &length);
    struct view_document document = {page->name, view_css, view_css_sha256, view_js,
                                     view_js_sha256};
    if (text)
        view_put_document(&document, text, length, out);
    free(text);
}
