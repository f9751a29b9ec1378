/* Lemmas of lockstep-cfg App. B about one thread of pi(P), on blocks of random kernels and random stores:
 * B.8, B.10 and B.12 (a block), B.9 and B.14-B.16 (which way on), and that stutter equivalence survives
 * updates by others (L933-939). Each with a fault that shows that it can fail. */
#include "engine/input/input.h"
#include "tests/unit/engine/blocks/random_blocks.h"

#include "engine/blocks/interleave.h"
#include "oracle/lockstep/image.h"

enum { KERNELS = 600, STORES = 6, STEPS = 2000, UPDATES = 400 };

struct pair {
    struct machine *p, *pi;
    struct image image;
    uint32_t *p_start, *pi_start;
};

static bool prepare(struct pair *x, uint32_t number)
{
    const struct machine_options options = {0};
    const struct ast_kernel *kernel = random_blocks_kernel(66, number);
    const struct program *P = kernel ? random_blocks_program(kernel, 1) : NULL;
    if (!P)
        return false;
    x->p = blocks_machine(P, &options);
    x->pi = blocks_machine(random_blocks_pi(P, number % 3), &options);
    x->p_start = ARENA_ARRAY(&test_arena, uint32_t, x->p->block_words);
    x->pi_start = ARENA_ARRAY(&test_arena, uint32_t, x->pi->block_words);
    image_start(&x->image, &test_arena, x->pi, x->p);
    machine_save(x->p, x->p_start);
    machine_save(x->pi, x->pi_start);
    return true;
}

static struct block_thread *thread_of(struct machine *machine)
{
    return (struct block_thread *)(uintptr_t)interleave_state(machine, 0);
}

static int32_t *active_of(struct pair *x)
{
    return &x->pi->memory[x->pi->threads[0].base[SPACE_LOCAL] + x->image.active_offset[0]];
}

/* The same values, -1 to 4, in all variables of P: file level, and the kernel's own. */
static void randomise(struct pair *x, struct pcg *rng)
{
    machine_restore(x->p, x->p_start, 0);
    machine_restore(x->pi, x->pi_start, 0);
    for (uint32_t i = 0; i < x->p->program->frame_base; i++)
        x->p->memory[i] = x->pi->memory[i] = (int32_t)pcg_below(rng, 6) - 1;
    uint32_t offset = 0;
    for (const struct ast_var *v = x->p->program->core->main->locals; v; v = v->next)
        for (uint32_t i = 0; i < v->length; i++, offset++)
            x->p->memory[x->p->threads[0].base[SPACE_LOCAL] + offset] =
                x->pi->memory[x->pi->threads[0].base[SPACE_LOCAL] + offset] =
                    (int32_t)pcg_below(rng, 6) - 1;
}

/* Where the variables of P differ, or NULL. */
static const char *difference(struct pair *x)
{
    const struct program *P = x->p->program;
    struct image_word word;
    uint32_t locals = 0;
    for (const struct ast_var *v = P->core->main->locals; v; v = v->next)
        locals += v->length;
    if (image_same_shared(&x->image, &test_arena, &word) &&
        image_same_private(&x->image, 0, 0, P->words[SPACE_PRIVATE], &word) &&
        image_same_frame(&x->image, 0, 0, 0, locals, &word))
        return x->p->threads[0].choices == x->pi->threads[0].choices ? NULL : "choices";
    return word.name;
}

/* ---- B.8, B.10, B.12 ---- */

/* Enters the block and goes on until its goto has been taken. */
static enum status through(struct machine *machine, uint32_t block)
{
    thread_of(machine)->pc = PC_BLOCK | block;
    for (uint32_t n = 0; n < STEPS && machine_status(machine) == STATUS_RUNNING; n++)
        if (machine_step(machine, 0, NULL) == RULE_INTK_GOTO)
            return STATUS_RUNNING;
    return machine_status(machine);
}

/* The target that P's goto took, as v_active has it: 1 + its number, 0 = End. */
static int32_t taken(const struct machine *p)
{
    uint32_t pc = interleave_state(p, 0)->pc;
    return pc == PC_END ? 0 : 1 + (int32_t)(pc & ~PC_BLOCK);
}

