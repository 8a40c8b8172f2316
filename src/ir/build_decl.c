/* Building declarations and clauses. */
#include "ir/builder_state.h"

bool vyre_builder_is_decl(vyre_builder *b, vyre_decl decl, bool memory) {
    if (!vyre_builder_ok(b)) {
        return false;
    }
    if (decl >= b->decls.count ||
        vyre_role_is_memory((vyre_role)b->decls.data[decl].role) != memory) {
        vyre_builder_misuse(b, memory ? "not a buffer or array of this builder"
                                      : "not a param or const of this builder");
        return false;
    }
    return true;
}

void vyre_build_workgroup(vyre_builder *b, uint32_t x, uint32_t y, uint32_t z) {
    if (vyre_builder_ok(b)) {
        b->program_place = b->place;
        b->workgroup[0] = x;
        b->workgroup[1] = y;
        b->workgroup[2] = z;
    }
}

void vyre_build_elements(vyre_builder *b, vyre_expr count) {
    b->clause_kind = VYRE_CLAUSE_ELEMENTS;
    b->clause[0] = vyre_builder_commit(b, &b->decl_code, count, true);
}

void vyre_build_grid(vyre_builder *b, vyre_expr x, vyre_expr y, vyre_expr z) {
    b->clause_kind = VYRE_CLAUSE_GRID;
    b->clause[0] = vyre_builder_commit(b, &b->decl_code, x, true);
    b->clause[1] = vyre_builder_commit_optional(b, &b->decl_code, y, true);
    b->clause[2] = vyre_builder_commit_optional(b, &b->decl_code, z, true);
}

static vyre_decl add_decl(vyre_builder *b, vyre_decl_node node) {
    if (!vyre_builder_ok(b)) {
        return VYRE_NONE;
    }
    if (b->decls.count >= VYRE_BUILDER_DECLS) {
        vyre_builder_fail(b, VYRE_LIMIT, "use fewer, larger buffers", "more than %d declarations",
                          (int)VYRE_BUILDER_DECLS);
        return VYRE_NONE;
    }
    if (!vyre_vec_push(&b->allocator, &b->decls, node) ||
        !vyre_vec_push(&b->allocator, &b->decl_places, b->place)) {
        vyre_builder_fail_memory(b);
        return VYRE_NONE;
    }
    return b->decls.count - 1;
}

vyre_decl vyre_build_memory(vyre_builder *b, vyre_role role, const char *name, vyre_type type,
                            vyre_expr size) {
    if (!vyre_builder_ok(b)) {
        return VYRE_NONE;
    }
    if (!vyre_role_is_memory(role) || type == VYRE_VOID || (unsigned)type >= VYRE_TYPE_COUNT) {
        vyre_builder_misuse(b, "a buffer or array needs a memory role and an element type");
        return VYRE_NONE;
    }
    return add_decl(
        b, (vyre_decl_node){.name = vyre_builder_intern_name(b, name),
                            .role = (uint8_t)role,
                            .type = (uint8_t)type,
                            .rank = 1,
                            .size = vyre_builder_commit_optional(b, &b->decl_code, size, true),
                            .value = VYRE_NONE,
                            .inner = VYRE_NONE});
}

static vyre_decl add_value(vyre_builder *b, vyre_role role, const char *name, vyre_type type,
                           vyre_expr value) {
    if (!vyre_builder_ok(b)) {
        return VYRE_NONE;
    }
    return add_decl(
        b, (vyre_decl_node){.name = vyre_builder_intern_name(b, name),
                            .role = (uint8_t)role,
                            .type = (uint8_t)type,
                            .size = VYRE_NONE,
                            .value = vyre_builder_commit_optional(b, &b->decl_code, value, false),
                            .inner = VYRE_NONE});
}

vyre_decl vyre_build_param(vyre_builder *b, const char *name, vyre_type type,
                           vyre_expr default_value) {
    if (!vyre_type_computes(type)) {
        vyre_builder_misuse(b, "a param needs a computing type");
        return VYRE_NONE;
    }
    return add_value(b, VYRE_PARAM, name, type, default_value);
}

vyre_decl vyre_build_const(vyre_builder *b, const char *name, vyre_expr value) {
    return add_value(b, VYRE_CONST, name, vyre_builder_expr_type(b, value), value);
}

void vyre_build_decl_size(vyre_builder *b, vyre_decl decl, vyre_expr size) {
    if (vyre_builder_is_decl(b, decl, true)) {
        vyre_expr root = vyre_builder_commit(b, &b->decl_code, size, true);
        b->decls.data[decl].size = root;
    }
}

void vyre_build_decl_value(vyre_builder *b, vyre_decl decl, vyre_expr value) {
    if (vyre_builder_is_decl(b, decl, false)) {
        vyre_expr root = vyre_builder_commit(b, &b->decl_code, value, false);
        b->decls.data[decl].value = root;
        if (b->decls.data[decl].role == VYRE_CONST) {
            b->decls.data[decl].type = (uint8_t)vyre_builder_expr_type(b, value);
        }
    }
}

void vyre_build_output_range(vyre_builder *b, vyre_decl decl, uint32_t begin, uint32_t end) {
    if (vyre_builder_is_decl(b, decl, true)) {
        b->decls.data[decl].range_begin = begin;
        b->decls.data[decl].range_end = end;
    }
}

void vyre_build_access(vyre_builder *b, vyre_decl decl, vyre_access access) {
    if (vyre_builder_is_decl(b, decl, true)) {
        b->decls.data[decl].access = (uint8_t)access;
    }
}
