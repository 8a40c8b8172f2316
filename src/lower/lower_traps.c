/* Traps. A lane that traps records itself in a buffer of words and ends; whoever launched the
 * program looks at the buffer afterwards:
 *
 *     trap("tag", a);   ->   let _address = a;
 *                            region "tag" {
 *                                _trap[0] = 1;
 *                                (key and set from the number of the lane)
 *                                for (bit in 0 .. 32) {
 *                                    atomic_max(_trap[site + 2 * bit + (_address >> bit & 1)],
 * key);
 *                                }
 *                            }
 *                            exit;
 *
 * The key is the larger the lower the lane, so each word keeps the lowest lane that had this bit at
 * this site. The largest key of all is the lowest lane; its site gives tag and place, and the words
 * that hold it the address. So one kind of atomic, on words, is enough, and no lane waits for
 * another. Keys have 31 bits: lanes beyond 2^31 use the next set of words, which ranks behind.
 *
 * The program is its own table of sites: the atomics on the buffer, each in a region with the tag
 * as name. Cost: none as long as nobody traps. Not done: programs that wait for their grid, since
 * only the traps before the next such barrier count. */
#include "base/diag.h"
#include "ir/builder.h"
#include "ir/each.h"
#include "lower/capabilities.h"
#include "lower/rewrites.h"

enum { BITS = 32, SITE = 2 * BITS, SET_BITS = 31 };

typedef struct trapping {
    vyre_decl buffer;
    uint32_t sites, site;
    uint32_t lanes; /* of a group */
} trapping;

/* Writing */

static vyre_expr op(vyre_builder *b, vyre_expr_op which, vyre_expr x, vyre_expr y) {
    return vyre_build_op(b, which, x, y, VYRE_NONE);
}

static vyre_expr let(vyre_each *each, const char *name, vyre_expr value) {
    vyre_builder *b = each->rw.to;
    return vyre_build_var(b, vyre_build_let(b, vyre_each_name(each, name), value));
}

/* x + size_x * (y + size_y * z) of two ids. */
static vyre_expr linear(vyre_builder *b, vyre_builtin id, vyre_builtin size) {
    vyre_expr value = vyre_build_id(b, id, 2);
    for (uint32_t axis = 2; axis-- > 0;) {
        value = op(b, VYRE_EXPR_ADD, vyre_build_id(b, id, axis),
                   op(b, VYRE_EXPR_MUL, vyre_build_id(b, size, axis), value));
    }
    return value;
}

static void record(vyre_each *each, const trapping *all, vyre_expr address) {
    vyre_builder *b = each->rw.to;
    vyre_expr group =
        let(each, "_group", linear(b, VYRE_BUILTIN_GROUP_ID, VYRE_BUILTIN_NUM_GROUPS));
    vyre_expr lanes = vyre_build_u32(b, all->lanes);
    vyre_expr first = let(each, "_first", op(b, VYRE_EXPR_MUL, group, lanes));
    vyre_expr lane =
        let(each, "_lane",
            op(b, VYRE_EXPR_ADD, first, linear(b, VYRE_BUILTIN_LOCAL_ID, VYRE_BUILTIN_GROUP_SIZE)));
    vyre_expr carry = vyre_build_op(b, VYRE_EXPR_SELECT, op(b, VYRE_EXPR_LT, lane, first),
                                    vyre_build_u32(b, 1), vyre_build_u32(b, 0));
    vyre_expr high = op(b, VYRE_EXPR_ADD, op(b, VYRE_EXPR_MUL_HIGH, group, lanes), carry);
    vyre_expr set = op(b, VYRE_EXPR_ADD, op(b, VYRE_EXPR_MUL, high, vyre_build_u32(b, 2)),
                       op(b, VYRE_EXPR_SHR, lane, vyre_build_u32(b, SET_BITS)));
    vyre_expr site =
        op(b, VYRE_EXPR_ADD, op(b, VYRE_EXPR_MUL, set, vyre_build_u32(b, all->sites * SITE)),
           vyre_build_u32(b, 1 + all->site * SITE));
    site = let(each, "_site", site);
    vyre_expr key =
        let(each, "_key",
            op(b, VYRE_EXPR_SUB, vyre_build_u32(b, 1u << SET_BITS),
               op(b, VYRE_EXPR_BIT_AND, lane, vyre_build_u32(b, (1u << SET_BITS) - 1))));
    vyre_expr bit =
        vyre_build_var(b, vyre_build_for(b, vyre_each_name(each, "_bit"), vyre_build_u32(b, 0),
                                         vyre_build_u32(b, BITS), VYRE_NONE));
    vyre_expr value =
        op(b, VYRE_EXPR_BIT_AND, op(b, VYRE_EXPR_SHR, address, bit), vyre_build_u32(b, 1));
    vyre_expr word =
        op(b, VYRE_EXPR_ADD, site,
           op(b, VYRE_EXPR_ADD, op(b, VYRE_EXPR_MUL, bit, vyre_build_u32(b, 2)), value));
    (void)vyre_build_atomic(b, NULL, VYRE_ATOMIC_MAX, all->buffer, word, VYRE_NONE, key,
                            VYRE_RELAXED);
    vyre_build_end(b);
}

