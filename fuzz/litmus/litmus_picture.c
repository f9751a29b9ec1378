#include "fuzz/litmus/litmus_picture.h"

#include "engine/litmus/litmus_path.h"
#include "fuzz/litmus/litmus_graph.h"
#include "fuzz/litmus/litmus_page.h"
#include "fuzz/out/markup.h"

#include <errno.h>
#include <string.h>

enum { COLUMN = 270, ROW = 78, WIDTH = 166, HEIGHT = 40, LEFT = 30, TOP = 56 };

struct picture {
    FILE *out;
    struct arena *arena;
    const struct litmus_test *test;
    const struct axiom_execution *x;
    const char *title;
    struct axiom_edge *edges;
    uint32_t count;
    const struct axiom_refusal *refusal; /* NULL: the model allows it */
};

/* ---- what is shown ---- */

static bool satisfies(struct arena *arena, const struct litmus_test *test, const int16_t *values)
{
    struct litmus_test *exists = ARENA_NEW(arena, struct litmus_test);
    struct litmus_result one = {.count = 0};
    *exists = *test;
    exists->condition.asks = ASKS_EXISTS;
    litmus_add_outcome(arena, exists, &one, values);
    return litmus_holds(exists, &one);
}

static bool has(const struct litmus_result *result, const int16_t *values)
{
    for (uint32_t i = 0; i < result->count; i++)
        if (memcmp(result->values[i], values, sizeof result->values[i]) == 0)
            return true;
    return false;
}

/* What the condition asks about; without one, what sc has not. */
static bool is_asked(struct arena *arena, const struct litmus_test *test,
                     const struct litmus_result *sc, const int16_t *values)
{
    return test->condition.asks ? satisfies(arena, test, values) : !has(sc, values);
}

static const int16_t *find_in(struct arena *arena, const struct litmus_test *test,
                              const struct litmus_result *sc, const struct litmus_result *in)
{
    for (uint32_t i = 0; i < in->count; i++)
        if (is_asked(arena, test, sc, in->values[i]))
            return in->values[i];
    return NULL;
}

/* Of a model; else of all executions, whether a model allows them or not; else the first of sc. */
static const int16_t *asked_values(struct arena *arena, const struct litmus_test *test,
                                   const struct litmus_result results[LITMUS_MODELS])
{
    const struct litmus_result *sc = &results[LITMUS_SC];
    struct litmus_result again, *refused = ARENA_NEW(arena, struct litmus_result);
    struct axiom_witness *witness = ARENA_NEW(arena, struct axiom_witness);
    const int16_t *values = NULL;
    for (uint32_t m = LITMUS_MODELS; m-- > 0 && !values;)
        if (!results[m].silent)
            values = find_in(arena, test, sc, &results[m]);
    *witness = (struct axiom_witness){.refused = refused};
    if (!values && axiom_run(arena, test, AXIOM_SC, LITMUS_CANDIDATES_MAX, &again, witness))
        values = find_in(arena, test, sc, refused);
    return values ? values : sc->count ? sc->values[0] : NULL;
}

/* ---- events and arrows ---- */

/* a .. z, a1 .. */
static const char *letter(const struct picture *p, uint32_t i)
{
    return i < 26 ? arena_printf(p->arena, "%c", 'a' + (int)i)
                  : arena_printf(p->arena, "%c%u", 'a' + (int)i % 26, (unsigned)i / 26);
}

static const char *event_text(const struct picture *p, uint32_t i)
{
    const struct axiom_event *e = &p->x->events[i];
    if (e->kind > EVENT_WRITE)
        return arena_printf(p->arena, "%s: %s", letter(p, i),
                            e->kind == EVENT_FENCE ? "fence" : "barrier");
    return arena_printf(p->arena, "%s: %s %s = %d", letter(p, i),
                        e->kind == EVENT_READ ? "reads" : "writes",
                        litmus_word_name(p->arena, p->test, e->word), (int)e->value);
}

