/* Imports: the texts of functions and consts that a program imports are put into its own, behind
 * its first brace, and parsed with it. Right because functions and consts may stand anywhere at the
 * top level and see nothing but it. Every imported text is scanned alone first: brackets, strings
 * and comments end where it does, and at its top level are only functions, consts and imports, so
 * that it can't change what stands around it. Places are told by the piece of the joined text that
 * a line is of (vyre_source_place): each imported text begins a line.
 *
 * A file is imported once, however many ask for it; one that imports a file that imports it is
 * refused. Paths are those of files below the folder of the importing one: no "..", no way from the
 * root. Who reads them is the caller, who also sees to it that links lead nowhere else. */
#include "text/join.h"

#include <string.h>

static bool is_text(const vyre_source *s, uint32_t token, const char *text) {
    const vyre_token *t = &s->tokens.data[token];
    const size_t length = strlen(text);
    return t->kind == VYRE_TOKEN_NAME && t->end - t->begin == length &&
           memcmp(s->text + t->begin, text, length) == 0;
}

bool vyre_source_is_import(const vyre_source *s, uint32_t token) {
    const vyre_token *t = &s->tokens.data[token];
    const uint8_t before = token == 0 ? VYRE_TOKEN_SEMICOLON : t[-1].kind;
    return is_text(s, token, "import") && t[1].kind == VYRE_TOKEN_STRING &&
           (before == VYRE_TOKEN_SEMICOLON || before == VYRE_TOKEN_OPEN_BRACE ||
            before == VYRE_TOKEN_CLOSE_BRACE);
}

static void refuse(vyre_source *s, uint32_t token, const char *fix, const char *before,
                   const char *path, const char *after) {
    vyre_source_error(s, "V291", vyre_source_place(s, token, token), fix, "%s`%s`%s", before, path,
                      after);
}

/* Paths */

/* Parts between slashes, none of them empty, "." or "..", and nothing that other systems take for
 * more than a name. */
static bool is_below(const char *path, size_t length) {
    size_t part = 0;
    for (size_t i = 0; i <= length; i++) {
        if (i < length && path[i] != '/') {
            if (path[i] == '\\' || path[i] == ':') {
                return false;
            }
            continue;
        }
        const size_t size = i - part;
        if (size == 0 || (size == 1 && path[part] == '.') ||
            (size == 2 && path[part] == '.' && path[part + 1] == '.')) {
            return false;
        }
        part = i + 1;
    }
    return true;
}

