/*
 * host_mistakes.c - host programs that are right, and the same with one mistake: what is said of them, and at which
 * line, by docs/host.md ("What check says", and the table of statements).
 */
#include "engine/device/device.h"
#include "oracle/device/host_tiny.h"

#include <string.h>

static const char head[] =
    "kernel k\nlaunch(threads = 1);\nglobal int x[2];\nglobal int y[1];\nkernel k() {\n x[0] = "
    "1;\n}\nend\n"
    "host h[2]\nhost m[4] = iota\nbuffer a[2]\nbuffer b[1]\nstream s\nevent e\n";
#define LAUNCH "launch l: k grid=1 block=1 x=a y=b"

/* Lines that are right, one behind them, and what is said of that one; NULL: nothing. */
static const struct {
    const char *before, *line, *says;
} lines[] = {
    /* words */
    {"", "copy a -> h", NULL},
    {"", "copy a -> h from=1 count=1", NULL},
    {"", "copy a -> h from=1 count=2", "out of bounds: a copy of words 1 to 2 of 'a'"},
    {"", "copy a -> h from=1 into=1 count=1", NULL},
    {"", "copy h -> b", "out of bounds: a copy of words 0 to 1 of 'b'"},
    {"", "copy m -> a into=1 count=2", "out of bounds: a copy of words 1 to 2 of 'a'"},
    {"", "copy m -> a from=2 count=2", NULL},
    {"", "copy a -> h count=0", "a copy of no words"},
    {"", "set a[1] = 5", NULL},
    {"", "set a[2] = 5", "out of bounds: word 2 of 'a'"},
    {"", "set m[2] = {1, 2}", NULL},
    {"", "set a[1] = -2147483648", NULL},
    {"", "set a[1] = 4294967295", NULL},
    {"", "set a[1] = -2147483649", "a number of 32 bits is expected, not `-2147483649`"},
    {"", "set a[1] = 4294967296", "a number of 32 bits is expected, not `4294967296`"},
    {"", "set m[3] = {1, 2}", "out of bounds: a write of words 3 to 4 of 'm'"},
    {"", "expect m[3] == 3", NULL},
    {"", "expect m[4] == 3", "out of bounds: word 4 of 'm'"},
    {"", "expect m[2] == {2, 3}", NULL},
    {"", "expect m[2] in {2}", NULL},
    {"", "expect m[2] in {-1, 2}", NULL},
    {"", "expect m[3] == {2, 3}", "out of bounds: a read of words 3 to 4 of 'm'"},
    {"", "observe m[3]", NULL},
    {"observe m[3] a[1]\n", "claim printed sms=1: outcomes 3,0; never lost; stuck", NULL},
    {"observe m[3]\n", "claim sc: outcomes 3; lost; stuck", NULL},
    {"", "claim sc: never lost", NULL},
    {"", "observe m[4]", "'m' has 4 words"},
    {"", "buffer c[2] = {1, 2, 3}", "3 values for 2 words"},
    {"", "buffer c[3] = random 7", NULL},
    {"", "buffer c[3] = all -7", NULL},
    {"", "buffer c[3] = {-1}", NULL},
    {"", "buffer c[0]", "an array has one word at least"},
    /* names */
    {"", "buffer a[1]", "'a' is there already"},
    {"context o\n", "buffer a[1]", NULL},
    {"", "stream s", "'s' is there already"},
    {"context o\n", "stream s", NULL},
    {"", "event e", "'e' is there already"},
    {"context o\n", "copy h -> a", "buffer 'a' belongs to context 'main'"},
    {"context o\n", "copy h -> m count=2", NULL},
    {"context o\n", "copy h -> m count=2 stream=s", "context 'o' has no stream 's'"},
    {"context o\nuse main\n", "copy h -> a stream=s", NULL},
    {"", "use o", "there is no context 'o'"},
    {"", "launch q grid=1 block=1", "there is no kernel 'q'"},
    {"", "abort q", "no launch above is named 'q'"},
    {LAUNCH "\n", "abort l", NULL},
    {"", "wait q", "context 'main' has no event 'q'"},
    {"", "copy a -> q", "no buffer and no array of the host is named 'q'"},
    {"", "launch k grid=2x3x4 block=1x1x2 shared=12 x=a y=b", NULL},
    {"", "launch k grid=1x1x2 block=3x2 stream=s x=a y=b", NULL},
    {"", "launch k grid=0 block=1 x=a y=b", "a grid of 0"},
    {"", "launch k grid=1 block=1 x=a x=b", "argument 'x' is given twice"},
    {"", "launch k grid=1 block=1 x=h y=b", "'h' is an array of the host, which no kernel reaches"},
    /* lives */
    {"", "free a", NULL},
    {"", "free h", "'h' is an array of the host, which nobody frees"},
    {"free a\n", "free a", "buffer 'a' was freed in line 15"},
    {"free a\n", "copy h -> a", "buffer 'a' was freed in line 15"},
    {"free a\n", "copy b -> h count=1", NULL},
    {"context o\nbuffer c[1]\ndestroy o\nuse main\n", "copy h -> a", NULL},
    {"context o\nbuffer c[1]\ndestroy o\n", "use o", "context 'o' was destroyed in line 17"},
    {"context o\ndestroy o\nuse main\n", "destroy o", "context 'o' was destroyed in line 16"},
    {"context o\nbuffer c[1]\nfree c\ndestroy o\nuse main\n", "observe a[0]", NULL},
    {"context o\nbuffer c[1]\nbuffer f[1]\nfree c\ndestroy o\nuse main\n", "copy f -> h",
     "buffer 'f' belongs to context 'o'"},
    {"context o\nbuffer c[1]\nfree c\ndestroy o\nuse main\n", "copy c -> h",
     "buffer 'c' belongs to context 'o'"},
    /* work under way */
    {LAUNCH "\n", "free a", "free of 'a' in flight: nothing waits for the launch of line 15"},
    {LAUNCH "\n", "free a now", NULL},
    {LAUNCH "\nsync\n", "free a", NULL},
    {LAUNCH "\nsync\nlaunch k grid=1 block=1 x=a y=b\n", "free a",
     "free of 'a' in flight: nothing waits for the launch of line 17"},
    {LAUNCH "\ncontext o\nsync\nuse main\n", "free a", "free of 'a' in flight"},
    {LAUNCH "\ncontext o\nuse main\nsync\n", "free a", NULL},
    {LAUNCH " stream=s\nsync s\n", "free b", NULL},
    {LAUNCH "\nsync s\n", "free b", "free of 'b' in flight"},
    {LAUNCH " stream=s\nrecord e stream=s\nsync e\n", "free a", NULL},
    {LAUNCH " stream=s\nrecord e\nsync e\n", "free a", "free of 'a' in flight"},
    {"record e stream=s\n" LAUNCH " stream=s\nsync e\n", "free a", "free of 'a' in flight"},
    {"record e stream=s\n" LAUNCH " stream=s\nrecord e stream=s\nsync e\n", "free a", NULL},
    {LAUNCH " stream=s\nrecord e stream=s\nwait e\ncopy b -> h count=1\n", "free a", NULL},
    {LAUNCH "\n", "copy b -> h count=1\nfree a", NULL},
    {LAUNCH " stream=s\ncopy b -> h count=1\n", "free a", "free of 'a' in flight"},
    {"context o\n", "destroy o", NULL},
    {"context o\nbuffer c[2]\nbuffer f[1]\nlaunch l: k grid=1 block=1 x=c y=f\n", "destroy o",
     "destroy of 'o' in flight: nothing waits for the launch of line 18"},
    {"context o\nbuffer c[2]\nbuffer f[1]\nlaunch l: k grid=1 block=1 x=c y=f\nuse main\nsync\nuse "
     "o\n",
     "free c", "free of 'c' in flight"},
    {"context o\nbuffer c[2]\nbuffer f[1]\nlaunch l: k grid=1 block=1 x=c y=f\nsync\n", "free c",
     NULL},
    {LAUNCH "\ncontext o\n", "destroy o", NULL},
    /* who waits for whom */
    {"", "wait e", "deadlock: nobody records event 'e'"},
    {"wait e\n", "record e", "deadlock: "},
    {"wait e stream=s\n", "record e", NULL},
    {"wait e\nrecord e stream=s\n", "record e", NULL},
    {"wait e\nrecord e\n", "record e stream=s", "deadlock: "},
    {"record e\n", "wait e", NULL},
    /* texts */
    {"", "freed a", "`freed` begins no statement of a host program"},
    {"", "free a b", "nothing more is expected in this line, not `b`"},
    {"", "copy a h", "a copy is `copy FROM -> TO`"},
};
enum { LINES = sizeof lines / sizeof *lines };