static bool replace(vyre_each *each, vyre_stmt s) {
    trapping *all = each->user;
    vyre_rewriter *rw = &each->rw;
    vyre_builder *b = rw->to;
    const vyre_stmt_node *n = &rw->p->stmts[s];
    if (n->op != VYRE_STMT_TRAP) {
        return false;
    }
    vyre_expr address = vyre_rewrite_expr(rw, n->arg[0]);
    vyre_builder_at(b, vyre_program_stmt_place(rw->source, s));
    address = let(each, "_address", address);
    vyre_build_region(b, n->text);
    vyre_build_store(b, all->buffer, vyre_build_u32(b, 0), vyre_build_u32(b, 1));
    record(each, all, address);
    vyre_build_end(b);
    vyre_build_exit(b);
    all->site++;
    return true;
}

static void begin(vyre_each *each) {
    trapping *all = each->user;
    all->buffer = vyre_build_memory(each->rw.to, VYRE_INOUT, vyre_each_name(each, "_trap"),
                                    VYRE_U32, VYRE_NONE);
}

vyre_status vyre_lower_traps(vyre_program *program, const vyre_capabilities *can,
                             const vyre_allocator *a, vyre_program **out_program, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    trapping all = {.lanes = p->workgroup[0] * p->workgroup[1] * p->workgroup[2]};
    vyre_stmt first = VYRE_NONE;
    for (vyre_stmt s = p->stmt_count; s-- > p->entry;) {
        if (p->stmts[s].op == VYRE_STMT_TRAP) {
            first = s;
            all.sites++;
        }
    }
    /* A trap ends its lane, so it is in the way of rewrites that let none end. */
    bool keeps = vyre_can_stmt(can, VYRE_STMT_TRAP) && can->lanes_may_end &&
                 !vyre_lacks_subgroups(program, can) &&
                 vyre_group_way_of(program, can) != VYRE_GROUP_TOGETHER;
    if (all.sites == 0 || keeps) {
        *out_program = vyre_program_retain(program);
        return VYRE_OK;
    }
    if (!vyre_program_has_no_grid_sync(program)) {
        return vyre_fail_at(diag, VYRE_UNSUPPORTED, "", vyre_program_stmt_place(program, first),
                            "split it, or run it on another device; \"ref\" can do everything",
                            "the device has a grid barrier, but can't tell of traps before it");
    }
    return vyre_each_rewrite(program, begin, replace, &all, a, out_program, diag);
}

/* Reading */