static size_t folder_length(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Asking */

typedef struct asking {
    vyre_join *join;
    vyre_source *source; /* whose imports are looked at, */
    uint32_t importer;   /* and which that is */
    const vyre_parse_options *options;
    const vyre_allocator *a;
    vyre_status status;
} asking;

static const char *path_of(const vyre_join *join, uint32_t import) {
    return vyre_text_string(&join->imports.data[import].path);
}

/* The file at the path is the importing one, or one that led to it. */
static bool leads_here(const asking *k, const char *path) {
    const char *own = k->options->file;
    for (uint32_t i = k->importer; i != VYRE_NONE; i = k->join->imports.data[i].importer) {
        if (strcmp(path_of(k->join, i), path) == 0) {
            return true;
        }
    }
    return own && strcmp(own + folder_length(own), path) == 0;
}

static bool is_known(const vyre_join *join, const char *path) {
    for (uint32_t i = 0; i < join->imports.count; i++) {
        if (strcmp(path_of(join, i), path) == 0) {
            return true;
        }
    }
    return false;
}

/* Takes over the path. */
static void ask(asking *k, uint32_t token, vyre_text path) {
    const char *file = k->options->file ? k->options->file : "";
    vyre_import made = {.path = path, .importer = k->importer};
    vyre_diag diag = {0};
    vyre_text_init(&made.shown, k->a);
    vyre_text_append(&made.shown, file, folder_length(file));
    vyre_text_puts(&made.shown, vyre_text_string(&path));
    if (made.shown.failed || !vyre_vec_push(k->a, &k->join->imports, made)) {
        vyre_text_finish(&made.path);
        vyre_text_finish(&made.shown);
        k->status = VYRE_OUT_OF_MEMORY;
        return;
    }
    vyre_import *import = &k->join->imports.data[k->join->imports.count - 1];
    const vyre_status status = k->options->import(k->options->import_user, vyre_text_string(&path),
                                                  &import->text, &import->length, &diag);
    if (status == VYRE_OUT_OF_MEMORY) {
        k->status = status;
    } else if (status != VYRE_OK) {
        vyre_source_error(k->source, "V291", vyre_source_place(k->source, token, token),
                          diag.fix[0] ? diag.fix : "import a file that can be read", "%s",
                          diag.message[0] ? diag.message : "this file can't be imported");
        import->text = "";
        import->length = 0;
    }
}

static void take_import(asking *k, uint32_t token) {
    vyre_source *s = k->source;
    const vyre_token *t = &s->tokens.data[token + 1];
    const char *name = s->text + t->begin + 1;
    const size_t length = t->end - t->begin - 2;
    vyre_text path;
    vyre_text_init(&path, k->a);
    if (k->importer != VYRE_NONE) {
        const char *from = path_of(k->join, k->importer);
        vyre_text_append(&path, from, folder_length(from));
    }
    vyre_text_append(&path, name, length);
    const char *text = vyre_text_string(&path);
    bool asks = false;
    if (t[1].kind != VYRE_TOKEN_SEMICOLON) {
        refuse(s, token + 1, "write it like import \"lib/more.vy\";", "expected ", ";",
               " behind the file");
    } else if (path.failed) {
        k->status = VYRE_OUT_OF_MEMORY;
    } else if (!is_below(name, length)) {
        refuse(s, token + 1, "name a file below the folder of this one, such as \"lib/more.vy\"",
               "", text, " is not below the folder of the importing file");
    } else if (leads_here(k, text)) {
        refuse(s, token + 1, "break the circle", "", text, " imports itself");
    } else if (!k->options->import) {
        refuse(s, token + 1, "give vyre_parse a function that reads files",
               "there is nobody who could read ", text, "");
    } else if (k->join->imports.count >= VYRE_LIMIT_IMPORTS) {
        refuse(s, token + 1, "import fewer files", "there are too many imports before ", text, "");
    } else {
        asks = !is_known(k->join, text);
    }
    if (asks) {
        ask(k, token + 1, path);
    } else {
        vyre_text_finish(&path);
    }
}

/* The imports between the tokens, at their level. */
static void take_imports(asking *k, uint32_t begin, uint32_t end) {
    const vyre_token *tokens = k->source->tokens.data;
    for (uint32_t i = begin; i < end && k->status == VYRE_OK; i++) {
        const uint8_t kind = tokens[i].kind;
        if (vyre_source_is_import(k->source, i)) {
            take_import(k, i);
        } else if (kind == VYRE_TOKEN_OPEN_BRACE || kind == VYRE_TOKEN_OPEN_PAREN ||
                   kind == VYRE_TOKEN_OPEN_INDEX) {
            i = tokens[i].value;
        }
    }
}

/* Imported texts */

/* Behind the item that begins at the token; the token itself if none does. */
static uint32_t item_end(const vyre_source *s, uint32_t token) {
    const vyre_token *t = s->tokens.data;
    const bool is_const = t[token].kind == VYRE_TOKEN_NAME && t[token].word == VYRE_WORD_ROLE &&
                          t[token].sub == VYRE_CONST;
    const bool is_fn = t[token].kind == VYRE_TOKEN_NAME && t[token].word == VYRE_WORD_KEY &&
                       t[token].sub == VYRE_KEY_FN;
    const uint8_t last = is_fn ? VYRE_TOKEN_OPEN_BRACE : VYRE_TOKEN_SEMICOLON;
    if (!is_const && !is_fn && !vyre_source_is_import(s, token)) {
        return token;
    }
    uint32_t at = token;
    while (t[at].kind != last && t[at].kind != VYRE_TOKEN_END) {
        at = t[at].kind == VYRE_TOKEN_OPEN_PAREN ? t[at].value + 1 : at + 1;
    }
    return t[at].kind == VYRE_TOKEN_END ? at : is_fn ? t[at].value + 1 : at + 1;
}

static void check_items(asking *k) {
    vyre_source *s = k->source;
    uint32_t at = 0;
    while (s->tokens.data[at].kind != VYRE_TOKEN_END) {
        const uint32_t end = item_end(s, at);
        if (end == at) {
            char room[64];
            vyre_source_error(s, "V291", vyre_source_place(s, at, at),
                              "leave it out, or move it to the program",
                              "an imported file holds functions and consts, not %s",
                              vyre_source_describe(s, at, room));
            return;
        }
        at = end;
    }
}

static vyre_status take_file(vyre_join *join, uint32_t import, vyre_source *program,
                             const vyre_parse_options *options) {
    const vyre_import file = join->imports.data[import];
    vyre_source own;
    vyre_status status =
        vyre_source_scan(&own, file.text, file.length, vyre_text_string(&file.shown),
                         &program->allocator, program->diags);
    if (status == VYRE_OK) {
        asking k = {.join = join,
                    .source = &own,
                    .importer = import,
                    .options = options,
                    .a = &program->allocator};
        check_items(&k);
        take_imports(&k, 0, own.tokens.count - 1);
        status = k.status;
    }
    program->errors += own.errors;
    vyre_source_finish(&own);
    return status == VYRE_INVALID_PROGRAM ? VYRE_OK : status;
}

/* Joining */

static bool add_piece(vyre_join *join, const vyre_allocator *a, const char *file, uint32_t own_line,
                      uint32_t shift, const char *text, size_t length, uint32_t *line) {
    const vyre_piece piece = {.line = *line, .own_line = own_line, .shift = shift, .file = file};
    vyre_text_append(&join->text, text, length);
    for (size_t i = 0; i < length; i++) {
        *line += text[i] == '\n';
    }
    return vyre_vec_push(a, &join->pieces, piece);
}

static vyre_status join_all(vyre_join *join, const vyre_source *s, uint32_t brace) {
    const vyre_token *open = &s->tokens.data[brace];
    uint32_t line = 0;
    bool fine = add_piece(join, &s->allocator, s->file, 0, 0, s->text, open->end, &line);
    for (uint32_t i = 0; i < join->imports.count && fine; i++) {
        const vyre_import *import = &join->imports.data[i];
        vyre_text_append(&join->text, "\n", 1);
        line++;
        fine = add_piece(join, &s->allocator, vyre_text_string(&import->shown), 0, 0, import->text,
                         import->length, &line);
    }
    vyre_text_append(&join->text, "\n", 1);
    line++;
    fine = fine && add_piece(join, &s->allocator, s->file, open->line,
                             open->end - s->lines.data[open->line], s->text + open->end,
                             s->length - open->end, &line);
    return fine && !join->text.failed ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}

vyre_status vyre_join_init(vyre_join *join, vyre_source *source, uint32_t brace,
                           const vyre_parse_options *options) {
    static const vyre_parse_options nothing;
    asking k = {.join = join,
                .source = source,
                .importer = VYRE_NONE,
                .options = options ? options : &nothing,
                .a = &source->allocator};
    *join = (vyre_join){.imports = {0}};
    vyre_text_init(&join->text, &source->allocator);
    take_imports(&k, brace + 1, source->tokens.data[brace].value);
    for (uint32_t i = 0; i < join->imports.count && k.status == VYRE_OK; i++) {
        k.status = take_file(join, i, source, k.options);
    }
    if (k.status == VYRE_OK && source->errors > 0) {
        k.status = VYRE_INVALID_PROGRAM;
    }
    return k.status == VYRE_OK && join->imports.count > 0 ? join_all(join, source, brace)
                                                          : k.status;
}

void vyre_join_finish(vyre_join *join, const vyre_allocator *a) {
    for (uint32_t i = 0; i < join->imports.count; i++) {
        vyre_text_finish(&join->imports.data[i].path);
        vyre_text_finish(&join->imports.data[i].shown);
    }
    vyre_text_finish(&join->text);
    vyre_vec_free(a, &join->imports);
    vyre_vec_free(a, &join->pieces);
}
