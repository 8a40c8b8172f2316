/* Writing JSON. */
#ifndef VYRE_SRC_BASE_JSON_H
#define VYRE_SRC_BASE_JSON_H

#include "base/text.h"

/* Writes compact JSON into a text; commas come by themselves. Look at text->failed at the end.
 * Bytes that are not UTF-8 become U+FFFD, so the result is always valid. At most 64 levels. */
typedef struct vyre_json_writer {
    vyre_text *text;
    uint64_t filled; /* one bit per open level: it has an element */
    uint32_t depth;
    bool after_key;
} vyre_json_writer;

void vyre_json_writer_init(vyre_json_writer *writer, vyre_text *text);
void vyre_json_begin_object(vyre_json_writer *writer);
void vyre_json_end_object(vyre_json_writer *writer);
void vyre_json_begin_array(vyre_json_writer *writer);
void vyre_json_end_array(vyre_json_writer *writer);
void vyre_json_key(vyre_json_writer *writer, const char *key);
void vyre_json_put_string(vyre_json_writer *writer, const char *string);
void vyre_json_put_bytes(vyre_json_writer *writer, const char *bytes, size_t length);
void vyre_json_put_u64(vyre_json_writer *writer, uint64_t value);
void vyre_json_put_i64(vyre_json_writer *writer, int64_t value);
void vyre_json_put_bool(vyre_json_writer *writer, bool value);
void vyre_json_put_null(vyre_json_writer *writer);

#endif
