/* Uniformity: small programs and where each barrier is refused. A case is the text of a body; the
 * lines that must be refused are marked in it with a trailing `//!`. */
#include "harness/test.h"

#include "analysis/shape.h"
#include "vyre/check.h"
#include "vyre/text.h"

static const char *const prelude =
    "program p workgroup(64, 2) grid(4) { in n : u32[]; inout f : u32[8]; inout g : u32[8]; "
    "workgroup w : u32[64]; private a : u32[4]; param k : u32 = 3; const C = 7;\n";

static vyre_program *parse(const char *text) {
    vyre_diag items[4];
    vyre_diag_list diags = {.items = items, .capacity = 4};
    vyre_program *program = NULL;
    const vyre_status status = vyre_parse(text, strlen(text), NULL, NULL, &program, &diags);
    test_check_status(__FILE__, __LINE__, text, status, VYRE_OK, diags.count ? &items[0] : NULL);
    REQUIRE(status == VYRE_OK);
    return program;
}

static vyre_program *parse_body(const char *body) {
    char text[4096];
    (void)snprintf(text, sizeof text, "%s%s\n}\n", prelude, body);
    return parse(text);
}

/* The body's lines begin at 2. */
static bool line_is_marked(const char *body, uint32_t line) {
    for (uint32_t at = 2; at < line && body; at++) {
        body = strchr(body, '\n');
        body = body ? body + 1 : NULL;
    }
    const char *end = body ? strchr(body, '\n') : NULL;
    const char *mark = body ? strstr(body, "//!") : NULL;
    return mark && (!end || mark < end);
}

static void judge(const char *name, const char *body) {
    vyre_diag items[64];
    vyre_diag_list diags = {.items = items, .capacity = 64};
    vyre_program *program = parse_body(body);
    uint32_t marks = 0, found = 0;
    for (const char *at = body; (at = strstr(at, "//!")); at++) {
        marks++;
    }
    const vyre_status status = vyre_check(program, NULL, &diags);
    CHECK_STATUS(status, marks ? VYRE_INVALID_PROGRAM : VYRE_OK, diags.count ? &items[0] : NULL);
    for (uint32_t i = 0; i < diags.count; i++) {
        if (items[i].severity != VYRE_ERROR) {
            continue;
        }
        found++;
        if (!line_is_marked(body, items[i].line)) {
            test_fail(__FILE__, __LINE__, "%s: unexpected at line %u: %s", name, items[i].line,
                      items[i].message);
        }
    }
    if (found != marks) {
        test_fail(__FILE__, __LINE__, "%s: %u refused, %u expected", name, found, marks);
    }
    vyre_program_release(program);
}

