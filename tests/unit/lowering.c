/* Lowering in tests. */
#include "unit/lowering.h"

#include "vyre/check.h"
#include "vyre/text.h"

enum { WORDS = 256 };

vyre_text lowering_text(const vyre_program *program) {
    vyre_text text = test_text();
    REQUIRE_OK(vyre_program_print(program, test_text_append, &text), NULL);
    return text;
}

/* The validator accepts it, and its text is the same program. */
static void require_valid(const vyre_program *program) {
    vyre_text text = lowering_text(program);
    vyre_diag items[4] = {{0}};
    vyre_diag_list list = {.items = items, .capacity = 4};
    if (vyre_check(program, NULL, &list) != VYRE_OK) {
        test_fail(__FILE__, __LINE__, "not valid: %s %s\n%s", items[0].code, items[0].message,
                  vyre_text_string(&text));
        test_stop();
    }
    vyre_program *again = run_parse(vyre_text_string(&text));
    CHECK(vyre_program_equal(program, again));
    vyre_program_release(again);
    vyre_text_finish(&text);
}

vyre_program *lowering_of(const vyre_program *program, const char *capabilities) {
    vyre_capabilities can;
    vyre_diag diag = {0};
    vyre_program *lowered = NULL;
    REQUIRE_OK(vyre_capabilities_named(capabilities, &can, &diag), &diag);
    vyre_program *source = vyre_program_retain((vyre_program *)(uintptr_t)program);
    REQUIRE_OK(vyre_lower(source, &can, NULL, &lowered, &diag), &diag);
    vyre_program_release(source);
    require_valid(lowered);
    return lowered;
}

void lowering_same(const char *text, const char *capabilities, uint64_t seed) {
    vyre_program *source = run_parse(text);
    vyre_program *lowered = lowering_of(source, capabilities);
    const vyre_program_view *p = vyre_program_get(source);
    static uint32_t words[RUN_MOST_BUFFERS][WORDS];
    vyre_input inputs[RUN_MOST_BUFFERS];
    uint32_t count = 0;
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        if (p->decls[d].role == VYRE_IN || p->decls[d].role == VYRE_INOUT) {
            for (uint32_t i = 0; i < WORDS; i++) {
                words[count][i] = (uint32_t)(test_random(&seed) >> 17);
            }
            uint64_t bytes = sizeof words[count];
            inputs[count] = (vyre_input){words[count], bytes};
            count++;
        }
    }
    for (int order = VYRE_ORDER_FORWARD; order <= VYRE_ORDER_INTERLEAVED; order++) {
        vyre_dispatch_options options = {
            .order = (vyre_order)order, .order_seed = seed, .max_steps = 50000000};
        run_result want = run_program("ref", source, inputs, count, &options);
        run_result got = run_program("ref", lowered, inputs, count, &options);
        REQUIRE_OK(want.status, &want.diag);
        REQUIRE_OK(got.status, &got.diag);
        if (!run_same(&want, &got)) {
            vyre_text shown = lowering_text(lowered);
            test_fail(__FILE__, __LINE__, "order %d differs\n%s\n%s", order, text,
                      vyre_text_string(&shown));
            vyre_text_finish(&shown);
            test_stop();
        }
        run_finish(&want);
        run_finish(&got);
    }
    vyre_program_release(lowered);
    vyre_program_release(source);
}
