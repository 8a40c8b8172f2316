/* What happened in a run: races, numbers, times, JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "run.h"

typedef struct field {
    const char *name;
    size_t offset;
} field;

#define STAT(name)                                                                                 \
    { #name, offsetof(vyre_dispatch_stats, name) }
static const field stats_fields[] = {STAT(launches),    STAT(host_waits),       STAT(bytes_in),
                                     STAT(bytes_out),   STAT(carried_bytes),    STAT(segments),
                                     STAT(sync_points), STAT(skipped_launches), STAT(steps)};
#define TIME(name)                                                                                 \
    { #name, offsetof(vyre_dispatch_times, name) }
static const field time_fields[] = {TIME(compile), TIME(alloc),    TIME(upload),
                                    TIME(run),     TIME(download), TIME(total),
                                    TIME(device),  TIME(enqueue),  TIME(wait)};

static uint64_t *value_of(void *base, const field *f) {
    return (uint64_t *)(void *)((char *)base + f->offset);
}

static uint64_t read_of(const void *base, const field *f) {
    uint64_t value;
    memcpy(&value, (const char *)base + f->offset, sizeof value);
    return value;
}

static bool is_known(const vyre_dispatch_times *times, const field *f) {
    return f->offset < offsetof(vyre_dispatch_times, device)    ? true
           : f->offset == offsetof(vyre_dispatch_times, device) ? times->knows_device
                                                                : times->knows_calls;
}

static int compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void run_take_medians(vyre_dispatch_times *times, vyre_dispatch_times *all, uint32_t count) {
    uint64_t *values = calloc(count, sizeof *values);
    for (uint32_t f = 0; f < CLI_COUNT(time_fields) && values; f++) {
        for (uint32_t i = 0; i < count; i++) {
            values[i] = read_of(&all[i], &time_fields[f]);
        }
        qsort(values, count, sizeof *values, compare_u64);
        uint64_t low = values[(count - 1) / 2], high = values[count / 2];
        *value_of(times, &time_fields[f]) = low + (high - low) / 2;
    }
    free(values);
}

/* Where compiled code came from; NULL: the device does not tell. What was compiled counts, whatever
 * else was found. */
static const char *code_origin(const run *r) {
    vyre_counters c = {0};
    if (r->device) {
        vyre_device_counters(r->device, &c);
    }
    return c.code_compiled      ? "compiler"
           : c.code_from_disk   ? "disk"
           : c.code_from_memory ? "memory"
                                : NULL;
}

/* Nanoseconds of the run for each grid barrier that was passed; 0: there was none. */
static uint64_t per_barrier(const run *r) {
    const uint64_t barriers = r->report.stats.sync_points;
    return barriers ? r->report.times.run / barriers : 0;
}

/* " (cold)": it was compiled; " (warm, from disk)"; "": the device does not tell. */
static void write_origin(const run *r, char out[32]) {
    const char *origin = code_origin(r);
    const bool is_warm = origin && strcmp(origin, "compiler") != 0;
    (void)snprintf(out, 32, "%s%s%s",
                   !origin   ? ""
                   : is_warm ? " (warm, from "
                             : " (cold)",
                   is_warm ? origin : "", is_warm ? ")" : "");
}

static void tell_times(const run *r) {
    const uint64_t barriers = r->report.stats.sync_points;
    char origin[32];
    write_origin(r, origin);
    for (uint32_t i = 0; i < CLI_COUNT(time_fields); i++) {
        const field *f = &time_fields[i];
        const uint64_t ns = read_of(&r->report.times, f);
        if (!is_known(&r->report.times, f)) {
            cli_say(r->cli, "%-16s unknown", f->name);
        } else {
            cli_say(r->cli, "%-16s %" PRIu64 ".%06" PRIu64 " ms%s", f->name, ns / 1000000,
                    ns % 1000000, f->offset ? "" : origin);
        }
    }
    cli_say(r->cli, "%-16s %" PRIu64, "barriers", barriers);
    if (barriers) {
        cli_say(r->cli, "%-16s %" PRIu64 ".%03" PRIu64 " us of the run", "per_barrier",
                per_barrier(r) / 1000, per_barrier(r) % 1000);
    }
}
_Static_assert(offsetof(vyre_dispatch_times, compile) == 0,
               "the first one tells where code is from");