static uint32_t lines_in(const char *text)
{
    uint32_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* ---- what is printed and read again ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_values(const struct host_values *a, const struct host_values *b, uint32_t words)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; i < words; i++)
        same = same && host_value(a, i) == host_value(b, i);
    return same;
}

static bool same_arguments(const struct host_statement *a, const struct host_statement *b)
{
    bool same = a->argument_count == b->argument_count;
    for (uint32_t i = 0; same && i < a->argument_count; i++)
        same = same_text(a->arguments[i].name, b->arguments[i].name) &&
               same_text(a->arguments[i].text, b->arguments[i].text) &&
               a->arguments[i].array == b->arguments[i].array;
    return same;
}

static bool same_statement(const struct host_statement *a, const struct host_statement *b)
{
    const bool listed = a->kind == HOST_SET || a->kind == HOST_EXPECT;
    return a->kind == b->kind && a->context == b->context && a->stream == b->stream &&
           a->has_stream == b->has_stream && a->event == b->event && a->target == b->target &&
           a->array == b->array && a->to == b->to && a->from == b->from && a->into == b->into &&
           a->count == b->count && a->any == b->any && a->now == b->now &&
           same_text(a->name, b->name) && a->kernel == b->kernel && a->shared == b->shared &&
           memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 && same_arguments(a, b) &&
           (!listed || same_values(&a->values, &b->values, a->any ? 0 : a->count));
}

