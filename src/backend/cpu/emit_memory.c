/* Loads and stores. An index beyond the end selects another address: loads come from a place that
 * holds zeros, stores go to one that nobody reads; so there is no branch, and no access leaves its
 * buffer. A gang whose indices are consecutive makes one vector access if its last index is inside
 * too (which also says that no index wraps), else one access per lane. Where a clamp or a choice
 * makes indices that mostly are consecutive, a gang asks whether they are; lanes that walk along
 * rows load and store by tiles (tile.c).
 *
 * Different declarations never share memory, so each access says to which one it belongs. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/emit.h"
#include "ir/touches.h"

static vyre_type element_of(const cpu_emit *e, vyre_decl decl) {
    return (vyre_type)e->p->decls[decl].type;
}

vyre_type cpu_stored_type(vyre_type type) {
    return type == VYRE_BOOL ? VYRE_U32 : type == VYRE_F16 || type == VYRE_BF16 ? VYRE_U16 : type;
}

void cpu_alias(const cpu_emit *e, vyre_decl decl, char *out, size_t size) {
    const uint32_t count = e->p->decl_count, first = e->lists;
    out[0] = '\0';
    if (count <= CPU_MOST_ALIASES) {
        (void)snprintf(out, size, ", !alias.scope !%u, !noalias !%u", first + 1 + count + decl,
                       first + 1 + 2 * count + decl);
    }
}

/* Whether lanes of the gang have the memory each for itself. */
static bool is_private(const cpu_emit *e, vyre_decl decl) {
    return e->bindings[decl].meaning == CPU_IS_PRIVATE;
}

static void head_count(cpu_emit *e, vyre_decl decl, const char *count) {
    cpu_head(e, "  %%n%u = add i32 %s, 0", decl, count);
    /* Lanes one by one are a gang only where their trips are (across.c). */
    const uint32_t lanes = e->width > 1 ? e->width : cpu_isa_vector_bytes(e->isa) / 4;
    cpu_head(e, "  %%m%u = call i32 @llvm.usub.sat.i32(i32 %s, i32 %u)", decl, count, lanes - 1);
}

void cpu_need_base(cpu_emit *e, vyre_decl decl) {
    const cpu_binding *b = &e->bindings[decl];
    char count[24];
    if (e->has_base[decl]) {
        return;
    }
    e->has_base[decl] = true;
    (void)snprintf(count, sizeof count, "%d", (int)(uint32_t)b->count);
    switch ((cpu_meaning)b->meaning) {
    case CPU_IS_BUFFER:
        cpu_head(e, "  %%p%u = getelementptr i8, ptr %%buffers, i64 %zu", decl,
                 b->number * sizeof(cpu_buffer));
        cpu_head(e, "  %%b%u = load ptr, ptr %%p%u, align 8", decl, decl);
        cpu_head(e, "  %%q%u = getelementptr i8, ptr %%p%u, i64 %zu", decl, decl,
                 offsetof(cpu_buffer, count));
        cpu_head(e, "  %%c%u = load i32, ptr %%q%u, align 8", decl, decl);
        (void)snprintf(count, sizeof count, "%%c%u", decl);
        break;
    case CPU_IS_ARENA:
    case CPU_IS_OWN:
        cpu_head(e, "  %%b%u = getelementptr i8, ptr %%arena, i64 %u", decl, b->number);
        break;
    case CPU_IS_PRIVATE:
        cpu_head(e, "  %%b%u = alloca [%zu x %s], align 64", decl, (size_t)b->count * e->width,
                 cpu_stored(element_of(e, decl)));
        break;
    case CPU_IS_MADE: cpu_head(e, "  %%b%u = getelementptr i8, ptr %%made, i64 0", decl); break;
    case CPU_IS_PARAM:
    case CPU_IS_GROUP_ID:
    case CPU_IS_GROUPS:
    case CPU_IS_NUMBER:
    case CPU_IS_SCALAR:
    case CPU_IS_TICK: return;
    }
    head_count(e, decl, count);
}

cpu_value cpu_length(cpu_emit *e, vyre_decl decl) {
    cpu_value v = {.type = VYRE_U32, .fixed = decl + 1};
    if (e->bindings[decl].meaning != CPU_IS_BUFFER) {
        return cpu_u32((uint32_t)e->bindings[decl].count);
    }
    cpu_need_base(e, decl);
    (void)snprintf(v.text, sizeof v.text, "%%n%u", decl);
    return v;
}