vyre_decl vyre_traps_of(const vyre_program *lowered, uint32_t source_decls) {
    const vyre_program_view *p = vyre_program_get(lowered);
    for (vyre_decl d = source_decls; d < p->decl_count; d++) {
        if (vyre_role_is_buffer((vyre_role)p->decls[d].role)) {
            return d;
        }
    }
    return VYRE_NONE;
}

/* The next site from `s` on: the statement that records there, or VYRE_NONE. */
static vyre_stmt next_site(const vyre_program_view *p, vyre_decl traps, vyre_stmt s) {
    while (s < p->stmt_count && (p->stmts[s].op != VYRE_STMT_ATOMIC || p->stmts[s].decl != traps)) {
        s++;
    }
    return s < p->stmt_count ? s : VYRE_NONE;
}

/* The innermost region around a site. */
static vyre_stmt region_of(const vyre_program_view *p, vyre_stmt site) {
    vyre_stmt s = site;
    while (p->stmts[s].op != VYRE_STMT_REGION || p->stmts[s].match < site) {
        s--;
    }
    return s;
}

static uint32_t count_sites(const vyre_program_view *p, vyre_decl traps) {
    uint32_t sites = 0;
    for (vyre_stmt s = next_site(p, traps, p->entry); s != VYRE_NONE;
         s = next_site(p, traps, s + 1)) {
        sites++;
    }
    return sites;
}

bool vyre_trap_site(const vyre_program *lowered, vyre_decl traps, uint32_t site,
                    const char **out_tag, vyre_place *out_place) {
    const vyre_program_view *p = vyre_program_get(lowered);
    vyre_stmt s = next_site(p, traps, p->entry);
    for (; site > 0 && s != VYRE_NONE; site--) {
        s = next_site(p, traps, s + 1);
    }
    if (s != VYRE_NONE) {
        *out_tag = p->stmts[region_of(p, s)].text;
        *out_place = vyre_program_stmt_place(lowered, s);
    }
    return s != VYRE_NONE;
}

uint64_t vyre_trap_words(const vyre_program *lowered, vyre_decl traps, const uint32_t grid[3]) {
    const vyre_program_view *p = vyre_program_get(lowered);
    uint64_t lanes = (uint64_t)p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
    uint64_t sets = ((uint64_t)grid[0] * grid[1] * grid[2] * lanes >> SET_BITS) + 1;
    return 1 + sets * count_sites(p, traps) * SITE;
}

/* The address whose bits are in the words with that key. */
static uint32_t address_of(const uint32_t *words, uint32_t key) {
    uint32_t address = 0;
    for (uint32_t bit = 0; bit < BITS; bit++) {
        address |= (uint32_t)(words[2 * bit + 1] == key) << bit;
    }
    return address;
}

bool vyre_trap_find(const vyre_program *lowered, vyre_decl traps, const uint32_t *words,
                    uint64_t count, vyre_trap_record *out_record) {
    const vyre_program_view *p = vyre_program_get(lowered);
    uint32_t sites = count_sites(p, traps);
    uint64_t sets = sites == 0 ? 0 : (count - 1) / SITE / sites;
    for (uint64_t set = 0; set < sets && words[0] != 0; set++) {
        uint32_t best = 0;
        vyre_stmt s = p->entry;
        for (uint32_t site = 0; site < sites; site++, s++) {
            const uint32_t *at = words + 1 + (set * sites + site) * SITE;
            uint32_t key = at[0] > at[1] ? at[0] : at[1]; /* of one bit as good as of another */
            s = next_site(p, traps, s);
            if (key > best) {
                best = key;
                *out_record =
                    (vyre_trap_record){.lane = (set << SET_BITS) + ((1u << SET_BITS) - key),
                                       .address = address_of(at, key),
                                       .tag = p->stmts[region_of(p, s)].text,
                                       .place = vyre_program_stmt_place(lowered, s)};
            }
        }
        if (best != 0) {
            return true;
        }
    }
    return false;
}