void run_tell_numbers(const run *r) {
    for (uint32_t i = 0; r->o->stats && i < CLI_COUNT(stats_fields); i++) {
        cli_say(r->cli, "%-16s %" PRIu64, stats_fields[i].name,
                read_of(&r->report.stats, &stats_fields[i]));
    }
    if (r->o->time) {
        tell_times(r);
    }
}

/* Races */

static void tell_race(run *r, const vyre_race *race, bool fails) {
    vyre_diag diag = {0}, note = {0};
    const char *barrier = race->one_group ? "barrier" : "grid_sync";
    char fix[sizeof diag.fix];
    (void)snprintf(fix, sizeof fix, "separate the two by a %s, or make both atomic", barrier);
    vyre_fail_at(&diag, VYRE_CHECK_FAILED, "", vyre_program_stmt_place(r->program, race->first),
                 race->harmless ? "none needed: all write the same value and nobody reads it "
                                  "before the next barrier"
                                : fix,
                 "%srace on %s[%u]: lane %" PRIu64 " %s it here", race->harmless ? "harmless " : "",
                 r->view->decls[race->decl].name, race->element, race->first_lane,
                 race->first_writes ? "writes" : "reads");
    diag.severity = fails ? VYRE_ERROR : VYRE_WARNING;
    cli_report(r->cli, &diag);
    vyre_fail_at(&note, VYRE_CHECK_FAILED, "", vyre_program_stmt_place(r->program, race->second),
                 NULL, "lane %" PRIu64 " %s it here, with no %s between", race->second_lane,
                 race->second_writes ? "writes" : "reads", barrier);
    note.severity = VYRE_NOTE;
    cli_report(r->cli, &note);
}

cli_exit run_tell_races(run *r) {
    enum { REPORT, FAIL };
    if (!r->o->races.given) {
        return CLI_PENDING;
    }
    bool strict = r->o->races.value == FAIL;
    for (uint32_t i = 0; i < r->report.races_stored; i++) {
        tell_race(r, &r->races[i], strict && !r->races[i].harmless);
    }
    uint64_t harmful = r->report.race_count - r->report.harmless_race_count;
    cli_say(r->cli, "%" PRIu64 " races, %" PRIu64 " of them harmless%s", r->report.race_count,
            r->report.harmless_race_count,
            r->report.race_count > r->report.races_stored ? "; the first are shown" : "");
    if (!strict || harmful == 0) {
        return CLI_PENDING;
    }
    return cli_fail(r->cli, VYRE_CHECK_FAILED, NULL,
                    "the result may depend on the order of the lanes");
}

/* Accesses outside */

static int by_place(const void *left, const void *right) {
    const vyre_outside *a = left, *b = right;
    return a->stmt != b->stmt ? (a->stmt > b->stmt) - (a->stmt < b->stmt)
                              : (a->decl > b->decl) - (a->decl < b->decl);
}

/* [y][x] */
static const char *indices_text(const run *r, const vyre_outside *o, const uint32_t *numbers,
                                char room[48]) {
    int at = 0;
    for (uint32_t i = 0; i < r->view->decls[o->decl].rank; i++) {
        at += snprintf(room + at, (size_t)(48 - at), "[%u]", numbers[i]);
    }
    return room;
}