static const struct {
    const char *name, *body;
} cases[] = {
    {"straight", "barrier; grid_sync;"},
    {"lane id", "if (global_id.x == 0) {\n barrier; //!\n}"},
    {"lane id y", "if (local_id.y == 0) {\n barrier; //!\n}"},
    {"axis of size 1", "if (local_id.z == 0) { barrier; grid_sync; }"},
    {"global id on an axis of size 1", "if (global_id.z == 0) { barrier;\n grid_sync; //!\n}"},
    {"U1 assigned under a varying branch",
     "let x = 0;\nif (global_id.x == 0) { x = 1; }\nif (x == 1) {\n barrier; //!\n}"},
    {"U1 after both arms are the same version",
     "let x = 0;\nif (global_id.x == 0) { f[0] = 1; }\nif (x == 0) { barrier; grid_sync; }"},
    {"U2 loop carried",
     "let x = 0;\nfor (i in 0 .. 4) {\n if (x == 0) {\n barrier; //!\n }\n x = f[global_id.x]; }"},
    {"U3 group id at grid scope", "if (group_id.x == 0) {\n barrier;\n grid_sync; //!\n}"},
    {"U4 an ended lane before a barrier", "if (global_id.x == 0) { exit; }\nbarrier;\ngrid_sync;"},
    {"ended lanes leave a uniform value",
     "let x = 0;\nif (global_id.x == 0) { x = 1; exit; }\nif (x == 0) { grid_sync; }"},
    {"trap ends too", "if (n[global_id.x] == 0) { trap(\"t\", 0); }\ngrid_sync;"},
    {"loop counter", "for (i in 0 .. 4) { if (i == 0) { barrier; grid_sync; } }"},
    {"loop over len and param", "for (i in 0 .. len(n) step k) { grid_sync; }"},
    {"loop over group id", "for (i in 0 .. group_id.x) { barrier;\n grid_sync; //!\n}"},
    {"loop over lane id", "for (i in 0 .. local_id.x) {\n barrier; //!\n}"},
    {"loop variable from a lane id",
     "for (i in global_id.x .. 4) {\n if (i == 0) { f[0] = 1; }\n}\nbarrier;"},
    {"load of an in buffer", "if (n[3] == 0) { grid_sync; }"},
    {"load at a lane's index", "if (n[local_id.x] == 0) {\n barrier; //!\n}"},
    {"load at the group's index", "if (n[group_id.x] == 0) { barrier;\n grid_sync; //!\n}"},
    {"written after it",
     "let go = 1;\nwhile (go != 0) {\n grid_sync; //!\n go = f[0];\n f[0] = 0;\n}"},
    {"written after it, behind a barrier",
     "let go = 1;\nwhile (go != 0) {\n grid_sync;\n go = f[0];\n grid_sync;\n f[0] = 0;\n}"},
    {"written before it", "f[0] = global_id.x;\nif (f[0] == 0) {\n barrier; //!\n}"},
    {"written before it, behind a grid barrier",
     "f[0] = global_id.x;\ngrid_sync;\nif (f[0] == 0) { barrier; grid_sync; }"},
    {"a workgroup barrier does not end a buffer's interval",
     "f[0] = 1;\nbarrier;\nif (f[0] == 0) {\n barrier; //!\n}"},
    {"other groups may write",
     "if (group_id.x == 0) { f[0] = 1; }\nbarrier;\nif (f[group_id.x] == 0) {\n barrier; //!\n}"},
    {"workgroup memory between barriers",
     "w[local_id.x] = 1;\nbarrier;\nif (w[0] == 0) { barrier; }\nbarrier;\nw[0] = 2;"},
    {"workgroup memory is not the grid's",
     "w[local_id.x] = group_id.x;\nbarrier;\nif (w[0] == 0) {\n grid_sync; //!\n}"},
    {"workgroup memory written after",
     "let x = w[0];\nw[0] = 1;\nbarrier;\nif (x == 0) {\n barrier; //!\n}"},
    {"atomic write", "let x = f[0];\natomic_add(f[0], 1);\nif (x == 0) {\n barrier; //!\n}"},
    {"atomic result", "let x = atomic_add(f[0], 1);\ngrid_sync;\nif (x == 0) {\n barrier; //!\n}"},
    {"collective ends the interval",
     "f[0] = 1;\nall_reduce(f, sum);\nif (f[0] == 1) { grid_sync; }"},
    {"collective under the group", "if (group_id.x == 0) {\n all_reduce(f, sum); //!\n}"},
    {"async delivery",
     "async_load(n, f, 0, 4, \"t\");\nlet x = f[0];\nasync_wait(\"t\");\nif (x == 0) {\n barrier; "
     "//!\n}"},
    {"async begin reads only", "async_store(f, g, 0, 4, \"t\");\nlet x = "
                               "f[0];\nasync_wait(\"t\");\nif (x == 0) { barrier; }"},
    {"back edge brings a write",
     "for (i in 0 .. 4) {\n let x = f[0];\n if (x == 0) {\n barrier; //!\n }\n f[k] = 1; }"},
    {"constants tell elements apart",
     "let x = f[0];\nf[1] = global_id.x; atomic_add(f[C], 1);\nif (x == 0) { grid_sync; }"},
    {"the same element", "let x = f[1];\nf[1] = global_id.x;\nif (x == 0) {\n grid_sync; //!\n}"},
    {"the same element by another name",
     "let x = f[C];\natomic_add(f[7], 1);\nif (x == 0) {\n grid_sync; //!\n}"},
    {"a load that may be of any element",
     "let x = f[k];\nf[1] = global_id.x;\nif (x == 0) {\n grid_sync; //!\n}"},
    {"a write that may be of any element",
     "let x = f[0];\nf[k] = global_id.x;\nif (x == 0) {\n grid_sync; //!\n}"},
    {"elements of workgroup memory",
     "let x = w[0];\nlet y = w[1];\nw[1] = local_id.x;\nif (x == 0) { barrier; }\nif (y == 0) {\n "
     "barrier; //!\n}"},
    {"a loop between constants surely runs",
     "f[0] = global_id.x;\nfor (i in 0 .. C) { grid_sync; }\nif (f[0] == 0) { grid_sync; }"},
    {"a loop that may not run",
     "f[0] = global_id.x;\nfor (i in 0 .. k) { grid_sync; }\nif (f[0] == 0) {\n grid_sync; //!\n}"},
    {"a loop that does not run",
     "f[0] = global_id.x;\nfor (i in C .. 7) { grid_sync; }\nif (f[0] == 0) {\n grid_sync; //!\n}"},
    {"a step that may be 0",
     "f[0] = global_id.x;\nfor (i in 0 .. 2 step k) { grid_sync; }\nif (f[0] == 0) {\n grid_sync; "
     "//!\n}"},
    {"a jump past the barrier of a loop that runs",
     "f[0] = global_id.x;\nfor (i in 0 .. 2) { if (k == 1) { continue; } grid_sync; }\nif (f[0] == "
     "0) {\n grid_sync; //!\n}"},
    {"the body of do",
     "f[0] = global_id.x;\nlet i = 0; do { grid_sync; i += 1; } while (i < k);\nif (f[0] == 0) { "
     "grid_sync; }"},
    {"the body of while",
     "f[0] = global_id.x;\nlet i = 0; while (i < k) { grid_sync; i += 1; }\nif (f[0] == 0) {\n "
     "grid_sync; //!\n}"},
    {"s and s ^ 1",
     "let s = k;\nlet x = f[s];\nf[s ^ 1] = global_id.x;\nif (x == 0) { grid_sync; }"},
    {"s and s ^ 1, of a parity",
     "for (i in 0 .. k) {\n let s = i & 1;\n let x = f[s];\n f[s ^ 1] = global_id.x;\n"
     " if (x == 0) { break; }\n grid_sync; }"},
    {"s and s ^ 2, of a parity",
     "for (i in 0 .. k) {\n let s = i & 1;\n let x = f[s * 2];\n f[(s ^ 2) * 3] = 1;\n"
     " if (x == 0) { break; }\n grid_sync; //!\n }"},
    {"s and s ^ k", "let s = k;\nlet x = f[s];\nf[s ^ C] = 1; f[s ^ n[0]] = 1;\n"
                    "if (x == 0) {\n grid_sync; //!\n}"},
    {"s ^ 2 and s ^ 3",
     "let s = n[0];\nlet x = f[s ^ 2];\nf[s ^ 3] = global_id.x;\nif (x == 0) { grid_sync; }"},
    {"s of each group, in a buffer",
     "let s = group_id.x;\nlet x = f[s];\nf[s ^ 1] = 1;\nif (x == 0) {\n barrier; //!\n}"},
    {"s that each group loads, in a buffer",
     "let s = n[group_id.x];\nlet x = f[s];\nf[s ^ 1] = 1;\nif (x == 0) {\n barrier; //!\n}"},
    {"s of each trip",
     "for (i in 0 .. k) {\n let s = n[i];\n if (f[s] == 0) {\n grid_sync; //!\n }\n f[s ^ 1] = 1; "
     "}"},
    {"s of each trip, loaded behind the write",
     "for (i in 0 .. k) {\n let s = n[i];\n let x = f[s];\n grid_sync; //!\n if (x == 0) {\n "
     "break;\n }\n f[s ^ 1] = 1; }"},
    {"a first test of a difference that may wrap",
     "f[0] = global_id.x;\nlet i = n[0] & 3; while (i - 1 < 9) { grid_sync; i = 0; }\n"
     "if (f[0] == 0) {\n grid_sync; //!\n}"},
    {"s of each group, in workgroup memory",
     "let s = group_id.x;\nlet x = w[s];\nw[s ^ 1] = local_id.x;\nif (x == 0) { barrier; }"},
    {"s of each lane", "let s = n[local_id.x];\nlet x = w[s ^ 1];\nlet y = w[k];\nw[s] = 1;\n"
                       "if (y == 0) {\n barrier; //!\n}"},
    {"s and 1 - s",
     "let s = n[0];\nlet x = f[s];\nf[1 - s] = global_id.x;\nif (x == 0) { grid_sync; }"},
    {"s and 2 - s",
     "let s = n[0];\nlet x = f[s];\nf[2 - s] = global_id.x;\nif (x == 0) {\n grid_sync; //!\n}"},
    {"even and odd elements, of any lanes",
     "let e = n[0];\nlet x = f[2 * e];\nf[2 * global_id.x + 1] = 1;\nif (x == 0) { grid_sync; }"},
    {"sums under a mask",
     "let s = n[0];\nlet x = f[s & 3];\nf[(s + 1) & 3] = 1; f[(s + 3) & 3] = 1;\n"
     "if (x == 0) { grid_sync; }"},
    {"sums that a mask makes equal",
     "let s = n[0];\nlet x = f[s & 3];\nf[(s + 4) & 3] = 1;\nif (x == 0) {\n grid_sync; //!\n}"},
    {"a mask with a hole",
     "let s = n[0];\nlet x = f[s & 6];\nf[(s + 1) & 6] = 1;\nif (x == 0) {\n grid_sync; //!\n}"},
    {"a remainder by a power of two",
     "let s = n[0];\nlet x = f[s % 4];\nf[(s + 1) % 4] = 1;\nif (x == 0) { grid_sync; }"},
    {"a remainder of a sum that may wrap",
     "let s = n[0];\nlet x = f[s % 3];\nf[(s + 1) % 3] = 1;\nif (x == 0) {\n grid_sync; //!\n}"},
    {"a remainder of a sum that does not wrap",
     "let s = n[0] / 2;\nlet x = f[s % 3];\nf[(s + 1) % 3] = 1;\nif (x == 0) { grid_sync; }"},
    {"remainders that are equal",
     "let s = n[0] / 2;\nlet x = f[s % 3];\nf[(s + 3) % 3] = 1;\nif (x == 0) {\n grid_sync; "
     "//!\n}"},
    {"rows of three",
     "let s = n[0];\nlet x = f[s * 3 + 2];\nf[(s + 1) * 3 + global_id.x % 3] = 1;\n"
     "if (x == 0) { grid_sync; }"},
    {"rows of three, written beyond one",
     "let s = n[0];\nlet x = f[s * 3 + 2];\nf[(s + 1) * 3 + global_id.x % 4 - 1] = 1;\n"
     "if (x == 0) {\n grid_sync; //!\n}"},
    {"rows of three by turns",
     "let s = n[0] & 1;\nlet x = f[s * 3];\nf[(s ^ 1) * 3 + global_id.x % 3] = 1;\n"
     "if (x == 0) { grid_sync; }"},
    {"ranges that do not meet",
     "let x = w[70];\nlet y = w[64];\nw[local_id.x] = 1; w[local_id.y + 65] = 1;\n"
     "w[min(global_id.x, 63)] = 1; w[global_id.x & 31] = 1; w[global_id.x % 64] = 1;\n"
     "w[local_id.x / 2] = 1; for (i in local_id.x .. 64) { w[i] = 1; }\n"
     "if (x == 0) { barrier; }\nif (y == 0) { barrier; }"},
    {"ranges that meet", "let x = w[65];\nw[local_id.x + local_id.y * 2] = 1;\n"
                         "if (x == 0) {\n barrier; //!\n}"},
    {"by turns, with a barrier between",
     "let s = 0;\nwhile (f[s] != 0) {\n f[s ^ 1] = global_id.x; grid_sync;\n"
     " if (global_id.x == 0) { f[s] = 0; }\n s = s ^ 1;\n grid_sync; }"},
    {"by turns, with none",
     "let s = 0;\nwhile (f[s] != 0) {\n grid_sync; //!\n f[s ^ 1] = global_id.x;\n s = s ^ 1; }"},
    {"three flags, one barrier",
     "for (i in 0 .. k) {\n atomic_add(f[i % 3], 1); f[(i + 1) % 3] = 0;\n grid_sync;\n"
     " if (f[i % 3] == 0) { break; } }"},
    {"two flags, one barrier",
     "for (i in 0 .. k) {\n atomic_add(f[i % 2], 1); f[(i + 1) % 2] = 0;\n grid_sync; //!\n"
     " if (f[i % 2] == 0) { break; } }"},
    {"three flags, two trips without a barrier",
     "for (i in 0 .. k) {\n if (f[i % 3] == 0) {\n grid_sync; //!\n }\n f[(i + 1) % 3] = 0; }"},
    {"four flags in a while that wraps",
     "let i = 0;\nwhile (true) {\n f[i & 3] = 1; f[(i + 1) & 3] = 0;\n grid_sync;\n"
     " if (f[i & 3] == 0) { break; }\n i += 1; }"},
    {"three flags in a while that wraps",
     "let i = 0;\nwhile (true) {\n f[i % 3] = 1; f[(i + 1) % 3] = 0;\n grid_sync; //!\n"
     " if (f[i % 3] == 0) { break; }\n i += 1; }"},
    {"three flags by turns",
     "let s = 0;\nwhile (true) {\n f[s] = 1; f[(s + 1) % 3] = 0;\n grid_sync;\n"
     " if (f[s] == 0) { break; }\n s = (s + 1) % 3; }"},
    {"a step of the size of the circle",
     "for (i in 0 .. k step 3) {\n atomic_add(f[i % 3], 1); f[(i + 1) % 3] = 0;\n"
     " grid_sync; //!\n if (f[i % 3] == 0) { break; } }"},
    {"s changes between load and write",
     "let s = n[0];\nlet x = f[s];\ns = n[1];\nf[s ^ 1] = 1;\nif (x == 0) {\n grid_sync; //!\n}"},
    {"s is one more afterwards",
     "let s = n[0];\nlet x = f[s];\ns = s + 1;\nf[s] = 1;\nif (x == 0) { grid_sync; }"},
    {"s of a function at each call",
     "let s = n[0];\nlet x = f[s];\nfn put(i : u32) { f[i] = 1; }\nput(s + 1);\n"
     "if (x == 0) { grid_sync; }\ngrid_sync;\nput(s);\nlet y = f[s];\nif (y == 0) {\n grid_sync; "
     "//!\n}"},
    {"a loop to the size of the grid surely runs",
     "f[0] = global_id.x;\nfor (i in 63 .. global_size.x) { grid_sync; }\n"
     "if (f[0] == 0) { grid_sync; }"},
    {"a loop that a small grid does not run",
     "f[0] = global_id.x;\nfor (i in 64 .. global_size.x) { grid_sync; }\n"
     "if (f[0] == 0) {\n grid_sync; //!\n}"},
    {"a while whose first test is true",
     "f[0] = global_id.x;\nlet i = 4; while (i > 0) { grid_sync; i = i / 2; }\n"
     "if (f[0] == 0) { grid_sync; }"},
    {"a while whose first test may be false",
     "f[0] = global_id.x;\nlet i = n[0] & 3; while (i > 0) { grid_sync; i = i / 2; }\n"
     "if (f[0] == 0) {\n grid_sync; //!\n}"},
    {"a while whose second test loads what is written behind it",
     "let i = 4;\nwhile (i > 0 || f[0] == 3) {\n grid_sync; //!\n i = i / 2; }\nf[0] = 1;"},
    {"lanes start apart and make as many trips",
     "for (i in local_id.x .. 256 step 64) { barrier; grid_sync; }"},
    {"the last trip is not for all", "for (i in local_id.x .. 250 step 64) {\n barrier; //!\n}"},
    {"a step smaller than the group", "for (i in local_id.x .. 256 step 32) {\n barrier; //!\n}"},
    {"starts of both axes",
     "for (i in local_id.y * 64 + local_id.x .. 256 step 128) { grid_sync; }"},
    {"a multiple of the step by division",
     "let m = n[0] / 64 * 64;\nfor (i in local_id.x .. m step 64) { grid_sync; }"},
    {"a multiple of the step that may wrap",
     "for (i in local_id.x .. n[0] * 64 step 64) {\n barrier; //!\n}"},
    {"a multiple of the step that does not wrap",
     "for (i in local_id.x .. n[0] % 100 * 64 step 64) { barrier; grid_sync; }"},
    {"over the grid",
     "let s = global_size.x;\nfor (i in global_id.x .. len(n) / s * s step s) { grid_sync; }"},
    {"over the grid, along the wrong axis",
     "for (i in global_id.y .. len(n) / global_size.x * global_size.x step global_size.x) {\n "
     "grid_sync; //!\n}"},
    {"over the grid, with a rest",
     "for (i in global_id.x .. len(n) step global_size.x) {\n grid_sync; //!\n}"},
    {"where the group begins", "if (global_id.x - local_id.x == 0) { barrier;\n grid_sync; //!\n}\n"
                               "if (global_id.y - local_id.y == 0) { barrier; }\n"
                               "if (global_id.y - local_id.x == 0) {\n barrier; //!\n}"},
    {"where the group begins, in a group of two rows",
     "let i = global_id.x; let j = local_id.x;\nif (i - j == 0) {\n barrier; //!\n}"},
    {"back edge behind a barrier",
     "for (i in 0 .. 4) {\n grid_sync; let x = f[0];\n if (x == 0) { barrier; }\n grid_sync; f[1] "
     "= 1; }"},
    {"bounds are loaded once", "for (i in 0 .. f[0]) {\n grid_sync;\n f[0] = 0;\n}"},
    {"a while condition is loaded each trip",
     "while (f[0] != 0) {\n grid_sync; //!\n f[0] = 0;\n}"},
    {"a barrier that may be skipped",
     "f[0] = 1;\nif (k == 1) { grid_sync; }\nif (f[0] == 0) {\n barrier; //!\n}"},
    {"both arms have a barrier",
     "f[0] = 1;\nif (k == 1) { grid_sync; } else { grid_sync; }\nif (f[0] == 0) { barrier; }"},
    {"a barrier in a loop may be skipped",
     "f[0] = 1;\nfor (i in 0 .. k) { grid_sync; }\nif (f[0] == 0) {\n barrier; //!\n}"},
    {"the other arm of a varying branch writes",
     "let x = 0;\nif (group_id.x == 0) { f[0] = 1; } else {\n x = f[0];\n if (x == 0) {\n barrier; "
     "//!\n } }"},
    {"the other arm of a uniform branch writes",
     "let x = 0;\nif (k == 0) { f[0] = 1; } else {\n x = f[0];\n if (x == 0) { barrier; grid_sync; "
     "} }"},
    {"lanes that went on write", "if (group_id.x == 0) { let x = f[0];\n if (x != 0) {\n barrier; "
                                 "//!\n }\n exit; }\nf[0] = 1;"},
    {"break apart makes the loop varying",
     "for (i in 0 .. 4) {\n barrier; //!\n if (local_id.x == i) { break; }\n}\nbarrier;"},
    {"break together", "for (i in 0 .. 4) { barrier; if (i == k) { break; } grid_sync; }"},
    {"values after a break apart",
     "let x = 0;\nfor (i in 0 .. 4) { x = i; if (local_id.x == i) { break; } }\nif (x == 1) {\n "
     "barrier; //!\n}"},
    {"values before the loop stay",
     "let x = 0;\nfor (i in 0 .. 4) { if (local_id.x == i) { break; } }\nif (x == 0) { barrier; }"},
    {"continue apart makes the rest varying",
     "for (i in 0 .. 4) {\n barrier;\n if (local_id.x == i) { continue; }\n barrier; //!\n}"},
    {"continue apart ends with the trip",
     "let x = 0;\nwhile (x < 4) {\n grid_sync; x = x + 1;\n if (f[global_id.x] == 0) { continue; "
     "}\n f[global_id.x] = 0; }\nif (x == 4) { grid_sync; }"},
    {"values that a continue apart skips",
     "let x = 0;\nfor (i in 0 .. 4) {\n if (x == 2) {\n barrier; //!\n }\n if (local_id.x == i) { "
     "continue; }\n x = x + 1; }"},
    {"set before a continue apart, in an arm that all take or none",
     "let x = 0;\nfor (i in 0 .. 4) {\n if (x < 3) { grid_sync; }\n"
     " if (k > i) { x = 1; if (f[global_id.x] == 0) { continue; } }\n a[0] = i; }"},
    {"set before a continue apart, in the other arm",
     "let x = 0;\nfor (i in 0 .. 4) {\n if (x < 3) { grid_sync; }\n"
     " if (k > i) { x = 5; } else { if (k > 2) { x = 1; if (f[global_id.x] == 0) { continue; } } "
     "}\n"
     " a[0] = i; }"},
    {"set again behind a continue apart, in its arm",
     "let x = 0;\nfor (i in 0 .. 4) {\n if (x < 3) {\n grid_sync; //!\n }\n"
     " if (k > i) { x = 1; if (f[global_id.x] == 0) { continue; } x = 5; }\n a[0] = i; }"},
    {"set in an arm behind the one with the continue",
     "let x = 0;\nfor (i in 0 .. 4) {\n if (x < 3) {\n grid_sync; //!\n }\n"
     " if (k > i) { x = 1; if (f[global_id.x] == 0) { continue; } }\n"
     " if (k > 2) { a[0] = 1; if (f[1] == 3) { break; } } else { x = 5; } }"},
    {"a continue of all, then set, then a continue apart",
     "let x = 0;\nfor (i in 0 .. 4) {\n if (x < 3) { grid_sync; }\n if (k > i) { continue; }\n"
     " x = 5; if (f[global_id.x] == 0) { continue; }\n a[0] = i; }"},
    {"a continue of all before an arm with a continue apart",
     "let x = 0;\nfor (i in 0 .. 4) {\n if (x < 3) { grid_sync; }\n if (k > i + 1) { continue; }\n"
     " if (k > i) { x = 1; if (f[global_id.x] == 0) { continue; } }\n a[0] = i; }"},
    {"a continue apart, then set, then a continue of all",
     "let x = 0;\nfor (i in 0 .. 4) {\n if (x < 3) {\n grid_sync; //!\n }\n"
     " if (f[global_id.x] == 0) { continue; }\n x = 5; if (k > i) { continue; }\n a[0] = i; }"},
    {"set between continues apart that bring the first value back",
     "let x = 0;\nfor (i in 0 .. 4) {\n if (x < 3) {\n grid_sync; //!\n }\n"
     " if (k > 7) { continue; }\n x = 5; if (f[global_id.x] == 0) { continue; }\n x = 6; }"},
    {"a sum of the group is uniform over the group",
     "let s = group_add(global_id.x);\nif (s > 3) { barrier; }"},
    {"a sum of the group is not uniform over the grid",
     "let s = group_add(global_id.x);\nif (s > 3) {\n grid_sync; //!\n }"},
    {"a sum of the grid is uniform over the grid",
     "let s = grid_add(global_id.x);\nif (s > 3) { grid_sync; }"},
    {"a scan is not uniform",
     "let s = grid_scan_add(global_id.x);\nif (s > 3) {\n barrier; //!\n }"},
    {"continues apart in both arms",
     "let x = 0;\nfor (i in 0 .. 4) {\n if (x < 3) {\n grid_sync; //!\n }\n"
     " if (k > i) { if (f[global_id.x] == 0) { continue; } }\n"
     " else { if (f[global_id.x] == 3) { continue; } x = 5; } }"},
    {"continues apart before the if and in it",
     "let x = 0;\nfor (i in 0 .. 4) {\n if (x < 3) {\n grid_sync; //!\n }\n"
     " if (f[global_id.x] == 4) { continue; }\n"
     " if (k > i) { if (f[global_id.x] == 0) { continue; } } else { x = 5; } }"},
    {"an arm that lanes take apart, with a continue",
     "let x = 0;\nfor (i in 0 .. 4) {\n if (x < 3) {\n grid_sync; //!\n }\n"
     " if (global_id.x > i) { x = 1; if (f[2] == 0) { continue; } }\n a[0] = i; }"},
    {"continue in a block",
     "for (i in 0 .. 4) {\n { if (local_id.x == i) { continue; } }\n barrier; "
     "//!\n}\nbarrier;"},
    {"an inner loop's break stays inside",
     "for (i in 0 .. 4) { for (j in 0 .. 4) { if (local_id.x == j) { break; } }\n barrier; }"},
    {"varying loop inside is uniform after it",
     "let s = 0;\nfor (i in 0 .. local_id.x) { f[i] = 1; }\nif (s == 0) { barrier; }"},
    {"function with a barrier",
     "fn sync(c : u32) { if (c == 0) { grid_sync; } }\nsync(k);\nsync(0);"},
    {"function argument that varies",
     "fn sync(c : u32) { if (c == 0) {\n grid_sync; //!\n} }\nsync(k);\nsync(global_id.x);"},
    {"function result", "fn twice(x : u32) -> u32 { return x * 2; }\nlet u = twice(k);\nlet v = "
                        "twice(local_id.x);\nif (u == 6) { grid_sync; }\nif (v == 6) {\n barrier; "
                        "//!\n}"},
    {"private array", "a[0] = 1;\nif (a[0] == 1) {\n barrier; //!\n}"},
    {"subgroup result", "let x = subgroup_add(1);\nif (x == 32) {\n barrier; //!\n}"},
    {"subgroup operation apart", "if (local_id.x == 0) {\n let x = subgroup_add(1); //!\n}"},
    {"subgroup operation in a group", "if (group_id.x == 0) { let x = subgroup_add(1); }"},
    {"select and arithmetic", "if (select(k == 0, C, len(n)) + num_groups.x > group_size.x) { "
                              "grid_sync; }"},
    {"reassigned with a uniform value", "let x = global_id.x;\nx = 3;\nif (x == 3) { grid_sync; }"},
    {"reassigned in both arms",
     "let x = global_id.x;\nif (k == 0) { x = 1; } else { x = 2; }\nif (x == 1) { grid_sync; }"},
    {"all groups fill memory alike",
     "w[local_id.x] = n[local_id.x] + k;\nbarrier;\nfor (i in 0 .. w[k]) { grid_sync; }"},
    {"memory that is filled by group",
     "w[local_id.x] = group_id.x;\nbarrier;\nfor (i in 0 .. w[k]) {\n grid_sync; //!\n}"},
    {"alike, at an index of the group",
     "w[local_id.x] = 1;\nbarrier;\nfor (i in 0 .. w[group_id.x]) {\n grid_sync; //!\n}"},
    {"alike, at an index that differs",
     "w[global_id.x % 64] = 1;\nbarrier;\nfor (i in 0 .. w[k]) {\n grid_sync; //!\n}"},
    {"alike, under a condition of local ids",
     "if (local_id.x < k) { w[local_id.x] = 1; }\nbarrier;\nfor (i in 0 .. w[0]) { grid_sync; }"},
    {"alike, under a condition of the group",
     "if (group_id.x == 1) { w[local_id.x] = 1; }\nbarrier;\nfor (i in 0 .. w[0]) {\n grid_sync; "
     "//!\n}"},
    {"alike, by a second write not",
     "w[local_id.x] = 1;\nbarrier;\nif (global_id.x == 70) { w[0] = 9; }\nbarrier;\nfor (i in 0 .. "
     "w[3]) {\n grid_sync; //!\n}"},
    {"alike, by loops that lanes leave apart",
     "let m = local_id.x;\nwhile (m > 3) { m = m / 2; }\nw[local_id.x] = m;\nbarrier;\nfor (i in 0 "
     ".. w[5]) { grid_sync; }"},
    {"loops of which groups make their own trips",
     "let m = 0;\nwhile (m < group_id.x) { m += 1; }\nw[local_id.x] = m;\nbarrier;\nfor (i in 0 .. "
     "w[5]) {\n grid_sync; //!\n}"},
    {"a break of the group",
     "let m = 0;\nfor (j in 0 .. 4) {\n if (j == group_id.x) { break; }\n m += "
     "1;\n}\nw[local_id.x] = m;\nbarrier;\nfor (i in 0 .. w[5]) {\n grid_sync; //!\n}"},
    {"a continue of the group",
     "for (j in 0 .. 4) {\n if (j > group_id.x) { continue; }\n w[local_id.x] += "
     "1;\n}\nbarrier;\nfor (i in 0 .. w[5]) {\n grid_sync; //!\n}"},
    {"what a tile does to itself",
     "w[local_id.x] = n[local_id.x];\nbarrier;\nlet v = w[(local_id.x + 1) % "
     "64];\nbarrier;\nw[local_id.x] += v;\nbarrier;\nfor (i in 0 .. w[2]) { grid_sync; }"},
    {"alike, and written in the interval",
     "w[local_id.x] = n[local_id.x];\nfor (i in 0 .. w[2]) {\n grid_sync; //!\n}"},
    {"alike, from a buffer that is written in the interval",
     "w[local_id.x] = f[local_id.x];\nf[global_id.x] = 1;\nbarrier;\nfor (i in 0 .. w[2]) {\n "
     "grid_sync; //!\n}"},
    {"alike, from a buffer that is written behind a grid barrier",
     "w[local_id.x] = f[local_id.x];\ngrid_sync;\nf[global_id.x] = 1;\nfor (i in 0 .. w[2]) { "
     "grid_sync; }"},
    {"atomics of one kind", "atomic_add(w[0], n[local_id.x]);\natomic_sub(w[0], 3);\nbarrier;\nfor "
                            "(i in 0 .. w[0]) { grid_sync; }"},
    {"atomics of two kinds", "atomic_add(w[0], 1);\natomic_max(w[0], 2);\nbarrier;\nfor (i in 0 .. "
                             "w[0]) {\n grid_sync; //!\n}"},
    {"atomics that depend on their order",
     "atomic_exchange(w[0], local_id.x);\nbarrier;\nfor (i in 0 .. w[0]) {\n grid_sync; //!\n}"},
    {"stores that depend on their order",
     "atomic_store(w[0], local_id.x);\nbarrier;\nfor (i in 0 .. w[0]) {\n grid_sync; //!\n}"},
    {"results of atomics", "let o = atomic_add(w[0], 1);\nw[1 + o % 8] = 1;\nbarrier;\nfor (i in 0 "
                           ".. w[2]) {\n grid_sync; //!\n}"},
    {"results of atomic loads", "let o = atomic_load(w[0]);\nw[1 + local_id.x % 8] = "
                                "o;\nbarrier;\nfor (i in 0 .. w[2]) {\n grid_sync; //!\n}"},
    {"lanes that end alike", "if (local_id.x == 40) { exit; }\nw[local_id.x] = 1;\nbarrier;\nfor "
                             "(i in 0 .. w[40]) { grid_sync; }"},
    {"lanes that end in one group", "if (global_id.x == 40) { exit; }\nw[local_id.x] = "
                                    "1;\nbarrier;\nfor (i in 0 .. w[40]) {\n grid_sync; //!\n}"},
    {"lanes that trap in one group", "if (global_id.x == 40) { trap(\"x\", 1); }\nw[local_id.x] = "
                                     "1;\nbarrier;\nfor (i in 0 .. w[40]) {\n grid_sync; //!\n}"},
    {"what a subgroup adds up", "let v = subgroup_add(global_id.x);\nw[local_id.x] = "
                                "v;\nbarrier;\nfor (i in 0 .. w[2]) {\n grid_sync; //!\n}"},
    {"what a group adds up", "let v = group_add(global_id.x);\nw[local_id.x] = v;\nbarrier;\nfor "
                             "(i in 0 .. w[2]) {\n grid_sync; //!\n}"},
    {"what a lane of the group has",
     "let v = group_broadcast(global_id.x, 3);\nfor (i in 0 .. v) {\n grid_sync; //!\n}"},
    {"a private array",
     " a[0] = 1;\nw[local_id.x] = a[0];\nbarrier;\nfor (i in 0 .. w[2]) {\n grid_sync; //!\n}"},
    {"a copy", "async_load(n, w, group_id.x, 8, \"x\"); async_wait(\"x\");\nbarrier;\nfor (i in 0 "
               ".. w[2]) {\n grid_sync; //!\n}"},
    {"places that cancel out",
     "let i0 = local_id.y + 3;\nlet u = i0 - local_id.y;\nfor (i in 0 .. k) { grid_sync; }"},
    {"cooperative cg",
     "let rr = 1;\nlet it = 0;\nwhile (rr != 0 && it < 100) {\n atomic_add(f[0], "
     "n[global_id.x]);\n "
     "grid_sync;\n let alpha = f[0];\n g[global_id.x] = g[global_id.x] + alpha;\n grid_sync;\n if "
     "(global_id.x == 0) { f[0] = 0; f[1] = 0; }\n grid_sync;\n atomic_add(f[1], "
     "g[global_id.x]);\n grid_sync;\n rr = f[1];\n grid_sync;\n it = it + 1;\n}"},
};

