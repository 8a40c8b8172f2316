/* JSON reader: one loop over the text with an explicit stack of open arrays and objects.
 *
 * Nodes go into one flat array in the order of the text, 32 bytes each; strings point into the text
 * unless they have escapes. Places are kept as offsets and turned into line and column only for a
 * message. Equal keys are found when an object closes, by interning its keys and remembering for
 * each key the last object that had it: linear in the number of keys, whatever they are. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/intern.h"
#include "base/utf8.h"
#include "io/decimal.h"
#include "io/json.h"

typedef struct reader {
    vyre_json *json;
    const char *text;
    size_t length, at;
    const vyre_allocator *a;
    vyre_diag *diag;
    uint32_t open[VYRE_JSON_DEPTH]; /* nodes of the open arrays and objects */
    uint32_t depth;
    vyre_intern keys;
    VYRE_VEC(uint32_t) seen; /* by key: the object that had it last */
} reader;

static vyre_place place_at(const vyre_json *json, size_t at) {
    vyre_place place = {.file = json->name, .line = 1};
    const char *start = json->text, *newline;
    while ((newline = memchr(start, '\n', (size_t)(json->text + at - start)))) {
        start = newline + 1;
        place.line++;
    }
    place.col = (uint32_t)(json->text + at - start) + 1;
    return place;
}

vyre_status vyre_json_fail(const vyre_json *json, uint32_t node, const char *fix, vyre_diag *diag,
                           const char *format, ...) {
    char message[VYRE_DIAG_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const vyre_json_node *n = &json->nodes.data[node];
    vyre_place place = place_at(json, n->at);
    bool scalar = n->kind != VYRE_JSON_ARRAY && n->kind != VYRE_JSON_OBJECT;
    place.end_col = place.col + (scalar ? n->length : 1);
    return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", place, fix, "%s", message);
}

static vyre_status bad(const reader *r, const char *fix, const char *what) {
    return vyre_fail_at(r->diag, VYRE_INVALID_INPUT, "", place_at(r->json, r->at), fix, "%s", what);
}

static char peek(const reader *r) {
    return r->at < r->length ? r->text[r->at] : '\0';
}

static void skip_space(reader *r) {
    for (char c = peek(r); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = peek(r)) {
        r->at++;
    }
}

/* A node for text[begin..r->at), complete unless it is a container. */
static vyre_status add_node(reader *r, vyre_json_kind kind, size_t begin, const char *text,
                            size_t length) {
    vyre_json_node node = {.text = text,
                           .length = (uint32_t)length,
                           .at = (uint32_t)begin,
                           .end = r->json->nodes.count + 1,
                           .kind = kind};
    return vyre_vec_push(r->a, &r->json->nodes, node) ? VYRE_OK
                                                      : vyre_fail_memory(r->diag, "a JSON text");
}

static bool take_hex(reader *r, uint32_t *out) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        char c = peek(r), lower = (char)(c | 32);
        bool digit = c >= '0' && c <= '9', letter = lower >= 'a' && lower <= 'f';
        if (!digit && !letter) {
            return false;
        }
        value = value << 4 | (uint32_t)(digit ? c - '0' : lower - 'a' + 10);
    }
    *out = value;
    return true;
}

static size_t put_utf8(char *to, uint32_t c) {
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t extra = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    for (size_t i = extra; i > 0; i--, c >>= 6) {
        to[i] = (char)(0x80 | (c & 0x3f));
    }
    to[0] = (char)((extra == 1 ? 0xc0 : extra == 2 ? 0xe0 : 0xf0) | c);
    return extra + 1;
}

/* Behind a backslash. Writes at most as many bytes as the escape has. */
static vyre_status take_escape(reader *r, char *to, size_t *written) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char c = peek(r);
    const char *found = c ? strchr(names, c) : NULL;
    if (found) {
        *to = values[found - names];
        *written = 1;
        r->at++;
        return VYRE_OK;
    }
    uint32_t unit, low;
    if (c != 'u') {
        return bad(r, "write \\\\ for a backslash", "unknown escape in a string");
    }
    r->at++;
    if (!take_hex(r, &unit)) {
        return bad(r, NULL, "\\u needs four hexadecimal digits");
    }
    if (unit >= 0xd800 && unit < 0xe000) {
        bool pair = unit < 0xdc00 && peek(r) == '\\';
        r->at += pair;
        pair = pair && peek(r) == 'u';
        r->at += pair;
        if (!pair || !take_hex(r, &low) || low < 0xdc00 || low >= 0xe000) {
            return bad(r, NULL, "half a surrogate pair");
        }
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
    *written = put_utf8(to, unit);
    return VYRE_OK;
}

