/* Functions of libraries: copied into the program when its text calls them and declares nothing of
 * that name, with the functions they call in turn.
 *
 * What a library function refers to at the top level is found by name: buffers and params must be
 * declared by the program, with the same element type; consts come along. A variable of the copy
 * whose name is taken by the program is renamed to a temporary, so that the result prints to a text
 * that parses. */
#include <stdio.h>
#include <string.h>

#include "ir/rewrite.h"
#include "text/parser.h"

typedef struct import {
    vyre_parser *p;
    vyre_rewriter rw;
    const vyre_program_view *lib;
    uint32_t *caller; /* per function of the library: the token that asks for it, or NONE */
    uint32_t *wanted; /* per declaration: a function that needs the const copied, or NONE */
    VYRE_VEC(vyre_fn) waiting;
    bool failed;
} import;

/* The symbol of a name that may not occur in the text. */
static uint32_t find_symbol(const vyre_parser *p, const char *name) {
    uint32_t number = vyre_intern_find(&p->source.names, name, strlen(name));
    return number < p->name_count ? p->visible[number] : VYRE_NONE;
}

static void refuse(import *im, vyre_fn fn, const char *why, const char *name, const char *fix) {
    uint32_t token = im->caller[fn];
    vyre_parser_error(im->p, "V016", token, token, fix,
                      "the library function `%s` can't be used here: %s `%s`",
                      im->lib->fns[fn].name, why, name);
    im->failed = true;
}

static void ask_for(import *im, vyre_fn fn, uint32_t token) {
    if (im->caller[fn] == VYRE_NONE) {
        im->caller[fn] = token;
        im->p->out_of_memory |= !vyre_vec_push(&im->p->source.allocator, &im->waiting, fn);
    }
}

/* A symbol for something that has no token in the text. */
static void declare_imported(import *im, const char *name, vyre_symbol symbol) {
    vyre_parser *p = im->p;
    symbol.name = vyre_intern_add(&p->source.names, name, strlen(name));
    symbol.token = VYRE_NONE;
    symbol.previous = VYRE_NONE;
    if (symbol.name == VYRE_INTERN_NONE || !vyre_parser_grow_names(p) ||
        !vyre_vec_push(&p->source.allocator, &p->symbols, symbol)) {
        p->out_of_memory = true;
        return;
    }
    p->visible[symbol.name] = p->symbols.count - 1;
}

/* Finds what a declaration of the library is in this program. */
static void map_decl(import *im, vyre_fn fn, vyre_decl decl) {
    if (decl == VYRE_NONE || im->rw.decls[decl] != VYRE_NONE || im->failed) {
        return;
    }
    const vyre_decl_node *d = &im->lib->decls[decl];
    uint32_t symbol = find_symbol(im->p, d->name);
    const vyre_symbol *s = symbol == VYRE_NONE ? NULL : &im->p->symbols.data[symbol];
    if (!s && d->role == VYRE_CONST) {
        im->wanted[decl] = fn;
    } else if (!s) {
        refuse(im, fn, "this program does not declare its", d->name, "declare it");
    } else if (s->kind != VYRE_SYMBOL_DECL || s->type != d->type ||
               vyre_role_is_memory((vyre_role)s->sub) != vyre_role_is_memory((vyre_role)d->role) ||
               (d->role == VYRE_CONST) != (s->sub == VYRE_CONST)) {
        refuse(im, fn, "this program declares in another way its", d->name,
               "declare it as the library does, or rename it");
    } else {
        im->rw.decls[decl] = s->handle;
    }
}

static void map_exprs(import *im, vyre_fn fn, vyre_expr first, vyre_expr end) {
    for (vyre_expr e = first; e < end; e++) {
        const vyre_expr_node *node = &im->lib->exprs[e];
        if (node->op == VYRE_EXPR_REF || node->op == VYRE_EXPR_LEN || node->op == VYRE_EXPR_LOAD) {
            map_decl(im, fn, node->ref);
        }
    }
}