/* A param, computed once in the entry block. */
cpu_value cpu_param(cpu_emit *e, vyre_decl decl) {
    const cpu_binding *b = &e->bindings[decl];
    const vyre_type type = element_of(e, decl);
    cpu_value v = {.type = (uint8_t)type};
    switch ((cpu_meaning)b->meaning) {
    case CPU_IS_NUMBER: return cpu_literal(type, b->count);
    case CPU_IS_GROUP_ID:
        (void)snprintf(v.text, sizeof v.text, "%%g%c", "xyz"[b->number]);
        return v;
    case CPU_IS_GROUPS: (void)snprintf(v.text, sizeof v.text, "%%n%c", "xyz"[b->number]); return v;
    case CPU_IS_TICK: (void)snprintf(v.text, sizeof v.text, "%%tick"); return v;
    case CPU_IS_PARAM:
    case CPU_IS_SCALAR:
    case CPU_IS_BUFFER:
    case CPU_IS_ARENA:
    case CPU_IS_OWN:
    case CPU_IS_PRIVATE:
    case CPU_IS_MADE: break;
    }
    (void)snprintf(v.text, sizeof v.text, "%%r%u", decl);
    v.fixed = decl + 1;
    if (!e->has_base[decl]) {
        const bool scalar = b->meaning == CPU_IS_SCALAR;
        e->has_base[decl] = true;
        cpu_head(e, "  %%p%u = getelementptr i8, ptr %s, i64 %u", decl,
                 scalar ? "%scalars" : "%params", 8 * b->number);
        if (type == VYRE_BOOL && !scalar) {
            cpu_head(e, "  %%q%u = load i64, ptr %%p%u, align 8", decl, decl);
            cpu_head(e, "  %%r%u = icmp ne i64 %%q%u, 0", decl, decl);
        } else {
            cpu_head(e, "  %%r%u = load %s, ptr %%p%u, align 8", decl, cpu_type(e, type, false),
                     decl);
        }
    }
    return v;
}

/* Index of the element in memory: lanes of a gang have their private elements side by side. */
static cpu_value place_of(cpu_emit *e, vyre_decl decl, cpu_value index) {
    if (!is_private(e, decl) || e->width == 1) {
        return index;
    }
    cpu_value first = cpu_apply(e, VYRE_EXPR_MUL, index, cpu_u32(e->width), index);
    cpu_value lane = {.type = VYRE_U32, .hold = CPU_LINEAR, .stride = 1, .text = "0"};
    return cpu_apply(e, VYRE_EXPR_ADD, first, lane, first);
}

cpu_value cpu_address(cpu_emit *e, vyre_decl decl, cpu_value index) {
    cpu_need_base(e, decl);
    cpu_value wide = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", index.text);
    return cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %%b%u, i64 %s",
                   cpu_stored(element_of(e, decl)), decl, wide.text);
}

/* Whether the expression at work stands on the right of && or ||, or in an arm of ?:, so that lanes
 * whose program does not ask for it evaluate it all the same. */
static bool is_optional(const cpu_emit *e) {
    vyre_expr inner = e->expr;
    for (vyre_expr i = inner + 1; i < e->p->stmts[e->stmt].end_expr; i++) {
        const vyre_expr_node *n = &e->p->exprs[i];
        const uint32_t arity = vyre_expr_info_of((vyre_expr_op)n->op)->arity;
        uint32_t k = 0;
        while (k < arity && n->u.arg[k] != inner) {
            k++;
        }
        if (k == arity) {
            continue;
        }
        if (k > 0 && (n->op == VYRE_EXPR_COND || n->op == VYRE_EXPR_AND || n->op == VYRE_EXPR_OR)) {
            return true;
        }
        inner = i;
    }
    return false;
}

/* Whether it is promised that the access is in bounds. That holds for lanes that are active and ask
 * for it, so not for gangs of which some may not be, and not for what is run to find out. */
bool cpu_is_promised(const cpu_emit *e) {
    return e->unchecked && !e->probing && !cpu_is_masked(e) && !is_optional(e);
}

/* Whether it is proven that all lanes of the gang are inside: by ranges, if all of them evaluate
 * the index (what is run to find out may do what no lane does), or since what lanes carry over
 * barriers has a place for each of them. */
bool cpu_is_proven(const cpu_emit *e, vyre_decl decl, const cpu_value *index) {
    const bool all = !e->probing && (index->hold == CPU_ONE || !cpu_is_masked(e));
    return (e->is_proven && all) || (e->bindings[decl].meaning == CPU_IS_OWN && !e->masked_tail);
}