cli_exit run_tell_outside(run *r) {
    enum { REPORT, FAIL };
    const vyre_outside_list *list = &r->bounds;
    if (!r->o->bounds.given) {
        return CLI_PENDING;
    }
    qsort(list->items, list->count, sizeof *list->items, by_place);
    const bool strict = r->o->bounds.value == FAIL;
    for (uint32_t i = 0; i < list->count; i++) {
        const vyre_outside *o = &list->items[i];
        const char *name = r->view->decls[o->decl].name;
        vyre_diag diag = {0};
        char has[48], at[48], elements[32] = "";
        if (r->view->decls[o->decl].rank == 1) {
            snprintf(elements, sizeof elements, "has %u elements", o->length);
        }
        vyre_fail_at(&diag, VYRE_CHECK_FAILED, "", vyre_program_stmt_place(r->program, o->stmt),
                     o->writes ? "nothing is stored there: a guard says that this is meant"
                               : "0 is read there: a guard says that this is meant",
                     "%" PRIu64 " accesses outside of %s, which %s%s: lane %" PRIu64 " %s %s%s",
                     o->count, name, *elements ? "" : "is ",
                     *elements ? elements : indices_text(r, o, o->lengths, has), o->lane,
                     o->writes ? "writes" : "reads", name, indices_text(r, o, o->indices, at));
        diag.severity = strict ? VYRE_ERROR : VYRE_WARNING;
        cli_report(r->cli, &diag);
    }
    cli_say(r->cli, "%" PRIu64 " accesses outside of their memory", list->total);
    return strict && list->total != 0
               ? cli_fail(r->cli, VYRE_CHECK_FAILED, NULL, "there are accesses outside")
               : CLI_PENDING;
}

/* JSON */

static void put_stats(vyre_json_writer *json, const vyre_dispatch_stats *stats) {
    for (uint32_t i = 0; i < CLI_COUNT(stats_fields); i++) {
        vyre_json_key(json, stats_fields[i].name);
        vyre_json_put_u64(json, read_of(stats, &stats_fields[i]));
    }
}

static void put_times(vyre_json_writer *json, const vyre_dispatch_times *times) {
    for (uint32_t i = 0; i < CLI_COUNT(time_fields); i++) {
        vyre_json_key(json, time_fields[i].name);
        vyre_json_put_u64(json, read_of(times, &time_fields[i]));
    }
}

static void put_numbers(vyre_json_writer *json, const run *r) {
    const char *origin = code_origin(r);
    vyre_json_key(json, "stats");
    vyre_json_begin_object(json);
    put_stats(json, &r->report.stats);
    vyre_json_end_object(json);
    vyre_json_key(json, "time_ns");
    vyre_json_begin_object(json);
    put_times(json, &r->report.times);
    vyre_json_key(json, "per_barrier");
    vyre_json_put_u64(json, per_barrier(r));
    vyre_json_key(json, "unknown"); /* a 0 that is no time */
    vyre_json_begin_array(json);
    for (uint32_t i = 0; i < CLI_COUNT(time_fields); i++) {
        if (!is_known(&r->report.times, &time_fields[i])) {
            vyre_json_put_string(json, time_fields[i].name);
        }
    }
    vyre_json_end_array(json);
    vyre_json_end_object(json);
    vyre_json_key(json, "code_from");
    if (origin) {
        vyre_json_put_string(json, origin);
    } else {
        vyre_json_put_null(json);
    }
}

static void put_outputs(vyre_json_writer *json, const run *r) {
    vyre_json_key(json, "outputs");
    vyre_json_begin_array(json);
    for (uint32_t i = 0; r->done && i < r->output_count; i++) {
        const vyre_decl_node *node = &r->view->decls[r->output_decls[i]];
        char digest[20];
        snprintf(digest, sizeof digest, "%016" PRIx64, run_output_digest(r, i));
        vyre_json_begin_object(json);
        vyre_json_key(json, "name");
        vyre_json_put_string(json, node->name);
        vyre_json_key(json, "type");
        vyre_json_put_string(json, vyre_type_name((vyre_type)node->type));
        vyre_json_key(json, "count");
        vyre_json_put_u64(json, run_output_count(r, i));
        vyre_json_key(json, "xxh3");
        vyre_json_put_string(json, digest);
        vyre_json_key(json, "file");
        if (r->files[i]) {
            vyre_json_put_string(json, r->files[i]);
        } else {
            vyre_json_put_null(json);
        }
        vyre_json_end_object(json);
    }
    vyre_json_end_array(json);
}