/* Everything that the functions asked for refer to. */
static void collect(import *im) {
    while (im->waiting.count && !im->failed && !im->p->out_of_memory) {
        vyre_fn fn = im->waiting.data[--im->waiting.count];
        const vyre_fn_node *f = &im->lib->fns[fn];
        if (find_symbol(im->p, f->name) != VYRE_NONE) {
            refuse(im, fn, "this program has its own", f->name, "rename one of them");
        }
        for (uint32_t i = 0; i < f->reads + f->writes; i++) {
            map_decl(im, fn, im->lib->args[f->first_effect + i]);
        }
        for (vyre_stmt at = f->begin; at < f->end; at++) {
            const vyre_stmt_node *s = &im->lib->stmts[at];
            map_exprs(im, fn, s->first_expr, s->end_expr);
            map_decl(im, fn, s->decl);
            map_decl(im, fn, s->decl2);
            if (s->op == VYRE_STMT_CALL) {
                ask_for(im, s->fn, im->caller[fn]);
            }
        }
    }
}

/* Copies a const once all that its value names is there; false while something is missing. */
static bool copy_const(import *im, vyre_decl decl) {
    const vyre_decl_node *d = &im->lib->decls[decl];
    map_exprs(im, im->wanted[decl], d->first_expr, d->end_expr);
    for (vyre_expr e = d->first_expr; e < d->end_expr; e++) {
        const vyre_expr_node *node = &im->lib->exprs[e];
        if (node->op == VYRE_EXPR_REF && im->rw.decls[node->ref] == VYRE_NONE) {
            return false;
        }
    }
    declare_imported(im, d->name,
                     (vyre_symbol){.kind = VYRE_SYMBOL_DECL,
                                   .sub = VYRE_CONST,
                                   .type = d->type,
                                   .handle = vyre_rewrite_decl(&im->rw, decl),
                                   .item = VYRE_NONE});
    return true;
}

/* A builder that failed maps nothing any more: without this test the loop below would not end. */
static bool is_sound(const vyre_parser *p) {
    return !p->out_of_memory && vyre_builder_status(p->builder) == VYRE_OK;
}

static void copy_consts(import *im) {
    uint32_t missing;
    bool progress;
    do {
        progress = false;
        missing = VYRE_NONE;
        for (vyre_decl i = 0; i < im->lib->decl_count && !im->failed; i++) {
            if (im->wanted[i] != VYRE_NONE && im->rw.decls[i] == VYRE_NONE) {
                bool copied = copy_const(im, i);
                progress = progress || copied;
                missing = copied ? missing : i;
            }
        }
    } while (progress && missing != VYRE_NONE && is_sound(im->p));
    if (missing != VYRE_NONE && !im->failed && is_sound(im->p)) {
        refuse(im, im->wanted[missing], "no end is found to the value of its const",
               im->lib->decls[missing].name, "correct the library");
    }
}

/* The rewriter's hook: names that the program has taken become temporaries. */
static const char *rename_var(vyre_rewriter *rw, vyre_var var, void *user) {
    vyre_parser *p = user;
    char room[16];
    if (find_symbol(p, rw->p->vars[var].name) == VYRE_NONE) {
        return NULL;
    }
    int length = snprintf(room, sizeof room, "_%u", p->source.next_temporary++);
    uint32_t number = vyre_intern_add(&p->source.names, room, (size_t)length);
    p->out_of_memory |= number == VYRE_INTERN_NONE;
    return number == VYRE_INTERN_NONE ? NULL : vyre_source_name(&p->source, number);
}

/* Makes the function known to the parser. */
static void declare_symbol(import *im, vyre_fn fn) {
    vyre_parser *p = im->p;
    const vyre_fn_node *f = &im->lib->fns[fn];
    vyre_item item = {.begin = VYRE_NONE,
                      .end = VYRE_NONE,
                      .function = true,
                      .imported = true,
                      .result = f->type,
                      .first_arg = p->args.count,
                      .arg_count = f->arg_count};
    for (uint32_t i = 0; i < f->arg_count; i++) {
        vyre_argument arg = {.token = VYRE_NONE, .type = im->lib->vars[f->first_var + i].type};
        p->out_of_memory |= !vyre_vec_push(&p->source.allocator, &p->args, arg);
    }
    declare_imported(im, f->name, (vyre_symbol){.kind = VYRE_SYMBOL_FN, .handle = p->items.count});
    p->out_of_memory |= !vyre_vec_push(&p->source.allocator, &p->items, item);
}