cpu_value cpu_is_inside(cpu_emit *e, vyre_decl decl, cpu_value index) {
    cpu_value count = {.type = VYRE_U32};
    cpu_need_base(e, decl);
    if (cpu_is_proven(e, decl, &index)) {
        cpu_value yes = cpu_literal(VYRE_BOOL, 1);
        return index.hold == CPU_EACH ? cpu_each(e, yes) : yes;
    }
    (void)snprintf(count.text, sizeof count.text, "%%n%u", decl);
    if (index.hold == CPU_EACH) {
        count = cpu_each(e, count);
    }
    return cpu_compare(e, "ult", index, count);
}

/* The address of one element, or another one if it is beyond the end. `vector`: of as many as the
 * gang has, from there on. */
static cpu_value safe_address(cpu_emit *e, vyre_decl decl, cpu_value index, cpu_value place,
                              const char *otherwise) {
    cpu_value address = cpu_address(e, decl, place);
    if (cpu_is_promised(e)) {
        return address;
    }
    cpu_value inside = cpu_is_inside(e, decl, index);
    return cpu_new(e, VYRE_U64, CPU_ONE, "select i1 %s, ptr %s, ptr %s", inside.text, address.text,
                   otherwise);
}

cpu_value cpu_load_at(cpu_emit *e, vyre_decl decl, const char *address, cpu_hold hold) {
    const vyre_type type = element_of(e, decl), stored = cpu_stored_type(type);
    char scopes[64];
    cpu_alias(e, decl, scopes, sizeof scopes);
    cpu_value v =
        cpu_new(e, stored, hold, "load %s, ptr %s, align %u%s",
                cpu_type(e, stored, hold == CPU_EACH), address, vyre_type_size(type), scopes);
    return v;
}

void cpu_store_at(cpu_emit *e, vyre_decl decl, const char *address, const cpu_value *v) {
    char scopes[64];
    cpu_alias(e, decl, scopes, sizeof scopes);
    cpu_line(e, "  store %s %s, ptr %s, align %u%s", cpu_type_of(e, v), v->text, address,
             vyre_type_size(element_of(e, decl)), scopes);
}

/* Is the whole gang, from its first index on, inside? */
static cpu_value gang_is_inside(cpu_emit *e, vyre_decl decl, cpu_value index) {
    cpu_need_base(e, decl);
    if (cpu_is_proven(e, decl, &index)) {
        return cpu_literal(VYRE_BOOL, 1);
    }
    return cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp ult i32 %s, %%m%u", index.text, decl);
}

/* Types that are one in memory share a function. */
static void use_cold(cpu_emit *e, vyre_type stored, bool stores) {
    static const uint8_t same[VYRE_TYPE_COUNT] = {
        [VYRE_I32] = VYRE_U32, [VYRE_I64] = VYRE_U64, [VYRE_I8] = VYRE_U8, [VYRE_I16] = VYRE_U16};
    e->cold->used[same[stored] ? same[stored] : stored][__builtin_ctz(e->width)][stores] = true;
}

/* Whether lanes that are not inside, or not active, are left out by a vector access with a mask
 * rather than by a call: workgroup memory, where trees and neighbours often are half outside. Its
 * indices are small, so that consecutive ones are consecutive addresses even from below 0. */
static bool takes_mask(const cpu_emit *e, vyre_decl decl) {
    const uint32_t size = vyre_type_size(element_of(e, decl));
    const uint8_t meaning = e->bindings[decl].meaning;
    return (meaning == CPU_IS_ARENA || meaning == CPU_IS_OWN) && e->isa != CPU_SSE2 && size >= 4;
}

/* Where the gang begins, perhaps before the first element. */
static cpu_value address_around(cpu_emit *e, vyre_decl decl, cpu_value index) {
    cpu_value wide = cpu_new(e, VYRE_U64, CPU_ONE, "%s i32 %s to i64", "sext", index.text);
    return cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %%b%u, i64 %s",
                   cpu_stored(element_of(e, decl)), decl, wide.text);
}

/* From consecutive elements, of lanes of the mask; others get 0. */
static cpu_value load_some(cpu_emit *e, vyre_decl decl, const char *address, cpu_value mask) {
    const vyre_type stored = cpu_stored_type(element_of(e, decl));
    const char *vector = cpu_type(e, stored, true);
    char scopes[64];
    cpu_alias(e, decl, scopes, sizeof scopes);
    return cpu_new(e, stored, CPU_EACH,
                   "call %s @llvm.masked.load.%s.p0(ptr %s, i32 %u, <%u x i1> %s, %s "
                   "zeroinitializer)%s",
                   vector, cpu_suffix(e, stored, true), address,
                   vyre_type_size(element_of(e, decl)), e->width, mask.text, vector, scopes);
}