TEST(barriers_are_judged) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        judge(cases[i].name, cases[i].body);
    }
}

/* What to do follows from the cause. */
static void check_fix(const char *body, const char *fix) {
    vyre_diag items[8];
    vyre_diag_list diags = {.items = items, .capacity = 8};
    vyre_program *program = parse_body(body);
    CHECK_STATUS(vyre_check(program, NULL, &diags), VYRE_INVALID_PROGRAM, NULL);
    REQUIRE(diags.count > 0);
    CHECK_STR(items[0].fix, fix);
    vyre_program_release(program);
}

TEST(the_fix_follows_the_cause) {
    check_fix("let x = f[0];\nf[1] = 1;\nf[0] = 1;\nif (x == 0) { grid_sync; }\ng[0] = 1;",
              "put a grid_sync between the load of `f` at line 2 and the write at line 4");
    check_fix("w[0] = 1;\nif (w[0] == 0) { barrier; }\ng[0] = 1;",
              "put a barrier between the load of `w` at line 3 and the write at line 2");
    check_fix(
        "let x = 1;\nif (global_id.x < k) { grid_sync; }",
        "end the lanes that have nothing to do instead, with if (...) { return; }: they count "
        "as arrived");
    check_fix("if (global_id.x < k) { barrier; } else { g[0] = 1; }",
              "move it to where all lanes of the workgroup come");
    check_fix("if (global_id.x < k) { grid_sync; }\ng[0] = 1;",
              "move it to where all lanes of the grid come");
}