static const char *code_text(const struct picture *p, uint32_t i)
{
    return litmus_text(p->arena, p->test, p->x->events[i].thread, p->x->events[i].pc);
}

static bool same_edge(const struct axiom_edge *a, const struct axiom_edge *b)
{
    return a->from == b->from && a->to == b->to && strcmp(a->name, b->name) == 0;
}

static bool in_circle(const struct picture *p, const struct axiom_edge *edge)
{
    for (uint32_t i = 0; p->refusal && i < p->refusal->length; i++)
        if (same_edge(&p->refusal->circle[i], edge))
            return true;
    return false;
}

/* Those of the circle that are not shown anyhow come last. */
static void find_edges(struct picture *p)
{
    p->edges = ARENA_ARRAY(p->arena, struct axiom_edge, GRAPH_EDGES + AXIOM_EVENTS);
    p->count = graph_edges(p->x, p->edges);
    for (uint32_t i = 0; p->refusal && i < p->refusal->length; i++) {
        bool there = false;
        for (uint32_t k = 0; k < p->count; k++)
            there |= same_edge(&p->edges[k], &p->refusal->circle[i]);
        if (!there)
            p->edges[p->count++] = p->refusal->circle[i];
    }
}

static const struct {
    const char *name, *color, *dashes;
} looks[] = {{"po", "#6b7280", ""},       {"rf", "#1b7f3b", ""},     {"co", "#9a5b00", "2 3"},
             {"fr", "#b3261e", "8 4"},    {"rmw", "#6b7280", "1 3"}, {"dep", "#6b7280", "1 3"},
             {"sync", "#6f42c1", "10 3"}, {"sc", "#6f42c1", "10 3"}, {"bar", "#6f42c1", "10 3"},
             {"", "#6f42c1", "4 2"}};

static uint32_t look_of(const char *name)
{
    uint32_t i = 0;
    while (looks[i].name[0] && strcmp(looks[i].name, name) != 0)
        i++;
    return i;
}

/* ---- dot ---- */