/* The closing quote of the string that begins at r->at; checks the bytes in between. */
static vyre_status find_quote(reader *r, size_t *out_end, bool *out_escapes) {
    size_t begin = r->at;
    *out_escapes = false;
    while (r->at < r->length && r->text[r->at] != '"') {
        unsigned char c = (unsigned char)r->text[r->at];
        if (c < 0x20) {
            return bad(r, "write control characters as escapes", "control character in a string");
        }
        size_t step = vyre_utf8_length(r->text + r->at, r->length - r->at);
        if (step == 0) {
            return bad(r, "save the file as UTF-8", "not UTF-8");
        }
        if (c == '\\') {
            *out_escapes = true;
            step = r->length - r->at > 1 ? 2 : 1;
        }
        r->at += step;
    }
    if (r->at >= r->length) {
        r->at = begin - 1;
        return bad(r, "add the closing quote", "the string does not end");
    }
    *out_end = r->at;
    r->at = begin;
    return VYRE_OK;
}

static vyre_status take_string(reader *r) {
    size_t begin = r->at++, end = 0;
    bool escapes;
    vyre_status status = find_quote(r, &end, &escapes);
    if (status != VYRE_OK) {
        return status;
    }
    const char *text = r->text + r->at;
    size_t length = end - r->at;
    if (escapes) {
        char *copy = vyre_arena_alloc(&r->json->strings, length, 1);
        if (!copy) {
            return vyre_fail_memory(r->diag, "a JSON text");
        }
        text = copy;
        length = 0;
        while (r->at < end) {
            size_t written = 1;
            char c = r->text[r->at++];
            copy[length] = c;
            if (c == '\\' && (status = take_escape(r, copy + length, &written)) != VYRE_OK) {
                return status;
            }
            length += written;
        }
    }
    r->at = end + 1;
    return add_node(r, VYRE_JSON_STRING, begin, text, length);
}

static size_t take_digits(reader *r) {
    size_t begin = r->at;
    while (peek(r) >= '0' && peek(r) <= '9') {
        r->at++;
    }
    return r->at - begin;
}

static vyre_status take_number(reader *r) {
    size_t begin = r->at;
    r->at += peek(r) == '-';
    size_t first = r->at, digits = take_digits(r);
    if (digits == 0 || (digits > 1 && r->text[first] == '0')) {
        r->at = begin;
        return bad(r, NULL, digits ? "a number may not begin with 0" : "a value is expected");
    }
    if (peek(r) == '.') {
        r->at++;
        if (take_digits(r) == 0) {
            return bad(r, NULL, "digits are expected behind the point");
        }
    }
    if ((peek(r) | 32) == 'e') {
        r->at++;
        r->at += peek(r) == '-' || peek(r) == '+';
        if (take_digits(r) == 0) {
            return bad(r, NULL, "digits are expected in the exponent");
        }
    }
    return add_node(r, VYRE_JSON_NUMBER, begin, r->text + begin, r->at - begin);
}

static vyre_status take_word_or_number(reader *r) {
    static const struct {
        const char *word;
        vyre_json_kind kind;
    } words[] = {{"null", VYRE_JSON_NULL},       {"false", VYRE_JSON_FALSE},
                 {"true", VYRE_JSON_TRUE},       {"NaN", VYRE_JSON_NUMBER},
                 {"Infinity", VYRE_JSON_NUMBER}, {"-Infinity", VYRE_JSON_NUMBER}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].word);
        if (r->length - r->at >= length && memcmp(r->text + r->at, words[i].word, length) == 0) {
            size_t begin = r->at;
            r->at += length;
            return add_node(r, words[i].kind, begin, r->text + begin, length);
        }
    }
    return take_number(r);
}

static vyre_status open_container(reader *r, vyre_json_kind kind) {
    if (r->depth == VYRE_JSON_DEPTH) {
        return bad(r, "nest less deeply", "more than 64 levels of nesting");
    }
    r->open[r->depth++] = r->json->nodes.count;
    vyre_status status = add_node(r, kind, r->at, r->text + r->at, 1);
    r->at++;
    return status;
}

static vyre_status check_keys(reader *r, uint32_t object) {
    vyre_json_node *nodes = r->json->nodes.data;
    for (uint32_t i = object + 1; i < nodes[object].end; i = nodes[i + 1].end) {
        uint32_t key = vyre_intern_add(&r->keys, nodes[i].text, nodes[i].length);
        if (key == VYRE_INTERN_NONE ||
            (key == r->seen.count && !vyre_vec_push(r->a, &r->seen, VYRE_JSON_NONE))) {
            return vyre_fail_memory(r->diag, "a JSON text");
        }
        if (r->seen.data[key] == object) {
            return vyre_json_fail(
                r->json, i, "keep one of them", r->diag, "the key \"%.*s\" is given twice",
                (int)(nodes[i].length < 80 ? nodes[i].length : 80), nodes[i].text);
        }
        r->seen.data[key] = object;
    }
    return VYRE_OK;
}

static vyre_status close_container(reader *r) {
    uint32_t node = r->open[--r->depth];
    r->json->nodes.data[node].end = r->json->nodes.count;
    r->at++;
    return r->json->nodes.data[node].kind == VYRE_JSON_OBJECT ? check_keys(r, node) : VYRE_OK;
}