static cpu_value load_masked(cpu_emit *e, vyre_decl decl, cpu_value index) {
    cpu_value inside = cpu_is_inside(e, decl, cpu_each(e, index));
    return load_some(e, decl, address_around(e, decl, index).text, inside);
}

static cpu_value load_cold(cpu_emit *e, vyre_decl decl, cpu_value index) {
    const vyre_type stored = cpu_stored_type(element_of(e, decl));
    use_cold(e, stored, false);
    return cpu_new(
        e, stored, CPU_EACH, "call %s @load_%s_%u(ptr %%b%u, ptr %%zero, i32 %s, i32 %%n%u)",
        cpu_type(e, stored, true), cpu_suffix(e, stored, false), e->width, decl, index.text, decl);
}

/* Asks for what will be loaded from near the address: in a loop by steps, a few trips ahead; by a
 * group that steps over others, what its next trip loads; by a group of several rows, what lies
 * behind its row, which its next trip or the next group loads. */
static void prefetch_near(cpu_emit *e, vyre_decl decl, const char *address) {
    enum { LINE = 64, NARROW = 256, TRIPS = 4 };
    const uint32_t *size = e->p->workgroup, bytes = vyre_type_size(element_of(e, decl));
    cpu_value ahead;
    if (e->bindings[decl].meaning != CPU_IS_BUFFER || e->form != CPU_FORM_LANES) {
        return;
    }
    if (e->stride.text[0] && (e->gang == 0 || e->gangs * e->width * bytes > LINE)) {
        ahead = cpu_new(e, VYRE_U64, CPU_ONE, "mul i64 %s, %u", e->stride.text, TRIPS * bytes);
    } else if (cpu_is_ahead(e, e->expr)) {
        ahead = cpu_ahead_bytes(e, e->expr, bytes);
    } else if (size[1] * size[2] > 1 && size[0] * bytes <= NARROW) {
        ahead = cpu_literal(VYRE_U64, (uint64_t)size[0] * bytes);
    } else {
        return;
    }
    cpu_value at =
        cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i8, ptr %s, i64 %s", address, ahead.text);
    cpu_line(e, "  call void @llvm.prefetch.p0(ptr %s, i32 0, i32 3, i32 1)", at.text);
}

static cpu_value load_consecutive(cpu_emit *e, vyre_decl decl, cpu_value index) {
    const vyre_type stored = cpu_stored_type(element_of(e, decl));
    const uint32_t label = cpu_label(e);
    cpu_value inside = gang_is_inside(e, decl, index);
    cpu_line(e, "  br i1 %s, label %%fast%u, label %%slow%u", inside.text, label, label);
    cpu_line(e, "fast%u:", label);
    cpu_value address = cpu_address(e, decl, index);
    prefetch_near(e, decl, address.text);
    cpu_value fast = cpu_load_at(e, decl, address.text, CPU_EACH);
    cpu_line(e, "  br label %%loaded%u", label);
    cpu_line(e, "slow%u:", label);
    cpu_value slow = takes_mask(e, decl) ? load_masked(e, decl, index) : load_cold(e, decl, index);
    cpu_line(e, "  br label %%loaded%u", label);
    cpu_line(e, "loaded%u:", label);
    return cpu_new(e, stored, CPU_EACH, "phi %s [ %s, %%fast%u ], [ %s, %%slow%u ]",
                   cpu_type(e, stored, true), fast.text, label, slow.text, label);
}

bool cpu_is_written(const cpu_emit *e, vyre_decl decl) {
    bool written = false;
    for (vyre_stmt i = e->p->entry; i < e->p->stmt_count; i++) {
        const vyre_stmt_node *s = &e->p->stmts[i];
        written |= (s->op == VYRE_STMT_STORE || vyre_writes_atomically(s)) && s->decl == decl;
    }
    return written;
}

/* The address of the gang's first element, where probing says that no index of the range wraps:
 * that of the range's first lane, which all gangs share, and the distance from it. */
static cpu_value trusted_address(cpu_emit *e, vyre_decl decl, cpu_value index) {
    const char *stored = cpu_stored(element_of(e, decl));
    cpu_value base = cpu_address(e, decl, cpu_range_first(e, &index));
    return cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %s, i64 %%k", stored, base.text);
}

/* The address of one element that is known to be inside; without text: it is not known. */
static cpu_value sure_address(cpu_emit *e, vyre_decl decl, cpu_value index, uint32_t site) {
    return cpu_is_steady(e, site) ? cpu_steady_address(e, decl, site)
           : e->width == 1 && cpu_is_marked(e, site, CPU_MARK_INSIDE)
               ? trusted_address(e, decl, index)
               : (cpu_value){0};
}