TEST(bfs_of_the_architecture_is_accepted) {
    judge("bfs",
          "scratch queue : u32[2 * len(n)]; scratch count : u32[2]; out dist : u32[len(n)];\n"
          "for (v in global_id.x .. len(dist) step global_size.x) { dist[v] = 0xffffffff; }\n"
          "grid_sync;\n"
          "if (global_id.x == 0) { dist[k] = 0; queue[0] = k; }\n"
          "grid_sync;\n"
          "let level = 0; let size = 1;\n"
          "while (size != 0) {\n"
          "  let here = (level & 1) * len(dist);\n"
          "  let next = len(dist) - here;\n"
          "  if (global_id.x == 0) { count[level & 1] = 0; }\n"
          "  for (q in global_id.x .. size step global_size.x) {\n"
          "    let v = queue[here + q];\n"
          "    for (e in n[v] .. n[v + 1]) {\n"
          "      let u = n[e];\n"
          "      if (atomic_cas(dist[u], 0xffffffff, level + 1) == 0xffffffff) {\n"
          "        queue[next + atomic_add(count[(level + 1) & 1], 1)] = u; } } }\n"
          "  grid_sync;\n"
          "  level = level + 1;\n"
          "  size = count[level & 1];\n"
          "  grid_sync;\n"
          "}");
}