static bool same_claims(const struct host_program *a, const struct host_program *b)
{
    bool same = a->claim_count == b->claim_count && a->observed_count == b->observed_count;
    for (uint32_t i = 0; same && i < a->claim_count; i++)
        same = strcmp(a->claims[i].options, b->claims[i].options) == 0 &&
               same_text(a->claims[i].outcomes, b->claims[i].outcomes) &&
               a->claims[i].lost == b->claims[i].lost && a->claims[i].stuck == b->claims[i].stuck;
    for (uint32_t i = 0; same && i < a->observed_count; i++)
        same = a->observed[i].array == b->observed[i].array &&
               a->observed[i].word == b->observed[i].word;
    return same;
}

static bool prints_itself(struct arena *arena, const struct host_program *a)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *text = host_print(arena, a);
    diag_init(diag, "printed", text, strlen(text));
    const struct host_program *b = host_parse(arena, "printed", text, strlen(text), diag);
    bool same = b && a->count == b->count && a->array_count == b->array_count;
    for (uint32_t i = 0; same && i < a->count; i++)
        same = same_statement(&a->statements[i], &b->statements[i]);
    for (uint32_t i = 0; same && i < a->array_count; i++)
        same = strcmp(a->arrays[i].name, b->arrays[i].name) == 0 &&
               a->arrays[i].words == b->arrays[i].words &&
               a->arrays[i].is_host == b->arrays[i].is_host &&
               same_values(&a->arrays[i].values, &b->arrays[i].values, a->arrays[i].words);
    return same && same_claims(a, b);
}

/* ---- a line ---- */

static const char *compare(struct arena *arena, uint32_t i)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *text = arena_printf(arena, "%s%s%s\n", head, lines[i].before, lines[i].line);
    uint32_t line = lines_in(head) + lines_in(lines[i].before) + 1;
    diag_init(diag, "mistake", text, strlen(text));
    const struct host_program *program = host_parse(arena, "mistake", text, strlen(text), diag);
    const struct diag_entry *first = &diag->entries[0];
    if (!lines[i].says && program)
        return prints_itself(arena, program)
                   ? NULL
                   : arena_printf(arena, "`%s` is printed as something else", lines[i].line);
    if (!lines[i].says)
        return arena_printf(arena, "`%s` is right, and refused: %s", lines[i].line, first->text);
    if (program)
        return arena_printf(arena, "`%s` is a mistake, and is not refused", lines[i].line);
    /* Which line of the circle is told is open. */
    bool deadlock = strncmp(lines[i].says, "deadlock", 8) == 0;
    if (!strstr(first->text, lines[i].says) || (first->at.line != line && !deadlock))
        return arena_printf(arena, "of `%s` this is said, of line %u: %s", lines[i].line,
                            (unsigned)first->at.line, first->text);
    return NULL;
}

const char *host_mistakes_differ(struct arena *arena, struct pcg *rng, uint32_t count)
{
    const char *differs = NULL;
    for (; count > 0 && !differs; count--)
        differs = compare(arena, pcg_below(rng, LINES));
    return differs;
}