/* Lane by lane a branch costs less than an address that depends on a test. */
static cpu_value load_inside(cpu_emit *e, vyre_decl decl, cpu_value index) {
    const vyre_type stored = cpu_stored_type(element_of(e, decl));
    const uint32_t label = cpu_label(e);
    cpu_value inside = cpu_is_inside(e, decl, index);
    cpu_line(e, "  br label %%ask%u\nask%u:", label, label);
    cpu_line(e, "  br i1 %s, label %%in%u, label %%loaded%u, !prof !0", inside.text, label, label);
    cpu_line(e, "in%u:", label);
    cpu_value v = cpu_load_at(e, decl, cpu_address(e, decl, index).text, CPU_ONE);
    cpu_line(e, "  br label %%loaded%u\nloaded%u:", label, label);
    return cpu_new(e, stored, CPU_ONE, "phi %s [ %s, %%in%u ], [ %s, %%ask%u ]",
                   cpu_type(e, stored, false), v.text, label, cpu_literal(stored, 0).text, label);
}

/* Elements of lanes that are there are inside. */
static cpu_value load_trusted(cpu_emit *e, vyre_decl decl, const char *address) {
    return e->masked_tail ? load_some(e, decl, address, cpu_active(e))
                          : cpu_load_at(e, decl, address, CPU_EACH);
}

/* Lanes at a constant distance: elements one by one, from one address, if all are inside. */

enum { MOST_STRIDED = 16 }; /* lanes that have code of their own */

static bool is_strided(const cpu_emit *e, vyre_decl decl, const cpu_value *index) {
    return index->hold == CPU_LINEAR && index->stride != 1 && !is_private(e, decl) &&
           e->width <= MOST_STRIDED;
}

/* Whether first and last element are inside, and nothing between wraps. */
static cpu_value stride_is_inside(cpu_emit *e, vyre_decl decl, cpu_value index) {
    const int64_t reach = (int64_t)(e->width - 1) * index.stride;
    cpu_need_base(e, decl);
    if (cpu_is_proven(e, decl, &index)) {
        return cpu_literal(VYRE_BOOL, 1);
    }
    cpu_value first = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", index.text);
    cpu_value count = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %%n%u to i64", decl);
    cpu_value last =
        cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %lld", first.text, (long long)reach);
    cpu_value inside = cpu_compare(e, "ult", last, count); /* below 0 is far above */
    return reach > 0 ? inside
                     : cpu_binary(e, "and", VYRE_BOOL, inside, cpu_compare(e, "ult", first, count));
}

static cpu_value stride_address(cpu_emit *e, vyre_decl decl, cpu_value base, cpu_value index,
                                uint32_t lane) {
    return cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %s, i64 %lld",
                   cpu_stored(element_of(e, decl)), base.text, (long long)lane * index.stride);
}

static cpu_value load_strided(cpu_emit *e, vyre_decl decl, cpu_value index) {
    const vyre_type stored = cpu_stored_type(element_of(e, decl));
    const char *vector = cpu_type(e, stored, true), *scalar = cpu_type(e, stored, false);
    const uint32_t label = cpu_label(e);
    cpu_value inside = stride_is_inside(e, decl, index);
    cpu_line(e, "  br i1 %s, label %%fast%u, label %%slow%u", inside.text, label, label);
    cpu_line(e, "fast%u:", label);
    cpu_value base = cpu_address(e, decl, index), fast = cpu_unknown(stored);
    for (uint32_t i = 0; i < e->width; i++) {
        cpu_value at = stride_address(e, decl, base, index, i);
        cpu_value one = cpu_load_at(e, decl, at.text, CPU_ONE);
        fast = cpu_new(e, stored, CPU_EACH, "insertelement %s %s, %s %s, i32 %u", vector, fast.text,
                       scalar, one.text, i);
    }
    cpu_line(e, "  br label %%loaded%u", label);
    cpu_line(e, "slow%u:", label);
    cpu_value each = cpu_each(e, index), slow = cpu_gather(e, decl, each, each);
    cpu_line(e, "  br label %%loaded%u", label);
    cpu_line(e, "loaded%u:", label);
    return cpu_new(e, stored, CPU_EACH, "phi %s [ %s, %%fast%u ], [ %s, %%slow%u ]", vector,
                   fast.text, label, slow.text, label);
}

