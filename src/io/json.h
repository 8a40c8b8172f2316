/* JSON: a strict reader into a flat tree. The writer is base/json.h. */
#ifndef VYRE_SRC_IO_JSON_H
#define VYRE_SRC_IO_JSON_H

#include "base/arena.h"
#include "base/json.h"

typedef enum vyre_json_kind {
    VYRE_JSON_NULL,
    VYRE_JSON_FALSE,
    VYRE_JSON_TRUE,
    VYRE_JSON_NUMBER,
    VYRE_JSON_STRING,
    VYRE_JSON_ARRAY,
    VYRE_JSON_OBJECT
} vyre_json_kind;

/* Nodes stand in the order of the text: the children of node i begin at i + 1, the sibling behind
 * it is `end`. The children of an object are key, value, key, value, ... */
typedef struct vyre_json_node {
    const char *text; /* of a string (unescaped, valid UTF-8) or a number */
    uint32_t length;
    uint32_t at;  /* offset in the document */
    uint32_t end; /* index of the first node that is not part of this one */
    vyre_json_kind kind;
} vyre_json_node;

typedef struct vyre_json {
    const char *name, *text; /* borrowed */
    size_t length;
    VYRE_VEC(vyre_json_node) nodes; /* 0 is the document */
    vyre_arena strings;             /* those that had escapes */
} vyre_json;

enum { VYRE_JSON_DEPTH = 64, VYRE_JSON_NONE = 0xffffffffu };

/* The text must outlive the tree; `name` is the file's name in messages. Beyond RFC 8259: keys of
 * an object must differ, and the words NaN, Infinity and -Infinity, which some writers emit, are
 * read as numbers that no accessor takes, so that the message can say where they do harm. */
vyre_status vyre_json_parse(const char *text, size_t length, const char *name,
                            const vyre_allocator *a, vyre_json *out, vyre_diag *diag);
void vyre_json_finish(vyre_json *json);

/* The value of a member, or VYRE_JSON_NONE. O(members). */
uint32_t vyre_json_member(const vyre_json *json, uint32_t object, const char *key);
bool vyre_json_is(const vyre_json *json, uint32_t node, const char *string);
/* An exact whole number from 0 to 2^64-1; `what` names it in the message. */
vyre_status vyre_json_u64(const vyre_json *json, uint32_t node, const char *what, uint64_t *out,
                          vyre_diag *diag);
/* Fails at the place of a node. */
vyre_status vyre_json_fail(const vyre_json *json, uint32_t node, const char *fix, vyre_diag *diag,
                           const char *format, ...) VYRE_PRINTF(5, 6);

#endif
