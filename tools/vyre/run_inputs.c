/* Filling the inputs and params of a run from the command line. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "io/generate.h"
#include "io/spec.h"
#include "io/values.h"
#include "run.h"

enum { GRAPH_BUFFERS = 3 };

cli_exit run_unknown(run *r, const char *what, const char *name, bool (*wanted)(vyre_role)) {
    return cli_unknown_name(r->cli, r->view, what, name, wanted);
}

static cli_exit without_value(run *r, const char *option, const char *form, const char *text) {
    char fix[VYRE_DIAG_FIX];
    snprintf(fix, sizeof fix, "write %s %s", option, form);
    return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, fix, "%s \"%s\" has no =", option, text);
}

/* Params */

static bool is_param(vyre_role role) {
    return role == VYRE_PARAM;
}

/* Consts were set when the program was read. */
static cli_exit read_setting(run *r, const char *text) {
    vyre_setting setting;
    vyre_decl decl = VYRE_NONE;
    cli_exit exit = cli_read_setting(r->cli, r->program, text, is_param, &setting, &decl);
    if (exit != CLI_PENDING || decl == VYRE_NONE) {
        return exit;
    }
    for (uint32_t i = 0; i < r->options.setting_count; i++) {
        if (r->settings[i].name == setting.name) {
            return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, "give it once", "param %s is set twice",
                            setting.name);
        }
    }
    r->settings[r->options.setting_count++] = setting;
    return CLI_PENDING;
}

cli_exit run_read_settings(run *r) {
    cli_exit exit = CLI_PENDING;
    r->options.settings = r->settings;
    for (uint32_t i = 0; i < r->o->set.count && exit == CLI_PENDING; i++) {
        exit = read_setting(r, r->o->set.items[i]);
    }
    return exit;
}

/* Buffers */

static bool is_input(vyre_role role) {
    return role == VYRE_IN || role == VYRE_INOUT;
}

/* The input slots of "row,col,val". */
static cli_exit find_slots(run *r, const char *names, size_t length, uint32_t slots[GRAPH_BUFFERS],
                           uint32_t *out_count) {
    uint32_t count = 0;
    for (const char *at = names, *end = names + length; at <= end; count++) {
        size_t size = strcspn(at, ",=");
        char name[VYRE_LIMIT_NAME + 1];
        snprintf(name, sizeof name, "%.*s", (int)size, at);
        if (count == GRAPH_BUFFERS) {
            return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, "write --in ROW,COL,VAL=SOURCE",
                            "--in takes at most three buffers");
        }
        uint32_t slot = 0;
        while (slot < r->input_count &&
               strcmp(r->view->decls[r->input_decls[slot]].name, name) != 0) {
            slot++;
        }
        if (slot == r->input_count) {
            return run_unknown(r, "input", name, is_input);
        }
        bool again = r->arrays[slot].type != VYRE_VOID;
        for (uint32_t i = 0; i < count; i++) {
            again |= slots[i] == slot;
        }
        if (again) {
            return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, "give it once",
                            "input %s is given twice", name);
        }
        slots[count] = slot;
        at += size + 1;
    }
    *out_count = count;
    return CLI_PENDING;
}

static vyre_type slot_type(const run *r, uint32_t slot) {
    return (vyre_type)r->view->decls[r->input_decls[slot]].type;
}

static cli_exit load_graph(run *r, const vyre_spec *spec, const uint32_t *slots, uint32_t count) {
    for (uint32_t i = 0; i < 2; i++) {
        if (slot_type(r, slots[i]) != VYRE_U32) {
            return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, "declare it as u32[]",
                            "rows and columns of a graph are u32, but %s is %s",
                            r->view->decls[r->input_decls[slots[i]]].name,
                            vyre_type_name(slot_type(r, slots[i])));
        }
    }
    vyre_diag diag = {0};
    vyre_csr csr;
    vyre_type value = count == 3 ? slot_type(r, slots[2]) : VYRE_VOID;
    if (vyre_spec_load_graph(spec, value, NULL, &csr, &diag) != VYRE_OK) {
        return cli_report(r->cli, &diag);
    }
    r->arrays[slots[0]] = csr.row;
    r->arrays[slots[1]] = csr.col;
    if (count == 3) {
        r->arrays[slots[2]] = csr.val;
    } else {
        vyre_array_finish(&csr.val);
    }
    return CLI_PENDING;
}