static void store_strided(cpu_emit *e, vyre_decl decl, cpu_value index, cpu_value v) {
    const uint32_t label = cpu_label(e);
    cpu_value inside = stride_is_inside(e, decl, index);
    cpu_line(e, "  br i1 %s, label %%fast%u, label %%slow%u", inside.text, label, label);
    cpu_line(e, "fast%u:", label);
    cpu_value base = cpu_address(e, decl, index);
    for (uint32_t i = 0; i < e->width; i++) {
        char lane[12];
        (void)snprintf(lane, sizeof lane, "%u", i);
        cpu_value one = cpu_extract(e, v, lane);
        cpu_store_at(e, decl, stride_address(e, decl, base, index, i).text, &one);
    }
    cpu_line(e, "  br label %%stored%u", label);
    cpu_line(e, "slow%u:", label);
    cpu_value each = cpu_each(e, index);
    cpu_scatter(e, decl, each, each, v);
    cpu_line(e, "  br label %%stored%u", label);
    cpu_line(e, "stored%u:", label);
}

/* Whether the lanes have consecutive indices, all inside. */
static cpu_value are_consecutive(cpu_emit *e, vyre_decl decl, cpu_value index, cpu_value first) {
    cpu_value row = first;
    row.hold = CPU_LINEAR;
    row.stride = 1;
    row = cpu_each(e, row);
    cpu_value apart = cpu_any_bit(e, cpu_binary(e, "xor", VYRE_U32, index, row));
    cpu_value none = cpu_binary(e, "xor", VYRE_BOOL, apart, cpu_literal(VYRE_BOOL, 1));
    return cpu_binary(e, "and", VYRE_BOOL, none, gang_is_inside(e, decl, first));
}

/* Mostly consecutive: one load if they are. */
static cpu_value load_near(cpu_emit *e, vyre_decl decl, cpu_value index) {
    const vyre_type stored = cpu_stored_type(element_of(e, decl));
    const uint32_t label = cpu_label(e);
    cpu_note(e, e->stmt, "load",
             "one if lanes turn out to be consecutive because a clamp or choice is in the index");
    cpu_value first = cpu_extract(e, index, "0");
    cpu_value inside = are_consecutive(e, decl, index, first);
    cpu_line(e, "  br i1 %s, label %%fast%u, label %%slow%u, !prof !0", inside.text, label, label);
    cpu_line(e, "fast%u:", label);
    cpu_value fast = cpu_load_at(e, decl, cpu_address(e, decl, first).text, CPU_EACH);
    cpu_line(e, "  br label %%loaded%u", label);
    cpu_line(e, "slow%u:", label);
    cpu_value slow = cpu_gather(e, decl, index, index);
    cpu_line(e, "  br label %%loaded%u", label);
    cpu_line(e, "loaded%u:", label);
    return cpu_new(e, stored, CPU_EACH, "phi %s [ %s, %%fast%u ], [ %s, %%slow%u ]",
                   cpu_type(e, stored, true), fast.text, label, slow.text, label);
}

/* Whether lanes may load their elements again, later: they are inside, and stay what they are. */
static bool stays_there(const cpu_emit *e, vyre_decl decl, const cpu_value *index) {
    return index->hold == CPU_LINEAR && index->stride == 1 && !is_private(e, decl) &&
           cpu_is_proven(e, decl, index) && !cpu_is_written(e, decl);
}

cpu_value cpu_load_lane(cpu_emit *e, const cpu_value *v, const char *lane) {
    const vyre_decl decl = v->loaded - 1;
    cpu_value first = {.type = VYRE_U32};
    memcpy(first.text, v->place, sizeof first.text);
    cpu_value base = cpu_address(e, decl, first);
    cpu_value at = cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr %s, ptr %s, i32 %s",
                           cpu_stored(element_of(e, decl)), base.text, lane);
    cpu_value stored = cpu_load_at(e, decl, at.text, CPU_ONE);
    cpu_value one = cpu_widen(e, element_of(e, decl), &stored);
    one.type = v->type;
    return one;
}