static void put_access(vyre_json_writer *json, const run *r, const char *key, vyre_stmt stmt,
                       uint64_t lane, bool writes) {
    vyre_place place = vyre_program_stmt_place(r->program, stmt);
    vyre_json_key(json, key);
    vyre_json_begin_object(json);
    vyre_json_key(json, "line");
    vyre_json_put_u64(json, place.line);
    vyre_json_key(json, "col");
    vyre_json_put_u64(json, place.col);
    vyre_json_key(json, "lane");
    vyre_json_put_u64(json, lane);
    vyre_json_key(json, "writes");
    vyre_json_put_bool(json, writes);
    vyre_json_end_object(json);
}

static void put_races(vyre_json_writer *json, const run *r) {
    vyre_json_key(json, "races");
    vyre_json_begin_array(json);
    for (uint32_t i = 0; r->done && i < r->report.races_stored; i++) {
        const vyre_race *race = &r->races[i];
        vyre_json_begin_object(json);
        vyre_json_key(json, "buffer");
        vyre_json_put_string(json, r->view->decls[race->decl].name);
        vyre_json_key(json, "element");
        vyre_json_put_u64(json, race->element);
        vyre_json_key(json, "harmless");
        vyre_json_put_bool(json, race->harmless);
        put_access(json, r, "first", race->first, race->first_lane, race->first_writes);
        put_access(json, r, "second", race->second, race->second_lane, race->second_writes);
        vyre_json_end_object(json);
    }
    vyre_json_end_array(json);
}

static void put_outside(vyre_json_writer *json, const run *r) {
    vyre_json_key(json, "bounds");
    vyre_json_begin_array(json);
    for (uint32_t i = 0; r->done && i < r->bounds.count; i++) {
        const vyre_outside *o = &r->bounds.items[i];
        vyre_json_begin_object(json);
        vyre_json_key(json, "buffer");
        vyre_json_put_string(json, r->view->decls[o->decl].name);
        vyre_json_key(json, "line");
        vyre_json_put_u64(json, vyre_program_stmt_place(r->program, o->stmt).line);
        vyre_json_key(json, "count");
        vyre_json_put_u64(json, o->count);
        vyre_json_key(json, "dimension");
        vyre_json_put_u64(json, o->dimension);
        vyre_json_key(json, "index");
        vyre_json_put_u64(json, o->index);
        vyre_json_key(json, "length");
        vyre_json_put_u64(json, o->length);
        put_access(json, r, "first", o->stmt, o->lane, o->writes);
        vyre_json_end_object(json);
    }
    vyre_json_end_array(json);
}

void run_write_json(const run *r, vyre_text *text) {
    vyre_json_writer writer, *json = &writer;
    vyre_json_writer_init(json, text);
    vyre_json_begin_object(json);
    vyre_json_key(json, "schema");
    vyre_json_put_u64(json, 1);
    cli_write_status(r->cli, json);
    vyre_json_key(json, "backend");
    if (r->device) {
        vyre_json_put_string(json, vyre_device_describe(r->device)->backend);
    } else {
        vyre_json_put_null(json);
    }
    vyre_json_key(json, "split");
    vyre_json_put_bool(json, r->report.was_split);
    vyre_json_key(json, "grid");
    vyre_json_begin_array(json);
    for (uint32_t i = 0; i < 3; i++) {
        vyre_json_put_u64(json, r->report.grid[i]);
    }
    vyre_json_end_array(json);
    vyre_json_key(json, "passes");
    vyre_json_put_u64(json, r->report.passes);
    vyre_json_key(json, "converged");
    vyre_json_put_bool(json, r->report.converged);
    put_outputs(json, r);
    put_numbers(json, r);
    put_races(json, r);
    put_outside(json, r);
    cli_write_diagnostics(r->cli, json);
    vyre_json_end_object(json);
    vyre_text_puts(text, "\n");
}