static cli_exit read_input(run *r, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals) {
        return without_value(r, "--in", "BUF=SOURCE", text);
    }
    uint32_t slots[GRAPH_BUFFERS] = {0}, count = 0;
    cli_exit exit = find_slots(r, text, (size_t)(equals - text), slots, &count);
    if (exit != CLI_PENDING) {
        return exit;
    }
    vyre_diag diag = {0};
    vyre_spec spec;
    if (vyre_spec_parse(equals + 1, &spec, &diag) != VYRE_OK) {
        diag.status = diag.status == VYRE_INVALID_INPUT ? VYRE_INVALID_ARGUMENT : diag.status;
        return cli_report(r->cli, &diag);
    }
    bool graph = vyre_spec_is_graph(&spec);
    if (graph != (count > 1)) {
        return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, "see vyre help inputs",
                        graph ? "%s fills two or three buffers: --in ROW,COL[,VAL]=%s"
                              : "%s fills one buffer: --in BUF=%s",
                        spec.text, spec.text);
    }
    if (graph) {
        return load_graph(r, &spec, slots, count);
    }
    return vyre_spec_load(&spec, slot_type(r, slots[0]), NULL, &r->arrays[slots[0]], &diag) ==
                   VYRE_OK
               ? CLI_PENDING
               : cli_report(r->cli, &diag);
}

static cli_exit refuse_missing(run *r, uint32_t slot) {
    const vyre_decl_node *node = &r->view->decls[r->input_decls[slot]];
    vyre_diag diag = {0};
    char fix[VYRE_DIAG_FIX];
    snprintf(fix, sizeof fix, "add --in %s=FILE.npy or --in %s=1,2,3", node->name, node->name);
    vyre_fail_at(&diag, VYRE_INVALID_INPUT, "",
                 vyre_program_decl_place(r->program, r->input_decls[slot]), fix,
                 "input %s : %s[] is not given, and nothing else says its size", node->name,
                 vyre_type_name((vyre_type)node->type));
    return cli_report(r->cli, &diag);
}

/* Buffers whose size the program says, and which were left out, are zeros. */
static cli_exit fill_missing(run *r) {
    vyre_diag diag = {0};
    vyre_decl from;
    uint32_t grid[3];
    uint32_t *counts = calloc((size_t)r->view->decl_count + 1, sizeof *counts);
    if (!counts) {
        return cli_fail(r->cli, VYRE_OUT_OF_MEMORY, NULL, "out of memory");
    }
    vyre_status status = vyre_bind_sizes(r->program, r->inputs, r->input_count, &r->options, counts,
                                         grid, &from, &diag);
    for (uint32_t i = 0; i < r->input_count && status == VYRE_OK; i++) {
        if (r->arrays[i].type == VYRE_VOID) {
            status = vyre_generate_zeros(slot_type(r, i), counts[r->input_decls[i]], NULL,
                                         &r->arrays[i], &diag);
        }
    }
    free(counts);
    return status == VYRE_OK ? CLI_PENDING : cli_report(r->cli, &diag);
}

static void bind_arrays(run *r) {
    for (uint32_t i = 0; i < r->input_count; i++) {
        if (r->arrays[i].type != VYRE_VOID) {
            r->inputs[i] = (vyre_input){r->arrays[i].data, vyre_array_size(&r->arrays[i])};
        }
    }
}

cli_exit run_read_inputs(run *r) {
    cli_exit exit = CLI_PENDING;
    bool missing = false;
    for (uint32_t i = 0; i < r->o->in.count && exit == CLI_PENDING; i++) {
        exit = read_input(r, r->o->in.items[i]);
    }
    for (uint32_t i = 0; i < r->input_count && exit == CLI_PENDING; i++) {
        bool given = r->arrays[i].type != VYRE_VOID;
        missing |= !given;
        if (!given && r->view->decls[r->input_decls[i]].size == VYRE_NONE) {
            exit = refuse_missing(r, i);
        }
    }
    if (exit == CLI_PENDING) {
        bind_arrays(r);
    }
    if (exit == CLI_PENDING && missing) {
        exit = fill_missing(r);
        bind_arrays(r);
    }
    return exit;
}
