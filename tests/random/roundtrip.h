/* Text and back: is what is read what was printed? */
#ifndef VYRE_TESTS_RANDOM_ROUNDTRIP_H
#define VYRE_TESTS_RANDOM_ROUNDTRIP_H

#include "base/text.h"
#include "vyre/text.h"

/* Room that is reused from one program to the next. */
typedef struct roundtrip {
    vyre_text printed, again, formatted;
    uint64_t sugared, loops;       /* programs that were also written another way */
    char why[VYRE_DIAG_TEXT + 64]; /* what went wrong */
} roundtrip;

void roundtrip_init(roundtrip *r);
void roundtrip_finish(roundtrip *r);

/* parse(print(p)) equals p and has its hash; printing that gives the same text; the formatter
 * leaves its own output alone, and what it makes of the text parses to p as well. The text stays
 * in r->printed. */
bool roundtrip_check(roundtrip *r, const vyre_program *program);
/* The same of the program with memory as an argument of a function: formatted and parsed it prints
 * the same functions; and with loops as in C. True also if it has nothing to rewrite; r->sugared
 * and r->loops count the others. */
bool roundtrip_sugar(roundtrip *r, const vyre_program *program, uint64_t seed);
/* A valid random program goes through both. */
bool roundtrip_seed(roundtrip *r, uint64_t seed, vyre_program **out_program);

#endif