cpu_value cpu_load(cpu_emit *e, vyre_decl decl, cpu_value index) {
    const vyre_type type = element_of(e, decl);
    const uint32_t site = e->expr;
    cpu_value v;
    e->is_proven = e->proven[e->expr];
    if (e->probing && (index.hold != CPU_ONE || is_private(e, decl) || cpu_is_written(e, decl))) {
        cpu_probe_access(e, decl, index, site);
        return cpu_unknown(vyre_type_widened(type));
    }
    if (index.hold == CPU_ONE) {
        const bool own = is_private(e, decl) && e->width > 1;
        cpu_value place =
            own ? cpu_apply(e, VYRE_EXPR_MUL, index, cpu_u32(e->width), index) : index;
        cpu_value address = sure_address(e, decl, index, site);
        if (!address.text[0] && e->width == 1 && !cpu_is_promised(e)) {
            v = load_inside(e, decl, index);
            return cpu_widen(e, type, &v);
        }
        if (!address.text[0]) {
            address = safe_address(e, decl, index, place, "%zero");
        }
        v = cpu_load_at(e, decl, address.text, own ? CPU_EACH : CPU_ONE);
    } else if (cpu_is_steady(e, site)) {
        cpu_value address = cpu_steady_address(e, decl, site);
        if (e->stride.text[0] || (cpu_is_ahead(e, site) && !e->sites[site].tiled)) {
            prefetch_near(e, decl, address.text);
        }
        v = cpu_load_at(e, decl, address.text, CPU_EACH);
    } else if (index.hold == CPU_LINEAR && index.stride == 1 && !is_private(e, decl)) {
        v = cpu_is_marked(e, site, CPU_MARK_INSIDE)
                ? load_trusted(e, decl, trusted_address(e, decl, index).text)
            : cpu_is_promised(e) ? cpu_load_at(e, decl, cpu_address(e, decl, index).text, CPU_EACH)
                                 : load_consecutive(e, decl, index);
    } else if (is_strided(e, decl, &index)) {
        v = load_strided(e, decl, index);
    } else if (index.near && !is_private(e, decl)) {
        v = load_near(e, decl, index);
    } else {
        cpu_value each = cpu_each(e, index);
        v = cpu_gather(e, decl, each, cpu_each(e, place_of(e, decl, each)));
    }
    cpu_value thin;
    if (cpu_thin_load(e, type, v, &thin)) {
        return thin;
    }
    v = cpu_widen(e, type, &v);
    if (stays_there(e, decl, &index)) {
        v.loaded = decl + 1;
        memcpy(v.place, index.text, sizeof v.place);
    }
    return v;
}

/* All lanes of the gang store the same to one place: once, if any of them is active. */
static void store_once(cpu_emit *e, vyre_decl decl, cpu_value index, const cpu_value *v,
                       uint32_t site) {
    const uint32_t label = cpu_label(e);
    const bool masked = cpu_is_masked(e);
    if (masked) {
        cpu_line(e, "  br i1 %s, label %%once%u, label %%behind%u",
                 cpu_any_in(e, cpu_mask_at(e, "act", 0)).text, label, label);
        cpu_line(e, "once%u:", label);
    }
    cpu_value to = sure_address(e, decl, index, site);
    if (!to.text[0]) {
        to = safe_address(e, decl, index, index, "%dump");
    }
    to = cpu_chosen_place(e, to);
    if (cpu_is_alike(e, decl, &index, v)) {
        cpu_store_news(e, decl, to, v);
    } else {
        cpu_store_at(e, decl, to.text, v);
    }
    if (masked) {
        cpu_line(e, "  br label %%behind%u", label);
        cpu_line(e, "behind%u:", label);
    }
}

/* Lanes that are active and inside. */
static void store_masked(cpu_emit *e, vyre_decl decl, cpu_value index, const cpu_value *v) {
    cpu_value mask = cpu_is_inside(e, decl, cpu_each(e, index));
    cpu_value at = address_around(e, decl, index);
    if (cpu_is_masked(e)) {
        mask = cpu_binary(e, "and", VYRE_BOOL, mask, cpu_active(e));
    }
    char scopes[64];
    cpu_alias(e, decl, scopes, sizeof scopes);
    cpu_line(e, "  call void @llvm.masked.store.%s.p0(%s %s, ptr %s, i32 %u, <%u x i1> %s)%s",
             cpu_suffix(e, (vyre_type)v->type, true), cpu_type_of(e, v), v->text, at.text,
             vyre_type_size(element_of(e, decl)), e->width, mask.text, scopes);
}

static void store_cold(cpu_emit *e, vyre_decl decl, cpu_value index, const cpu_value *v) {
    use_cold(e, (vyre_type)v->type, true);
    cpu_value mask = cpu_is_masked(e) ? cpu_active(e) : cpu_each(e, cpu_literal(VYRE_BOOL, 1));
    cpu_value bits =
        cpu_new(e, VYRE_U64, CPU_ONE, "bitcast <%u x i1> %s to i%u", e->width, mask.text, e->width);
    if (e->width < 64) {
        bits = cpu_new(e, VYRE_U64, CPU_ONE, "zext i%u %s to i64", e->width, bits.text);
    }
    cpu_line(e, "  call void @store_%s_%u(ptr %%b%u, i32 %s, i32 %%n%u, %s %s, i64 %s)",
             cpu_suffix(e, (vyre_type)v->type, false), e->width, decl, index.text, decl,
             cpu_type_of(e, v), v->text, bits.text);
}

/* Some lanes store to consecutive elements, all of which are inside. Mostly all do; of a masked
 * store vectors of 32 and 64 bits are capable, with AVX-512 also narrower ones. */
