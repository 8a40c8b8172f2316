/* .npy reader and writer.
 *
 * The head is a Python dict literal; it is read by a small cursor parser that knows exactly the
 * three keys, in any order, with either quote, and refuses everything else with the offset of the
 * byte that is wrong. The declared shape is only compared with the bytes that are there, so a
 * lying head costs nothing. Refused because the bytes would have to be moved about: big-endian
 * elements and column-major arrays of two or more dimensions. */
#include "io/npy.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"

enum { MAX_DIMENSIONS = 64, PREAMBLE = 8, NARROW_CHUNK = 4096 };

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

/* By type: how NumPy writes it (without byte order) and calls it. The first fit of a code wins,
 * bf16 comes after u16. */
static const struct {
    const char *code;
    const char *name;
} numpy[VYRE_TYPE_COUNT] = {
    [VYRE_BOOL] = {"b1", "bool"},   [VYRE_U32] = {"u4", "uint32"}, [VYRE_I32] = {"i4", "int32"},
    [VYRE_U64] = {"u8", "uint64"},  [VYRE_I64] = {"i8", "int64"},  [VYRE_F32] = {"f4", "float32"},
    [VYRE_F64] = {"f8", "float64"}, [VYRE_U8] = {"u1", "uint8"},   [VYRE_I8] = {"i1", "int8"},
    [VYRE_U16] = {"u2", "uint16"},  [VYRE_I16] = {"i2", "int16"},  [VYRE_F16] = {"f2", "float16"},
    [VYRE_BF16] = {"u2", "uint16"},
};

static size_t numpy_size(vyre_type type) {
    return (size_t)(numpy[type].code[1] - '0');
}

typedef struct cursor {
    const char *text; /* the whole file */
    size_t at, end;   /* of the dict */
    const char *name;
    vyre_diag *diag;
} cursor;

static vyre_status bad(const cursor *c, const char *fix, const char *what) {
    return vyre_fail_at(c->diag, VYRE_INVALID_INPUT, "", (vyre_place){.file = c->name}, fix,
                        "bad .npy header at byte %zu: %s", c->at, what);
}

static bool is_space(char x) {
    return x == ' ' || x == '\t' || x == '\n' || x == '\r';
}

static char peek(cursor *c) {
    while (c->at < c->end && is_space(c->text[c->at])) {
        c->at++;
    }
    return c->at < c->end ? c->text[c->at] : '\0';
}

static bool take(cursor *c, char want) {
    if (c->at >= c->end || peek(c) != want) {
        return false;
    }
    c->at++;
    return true;
}

static bool take_word(cursor *c, const char *word) {
    size_t length = strlen(word);
    (void)peek(c);
    if (c->end - c->at < length || memcmp(c->text + c->at, word, length) != 0) {
        return false;
    }
    c->at += length;
    return true;
}

/* A quoted string without escapes; the result points into the file. */
static vyre_status take_string(cursor *c, const char **text, size_t *length) {
    char quote = peek(c);
    if (quote != '\'' && quote != '"') {
        return bad(c, NULL, "a quoted string is expected");
    }
    size_t start = c->at + 1, at = start;
    while (at < c->end && c->text[at] != quote && c->text[at] != '\\') {
        at++;
    }
    if (at >= c->end || c->text[at] != quote) {
        return bad(c, NULL, "the string does not end");
    }
    *text = c->text + start;
    *length = at - start;
    c->at = at + 1;
    return VYRE_OK;
}

static vyre_status take_descr(cursor *c, vyre_npy_head *head) {
    const char *text;
    size_t length;
    if (peek(c) == '[') {
        return bad(c, "save the fields as separate arrays", "structured arrays are not supported");
    }
    size_t start = c->at;
    vyre_status status = take_string(c, &text, &length);
    if (status != VYRE_OK) {
        return status;
    }
    c->at = start;
    if (length != 3 || !memchr("<>|=", text[0], 4)) {
        return bad(c, "use one of <u4 <i4 <u8 <i8 <f4 <f8 |u1 |i1 <u2 <i2 <f2 |b1",
                   "element type not supported");
    }
    int t = VYRE_BOOL;
    while (t < VYRE_TYPE_COUNT && memcmp(numpy[t].code, text + 1, 2) != 0) {
        t++;
    }
    if (t == VYRE_TYPE_COUNT) {
        return bad(c, "use one of <u4 <i4 <u8 <i8 <f4 <f8 |u1 |i1 <u2 <i2 <f2 |b1",
                   "element type not supported");
    }
    head->type = (vyre_type)t;
    head->size = numpy_size(head->type);
    if (head->size > 1 && text[0] != '<') {
        return bad(c, "convert it: x.astype(x.dtype.newbyteorder('<'))",
                   text[0] == '>' ? "the elements are big-endian, only little-endian is read"
                                  : "the byte order is not stated, only '<' is read");
    }
    c->at = start + length + 2;
    return VYRE_OK;
}

