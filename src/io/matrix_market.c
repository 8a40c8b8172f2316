/* Matrix Market reader: one pass over the text, then the CSR builder.
 *
 * Declared counts are checked before anything is allocated: an entry takes at least four bytes of
 * text, and the row and column counts, which the text need not pay for, are held to a generous
 * multiple of its length. Comments stand before the size line only, blank lines anywhere after the
 * first. Indices count from 1; a symmetric file holds the lower triangle. Refused: dense arrays,
 * complex values, skew-symmetric and Hermitian matrices, values that are not finite. */
#include "io/matrix_market.h"

#include <string.h>
#include <strings.h>

#include "base/diag.h"
#include "io/decimal.h"

/* Rows or columns that any file may declare, and how many more for each byte of it. */
enum { FREE_DIMENSION = 1 << 20, DIMENSION_PER_BYTE = 4 };
/* "1 1\n", "1 1 1\n" */
enum { SHORTEST_PATTERN = 4, SHORTEST_VALUE = 6 };

typedef struct token {
    const char *text;
    size_t length;
} token;

typedef struct reader {
    const char *at, *end, *line_start;
    uint32_t line;
    const char *name;
    vyre_diag *diag;
    bool pattern, real, symmetric;
    vyre_type value;
    uint32_t rows, columns;
    uint64_t count; /* declared entries */
} reader;

static vyre_place place_of(const reader *r, const token *t) {
    vyre_place place = {.file = r->name, .line = r->line};
    if (t) {
        place.col = (uint32_t)(t->text - r->line_start) + 1;
        place.end_col = place.col + (uint32_t)t->length;
    }
    return place;
}