/* The reasons that a refusal gives, in order. */
static void explain(const char *body, const char *const *wanted, uint32_t count) {
    vyre_diag items[16];
    vyre_diag_list diags = {.items = items, .capacity = 16};
    vyre_program *program = parse_body(body);
    CHECK_STATUS(vyre_check(program, NULL, &diags), VYRE_INVALID_PROGRAM, NULL);
    CHECK_EQ(diags.count, count);
    for (uint32_t i = 0; i < count && i < diags.count; i++) {
        CHECK_HAS(items[i].message, wanted[i]);
    }
    vyre_program_release(program);
}

TEST(refusals_say_why) {
    explain("let x = 0;\nif (global_id.x == 0) { x = 1; }\nif (x == 1) { barrier; }",
            (const char *const[]){"the condition at line 4 varies", "it depends on `x`",
                                  "`x` varies: it is assigned under this condition, which depends "
                                  "on `global_id.x`"},
            3);
    explain("let go = 1;\nwhile (go != 0) { grid_sync;\n go = f[0];\n f[0] = 0; }",
            (const char *const[]){"come to this grid_sync together: the condition at line 3",
                                  "it depends on `go`",
                                  "`go` varies: its value here loads from `f`, which is written at "
                                  "line 5 with no grid_sync between"},
            3);
    explain("let x = 0;\nfor (i in 0 .. 9) { x = i; if (n[local_id.x] == i) { break; } }\n"
            "let y = x + 1;\nif (y > 3) { barrier; }",
            (const char *const[]){"the condition at line 5", "depends on `y`",
                                  "`y` varies: its value here depends on `x`",
                                  "`x` varies: lanes leave its loop in different trips, since this "
                                  "depends on `local_id.x`"},
            4);
    explain("let t = atomic_add(f[0], 1);\nif (t == 0) { barrier; }",
            (const char *const[]){"barrier", "depends on `t`", "result of an atomic"}, 3);
    explain("if (group_id.y == 0) { grid_sync; }",
            (const char *const[]){"lanes of the grid", "depends on `group_id.y`"}, 2);
    explain("w[local_id.x] = group_id.x;\nbarrier;\nif (w[0] == 0) { grid_sync; }",
            (const char *const[]){"grid_sync", "workgroup memory `w`"}, 2);
}