static vyre_status take_order(cursor *c, bool *fortran) {
    *fortran = take_word(c, "True");
    return *fortran || take_word(c, "False") ? VYRE_OK : bad(c, NULL, "True or False is expected");
}

static vyre_status take_number(cursor *c, uint64_t *out) {
    char digit = peek(c);
    if (digit < '0' || digit > '9') {
        return bad(c, NULL, "a dimension that is not a number");
    }
    uint64_t n = 0;
    for (; c->at < c->end && c->text[c->at] >= '0' && c->text[c->at] <= '9'; c->at++) {
        if (!vyre_mul_u64(n, 10, &n) || !vyre_add_u64(n, (uint64_t)(c->text[c->at] - '0'), &n)) {
            return bad(c, NULL, "a dimension does not fit 64 bits");
        }
    }
    if (c->at < c->end && c->text[c->at] == 'L') {
        c->at++; /* written by Python 2 */
    }
    *out = n;
    return VYRE_OK;
}

/* A tuple: (), (3,), (3, 4) or (3, 4,). `wide` counts dimensions other than 1. */
static vyre_status take_shape(cursor *c, uint64_t *count, int *wide) {
    *count = 1;
    *wide = 0;
    if (!take(c, '(')) {
        return bad(c, NULL, "the shape is not a tuple");
    }
    bool comma = true;
    for (int dimensions = 0; peek(c) != ')'; dimensions++) {
        uint64_t n = 0;
        if (!comma) {
            return bad(c, NULL, "',' or ')' is expected");
        }
        if (dimensions == MAX_DIMENSIONS) {
            return bad(c, NULL, "more than 64 dimensions");
        }
        vyre_status status = take_number(c, &n);
        if (status != VYRE_OK) {
            return status;
        }
        if (!vyre_mul_u64(*count, n, count)) {
            return bad(c, NULL, "the number of elements does not fit 64 bits");
        }
        *wide += n != 1;
        comma = take(c, ',');
        if (dimensions == 0 && !comma) {
            return bad(c, NULL, "the shape is not a tuple; (n,) needs its comma");
        }
    }
    c->at++;
    return VYRE_OK;
}

static vyre_status take_dict(cursor *c, vyre_npy_head *head) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    enum { DESCR, ORDER, SHAPE, KEYS };
    bool seen[KEYS] = {false}, fortran = false;
    int wide = 0;
    if (!take(c, '{')) {
        return bad(c, NULL, "'{' is expected");
    }
    bool comma = true;
    while (!take(c, '}')) {
        const char *text;
        size_t length;
        if (!comma) {
            return bad(c, NULL, "',' or '}' is expected");
        }
        vyre_status status = take_string(c, &text, &length);
        if (status != VYRE_OK) {
            return status;
        }
        int key = 0;
        while (key < KEYS &&
               (strlen(keys[key]) != length || memcmp(keys[key], text, length) != 0)) {
            key++;
        }
        if (key == KEYS || seen[key]) {
            return bad(c, NULL, key == KEYS ? "unknown key before" : "key given twice before");
        }
        seen[key] = true;
        if (!take(c, ':')) {
            return bad(c, NULL, "':' is expected");
        }
        status = key == DESCR   ? take_descr(c, head)
                 : key == ORDER ? take_order(c, &fortran)
                                : take_shape(c, &head->count, &wide);
        if (status != VYRE_OK) {
            return status;
        }
        comma = take(c, ',');
    }
    if (!seen[DESCR] || !seen[ORDER] || !seen[SHAPE]) {
        return bad(c, NULL, "descr, fortran_order or shape is missing");
    }
    if (peek(c) != '\0' || c->at != c->end) {
        return bad(c, NULL, "something follows the dictionary");
    }
    if (fortran && wide > 1) {
        return bad(c, "save it with np.ascontiguousarray(x)",
                   "fortran_order: column-major arrays of several dimensions are not read");
    }
    return VYRE_OK;
}

