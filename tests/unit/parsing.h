/* Parsing in tests: the diagnostics of one text, and that what is printed parses to the same. */
#ifndef VYRE_TESTS_UNIT_PARSING_H
#define VYRE_TESTS_UNIT_PARSING_H

#include "harness/text.h"
#include "vyre/text.h"

typedef struct parsed {
    vyre_program *program;
    vyre_diag items[64];
    vyre_diag_list list;
    vyre_status status;
} parsed;

/* libraries may be NULL. The program is the caller's. */
void parse_with_libraries(parsed *p, const char *text, const vyre_program *const *libraries,
                          uint32_t library_count);
void parse(parsed *p, const char *text);

/* The printed text of a program, which must parse to an equal one. */
vyre_text parse_print(const vyre_program *program);

/* The head of a program with declarations of many kinds, up to its first statement. */
extern const char parse_prelude[];

/* The text is what was wanted, or the test fails in `line` of `file`. */
void parse_compare(const char *file, int line, const char *got, const char *want);
/* Two ways to go on behind `head`, up to the program's brace, give one program. */
void parse_same(const char *file, int line, const char *head, const char *body, const char *plain);

#endif