/* pi(B) with act: what B does, then v_active is the target taken. What is wrong, or NULL. */
static const char *active_block(struct pair *x, uint32_t b, uint32_t pi_block)
{
    *active_of(x) = 1 + (int32_t)b;
    enum status p = through(x->p, b), pi = through(x->pi, pi_block);
    if (p != pi) /* no target's guard holds: pi's early assume fails, P's at the target */
        return p == STATUS_RUNNING && pi == STATUS_INFEASIBLE &&
                       through(x->p, (uint32_t)taken(x->p) - 1) == STATUS_INFEASIBLE
                   ? NULL
                   : "status";
    if (p != STATUS_RUNNING)
        return NULL;
    return *active_of(x) != taken(x->p) ? "v_active" : difference(x);
}

/* pi(B) without: nothing, and v_active stays. */
static const char *inactive_block(struct pair *x, uint32_t b, uint32_t pi_block, struct pcg *rng)
{
    int32_t active = (int32_t)pcg_below(rng, x->p->program->block_count);
    active += active > (int32_t)b; /* any but 1 + b */
    *active_of(x) = active;
    if (through(x->pi, pi_block) != STATUS_RUNNING)
        return "status";
    return *active_of(x) != active ? "v_active" : difference(x);
}

static bool has_kind(const struct program *program, uint32_t block, enum code_kind kind)
{
    for (uint32_t stm = program->blocks[block].first;; stm++) {
        if (program->stms[stm].kind == kind)
            return true;
        if (program->stms[stm].last)
            return false;
    }
}

static const char *block_lemmas(struct pair *x, struct pcg *rng, uint32_t *checked)
{
    for (uint32_t k = 0; k < x->pi->program->block_count; k++) {
        uint32_t b = x->image.stands_for[k];
        if (b == CODE_NONE || !x->image.enters[k] || x->p->program->blocks[b].function != 0 ||
            has_kind(x->p->program, b, CODE_CALL))
            continue;
        for (uint32_t i = 0; i < STORES; i++) {
            randomise(x, rng);
            const char *what = inactive_block(x, b, k, rng);
            randomise(x, rng);
            if (!what)
                what = active_block(x, b, k);
            if (what)
                return arena_printf(&test_arena, "block '%s': %s", x->p->program->blocks[b].name,
                                    what);
            ++*checked;
        }
    }
    return NULL;
}

static void lemmas_b8_b10_b12(void **state)
{
    (void)state;
    uint32_t checked = 0;
    for (uint32_t i = 0; i < KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        struct pcg rng = pcg_derive(i, PCG_INPUT, 3);
        struct pair x;
        const char *what = prepare(&x, i) ? block_lemmas(&x, &rng, &checked) : NULL;
        if (what)
            fail_msg("%s\n%s", what, print_kernel(&test_arena, x.p->program->core));
        arena_release(&test_arena, mark);
    }
    print_message("%u blocks on random stores\n", checked);
    assert_true(checked > 5000);
}

static enum rule (*honest)(struct machine *, uint32_t, struct choices *);

/* v_active := v_next also where v_active is another block; an assignment that forgets act. */
static enum rule always_leave(struct machine *machine, uint32_t thread, struct choices *choices)
{
    uint32_t pc = interleave_state(machine, thread)->pc;
    enum rule rule = honest(machine, thread, choices);
    if (rule == RULE_INTK_ASSIGN && !(pc & PC_BLOCK)) {
        const struct code_place *place = &machine->program->stms[pc].place;
        machine->memory[machine->threads[thread].base[place->space] + place->offset] = 3;
    }
    return rule;
}

static void block_lemmas_can_fail(void **state)
{
    (void)state;
    struct semantics faulty = semantics_interleave;
    uint32_t found = 0, checked = 0;
    for (uint32_t i = 0; i < KERNELS / 10; i++) {
        size_t mark = arena_mark(&test_arena);
        struct pcg rng = pcg_derive(i, PCG_INPUT, 3);
        struct pair x;
        if (prepare(&x, i)) {
            honest = x.pi->step;
            x.pi->semantics = &faulty;
            x.pi->step = always_leave;
            found += block_lemmas(&x, &rng, &checked) != NULL;
        }
        arena_release(&test_arena, mark);
    }
    assert_true(found > 5);
}

