/* vyre_parse: the header, and the order of everything. */
#include "vyre/text.h"

#include "text/join.h"
#include "text/parser.h"

/* Tokens of the header; brackets are jumped over and read once declarations are known. */
typedef struct header {
    uint32_t name, workgroup, clause, brace; /* NONE when absent */
} header;

static void header_error(vyre_parser *p, const char *what) {
    char room[64];
    vyre_parser_error(p, "V209", p->at, p->at,
                      vyre_parser_is_text(p, p->at, "import")
                          ? "imports stand in the braces of the program"
                          : "begin like program NAME workgroup(64) elements(len(x)) {",
                      "expected %s, found %s", what, vyre_source_describe(&p->source, p->at, room));
}

/* word( ... ): gives the bracket and steps behind its partner. */
static uint32_t header_list(vyre_parser *p) {
    uint32_t bracket = ++p->at;
    if (p->tokens[bracket].kind != VYRE_TOKEN_OPEN_PAREN) {
        header_error(p, "`(`");
        return VYRE_NONE;
    }
    p->at = p->tokens[bracket].value + 1;
    return bracket;
}

static bool parse_header(vyre_parser *p, header *h) {
    *h = (header){VYRE_NONE, VYRE_NONE, VYRE_NONE, VYRE_NONE};
    if (!vyre_parser_is(p, p->at, VYRE_WORD_KEY, VYRE_KEY_PROGRAM)) {
        header_error(p, "`program`");
        return false;
    }
    h->name = ++p->at;
    if (!vyre_parser_is_name(p, p->at)) {
        header_error(p, "the name of the program");
        return false;
    }
    p->at++;
    if (!vyre_parser_is(p, p->at, VYRE_WORD_ROLE, VYRE_WORKGROUP)) {
        header_error(p, "`workgroup(x, y, z)`");
        return false;
    }
    h->workgroup = header_list(p);
    if (h->workgroup == VYRE_NONE) {
        return false;
    }
    if (vyre_parser_is(p, p->at, VYRE_WORD_KEY, VYRE_KEY_ELEMENTS) ||
        vyre_parser_is(p, p->at, VYRE_WORD_KEY, VYRE_KEY_GRID)) {
        h->clause = header_list(p);
        if (h->clause == VYRE_NONE) {
            return false;
        }
    }
    h->brace = p->at;
    if (p->tokens[p->at].kind != VYRE_TOKEN_OPEN_BRACE) {
        header_error(p, "`{`");
        return false;
    }
    uint32_t end = p->tokens[p->at].value + 1;
    if (p->tokens[end].kind != VYRE_TOKEN_END) {
        char room[64];
        vyre_parser_error(p, "V234", end, end, "a text holds one program",
                          "expected the end of the text behind the program, found %s",
                          vyre_source_describe(&p->source, end, room));
    }
    return true;
}

/* The integer that a token stands for: a literal, or a const whose value is one. */
static bool simple_integer(const vyre_parser *p, uint32_t token, uint32_t *out) {
    uint64_t bits = 0;
    bool fits = false;
    if (p->tokens[token].kind == VYRE_TOKEN_INTEGER) {
        fits = vyre_literal_convert(&p->source, token, VYRE_U32, false, &bits) == VYRE_LITERAL_FITS;
    } else {
        const uint32_t symbol = vyre_parser_symbol(p, token);
        const vyre_symbol *s = symbol == VYRE_NONE ? NULL : &p->symbols.data[symbol];
        const bool counts = s && s->kind == VYRE_SYMBOL_DECL && s->sub == VYRE_CONST &&
                            vyre_type_is_integer((vyre_type)s->type) &&
                            p->items.data[s->item].known;
        bits = counts ? p->items.data[s->item].value : 0;
        fits = counts && bits <= (vyre_type_is_signed((vyre_type)s->type) ? INT32_MAX : UINT32_MAX);
    }
    *out = (uint32_t)bits;
    return fits;
}

static void parse_workgroup(vyre_parser *p, const header *h) {
    uint32_t axes[3] = {1, 1, 1};
    uint32_t close = p->tokens[h->workgroup].value;
    p->at = h->workgroup + 1;
    for (int i = 0; i < 3; i++) {
        if (!simple_integer(p, p->at, &axes[i])) {
            vyre_parser_error(p, "V233", p->at, p->at, "write a number or the name of a const",
                              "an axis of the workgroup is a whole number known here");
            return;
        }
        p->at++;
        if (p->at == close) {
            break;
        }
        if (i == 2 || p->tokens[p->at].kind != VYRE_TOKEN_COMMA) {
            vyre_parser_expect(p, i == 2 ? VYRE_TOKEN_CLOSE_PAREN : VYRE_TOKEN_COMMA,
                               "in the size of the workgroup");
            return;
        }
        p->at++;
    }
    vyre_parser_at(p, h->name - 1, p->at);
    vyre_build_workgroup(p->builder, axes[0], axes[1], axes[2]);
}