static vyre_status take_value(reader *r) {
    switch (peek(r)) {
    case '{': return open_container(r, VYRE_JSON_OBJECT);
    case '[': return open_container(r, VYRE_JSON_ARRAY);
    case '"': return take_string(r);
    default: return take_word_or_number(r);
    }
}

static vyre_status take_key(reader *r) {
    if (peek(r) != '"') {
        return bad(r, "quote the key", "a key in quotes is expected");
    }
    vyre_status status = take_string(r);
    if (status != VYRE_OK) {
        return status;
    }
    skip_space(r);
    if (peek(r) != ':') {
        return bad(r, NULL, "':' is expected behind the key");
    }
    r->at++;
    skip_space(r);
    return VYRE_OK;
}

/* One element, or the end, of the innermost container. */
static vyre_status take_element(reader *r) {
    uint32_t node = r->open[r->depth - 1];
    bool object = r->json->nodes.data[node].kind == VYRE_JSON_OBJECT;
    bool first = r->json->nodes.count == node + 1;
    skip_space(r);
    if (peek(r) == (object ? '}' : ']')) {
        return close_container(r);
    }
    if (!first) {
        if (peek(r) != ',') {
            return bad(r, NULL, object ? "',' or '}' is expected" : "',' or ']' is expected");
        }
        r->at++;
        skip_space(r);
    }
    vyre_status status = object ? take_key(r) : VYRE_OK;
    return status == VYRE_OK ? take_value(r) : status;
}

static vyre_status take_document(reader *r) {
    if (r->length > UINT32_MAX) {
        return vyre_fail_at(r->diag, VYRE_LIMIT, "", (vyre_place){.file = r->json->name},
                            "use a smaller file", "more than 4 GiB of JSON");
    }
    skip_space(r);
    vyre_status status = take_value(r);
    while (status == VYRE_OK && r->depth > 0) {
        status = take_element(r);
    }
    if (status != VYRE_OK) {
        return status;
    }
    skip_space(r);
    return r->at < r->length ? bad(r, "remove it", "text behind the end of the document") : VYRE_OK;
}

vyre_status vyre_json_parse(const char *text, size_t length, const char *name,
                            const vyre_allocator *a, vyre_json *out, vyre_diag *diag) {
    vyre_allocator allocator = vyre_allocator_or_system(a);
    vyre_json json = {.name = name, .text = text, .length = length};
    vyre_arena_init(&json.strings, &allocator);
    reader r = {.json = &json, .text = text, .length = length, .a = &allocator, .diag = diag};
    vyre_intern_init(&r.keys, &allocator);
    vyre_status status = take_document(&r);
    vyre_intern_finish(&r.keys);
    vyre_vec_free(&allocator, &r.seen);
    if (status != VYRE_OK) {
        vyre_json_finish(&json);
        return status;
    }
    *out = json;
    return VYRE_OK;
}

void vyre_json_finish(vyre_json *json) {
    vyre_vec_free(&json->strings.allocator, &json->nodes);
    vyre_arena_finish(&json->strings);
}

bool vyre_json_is(const vyre_json *json, uint32_t node, const char *string) {
    const vyre_json_node *n = &json->nodes.data[node];
    return n->kind == VYRE_JSON_STRING && n->length == strlen(string) &&
           memcmp(n->text, string, n->length) == 0;
}

uint32_t vyre_json_member(const vyre_json *json, uint32_t object, const char *key) {
    const vyre_json_node *nodes = json->nodes.data;
    if (nodes[object].kind == VYRE_JSON_OBJECT) {
        for (uint32_t i = object + 1; i < nodes[object].end; i = nodes[i + 1].end) {
            if (vyre_json_is(json, i, key)) {
                return i + 1;
            }
        }
    }
    return VYRE_JSON_NONE;
}

vyre_status vyre_json_u64(const vyre_json *json, uint32_t node, const char *what, uint64_t *out,
                          vyre_diag *diag) {
    const vyre_json_node *n = &json->nodes.data[node];
    if (n->kind == VYRE_JSON_NUMBER && vyre_decimal_u64(n->text, n->length, out)) {
        return VYRE_OK;
    }
    const char *why = "is not a number";
    if (n->kind == VYRE_JSON_NUMBER) {
        bool whole = true;
        for (uint32_t i = 0; i < n->length; i++) {
            whole = whole && n->text[i] >= '0' && n->text[i] <= '9';
        }
        why = n->text[0] == '-'                        ? "is negative"
              : n->text[0] == 'N' || n->text[0] == 'I' ? "is not finite"
              : whole                                  ? "does not fit 64 bits"
                                                       : "is not a whole number";
    }
    return vyre_json_fail(json, node, "write a whole number from 0 to 18446744073709551615", diag,
                          "%s %s", what, why);
}