/* ---- B.9, B.14 to B.16 ---- */

/* How many of the block's targets have a first assume that holds, with this v_active. */
static uint32_t feasible_targets(struct pair *x, uint32_t block, int32_t active)
{
    const struct code_block *b = &x->pi->program->blocks[block];
    uint32_t jump = b->first, count = 0;
    while (!x->pi->program->stms[jump].last)
        jump++;
    for (uint32_t i = 0; i < b->target_count; i++) {
        machine_restore(x->pi, x->pi_start, 0);
        *active_of(x) = active;
        thread_of(x->pi)->pc = jump;
        interleave_goto(x->pi, 0, i);
        assert_int_equal(machine_step(x->pi, 0, NULL), RULE_INTK_BLOCK);
        count += machine_step(x->pi, 0, NULL) == RULE_INTK_ASSUME_T;
        assert_int_equal(*active_of(x), active);
    }
    return count;
}

/* B_back^L1, .., B_back^Ln, B_exit; B_call, B_nocall: exactly one is feasible, whatever v_active is. */
static uint32_t ways_on(struct pair *x, uint32_t *checked)
{
    uint32_t wrong = 0;
    for (uint32_t k = 0; k < x->pi->program->block_count; k++) {
        const struct code_block *b = &x->pi->program->blocks[k];
        if (b->function != 0 || b->target_count < 2)
            continue;
        for (uint32_t active = 0; active <= x->p->program->block_count; active++, ++*checked)
            wrong += feasible_targets(x, k, (int32_t)active) != 1;
    }
    return wrong;
}

static void lemmas_b9_b14(void **state)
{
    (void)state;
    uint32_t checked = 0, loops = 0, calls = 0;
    for (uint32_t i = 0; i < KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        struct pair x;
        if (prepare(&x, i)) {
            if (ways_on(&x, &checked))
                fail_msg("%s", print_kernel(&test_arena, x.pi->program->core));
            for (uint32_t k = 0; k < x.pi->program->block_count; k++) {
                loops += strstr(x.pi->program->blocks[k].name, "_back") != NULL;
                calls += strstr(x.pi->program->blocks[k].name, "_call") != NULL;
            }
        }
        arena_release(&test_arena, mark);
    }
    print_message("%u values of v_active, %u back edges, %u calls\n", checked, loops, calls);
    assert_true(checked > 2000 && loops > 100 && calls > 50);
}

static struct code_stm *assume_of(struct program *program, const char *block)
{
    for (uint32_t k = 0; k < program->block_count; k++)
        if (strcmp(program->blocks[k].name, block) == 0)
            return &program->stms[program->blocks[k].first];
    fail_msg("no block '%s'", block);
    return NULL;
}

/* With B_back's assume in B_exit, both ways or none are feasible. */
static void ways_on_can_fail(void **state)
{
    (void)state;
    const struct machine_options options = {0};
    struct pair x;
    uint32_t checked = 0;
    const struct program *P = blocks_program(
        "launch(threads = 1); private int p; kernel k() blocks { Start: goto H; H: goto J;\n"
        "J: assume(1); p = p + 1; goto H, X; X: assume(p > 3); goto End; }",
        BLOCKS_P, NULL);
    x.p = blocks_machine(P, &options);
    for (uint32_t planted = 0; planted < 2; planted++) {
        struct program *pi = (struct program *)(uintptr_t)random_blocks_pi(P, 0);
        if (planted)
            assume_of(pi, "J_exit")->value = assume_of(pi, "J_back")->value;
        x.pi = blocks_machine(pi, &options);
        x.pi_start = ARENA_ARRAY(&test_arena, uint32_t, x.pi->block_words);
        machine_save(x.pi, x.pi_start);
        image_start(&x.image, &test_arena, x.pi, x.p);
        assert_int_equal(ways_on(&x, &checked), planted ? P->block_count + 1 : 0);
    }
}