/* Shapes of the stored values, in order. */
static void shapes_of_stores(const char *body, const vyre_shape *wanted, uint32_t count) {
    vyre_program *program = parse_body(body);
    const vyre_program_view *p = vyre_program_get(program);
    const vyre_allocator a = vyre_allocator_system();
    vyre_calls calls;
    vyre_effect_map *effects;
    vyre_shapes *shapes;
    REQUIRE_OK(vyre_calls_init(&calls, program, &a), NULL);
    REQUIRE_OK(vyre_effects_create(program, &calls, &a, &effects), NULL);
    REQUIRE_OK(vyre_shapes_create(program, effects, &a, &shapes), NULL);
    uint32_t store = 0;
    for (uint32_t step = 0; step < vyre_shapes_visit_count(shapes); step++) {
        const vyre_stmt_node *stmt = &p->stmts[vyre_shapes_stmt(shapes, step)];
        vyre_shape found[64];
        if (stmt->op != VYRE_STMT_STORE || store == count) {
            continue;
        }
        vyre_shapes_exprs(shapes, step, found);
        const vyre_shape got = found[stmt->arg[1] - stmt->first_expr];
        if (got.kind != wanted[store].kind || got.stride != wanted[store].stride) {
            test_fail(__FILE__, __LINE__, "store %u has shape %u stride %d, not %u stride %d",
                      store, got.kind, got.stride, wanted[store].kind, wanted[store].stride);
        }
        store++;
    }
    CHECK_EQ(store, count);
    vyre_shapes_destroy(shapes);
    vyre_effects_destroy(effects);
    vyre_calls_finish(&calls, &a);
    vyre_program_release(program);
}