static void parse_clause(vyre_parser *p, const header *h) {
    uint32_t roots[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    bool grid = vyre_parser_is(p, h->clause - 1, VYRE_WORD_KEY, VYRE_KEY_GRID);
    uint32_t close = p->tokens[h->clause].value;
    p->at = h->clause + 1;
    vyre_parser_clear(p);
    for (int i = 0; i < (grid ? 3 : 1); i++) {
        if (!vyre_parser_part(p, VYRE_VOID, &roots[i])) {
            return;
        }
        p->nodes.data[roots[i]].refuse = VYRE_REFUSE_CONSTANT;
        if (p->at == close || i == 2 || !grid) {
            break;
        }
        if (!vyre_parser_expect(p, VYRE_TOKEN_COMMA, "between the axes")) {
            return;
        }
    }
    if (p->at != close) {
        vyre_parser_expect(p, VYRE_TOKEN_CLOSE_PAREN, "behind the clause");
        return;
    }
    p->exact = true;
    vyre_parser_elaborate(p);
    p->exact = false;
    vyre_parser_at(p, h->clause - 1, close);
    if (grid) {
        vyre_build_grid(p->builder, vyre_parser_handle(p, roots[0]),
                        vyre_parser_handle(p, roots[1]), vyre_parser_handle(p, roots[2]));
    } else {
        vyre_build_elements(p->builder, vyre_parser_handle(p, roots[0]));
    }
}

static void parse_program(vyre_parser *p, const header *h, const vyre_parse_options *options) {
    vyre_parser_declarations(p, h->brace);
    if (options && !p->out_of_memory) {
        vyre_parser_import(p, options->libraries, options->library_count);
    }
    if (p->out_of_memory) {
        return; /* the items are not complete */
    }
    p->top_symbols = p->symbols.count;
    parse_workgroup(p, h);
    if (h->clause != VYRE_NONE) {
        parse_clause(p, h);
    }
    uint32_t next = vyre_parser_functions(p, 0); /* and what they call */
    vyre_parser_body(p, h->brace, true);
    vyre_parser_leave(p, p->top_symbols);
    vyre_parser_functions(p, next);
    vyre_parser_uncalled(p);
}

static bool prepare(vyre_parser *p, const header *h) {
    return vyre_parser_grow_names(p) &&
           vyre_builder_create(&p->source.allocator, vyre_parser_name(p, h->name), &p->builder) ==
               VYRE_OK;
}

static void finish(vyre_parser *p) {
    const vyre_allocator *a = &p->source.allocator;
    vyre_builder_destroy(p->builder);
    vyre_free(a, p->visible, p->name_count, sizeof *p->visible);
    vyre_free(a, p->reported, p->name_count, sizeof *p->reported);
    vyre_vec_free(a, &p->symbols);
    vyre_vec_free(a, &p->items);
    vyre_vec_free(a, &p->args);
    vyre_vec_free(a, &p->passed);
    vyre_vec_free(a, &p->nodes);
    vyre_vec_free(a, &p->kids);
    vyre_vec_free(a, &p->operands);
    vyre_vec_free(a, &p->frames);
    vyre_vec_free(a, &p->open);
    vyre_source_finish(&p->source);
}

/* Hands the builder's result or error on. */
static vyre_status conclude(vyre_parser *p, vyre_program **out_program) {
    vyre_diag error = {0};
    vyre_status status = vyre_builder_finish(p->builder, out_program, &error);
    if (status != VYRE_OK && status != VYRE_OUT_OF_MEMORY) {
        /* Only limits are left for the builder to find. */
        vyre_place place = {error.file, error.line, error.col, error.end_col};
        vyre_source_error(&p->source, error.code, place, error.fix, "%s", error.message);
        status = VYRE_INVALID_PROGRAM;
    }
    return status;
}

/* The joined text in place of the program's own. */
static vyre_status scan_again(vyre_parser *p, const vyre_join *join, header *h, const char *file,
                              vyre_diag_list *diags) {
    const vyre_allocator a = p->source.allocator;
    vyre_source_finish(&p->source);
    vyre_status status =
        vyre_source_scan_joined(&p->source, vyre_text_string(&join->text), join->text.length,
                                join->pieces.data, join->pieces.count, file, &a, diags);
    p->tokens = p->source.tokens.data;
    p->at = 0;
    return status == VYRE_OK && !parse_header(p, h) ? VYRE_INVALID_PROGRAM : status;
}

vyre_status vyre_parse(const char *text, size_t length, const vyre_parse_options *options,
                       const vyre_allocator *allocator, vyre_program **out_program,
                       vyre_diag_list *diags) {
    vyre_parser p = {.direct = VYRE_NONE, .top_symbols = VYRE_NONE};
    header h;
    const char *file = options ? options->file : NULL;
    vyre_join join = {.imports = {0}};
    vyre_status status = vyre_source_scan(&p.source, text, length, file, allocator, diags);
    const vyre_allocator a = p.source.allocator;
    if (status == VYRE_OK) {
        p.tokens = p.source.tokens.data;
        if (!parse_header(&p, &h)) {
            vyre_source_foreign(&p.source);
            status = VYRE_INVALID_PROGRAM;
        } else {
            status = vyre_join_init(&join, &p.source, h.brace, options);
        }
    }
    if (status == VYRE_OK && join.imports.count > 0) {
        status = scan_again(&p, &join, &h, file, diags);
    }
    if (status == VYRE_OK && !prepare(&p, &h)) {
        status = VYRE_OUT_OF_MEMORY;
    }
    if (status == VYRE_OK) {
        if (options) {
            p.settings = options->settings;
            p.setting_count = options->setting_count;
        }
        parse_program(&p, &h, options);
        const bool fits = vyre_parser_settings(&p);
        if (p.source.errors > 0 && !p.out_of_memory) {
            vyre_source_foreign(&p.source);
        }
        status = p.out_of_memory       ? VYRE_OUT_OF_MEMORY
                 : p.source.errors > 0 ? VYRE_INVALID_PROGRAM
                 : !fits               ? VYRE_INVALID_INPUT
                                       : conclude(&p, out_program);
    }
    finish(&p);
    vyre_join_finish(&join, &a);
    return status;
}