/* ---- updates by others ---- */

/* Runs until the next step is statement `number` of P: in P itself, or its image with act true. False: the
 * execution ends before. */
static bool reach_p(struct machine *p, uint32_t *number)
{
    for (uint32_t n = 0; n < STEPS && machine_status(p) == STATUS_RUNNING; n++) {
        uint32_t pc = interleave_state(p, 0)->pc;
        bool stm = pc != PC_END && !(pc & PC_BLOCK);
        enum code_kind kind = stm ? p->program->stms[pc].kind : CODE_GOTO;
        *number = pc;
        if (stm && kind != CODE_GOTO && kind != CODE_END_CALL)
            return true;
        machine_step(p, 0, NULL);
    }
    return false;
}

static bool reach_pi(struct pair *x, uint32_t number)
{
    const struct program *pi = x->pi->program;
    for (uint32_t n = 0; n < 20 * STEPS && machine_status(x->pi) == STATUS_RUNNING; n++) {
        uint32_t pc = interleave_state(x->pi, 0)->pc;
        if (pc != PC_END && !(pc & PC_BLOCK) && pi->stms[pc].origin == number + 1 &&
            image_active(&x->image, 0, pi->stms[pc].function) ==
                1 + x->p->program->stms[number].block)
            return true;
        machine_step(x->pi, 0, NULL);
    }
    return false;
}

/* A random word of shared memory gets a random value, in both; `unlike`: another one in pi(P). */
static void update(struct pair *x, struct pcg *rng, int32_t unlike)
{
    uint32_t words = x->p->program->private_base;
    if (words == 0)
        return;
    uint32_t address = pcg_below(rng, words);
    int32_t value = (int32_t)pcg_below(rng, 6) - 1;
    machine_poke(x->p, address, value);
    machine_poke(x->pi, address, value + unlike);
}

/* Both step together; before each of P's statements others may write. What differs, or NULL. */
static const char *updated_run(struct pair *x, struct pcg *rng, int32_t unlike, uint32_t *updates)
{
    uint32_t number;
    struct image_word word;
    for (uint32_t n = 0; n < UPDATES && reach_p(x->p, &number); n++) {
        if (!reach_pi(x, number)) { /* no guard holds: the early assume fails first */
            machine_step(x->p, 0, NULL);
            return machine_status(x->pi) == STATUS_INFEASIBLE &&
                           machine_status(x->p) == STATUS_INFEASIBLE
                       ? NULL
                       : "pi(P) does not come to P's statement";
        }
        if (pcg_below(rng, 3) == 0) {
            update(x, rng, unlike);
            ++*updates;
        }
        machine_step(x->p, 0, NULL);
        machine_step(x->pi, 0, NULL);
        if (!image_same_shared(&x->image, &test_arena, &word))
            return word.name;
        if (machine_status(x->p) != machine_status(x->pi))
            return "status";
    }
    return NULL;
}

static void lemma_update(void **state)
{
    (void)state;
    uint32_t updates = 0, faults = 0, faulty = 0;
    for (uint32_t i = 0; i < KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        for (int32_t unlike = 0; unlike < 2; unlike++) {
            struct pcg rng = pcg_derive(i, PCG_INPUT, 5);
            struct pair x;
            if (!prepare(&x, i))
                break;
            const char *what = updated_run(&x, &rng, unlike, unlike ? &faults : &updates);
            if (what && !unlike)
                fail_msg("%s\n%s", what, print_kernel(&test_arena, x.p->program->core));
            faulty += what != NULL;
        }
        arena_release(&test_arena, mark);
    }
    print_message("%u updates; %u kernels differ when the two get other values\n", updates, faulty);
    assert_true(updates > 2000 && faulty > KERNELS / 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(lemmas_b8_b10_b12), TEST(block_lemmas_can_fail),
                                       TEST(lemmas_b9_b14), TEST(ways_on_can_fail),
                                       TEST(lemma_update)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