TEST(shapes_of_values) {
    enum {
        GRID = VYRE_SHAPE_GRID,
        GROUP = VYRE_SHAPE_GROUP,
        ROW = VYRE_SHAPE_ROW,
        LINEAR = VYRE_SHAPE_LINEAR,
        VARYING = VYRE_SHAPE_VARYING
    };
    shapes_of_stores(
        "g[0] = k + C; g[0] = group_id.x * 2; g[0] = local_id.y; g[0] = global_id.x;\n"
        "g[0] = 4 * global_id.x + group_id.y; g[0] = global_id.x - local_id.x;\n"
        "g[0] = local_id.x << 3; g[0] = local_id.x * local_id.x; g[0] = local_id.x / 2;\n"
        "g[0] = local_id.z; g[0] = k - local_id.x; g[0] = n[local_id.y];\n"
        "g[0] = u32(i32(local_id.x)); g[0] = subgroup_local_id;",
        (const vyre_shape[]){{.kind = GRID},
                             {.kind = GROUP},
                             {.kind = ROW},
                             {.kind = LINEAR, .stride = 1},
                             {.kind = LINEAR, .stride = 4},
                             {.kind = GROUP},
                             {.kind = LINEAR, .stride = 8},
                             {.kind = VARYING},
                             {.kind = VARYING},
                             {.kind = GRID},
                             {.kind = LINEAR, .stride = -1},
                             {.kind = ROW},
                             {.kind = LINEAR, .stride = 1},
                             {.kind = VARYING}},
        14);
    shapes_of_stores("for (i in global_id.x .. 9 step global_size.x) { g[i] = i; }\n"
                     "let x = local_id.x; if (k == 0) { x = x + 1; } g[0] = x;\n"
                     "for (j in 0 .. local_id.x) { g[0] = j; let y = 0;\n"
                     "  for (m in 0 .. 4) { y = y + m; } g[0] = y; }\n"
                     "let z = local_id.x; for (q in 0 .. 3) { z = z + 2; } g[0] = z;",
                     (const vyre_shape[]){{.kind = LINEAR, .stride = 1},
                                          {.kind = LINEAR, .stride = 1},
                                          {.kind = GRID},
                                          {.kind = GRID},
                                          {.kind = LINEAR, .stride = 1}},
                     5);
}

