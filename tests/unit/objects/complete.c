/* Has one of everything that segments may have: calls, tables of jumps, of functions and of
 * numbers, constants of several sizes, data and zeroed data, visible and hidden. */
#include <stdint.h>

#define NOINLINE __attribute__((noinline))

int64_t complete_zeroed[3000];
int64_t complete_counter = 40;
static uint32_t calls;
static const double halves[] = {0.5, 1.5, 2.5, 3.5};
const uint32_t complete_squares[] = {0, 1, 4, 9, 16, 25, 36, 49};

NOINLINE static uint64_t twice(uint64_t x) {
    calls++;
    return 2 * x;
}
NOINLINE uint64_t complete_thrice(uint64_t x) {
    return twice(x) + x;
}
NOINLINE uint64_t complete_seventh(uint64_t x) {
    return x / 7;
}

/* Addresses in constant data, of hidden and of visible functions. */
static uint64_t (*const functions[])(uint64_t) = {twice, complete_thrice, complete_seventh};
static const char *const words[] = {"zero", "one", "two", "three"};

uint64_t complete_call(uint32_t which, uint64_t x) {
    return functions[which % 3](x);
}
char complete_letter(uint32_t word, uint32_t letter) {
    return words[word % 4][letter];
}
double complete_half(uint32_t i, double x) {
    return halves[i % 4] + x * 0.1;
}
uint32_t complete_square(uint32_t i) {
    return complete_squares[i % 8];
}
int64_t complete_count(uint32_t i) {
    complete_zeroed[i] += 1;
    complete_counter += complete_zeroed[i];
    return complete_counter;
}
uint32_t complete_calls(void) {
    return calls;
}
uint64_t (*complete_function(void))(uint64_t) {
    return complete_thrice;
}
const void *complete_place(uint32_t which) {
    return which == 0 ? (const void *)complete_squares : (const void *)complete_zeroed;
}

/* Dense enough for a table of jumps, with bodies that no table of numbers can replace. */
uint64_t complete_switch(uint32_t which, uint64_t a, uint64_t b) {
    switch (which) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return b ? a / b : 0;
    case 4: return a ^ b;
    case 5: return a << (b & 63);
    case 6: return twice(a);
    case 7: return complete_thrice(b);
    default: return 99;
    }
}

/* A loop that is made into vectors, with constants of 16 and 32 bytes. */
void complete_scale(float *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        values[i] = values[i] * 3.0f + (float)(i & 7u);
    }
}
