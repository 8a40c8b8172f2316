/* The call graph by depth-first search with an explicit stack: a frame is a body and the statement
 * at which its scan stands. A call to a body that is still open closes a cycle. */
#include "analysis/calls.h"

#include "base/checked.h"

typedef struct frame {
    uint32_t body;
    vyre_stmt at;
} frame;

typedef VYRE_VEC(frame) frames;

enum { UNSEEN = 0, OPEN, DONE };

static vyre_stmt body_begin(const vyre_program_view *p, uint32_t body) {
    return body < p->fn_count ? p->fns[body].begin : p->entry;
}

static vyre_stmt body_end(const vyre_program_view *p, uint32_t body) {
    return body < p->fn_count ? p->fns[body].end : p->stmt_count;
}

/* Adds an expanded callee to the body that calls it: in place of the call stand its result, a block
 * and its end, the arguments and the statements of the callee. */
static void account(vyre_calls *calls, uint32_t body, const vyre_stmt_node *call) {
    const vyre_fn callee = call->fn;
    uint64_t more = calls->inlined[callee];
    if (!vyre_add_u64(more, 2 + (uint64_t)call->arg_count, &more) ||
        !vyre_add_u64(calls->inlined[body], more, &calls->inlined[body])) {
        calls->inlined[body] = UINT64_MAX;
    }
    if (calls->depth[body] < calls->depth[callee] + 1) {
        calls->depth[body] = calls->depth[callee] + 1;
    }
}

static bool search(vyre_calls *calls, const vyre_program_view *p, uint32_t root, uint8_t *state,
                   uint32_t *ordered, frames *stack, const vyre_allocator *a) {
    if (state[root] != UNSEEN) {
        return true;
    }
    state[root] = OPEN;
    if (!vyre_vec_push(a, stack, (frame){root, body_begin(p, root)})) {
        return false;
    }
    while (stack->count != 0) {
        frame *top = &stack->data[stack->count - 1];
        if (top->at == body_end(p, top->body)) {
            state[top->body] = DONE;
            if (top->body < p->fn_count) {
                calls->order[(*ordered)++] = top->body;
            }
            stack->count--;
            continue;
        }
        const vyre_stmt_node *stmt = &p->stmts[top->at];
        if (stmt->op == VYRE_STMT_CALL) {
            if (state[stmt->fn] == UNSEEN) {
                state[stmt->fn] = OPEN;
                if (!vyre_vec_push(a, stack, (frame){stmt->fn, body_begin(p, stmt->fn)})) {
                    return false;
                }
                continue; /* comes back to this call when the callee is done */
            }
            if (state[stmt->fn] == DONE) {
                account(calls, top->body, stmt);
            } else if (calls->cycle == VYRE_NONE) {
                calls->cycle = top->at;
            }
        }
        if (calls->inlined[top->body] != UINT64_MAX) {
            calls->inlined[top->body]++;
        }
        top->at++;
    }
    return true;
}

vyre_status vyre_calls_init(vyre_calls *calls, const vyre_program *program,
                            const vyre_allocator *a) {
    const vyre_program_view *p = vyre_program_get(program);
    const uint32_t bodies = p->fn_count + 1;
    *calls = (vyre_calls){.fn_count = p->fn_count, .cycle = VYRE_NONE};
    calls->order = vyre_alloc_zeroed(a, bodies, sizeof *calls->order);
    calls->inlined = vyre_alloc_zeroed(a, bodies, sizeof *calls->inlined);
    calls->depth = vyre_alloc_zeroed(a, bodies, sizeof *calls->depth);
    uint8_t *state = vyre_alloc_zeroed(a, bodies, sizeof *state);
    frames stack = {0};
    bool ok = calls->order && calls->inlined && calls->depth && state;
    uint32_t ordered = 0;
    for (uint32_t body = 0; ok && body < bodies; body++) {
        ok = search(calls, p, body, state, &ordered, &stack, a);
    }
    vyre_vec_free(a, &stack);
    vyre_free(a, state, bodies, sizeof *state);
    if (!ok) {
        vyre_calls_finish(calls, a);
    }
    return ok ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}

void vyre_calls_finish(vyre_calls *calls, const vyre_allocator *a) {
    const uint32_t bodies = calls->fn_count + 1;
    vyre_free(a, calls->order, bodies, sizeof *calls->order);
    vyre_free(a, calls->inlined, bodies, sizeof *calls->inlined);
    vyre_free(a, calls->depth, bodies, sizeof *calls->depth);
    calls->order = NULL;
    calls->inlined = NULL;
    calls->depth = NULL;
}