vyre_status vyre_npy_parse(const void *data, size_t size, const char *name, vyre_npy_head *out,
                           vyre_diag *diag) {
    const unsigned char *bytes = data;
    cursor c = {.text = data, .name = name, .diag = diag};
    if (size < PREAMBLE + 2 || memcmp(data, magic, sizeof magic) != 0) {
        return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", (vyre_place){.file = name},
                            "save it with np.save, or give raw bytes another name than .npy",
                            "not a .npy file: it does not begin with \\x93NUMPY and a version");
    }
    unsigned version = bytes[6], width = version == 1 ? 2 : 4;
    c.at = 6;
    if (version < 1 || version > 3 || bytes[7] != 0) {
        return bad(&c, "save it with np.save", "version is not 1.0, 2.0 or 3.0");
    }
    c.at = PREAMBLE;
    if (size < PREAMBLE + width) {
        return bad(&c, NULL, "the file ends in the header");
    }
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (width == 4) {
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    }
    if (length > size - PREAMBLE - width) {
        return bad(&c, NULL, "the header is longer than the file");
    }
    c.at = PREAMBLE + width;
    c.end = c.at + length;
    vyre_npy_head head = {.offset = c.end};
    vyre_status status = take_dict(&c, &head);
    if (status != VYRE_OK) {
        return status;
    }
    uint64_t want;
    if (!vyre_mul_u64(head.count, head.size, &want) || want != size - head.offset) {
        return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", (vyre_place){.file = name},
                            "the file is cut off or damaged; write it again",
                            "the header declares %llu elements of %zu bytes, but %zu bytes follow",
                            (unsigned long long)head.count, head.size, size - head.offset);
    }
    *out = head;
    return VYRE_OK;
}

static vyre_status widen_bool(vyre_bytes *bytes, const vyre_npy_head *head, vyre_array *out,
                              vyre_diag *diag) {
    vyre_status status = vyre_array_create(VYRE_BOOL, head->count, &bytes->allocator, out, diag);
    if (status == VYRE_OK) {
        uint32_t *words = out->data;
        for (size_t i = 0; i < head->count; i++) {
            words[i] = bytes->data[head->offset + i] != 0;
        }
        vyre_bytes_finish(bytes);
    }
    return status;
}

vyre_status vyre_npy_load(vyre_bytes *bytes, const char *name, vyre_type want, vyre_array *out,
                          vyre_diag *diag) {
    vyre_npy_head head;
    vyre_status status = vyre_npy_parse(bytes->data, bytes->size, name, &head, diag);
    if (status != VYRE_OK) {
        return status;
    }
    if (want == VYRE_VOID) {
        want = head.type;
    }
    if (want != head.type && !(want == VYRE_BF16 && head.type == VYRE_U16)) {
        char fix[VYRE_DIAG_FIX];
        snprintf(fix, sizeof fix, "convert it: np.save(file, x.astype(np.%s))", numpy[want].name);
        return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", (vyre_place){.file = name}, fix,
                            "the file holds %s, but %s is wanted", vyre_type_name(head.type),
                            vyre_type_name(want));
    }
    return want == VYRE_BOOL ? widen_bool(bytes, &head, out, diag)
                             : vyre_array_adopt(want, bytes, head.offset, out, diag);
}

void vyre_npy_head_write(vyre_type type, uint64_t count, char out[VYRE_NPY_HEAD]) {
    memcpy(out, magic, sizeof magic);
    memcpy(out + 6, "\x01\x00\x76\x00", 4); /* version 1.0, 118 more bytes */
    int length =
        snprintf(out + 10, VYRE_NPY_HEAD - 10,
                 "{'descr': '%c%s', 'fortran_order': False, 'shape': (%llu,), }",
                 numpy_size(type) == 1 ? '|' : '<', numpy[type].code, (unsigned long long)count);
    memset(out + 10 + length, ' ', (size_t)(VYRE_NPY_HEAD - 11 - length));
    out[VYRE_NPY_HEAD - 1] = '\n';
}

static vyre_status write_narrow(vyre_stage *stage, const uint32_t *words, uint64_t count,
                                vyre_diag *diag) {
    unsigned char chunk[NARROW_CHUNK];
    vyre_status status = VYRE_OK;
    for (uint64_t i = 0; i < count && status == VYRE_OK; i += NARROW_CHUNK) {
        size_t some = count - i < NARROW_CHUNK ? (size_t)(count - i) : NARROW_CHUNK;
        for (size_t k = 0; k < some; k++) {
            chunk[k] = words[i + k] != 0;
        }
        status = vyre_stage_write(stage, chunk, some, diag);
    }
    return status;
}

vyre_status vyre_npy_stage(vyre_stage *stage, const char *path, vyre_type type, const void *data,
                           uint64_t count, vyre_diag *diag) {
    char head[VYRE_NPY_HEAD];
    vyre_npy_head_write(type, count, head);
    vyre_status status = vyre_stage_open(stage, path, diag);
    if (status == VYRE_OK) {
        status = vyre_stage_write(stage, head, sizeof head, diag);
    }
    if (status != VYRE_OK) {
        return status;
    }
    return type == VYRE_BOOL
               ? write_narrow(stage, data, count, diag)
               : vyre_stage_write(stage, data, (size_t)count * vyre_type_size(type), diag);
}
