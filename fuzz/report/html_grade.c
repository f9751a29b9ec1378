/*
 * html_grade.c - the grade of the hunt, from the table that tests/mutation/grade.sh makes (named.tsv, auto.tsv):
 * how many planted faults of each class were detected. docs/grading.md says what the columns are.
 */
#include "fuzz/report/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum column {
    FAMILY,
    CLASS,
    NAME,
    FILE_NAME,
    PLACE,
    REACHED,
    TRIGGERED,
    DETECTED,
    SPEAKER,
    COLUMNS = 14
};

struct fault_row {
    const char *cells[COLUMNS];
};

struct grade {
    struct fault_row *rows;
    uint32_t count;
};

/* Splits a line at its tabulators, in place. False: not a row of the table. */
static bool split(char *line, struct fault_row *row)
{
    uint32_t count = 0;
    for (char *at = line; at && count < COLUMNS; count++) {
        char *tab = strchr(at, '\t');
        row->cells[count] = at;
        if (tab)
            *tab++ = '\0';
        at = tab;
    }
    return count > SPEAKER && strcmp(row->cells[FAMILY], "family") != 0 &&
           (count <= 12 || strncmp(row->cells[12], "control", 7) != 0);
}

static int compare_rows(const void *left, const void *right)
{
    const struct fault_row *a = left, *b = right;
    static const enum column keys[] = {FAMILY, CLASS, NAME};
    int order = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && order == 0; i++)
        order = strcmp(a->cells[keys[i]], b->cells[keys[i]]);
    return order;
}

static struct grade read_grade(struct arena *arena, const char *text)
{
    struct grade grade = {.count = 0};
    uint32_t lines = 1;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    grade.rows = ARENA_ARRAY(arena, struct fault_row, lines);
    while (*text) {
        size_t length = strcspn(text, "\n");
        grade.count += split(arena_strndup(arena, text, length), &grade.rows[grade.count]);
        text += length + (text[length] == '\n');
    }
    qsort(grade.rows, grade.count, sizeof *grade.rows, compare_rows);
    return grade;
}

/* By a campaign in some case, or by the corpus, a canary or a test. */
static bool detected(const struct fault_row *row)
{
    static const char *const others[] = {"corpus", "canary", "test "};
    const char *case_number = row->cells[DETECTED];
    if (*case_number >= '0' && *case_number <= '9')
        return true;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(row->cells[SPEAKER], others[i], strlen(others[i])) == 0)
            return true;
    return false;
}

static bool same(const struct fault_row *a, const struct fault_row *b, enum column column)
{
    return strcmp(a->cells[column], b->cells[column]) == 0;
}

/* The faults of one class: a row of the page's table. Returns the end of the class. */
static uint32_t put_class(struct page *page, const struct grade *g, uint32_t first)
{
    const struct fault_row *rows = g->rows;
    uint32_t i = first, faults = 0, found = 0;
    const char *missed = "";
    while (i < g->count && same(&rows[i], &rows[first], FAMILY) &&
           same(&rows[i], &rows[first], CLASS)) {
        const struct fault_row *fault = &rows[i];
        bool spoke = false;
        for (; i < g->count && compare_rows(&rows[i], fault) == 0; i++)
            spoke |= detected(&rows[i]);
        faults++;
        found += spoke;
        if (!spoke && faults - found <= 20)
            missed = arena_printf(page->arena, "%s%s%s", missed, *missed ? ", " : "",
                                  fault->cells[NAME]);
    }
    fputs("<tr><td>", page->out);
    markup_text(page->out, rows[first].cells[FAMILY]);
    fputs("</td><td>", page->out);
    markup_text(page->out, rows[first].cells[CLASS]);
    fprintf(page->out,
            "</td><td class=\"r\">%" PRIu32 "</td><td class=\"r\">%" PRIu32
            "</td><td class=\"wide\">",
            faults, found);
    markup_text(page->out, missed);
    fputs(faults - found > 20 ? ", ...</td></tr>\n" : "</td></tr>\n", page->out);
    return i;
}

void html_grade(struct page *page)
{
    size_t mark = arena_mark(page->arena);
    struct grade grade = read_grade(page->arena, page->report->options.grade_table);
    fputs(
        "<section id=\"grade\" aria-labelledby=\"grade-title\">\n<h2 id=\"grade-title\">Grade: "
        "planted "
        "faults</h2>\n<div class=\"panel scroll\"><table>\n<thead><tr><th scope=\"col\">family</th>"
        "<th scope=\"col\">class</th><th class=\"r\" scope=\"col\">faults</th>"
        "<th class=\"r\" scope=\"col\">detected</th><th scope=\"col\">not detected (some change "
        "nothing: docs/grade.md)</th></tr></thead>\n<tbody>\n",
        page->out);
    for (uint32_t i = 0; i < grade.count;)
        i = put_class(page, &grade, i);
    fputs("</tbody></table></div>\n</section>\n", page->out);
    arena_release(page->arena, mark);
}
