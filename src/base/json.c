/* JSON writer: appends to a text; a bit per level remembers whether a comma is due. */
#include "base/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

void vyre_json_writer_init(vyre_json_writer *writer, vyre_text *text) {
    *writer = (vyre_json_writer){.text = text};
}

static void before_value(vyre_json_writer *w) {
    uint64_t bit = UINT64_C(1) << w->depth % 64;
    if (!w->after_key && (w->filled & bit)) {
        vyre_text_append(w->text, ",", 1);
    }
    w->filled |= bit;
    w->after_key = false;
}

static void begin(vyre_json_writer *w, const char *bracket) {
    before_value(w);
    vyre_text_append(w->text, bracket, 1);
    w->depth++;
    w->filled &= ~(UINT64_C(1) << w->depth % 64);
}

static void end(vyre_json_writer *w, const char *bracket) {
    vyre_text_append(w->text, bracket, 1);
    w->depth--;
}

void vyre_json_begin_object(vyre_json_writer *writer) {
    begin(writer, "{");
}
void vyre_json_end_object(vyre_json_writer *writer) {
    end(writer, "}");
}
void vyre_json_begin_array(vyre_json_writer *writer) {
    begin(writer, "[");
}
void vyre_json_end_array(vyre_json_writer *writer) {
    end(writer, "]");
}

static void put_quoted(vyre_text *text, const char *bytes, size_t length) {
    static const char escaped[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    vyre_text_append(text, "\"", 1);
    size_t plain = 0; /* bytes before `i` that are not written yet begin here */
    for (size_t i = 0; i < length;) {
        size_t step = vyre_utf8_length(bytes + i, length - i);
        unsigned char c = (unsigned char)bytes[i];
        const char *found = c ? strchr(escaped, bytes[i]) : NULL;
        if (step > 0 && c >= 0x20 && !found) {
            i += step;
            continue;
        }
        vyre_text_append(text, bytes + plain, i - plain);
        if (step == 0) {
            vyre_text_append(text, "\xef\xbf\xbd", 3);
        } else if (found) {
            vyre_text_printf(text, "\\%c", names[found - escaped]);
        } else {
            vyre_text_printf(text, "\\u%04x", c);
        }
        plain = ++i;
    }
    vyre_text_append(text, bytes + plain, length - plain);
    vyre_text_append(text, "\"", 1);
}

void vyre_json_put_bytes(vyre_json_writer *writer, const char *bytes, size_t length) {
    before_value(writer);
    put_quoted(writer->text, bytes, length);
}

void vyre_json_put_string(vyre_json_writer *writer, const char *string) {
    vyre_json_put_bytes(writer, string, strlen(string));
}

void vyre_json_key(vyre_json_writer *writer, const char *key) {
    vyre_json_put_string(writer, key);
    vyre_text_append(writer->text, ":", 1);
    writer->after_key = true;
}

void vyre_json_put_u64(vyre_json_writer *writer, uint64_t value) {
    before_value(writer);
    vyre_text_printf(writer->text, "%" PRIu64, value);
}

void vyre_json_put_i64(vyre_json_writer *writer, int64_t value) {
    before_value(writer);
    vyre_text_printf(writer->text, "%" PRId64, value);
}

void vyre_json_put_bool(vyre_json_writer *writer, bool value) {
    before_value(writer);
    vyre_text_printf(writer->text, "%s", value ? "true" : "false");
}

void vyre_json_put_null(vyre_json_writer *writer) {
    before_value(writer);
    vyre_text_append(writer->text, "null", 4);
}