static vyre_status bad(const reader *r, const token *t, const char *fix, const char *what) {
    return vyre_fail_at(r->diag, VYRE_INVALID_INPUT, "", place_of(r, t), fix, "%s", what);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line; length 0 at its end. */
static token next(reader *r) {
    while (r->at < r->end && is_blank(*r->at)) {
        r->at++;
    }
    token t = {.text = r->at};
    while (r->at < r->end && !is_blank(*r->at) && *r->at != '\n') {
        r->at++;
    }
    t.length = (size_t)(r->at - t.text);
    return t;
}

/* Goes past the end of the line; false at the end of the text. */
static bool next_line(reader *r) {
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->at = newline ? newline + 1 : r->end;
    r->line_start = r->at;
    r->line += newline != NULL;
    return newline != NULL;
}

/* Skips blank lines (and comments); false at the end of the text. */
static bool find_line(reader *r, bool comments) {
    for (;;) {
        const char *here = r->at;
        token t = next(r);
        if (t.length > 0 && !(comments && t.text[0] == '%')) {
            r->at = here;
            return true;
        }
        if (!next_line(r)) {
            return false;
        }
    }
}

static bool is_word(token t, const char *word) {
    return strlen(word) == t.length && strncasecmp(word, t.text, t.length) == 0;
}

static vyre_status read_banner(reader *r) {
    static const char fix[] = "begin with: %%MatrixMarket matrix coordinate real general";
    token banner = next(r), object = next(r), format = next(r), field = next(r), symmetry = next(r),
          rest = next(r);
    if (!is_word(banner, "%%MatrixMarket")) {
        return bad(r, &banner, fix, "not a Matrix Market file");
    }
    if (!is_word(object, "matrix")) {
        return bad(r, &object, fix, "only the object \"matrix\" is read");
    }
    if (is_word(format, "array")) {
        return bad(r, &format, "convert the matrix to coordinate format",
                   "dense arrays are not read");
    }
    if (!is_word(format, "coordinate")) {
        return bad(r, &format, fix, "unknown format");
    }
    r->pattern = is_word(field, "pattern");
    r->real = is_word(field, "real") || is_word(field, "double");
    if (!r->pattern && !r->real && !is_word(field, "integer")) {
        return bad(r, &field, "use pattern, integer or real values",
                   is_word(field, "complex") ? "complex values are not read"
                                             : "unknown kind of values");
    }
    r->symmetric = is_word(symmetry, "symmetric");
    if (!r->symmetric && !is_word(symmetry, "general")) {
        return bad(r, &symmetry, "write all entries and say \"general\"",
                   is_word(symmetry, "skew-symmetric") ? "skew-symmetric matrices are not read"
                   : is_word(symmetry, "hermitian")    ? "Hermitian matrices are not read"
                                                       : "unknown symmetry");
    }
    if (r->real && (r->value == VYRE_U32 || r->value == VYRE_I32)) {
        return vyre_fail_at(r->diag, VYRE_INVALID_INPUT, "", place_of(r, NULL),
                            "declare the buffer f32 or f64, or write integer values",
                            "the file holds real values, but %s is wanted",
                            vyre_type_name(r->value));
    }
    return rest.length ? bad(r, &rest, fix, "unexpected word") : VYRE_OK;
}

static vyre_status read_dimension(reader *r, size_t length, uint32_t *out) {
    token t = next(r);
    uint64_t n;
    if (!vyre_decimal_u64(t.text, t.length, &n)) {
        return bad(r, &t, "write: ROWS COLUMNS ENTRIES", "a count is expected");
    }
    if (n > FREE_DIMENSION + (uint64_t)length * DIMENSION_PER_BYTE || n >= UINT32_MAX) {
        return vyre_fail_at(r->diag, VYRE_LIMIT, "", place_of(r, NULL),
                            "number the rows and columns without gaps",
                            "%llu rows or columns are too many for a file of %zu bytes",
                            (unsigned long long)n, length);
    }
    *out = (uint32_t)n;
    return VYRE_OK;
}

static vyre_status read_sizes(reader *r, size_t length) {
    if (!find_line(r, true)) {
        return bad(r, NULL, "write: ROWS COLUMNS ENTRIES", "the size line is missing");
    }
    vyre_status status = read_dimension(r, length, &r->rows);
    if (status == VYRE_OK) {
        status = read_dimension(r, length, &r->columns);
    }
    if (status != VYRE_OK) {
        return status;
    }
    token t = next(r), rest = next(r);
    if (!vyre_decimal_u64(t.text, t.length, &r->count) || rest.length) {
        return bad(r, rest.length ? &rest : &t, "write: ROWS COLUMNS ENTRIES",
                   "a size line has three counts");
    }
    if (r->symmetric && r->rows != r->columns) {
        return bad(r, NULL, "check the size line", "a symmetric matrix must be square");
    }
    size_t shortest = r->pattern ? SHORTEST_PATTERN : SHORTEST_VALUE;
    size_t most = (size_t)(r->end - r->at) / shortest + 1;
    if (r->count > most || r->count > UINT32_MAX / (r->symmetric ? 2 : 1)) {
        return vyre_fail_at(r->diag, r->count > most ? VYRE_INVALID_INPUT : VYRE_LIMIT, "",
                            place_of(r, NULL), "the file is cut off, or its size line is wrong",
                            "%llu entries are declared, but at most %zu can follow",
                            (unsigned long long)r->count, most);
    }
    (void)next_line(r);
    return VYRE_OK;
}

static vyre_status read_index(reader *r, uint32_t limit, uint32_t *out) {
    token t = next(r);
    uint64_t n;
    if (!vyre_decimal_u64(t.text, t.length, &n)) {
        return bad(r, &t, "write: ROW COLUMN VALUE, counted from 1", "an index is expected");
    }
    if (n < 1u || n > limit) {
        return vyre_fail_at(
            r->diag, VYRE_INVALID_INPUT, "",
            (vyre_place){
                .file = r->name, .line = r->line, .col = (uint32_t)(t.text - r->line_start) + 1},
            "indices count from 1", "index %llu is not in 1..%u", (unsigned long long)n, limit);
    }
    *out = (uint32_t)n - 1;
    return VYRE_OK;
}

/* The value in the wanted type; an integer becomes a float by one rounding. A value that nobody
 * wants is only checked. */
static bool convert(const reader *r, token t, vyre_number *out) {
    int64_t n = 0;
    if (!r->real && !vyre_decimal_i64(t.text, t.length, &n)) {
        return false;
    }
    if (r->value == VYRE_F32) {
        return vyre_decimal_f32(t.text, t.length, &out->f32);
    }
    if (r->value == VYRE_F64 || r->real) {
        return vyre_decimal_f64(t.text, t.length, &out->f64);
    }
    if (r->value == VYRE_U32) {
        out->u32 = (uint32_t)n;
        return out->u32 == n;
    }
    out->i32 = (int32_t)n;
    return r->value == VYRE_VOID || out->i32 == n;
}

static vyre_status read_value(reader *r, void *to) {
    token t = next(r);
    vyre_number v = {0};
    if (t.length == 0) {
        return bad(r, &t, "write: ROW COLUMN VALUE", "the value is missing");
    }
    if (!convert(r, t, &v)) {
        return vyre_fail_at(r->diag, VYRE_INVALID_INPUT, "", place_of(r, &t),
                            "write a finite decimal number within the range of the type",
                            "not a value of type %s",
                            r->value != VYRE_VOID ? vyre_type_name(r->value)
                            : r->real             ? "real"
                                                  : "integer");
    }
    if (to) {
        memcpy(to, &v, vyre_type_size(r->value));
    }
    return VYRE_OK;
}

static void store_one(vyre_type type, void *to) {
    vyre_number one = {.u32 = 1};
    if (type == VYRE_F32) {
        one.f32 = 1;
    } else if (type == VYRE_F64) {
        one.f64 = 1;
    }
    memcpy(to, &one, vyre_type_size(type));
}

/* One line: an entry, and another one if it is mirrored. Values go to `values`. */
static vyre_status read_entry(reader *r, vyre_entries *e, char *values) {
    size_t size = vyre_type_size(r->value);
    char *to = values ? values + e->count * size : NULL;
    uint32_t row = 0, column = 0;
    vyre_status status = read_index(r, r->rows, &row);
    if (status == VYRE_OK) {
        status = read_index(r, r->columns, &column);
    }
    if (status == VYRE_OK && !r->pattern) {
        status = read_value(r, to);
    } else if (status == VYRE_OK && to) {
        store_one(r->value, to);
    }
    if (status != VYRE_OK) {
        return status;
    }
    token rest = next(r);
    if (rest.length) {
        return bad(r, &rest, "write one entry per line", "unexpected word after the entry");
    }
    if (r->symmetric && row < column) {
        return bad(r, NULL, "swap the indices, or say \"general\"",
                   "an entry above the diagonal of a symmetric matrix");
    }
    e->places[e->count++] = vyre_entry_place(row, column);
    if (r->symmetric && row != column) {
        e->places[e->count++] = vyre_entry_place(column, row);
        if (to) {
            memcpy(to + size, to, size);
        }
    }
    return VYRE_OK;
}

static vyre_status read_entries(reader *r, vyre_entries *e, char *values) {
    for (uint64_t i = 0; i < r->count; i++) {
        if (!find_line(r, false)) {
            return vyre_fail_at(r->diag, VYRE_INVALID_INPUT, "", place_of(r, NULL),
                                "the file is cut off, or its size line is wrong",
                                "%llu entries are declared, but the file ends after %llu",
                                (unsigned long long)r->count, (unsigned long long)i);
        }
        vyre_status status = read_entry(r, e, values);
        if (status != VYRE_OK) {
            return status;
        }
        (void)next_line(r);
    }
    if (find_line(r, false)) {
        token t = next(r);
        return bad(r, &t, "correct the number of entries in the size line",
                   "text after the last declared entry");
    }
    return VYRE_OK;
}

vyre_status vyre_matrix_market_parse(const char *text, size_t length, const char *name,
                                     vyre_type value, const vyre_allocator *a, vyre_csr *out,
                                     vyre_diag *diag) {
    vyre_allocator allocator = vyre_allocator_or_system(a);
    reader r = {.at = text,
                .end = text + length,
                .line_start = text,
                .line = 1,
                .name = name,
                .diag = diag,
                .value = value};
    if (value != VYRE_VOID && value != VYRE_F32 && value != VYRE_F64 && value != VYRE_U32 &&
        value != VYRE_I32) {
        return vyre_fail_at(diag, VYRE_INVALID_ARGUMENT, "", (vyre_place){.file = name},
                            "declare the buffer of values f32, f64, u32 or i32",
                            "a Matrix Market file can't be read as %s", vyre_type_name(value));
    }
    vyre_status status = read_banner(&r);
    if (status == VYRE_OK) {
        (void)next_line(&r);
        status = read_sizes(&r, length);
    }
    if (status != VYRE_OK) {
        return status;
    }
    size_t room = (size_t)r.count * (r.symmetric ? 2 : 1), size = vyre_type_size(value);
    vyre_entries e = {.type = value, .merge = r.pattern ? VYRE_MERGE_FIRST : VYRE_MERGE_SUM};
    char *values = size ? vyre_alloc(&allocator, room, size) : NULL;
    e.places = vyre_alloc(&allocator, room, sizeof *e.places);
    e.values = values;
    if (!e.places || (size && !values)) {
        status = vyre_fail_memory(diag, "the entries of a matrix");
    } else {
        status = read_entries(&r, &e, values);
    }
    if (status == VYRE_OK) {
        status = vyre_csr_build(r.rows, r.columns, &e, &allocator, out, diag);
        if (status == VYRE_INVALID_INPUT && diag) {
            vyre_diag_copy(diag->file, sizeof diag->file, name);
        }
    }
    vyre_free(&allocator, e.places, room, sizeof *e.places);
    vyre_free(&allocator, values, room, size);
    return status;
}
