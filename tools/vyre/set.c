/* --set: params and consts by name. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "io/values.h"

cli_exit cli_unknown_name(cli_context *cli, const vyre_program_view *view, const char *what,
                          const char *name, bool (*wanted)(vyre_role)) {
    char fix[VYRE_DIAG_FIX];
    vyre_nearest nearest = vyre_nearest_to(name);
    for (vyre_decl d = 0; d < view->decl_count; d++) {
        if (wanted((vyre_role)view->decls[d].role)) {
            vyre_nearest_offer(&nearest, view->decls[d].name);
        }
    }
    cli_did_you_mean(&nearest, "vyre print FILE shows the declarations", fix, sizeof fix);
    return cli_fail(cli, VYRE_INVALID_ARGUMENT, fix, "program %s has no %s \"%s\"", view->name,
                    what, name);
}

cli_exit cli_read_setting(cli_context *cli, const vyre_program *program, const char *text,
                          bool (*wanted)(vyre_role), vyre_setting *out, vyre_decl *out_decl) {
    char name[VYRE_LIMIT_NAME + 1], fix[VYRE_DIAG_FIX];
    const vyre_program_view *view = vyre_program_get(program);
    const char *equals = strchr(text, '=');
    *out_decl = VYRE_NONE;
    if (!equals) {
        return cli_fail(cli, VYRE_INVALID_ARGUMENT, "write --set NAME=VALUE",
                        "--set \"%s\" has no =", text);
    }
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    const vyre_decl decl = vyre_program_find_decl(program, name);
    if (decl == VYRE_NONE || !wanted((vyre_role)view->decls[decl].role)) {
        return CLI_PENDING;
    }
    const vyre_decl_node *node = &view->decls[decl];
    *out = (vyre_setting){.name = node->name, .type = (vyre_type)node->type};
    if (!vyre_value_parse(out->type, equals + 1, strlen(equals + 1), &out->bits)) {
        const char *role = vyre_role_name((vyre_role)node->role);
        snprintf(fix, sizeof fix, "give a value of type %s", vyre_type_name(out->type));
        return cli_fail(cli, node->role == VYRE_CONST ? VYRE_INVALID_INPUT : VYRE_INVALID_ARGUMENT,
                        fix, "\"%s\" is no value for %s %s : %s", equals + 1, role, name,
                        vyre_type_name(out->type));
    }
    *out_decl = decl;
    return CLI_PENDING;
}
