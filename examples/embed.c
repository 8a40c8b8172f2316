/* vyre from C: parse a program, check it, run it on the best device, use the result.
 *
 *     cc embed.c $(pkg-config --cflags --libs vyre) && ./a.out
 *
 * Every call that can fail returns a vyre_status and fills a diagnostic with what went wrong,
 * where, and what to do. */
#include <stdio.h>
#include <string.h>
#include <vyre/vyre.h>

/* Every lane adds a part of the squares; a grid barrier; the first lane adds the parts. */
static const char source[] = "program norm workgroup(64) elements(256) {\n"
                             "    in x : f32[];\n"
                             "    out sum : f32[1];\n"
                             "    scratch part : f32[256];\n"
                             "    param scale : f32 = 1.0;\n"
                             "    let mine = 0.0;\n"
                             "    for (i in global_id.x .. len(x) step global_size.x) {\n"
                             "        mine = mine + scale * x[i] * x[i];\n"
                             "    }\n"
                             "    part[global_id.x] = mine;\n"
                             "    grid_sync;\n"
                             "    if (global_id.x == 0) {\n"
                             "        for (i in 0 .. len(part)) {\n"
                             "            sum[0] += part[i];\n"
                             "        }\n"
                             "    }\n"
                             "}\n";

static void print_diag(const vyre_diag *diag) {
    fprintf(stderr, "%s:%u:%u: %s\n", diag->file, diag->line, diag->col, diag->message);
    if (diag->fix[0]) {
        fprintf(stderr, "fix: %s\n", diag->fix);
    }
}

/* Parses and checks; all errors of the text are told, not only the first. */
static vyre_status load(const char *text, vyre_program **out_program) {
    vyre_diag items[16];
    vyre_diag_list diags = {items, 16, 0, 0, 0};
    vyre_parse_options options = {"norm.vy", NULL, 0};
    vyre_program *program = NULL;
    vyre_status status = vyre_parse(text, strlen(text), &options, NULL, &program, &diags);
    if (status == VYRE_OK) {
        status = vyre_check(program, NULL, &diags);
    }
    for (uint32_t i = 0; i < diags.count; i++) {
        print_diag(&items[i]);
    }
    if (status == VYRE_OK) {
        *out_program = program;
    } else {
        vyre_program_release(program);
    }
    return status;
}

static vyre_status run(vyre_device *device, const vyre_program *program, vyre_diag *diag) {
    float x[1000], scale = 0.5f;
    for (int i = 0; i < 1000; i++) {
        x[i] = (float)(i % 10);
    }
    vyre_setting setting = {"scale", VYRE_F32, 0};
    memcpy(&setting.bits, &scale, sizeof scale); /* the bits of a value, zero-extended */
    vyre_dispatch_options options;
    memset(&options, 0, sizeof options);
    options.settings = &setting;
    options.setting_count = 1;

    vyre_input input = {x, sizeof x};  /* every `in` and `inout`, in order of declaration */
    vyre_output output = {NULL, 0, 0}; /* every `inout` and `out`; grown as needed */
    vyre_dispatch_report report;
    vyre_status status =
        vyre_dispatch(device, program, &input, 1, &output, 1, &options, &report, diag);
    if (status == VYRE_OK) {
        float sum;
        memcpy(&sum, output.data, sizeof sum);
        printf("sum of %d scaled squares: %g, on %u workgroups\n", 1000, (double)sum,
               report.grid[0]);
    }
    vyre_output_finish(&output, NULL);
    return status;
}

int main(void) {
    vyre_program *program = NULL;
    vyre_device *device = NULL;
    vyre_diag diag;
    memset(&diag, 0, sizeof diag);
    if (load(source, &program) != VYRE_OK) {
        return 1;
    }
    vyre_status status = vyre_device_open(NULL, "auto", NULL, &device, &diag);
    if (status == VYRE_OK) {
        status = run(device, program, &diag);
    }
    if (status != VYRE_OK) {
        print_diag(&diag);
    }
    vyre_device_close(device);
    vyre_program_release(program);

    /* What is wrong with a program is told the same way. */
    vyre_program *wrong = NULL;
    vyre_status refused =
        load("program wrong workgroup(64) { out y : u32[64]; y[global_id.x] = 1.5; }", &wrong);
    printf("a program with an error: %s\n", vyre_status_name(refused));
    vyre_program_release(wrong);
    return status == VYRE_OK && refused == VYRE_INVALID_PROGRAM ? 0 : 1;
}
