/* vyre emit: a program as source text of the C family. */
#include "vyre/emit.h"
#include "folder.h"

typedef struct emit_options {
    cli_number target;
    bool no_opt, processor;
    const char *folder;
    cli_list set;
} emit_options;

#define AT(field) offsetof(emit_options, field)

static const cli_option options[] = {
    {"target", CLI_CHOICE, 0, false, AT(target), "c|opencl|cuda",
     "the language to write (default c)"},
    {"processor", CLI_FLAG, 0, false, AT(processor), NULL,
     "OpenCL C as processors like it: a work-item is a group, its lanes are loops"},
    {"no-opt", CLI_FLAG, 0, false, AT(no_opt), NULL, "keep every barrier"},
    CLI_SET_OPTION(AT(set)),
    {"output", CLI_TEXT, 'o', false, AT(folder), "DIR",
     "write to DIR/NAME.c (.cl, .cu), NAME being the program's, instead of standard output"},
};

typedef struct emitted {
    char name[VYRE_LIMIT_NAME + 16];
    vyre_text text;
} emitted;

static vyre_status stage(vyre_stage *to, const char *folder, const void *user, vyre_diag *diag) {
    const emitted *file = user;
    return cli_stage_file(to, folder, file->name, &file->text, diag);
}

static cli_exit run(cli_context *cli, const void *given, const cli_list *arguments) {
    const emit_options *o = given;
    vyre_program *program = NULL;
    cli->set = &o->set;
    cli_exit exit = cli_source_program(cli, arguments->items[0], &program);
    if (exit != CLI_PENDING) {
        return exit;
    }
    const vyre_emit_options how = {.target = (vyre_emit_target)o->target.value,
                                   .keep_barriers = o->no_opt,
                                   .for_processor = o->processor};
    vyre_diag diag = {0};
    emitted file;
    vyre_text_init(&file.text, NULL);
    snprintf(file.name, sizeof file.name, "%s%s", vyre_program_get(program)->name,
             vyre_emit_target_suffix(how.target));
    vyre_status status = vyre_emit(program, &how, NULL, cli_write_text, &file.text, &diag);
    vyre_program_release(program);
    if (status != VYRE_OK) {
        vyre_text_finish(&file.text);
        return cli_report(cli, &diag);
    }
    if (!o->folder) {
        return cli_output(cli, &file.text);
    }
    exit = cli_write_folder(cli, o->folder, stage, &file);
    vyre_text_finish(&file.text);
    return exit;
}

const cli_command cli_emit_command = {
    .name = "emit",
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .summary = "write a program as C, OpenCL C or CUDA C++",
    .details =
        "As C the text is complete: segments as functions, the schedule that runs them, and "
        "a function to call. As CUDA C++, too, with kernels, and one cooperative kernel where "
        "that is possible. As OpenCL C it is the kernels, with the schedule as a comment. "
        "All give the same bytes as every device.",
    .options = options,
    .option_count = CLI_COUNT(options),
    .options_size = sizeof(emit_options),
    .run = run,
};