/* Functions first by name, then in the builder, then their bodies: each may call each. */
static void copy_functions(import *im) {
    vyre_parser *p = im->p;
    uint32_t item = p->items.count;
    for (vyre_fn fn = 0; fn < im->lib->fn_count && !p->out_of_memory; fn++) {
        if (im->caller[fn] != VYRE_NONE) {
            declare_symbol(im, fn);
        }
    }
    im->rw.rename = rename_var;
    im->rw.user = p;
    for (vyre_fn fn = 0; fn < im->lib->fn_count && !p->out_of_memory; fn++) {
        if (im->caller[fn] != VYRE_NONE) {
            p->items.data[item++].fn = vyre_rewrite_fn_declare(&im->rw, fn);
        }
    }
    for (vyre_fn fn = 0; fn < im->lib->fn_count && !p->out_of_memory; fn++) {
        if (im->caller[fn] != VYRE_NONE) {
            vyre_rewrite_fn_body(&im->rw, fn);
        }
    }
}

/* Calls in the text that nothing of the program answers; `called` has their tokens by name. */
static void import_from(import *im, const uint32_t *called, uint32_t called_count) {
    vyre_parser *p = im->p;
    for (vyre_fn fn = 0; fn < im->lib->fn_count; fn++) {
        const char *name = im->lib->fns[fn].name;
        uint32_t number = vyre_intern_find(&p->source.names, name, strlen(name));
        if (number < called_count && called[number] && p->visible[number] == VYRE_NONE) {
            ask_for(im, fn, called[number]);
        }
    }
    for (vyre_var var = 0; var < im->lib->var_count && im->waiting.count; var++) {
        vyre_source_note_temporary(&p->source, im->lib->vars[var].name);
    }
    collect(im);
    copy_consts(im);
    if (!im->failed && !p->out_of_memory) {
        copy_functions(im);
    }
}

static void import_library(vyre_parser *p, const vyre_program *library, const uint32_t *called,
                           uint32_t called_count) {
    const vyre_allocator *a = &p->source.allocator;
import im = {.p = p, .lib = vyre_program_get(library) };
    if (vyre_rewriter_init(&im.rw, library, p->builder, a) != VYRE_OK) {
        p->out_of_memory = true;
        return;
    }
    im.caller = vyre_alloc(a, im.lib->fn_count, sizeof *im.caller);
    im.wanted = vyre_alloc(a, im.lib->decl_count, sizeof *im.wanted);
    if (im.caller && im.wanted) {
        memset(im.caller, 0xff, im.lib->fn_count * sizeof *im.caller);
        memset(im.wanted, 0xff, im.lib->decl_count * sizeof *im.wanted);
        import_from(&im, called, called_count);
    } else {
        p->out_of_memory = true;
    }
    vyre_free(a, im.caller, im.lib->fn_count, sizeof *im.caller);
    vyre_free(a, im.wanted, im.lib->decl_count, sizeof *im.wanted);
    vyre_vec_free(a, &im.waiting);
    vyre_rewriter_finish(&im.rw);
}

void vyre_parser_import(vyre_parser *p, const vyre_program *const *libraries, uint32_t count) {
    const vyre_allocator *a = &p->source.allocator;
    uint32_t names = p->name_count;
    uint32_t *called = count ? vyre_alloc_zeroed(a, names, sizeof *called) : NULL;
    if (!called) {
        p->out_of_memory |= count > 0;
        return;
    }
    for (uint32_t i = p->source.tokens.count - 1; i-- > 0;) {
        const vyre_token *t = &p->tokens[i];
        if (t->kind == VYRE_TOKEN_NAME && t[1].kind == VYRE_TOKEN_OPEN_PAREN) {
            called[t->value] = i;
        }
    }
    for (uint32_t i = 0; i < count && !p->out_of_memory; i++) {
        import_library(p, libraries[i], called, names);
    }
    vyre_free(a, called, names, sizeof *called);
}