static void dot_string(FILE *out, const char *text)
{
    for (fputc('"', out); *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_dot(const struct picture *p)
{
    fprintf(p->out,
            "digraph {\n  labelloc = t;\n  node [shape = box, fontname = monospace];\n  label = ");
    dot_string(p->out, p->title);
    fprintf(p->out, ";\n");
    for (uint32_t t = 0; t < p->test->count; t++) {
        fprintf(p->out, "  subgraph cluster_%u {\n    label = \"P%u\";\n", (unsigned)t,
                (unsigned)t);
        for (uint32_t i = 0; i < p->x->count; i++) {
            if (p->x->events[i].thread != t)
                continue;
            fprintf(p->out, "    e%u [label = ", (unsigned)i);
            dot_string(p->out, arena_printf(p->arena, "%s\n%s", event_text(p, i), code_text(p, i)));
            fprintf(p->out, "];\n");
        }
        fprintf(p->out, "  }\n");
    }
    for (uint32_t i = 0; i < p->count; i++) {
        const struct axiom_edge *e = &p->edges[i];
        fprintf(p->out, "  e%u -> e%u [label = \"%s\", color = \"%s\"%s];\n", (unsigned)e->from,
                (unsigned)e->to, e->name, looks[look_of(e->name)].color,
                in_circle(p, e) ? ", penwidth = 3" : "");
    }
    fprintf(p->out, "}\n");
}

/* ---- SVG ---- */

struct spot {
    int x, y;
};

static struct spot place(const struct picture *p, uint32_t i)
{
    int row = 0;
    for (uint32_t k = 0; k < i; k++)
        row += p->x->events[k].thread == p->x->events[i].thread;
    return (struct spot){LEFT + p->x->events[i].thread * COLUMN, TOP + row * ROW};
}

/* Between the borders of two boxes, a little aside for each relation, so that arrows do not lie on one another. */
static const char *arrow(const struct picture *p, const struct axiom_edge *e, struct spot *label)
{
    struct spot a = place(p, e->from), b = place(p, e->to);
    int aside = ((int)look_of(e->name) - 3) * 5, down = b.y > a.y ? 6 : -6;
    bool po = strcmp(e->name, "po") == 0, right = b.x > a.x;
    if (a.x == b.x && po && b.y - a.y == ROW) {
        *label = (struct spot){a.x + WIDTH / 2 + 12, a.y + HEIGHT + 22};
        return arena_printf(p->arena, "M%d,%d L%d,%d", a.x + WIDTH / 2, a.y + HEIGHT,
                            b.x + WIDTH / 2, b.y - 5);
    }
    if (a.x == b.x) {
        int x = a.x + (po ? 0 : WIDTH), bend = po ? x - 24 : x + 26 + (aside < 0 ? -aside : aside);
        int from = a.y + HEIGHT / 2 + down, to = b.y + HEIGHT / 2 - down;
        *label = (struct spot){(x + 3 * bend) / 4, (from + to) / 2};
        return arena_printf(p->arena, "M%d,%d C%d,%d %d,%d %d,%d", x, from, bend, from, bend, to,
                            x + (po ? -5 : 5), to);
    }
    int x1 = right ? a.x + WIDTH : a.x, x2 = right ? b.x - 6 : b.x + WIDTH + 6;
    int y1 = a.y + HEIGHT / 2 + aside, y2 = b.y + HEIGHT / 2 + aside;
    *label = (struct spot){x1 + (x2 - x1) / 5, y1 + (y2 - y1) / 5 - 3};
    return arena_printf(p->arena, "M%d,%d L%d,%d", x1, y1, x2, y2);
}

static void svg_text(const struct picture *p, int x, int y, const char *color, const char *text)
{
    fprintf(p->out, "<text x=\"%d\" y=\"%d\" fill=\"%s\">", x, y, color);
    markup_text(p->out, text);
    fprintf(p->out, "</text>\n");
}

static void svg_arrow(const struct picture *p, const struct axiom_edge *e)
{
    struct spot label;
    uint32_t look = look_of(e->name);
    const char *line = arrow(p, e, &label);
    bool thick = in_circle(p, e);
    fprintf(
        p->out,
        "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-dasharray=\"%s\" "
        "marker-end=\"url(#h%u)\"/>\n",
        line, looks[look].color, thick ? "3.5" : "1.5", looks[look].dashes, (unsigned)look);
    if (strcmp(e->name, "po") != 0 || thick)
        svg_text(p, label.x, label.y, looks[look].color, e->name);
}

static void svg_event(const struct picture *p, uint32_t i)
{
    static const char *const borders[] = {[EVENT_READ] = "#1f5fbf",
                                          [EVENT_WRITE] = "#9a5b00",
                                          [EVENT_FENCE] = "#6b7280",
                                          [EVENT_BARRIER] = "#6b7280"};
    struct spot at = place(p, i);
    fprintf(p->out,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#fff\" "
            "stroke=\"%s\" stroke-width=\"2\"/>\n",
            at.x, at.y, WIDTH, HEIGHT, borders[p->x->events[i].kind]);
    svg_text(p, at.x + 8, at.y + 17, "#1c1f24", event_text(p, i));
    svg_text(p, at.x + 8, at.y + 32, "#5b6270", code_text(p, i));
}

static void put_svg(const struct picture *p)
{
    int width = LEFT + p->test->count * COLUMN, height = TOP;
    for (uint32_t i = 0; i < p->x->count; i++)
        height = place(p, i).y + HEIGHT + 12 > height ? place(p, i).y + HEIGHT + 12 : height;
    fprintf(p->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" font-family=\"monospace\" font-size=\"12\">\n<title>",
            width, height, width, height);
    markup_text(p->out, p->title);
    fprintf(p->out, "</title>\n<defs>\n");
    for (uint32_t i = 0; i < sizeof looks / sizeof *looks; i++)
        fprintf(p->out,
                "<marker id=\"h%u\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" markerWidth=\"11\" "
                "markerHeight=\"11\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
                "<path d=\"M0,0 L8,4 L0,8 z\" fill=\"%s\"/></marker>\n",
                (unsigned)i, looks[i].color);
    fprintf(p->out, "</defs>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height);
    svg_text(p, LEFT, 18, "#1c1f24", p->title);
    for (uint32_t t = 0; t < p->test->count; t++)
        svg_text(p, LEFT + (int)t * COLUMN, 42, "#5b6270",
                 arena_printf(p->arena, "P%u: block %u", (unsigned)t,
                              (unsigned)p->test->threads[t].cta));
    for (uint32_t i = 0; i < p->count; i++)
        svg_arrow(p, &p->edges[i]);
    for (uint32_t i = 0; i < p->x->count; i++)
        svg_event(p, i);
    fprintf(p->out, "</svg>\n");
}

/* ---- files ---- */

static bool write_picture(struct cli *cli, struct picture *p, const char *folder, const char *name,
                          void (*put)(const struct picture *))
{
    char *path = arena_printf(p->arena, "%s/%s", folder, name);
    for (char *at = path + strlen(folder) + 1; *at; at++)
        if (*at == '/')
            *at = '_';
    p->out = fopen(path, "wb");
    if (p->out)
        put(p);
    bool failed = !p->out || ferror(p->out);
    if ((p->out && fclose(p->out) != 0) || failed) {
        cli_message(cli, "cannot write '%s': %s", path, strerror(errno));
        return false;
    }
    return true;
}

static const char *values_text(struct arena *arena, const struct litmus_test *test,
                               const int16_t *values)
{
    struct litmus_result one = {.count = 0};
    litmus_add_outcome(arena, test, &one, values);
    return one.outcomes[0];
}

/* A model's; silent where no execution ends so. */
static bool picture_of(struct cli *cli, const struct litmus_test *test, enum litmus_model m,
                       const int16_t *values)
{
    struct arena *arena = &cli->arena;
    struct litmus_result again;
    struct axiom_refusal *refusal = ARENA_NEW(arena, struct axiom_refusal);
    struct axiom_witness *witness = ARENA_NEW(arena, struct axiom_witness);
    struct picture p = {.arena = arena, .test = test};
    *witness = (struct axiom_witness){.wanted = values, .refusal = refusal};
    if (!axiom_run(arena, test, axiom_model_of(m), LITMUS_CANDIDATES_MAX, &again, witness) ||
        again.silent || (!witness->found && !refusal->axiom))
        return true;
    p.x = witness->found ? &witness->execution : &refusal->execution;
    p.refusal = witness->found ? NULL : refusal;
    p.title =
        arena_printf(arena, "%s: %s under %s: %s%s", test->name, values_text(arena, test, values),
                     litmus_model_names[m], witness->found ? "allowed" : "forbidden by ",
                     witness->found ? "" : refusal->axiom);
    find_edges(&p);
    const char *name = arena_printf(arena, "%s.%s", test->name, litmus_model_names[m]);
    return (!cli->options.litmus_dot ||
            write_picture(cli, &p, cli->options.litmus_dot, arena_printf(arena, "%s.dot", name),
                          put_dot)) &&
           (!cli->options.litmus_svg ||
            write_picture(cli, &p, cli->options.litmus_svg, arena_printf(arena, "%s.svg", name),
                          put_svg));
}

bool litmus_pictures(struct cli *cli, const struct litmus_test *test,
                     const struct litmus_result results[LITMUS_MODELS])
{
    if (!cli->options.litmus_dot && !cli->options.litmus_svg)
        return true;
    const int16_t *values = asked_values(&cli->arena, test, results);
    for (uint32_t m = 0; values && m < LITMUS_MODELS; m++) {
        bool axioms = m == LITMUS_SC || m > LITMUS_COHERENT;
        if (axioms && !results[m].silent && !picture_of(cli, test, (enum litmus_model)m, values))
            return false;
    }
    return true;
}
