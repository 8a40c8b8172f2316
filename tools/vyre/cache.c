/* vyre cache: what is in the cache of compiled programs, and how to empty it. Where it is comes
 * from the environment: only the command looks there, the library is told. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"
#include "kit/cache.h"

typedef struct cache_options {
    bool clear;
    bool json;
} cache_options;

static const cli_option options[] = {
    {"clear", CLI_FLAG, 0, false, offsetof(cache_options, clear), NULL, "remove all entries"},
    {"json", CLI_FLAG, 0, false, offsetof(cache_options, json), NULL, "print one JSON object"},
};

bool cli_cache_folder(char *out, size_t size) {
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int length = -1;
    if (cache && cache[0] == '/') { /* other values are to be ignored, says the specification */
        length = snprintf(out, size, "%s/vyre", cache);
    } else if (home && home[0] == '/') {
        length = snprintf(out, size, "%s/.cache/vyre", home);
    }
    return length > 0 && (size_t)length < size;
}

void cli_device_options(const cli_context *cli, cli_device *out) {
    const vyre_cache_options looks = {.must_exist = true};
    vyre_cache *cache = NULL;
    vyre_diag why = {0};
    out->options = (vyre_device_options){0};
    if (!cli_cache_folder(out->folder, sizeof out->folder)) {
        return;
    }
    if (vyre_cache_open(out->folder, &looks, NULL, &cache, &why) == VYRE_IO) {
        cli_say(cli, "compiled programs are not kept: %s", why.message);
        return;
    }
    vyre_cache_close(cache);
    out->options.code_folder = out->folder;
}

typedef struct found {
    char folder[4096];
    bool exists;
    vyre_cache_stats stats; /* after clearing */
    uint64_t removed, removed_bytes;
} found;

static void write_json(vyre_text *text, const cache_options *o, const found *f) {
    vyre_json_writer json;
    vyre_json_writer_init(&json, text);
    vyre_json_begin_object(&json);
    vyre_json_key(&json, "schema");
    vyre_json_put_u64(&json, 1);
    vyre_json_key(&json, "folder");
    vyre_json_put_string(&json, f->folder);
    vyre_json_key(&json, "present");
    vyre_json_put_bool(&json, f->exists);
    vyre_json_key(&json, "entries");
    vyre_json_put_u64(&json, f->stats.entries);
    vyre_json_key(&json, "bytes");
    vyre_json_put_u64(&json, f->stats.bytes);
    vyre_json_key(&json, "most_bytes");
    vyre_json_put_u64(&json, f->stats.most_bytes);
    if (o->clear) {
        vyre_json_key(&json, "removed");
        vyre_json_put_u64(&json, f->removed);
        vyre_json_key(&json, "removed_bytes");
        vyre_json_put_u64(&json, f->removed_bytes);
    }
    vyre_json_end_object(&json);
    vyre_text_puts(text, "\n");
}

static void write_people(vyre_text *text, const cache_options *o, const found *f) {
    vyre_text_printf(text, "%s\n", f->folder);
    if (!f->exists) {
        vyre_text_puts(text, "not there yet\n");
        return;
    }
    if (o->clear) {
        vyre_text_printf(text, "removed: %" PRIu64 " entries, %" PRIu64 " bytes\n", f->removed,
                         f->removed_bytes);
    }
    vyre_text_printf(text, "entries: %" PRIu64 "\nbytes:   %" PRIu64 " of at most %" PRIu64 "\n",
                     f->stats.entries, f->stats.bytes, f->stats.most_bytes);
}

static cli_exit run(cli_context *cli, const void *given, const cli_list *arguments) {
    const cache_options *o = given;
    (void)arguments;
    found f = {0};
    if (!cli_cache_folder(f.folder, sizeof f.folder)) {
        return cli_fail(cli, VYRE_IO, "set XDG_CACHE_HOME or HOME to a full path",
                        "there is no place for the cache of compiled programs");
    }
    vyre_cache *cache = NULL;
    vyre_diag diag = {0};
    vyre_cache_options how = {.must_exist = true};
    vyre_status status = vyre_cache_open(f.folder, &how, NULL, &cache, &diag);
    if (status != VYRE_OK && status != VYRE_NOT_FOUND) {
        return cli_report(cli, &diag);
    }
    f.exists = status == VYRE_OK;
    if (f.exists && o->clear) {
        vyre_cache_clear(cache, &f.removed, &f.removed_bytes);
    }
    if (f.exists) {
        f.stats = vyre_cache_snapshot(cache);
    }
    vyre_cache_close(cache);
    vyre_text text;
    vyre_text_init(&text, NULL);
    (o->json ? write_json : write_people)(&text, o, &f);
    return cli_output(cli, &text);
}

const cli_command cli_cache_command = {
    .name = "cache",
    .arguments = "",
    .summary = "show or clear the cache of compiled programs",
    .details = "Backends that compile keep their code in the folder vyre of XDG_CACHE_HOME, or of "
               ".cache in the home folder. It must be yours alone (0700). Old entries go by "
               "themselves when there is too much, and damaged ones when they are found; nothing "
               "is lost by clearing it but the time to compile again.",
    .options = options,
    .option_count = CLI_COUNT(options),
    .options_size = sizeof(cache_options),
    .run = run,
};