static void store_some(cpu_emit *e, vyre_decl decl, cpu_value index, const char *address,
                       const cpu_value *v) {
    const uint32_t label = cpu_label(e), size = vyre_type_size(element_of(e, decl));
    cpu_value active = cpu_active(e), idle = cpu_each(e, cpu_literal(VYRE_BOOL, 1));
    idle = cpu_binary(e, "xor", VYRE_BOOL, active, idle);
    cpu_line(e, "  br i1 %s, label %%some%u, label %%all%u", cpu_any(e, idle).text, label, label);
    cpu_line(e, "all%u:", label);
    cpu_store_row(e, decl, address, v);
    cpu_line(e, "  br label %%put%u", label);
    cpu_line(e, "some%u:", label);
    if (e->isa == CPU_AVX512 || (e->isa == CPU_AVX2 && size >= 4)) {
        char scopes[64];
        cpu_alias(e, decl, scopes, sizeof scopes);
        cpu_line(e, "  call void @llvm.masked.store.%s.p0(%s %s, ptr %s, i32 %u, <%u x i1> %s)%s",
                 cpu_suffix(e, (vyre_type)v->type, true), cpu_type_of(e, v), v->text, address, size,
                 e->width, active.text, scopes);
    } else {
        store_cold(e, decl, index, v);
    }
    cpu_line(e, "  br label %%put%u", label);
    cpu_line(e, "put%u:", label);
}

static void store_consecutive(cpu_emit *e, vyre_decl decl, cpu_value index, const cpu_value *v) {
    const uint32_t label = cpu_label(e);
    cpu_value inside = gang_is_inside(e, decl, index);
    cpu_line(e, "  br i1 %s, label %%fast%u, label %%slow%u", inside.text, label, label);
    cpu_line(e, "fast%u:", label);
    cpu_value address = cpu_address(e, decl, index);
    if (cpu_is_masked(e)) {
        store_some(e, decl, index, address.text, v);
    } else {
        cpu_store_row(e, decl, address.text, v);
    }
    cpu_line(e, "  br label %%stored%u", label);
    cpu_line(e, "slow%u:", label);
    if (takes_mask(e, decl)) {
        store_masked(e, decl, index, v);
    } else {
        store_cold(e, decl, index, v);
    }
    cpu_line(e, "  br label %%stored%u", label);
    cpu_line(e, "stored%u:", label);
}

/* Each lane an element. */
static void store_each(cpu_emit *e, vyre_decl decl, cpu_value index, cpu_value v, uint32_t site) {
    const bool own = is_private(e, decl) && e->width > 1;
    if (cpu_is_steady(e, site) && e->sites[site].tiled) {
        cpu_store_at(e, decl, cpu_steady_address(e, decl, site).text, &v);
        return;
    }
    if (index.hold == CPU_LINEAR && index.stride == 1 && !own) {
        if (cpu_is_steady(e, site) && !cpu_is_masked(e)) {
            cpu_store_row(e, decl, cpu_steady_address(e, decl, site).text, &v);
        } else if (cpu_is_promised(e)) {
            cpu_store_row(e, decl, cpu_address(e, decl, index).text, &v);
        } else if (!cpu_is_marked(e, site, CPU_MARK_INSIDE)) {
            store_consecutive(e, decl, index, &v);
        } else if (cpu_is_masked(e)) {
            store_some(e, decl, index, trusted_address(e, decl, index).text, &v);
        } else {
            cpu_store_row(e, decl, trusted_address(e, decl, index).text, &v);
        }
        return;
    }
    if (is_strided(e, decl, &index) && !cpu_is_masked(e)) {
        store_strided(e, decl, index, v);
        return;
    }
    cpu_value each = cpu_each(e, index);
    cpu_scatter(e, decl, each, cpu_each(e, place_of(e, decl, each)), v);
}

void cpu_store(cpu_emit *e, vyre_decl decl, cpu_value index, cpu_value value) {
    const uint32_t site = cpu_stmt_site(e, e->stmt);
    cpu_value v = cpu_narrow(e, element_of(e, decl), value);
    e->is_proven = e->proven[site];
    if (index.hold == CPU_ONE && v.hold == CPU_ONE && (!is_private(e, decl) || e->width == 1)) {
        store_once(e, decl, index, &v, site);
        return;
    }
    v = cpu_each(e, v);
    const uint32_t blend = cpu_is_masked(e) && cpu_blends(e, e->stmt) ? cpu_blend(e, decl, v) : 0;
    store_each(e, decl, index, v, site);
    if (blend) {
        cpu_blend_end(e, blend);
    }
}