/* Nested loops whose variables feed each other: the answer must come soon and be right. */
TEST(deep_nests_settle) {
    char body[8192];
    size_t at = 0;
    at += (size_t)snprintf(body + at, sizeof body - at, "let v0 = 0;\n");
    for (int i = 1; i <= 40; i++) {
        at += (size_t)snprintf(body + at, sizeof body - at, "let v%d = 0; while (v%d < 4) {\n", i,
                               i - 1);
    }
    at += (size_t)snprintf(body + at, sizeof body - at, "v40 = n[local_id.x];\n");
    for (int i = 40; i >= 1; i--) {
        at += (size_t)snprintf(body + at, sizeof body - at, "v%d = v%d; }\n", i - 1, i);
    }
    (void)snprintf(body + at, sizeof body - at, "if (v0 == 0) {\n barrier; //!\n}");
    judge("nest", body);
}

static vyre_status check_with(const vyre_allocator *a, void *user) {
    return vyre_check(user, a, NULL);
}

TEST(no_allocation_is_taken_for_granted) {
    vyre_program *program = parse_body("fn twice(x : u32) -> u32 { return x * 2; }\nlet go = "
                                       "1;\nwhile (go != 0) {\n grid_sync; if "
                                       "(go == twice(k)) { break; } else { go = f[0]; }\n "
                                       "grid_sync; f[0] = 0; async_load(n, g, 0, "
                                       "4, \"t\"); async_wait(\"t\"); }");
    CHECK(test_every_allocation(check_with, program, 10000) > 20);
    vyre_program_release(program);
}
