/* Texts of one build stand in one file one after the other, the names of each with a number before
 * them: starting a compiler and a linker takes as long as they take for a small program. Files live
 * in a folder that is gone when the object is loaded. */
#include "diff/emitted_texts.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More texts than these are not kept, of those without users. */
enum { MOST_KEPT = 2048 };

static void forget(emitted_text *text) {
    if (text->object) {
        (void)dlclose(text->object);
    }
    free(text->text);
    free(text);
}

/* The older half, but what is in use or not built yet. */
static void trim(emitted_texts *all) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        emitted_text *text = all->items[i];
        if (i < all->count / 2 && text->users == 0 && text->is_built) {
            forget(text);
        } else {
            all->items[kept++] = text;
        }
    }
    all->count = kept;
}

static bool grow(emitted_texts *all) {
    const uint32_t capacity = all->capacity ? 2 * all->capacity : 64;
    emitted_text **items = realloc((void *)all->items, capacity * sizeof *items);
    if (items) {
        all->items = items;
        all->capacity = capacity;
    }
    return items != NULL;
}

emitted_text *emitted_texts_add(emitted_texts *all, char *text, size_t length, const char *name,
                                uint64_t group) {
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->items[i]->length == length && memcmp(all->items[i]->text, text, length) == 0) {
            free(text);
            all->items[i]->group = group;
            return all->items[i];
        }
    }
    if (all->count >= MOST_KEPT) {
        trim(all);
    }
    emitted_text *made = all->count < all->capacity || grow(all) ? calloc(1, sizeof *made) : NULL;
    if (!made) {
        free(text);
        return NULL;
    }
    made->text = text;
    made->length = length;
    made->group = group;
    (void)snprintf(made->name, sizeof made->name, "%s_", name);
    return all->items[all->count++] = made;
}

void emitted_texts_finish(emitted_texts *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        forget(all->items[i]);
    }
    free((void *)all->items);
    *all = (emitted_texts){0};
}

/* The length of what begins at `at` and is to be left as it is: a string, a comment or one
 * character. */
static size_t skip(const char *at, const char *end) {
    const char *from = at;
    if (*at == '"' || *at == '\'') {
        for (at++; at < end && *at != *from; at++) {
            at += *at == '\\';
        }
        return (size_t)(at - from) + 1;
    }
    if (end - at > 1 && at[0] == '/' && at[1] == '*') {
        const char *close = strstr(at + 2, "*/");
        return close ? (size_t)(close - at) + 2 : 1;
    }
    return 1;
}

static bool begins(const char *at, size_t length, const char *with) {
    return length >= strlen(with) && memcmp(at, with, strlen(with)) == 0;
}

/* The text with its names numbered. */
static void write_text(FILE *file, const emitted_text *text, uint32_t number) {
    const char *at = text->text, *end = at + text->length;
    while (at < end) {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_') {
            length++;
        }
        if (begins(at, length, "vy_") || begins(at, length, text->name) ||
            begins(at, length, "emitted_")) {
            fprintf(file, "n%u_", number);
        }
        length = length ? length : skip(at, end);
        (void)fwrite(at, 1, length, file);
        at += length;
    }
}

void emitted_remove(const char *folder) {
    static const char *const names[] = {"text.c", "text.so", "messages"};
    char path[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

static bool write_file(emitted_text *const *texts, uint32_t count, const char *folder) {
    char path[64];
    (void)snprintf(path, sizeof path, "%s/text.c", folder);
    FILE *file = fopen(path, "w");
    if (!file) {
        return false;
    }
    fputs("typedef struct told { unsigned long lane; unsigned address, line; const char *tag; } "
          "told;\n",
          file);
    for (uint32_t i = 0; i < count; i++) {
        write_text(file, texts[i], i);
    }
    return fclose(file) == 0;
}

/* Each text holds the object on its own. */
static bool load(emitted_text *const *texts, uint32_t count, const char *path) {
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "n%u_emitted_pass", i);
        texts[i]->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        void *pass = texts[i]->object ? dlsym(texts[i]->object, name) : NULL;
        memcpy(&texts[i]->pass, &pass, sizeof pass);
        if (!pass) {
            return false;
        }
    }
    return true;
}

static void build(emitted_texts *all, emitted_text *const *texts, uint32_t count,
                  const char *options) {
    char folder[] = "/tmp/vyre_emitted_XXXXXX", object[64], command[512];
    if (!mkdtemp(folder) || !write_file(texts, count, folder)) {
        return;
    }
    (void)snprintf(object, sizeof object, "%s/text.so", folder);
    (void)snprintf(command, sizeof command, "%s -o %s %s/text.c -lm >%s/messages 2>&1", options,
                   object, folder, folder);
    all->builds++;
    /* NOLINTNEXTLINE(cert-env33-c): the words are ours */
    const bool ok = system(command) == 0 && load(texts, count, object);
    if (ok || count > 1) {
        emitted_remove(folder);
    } else { /* what a compiler refused stays there to be looked at */
        memcpy(texts[0]->folder, folder, sizeof folder);
    }
    if (!ok && count > 1) {
        build(all, texts, count / 2, options);
        build(all, texts + count / 2, count - count / 2, options);
    }
}

void emitted_texts_want(emitted_texts *all, const emitted_text *text) {
    for (uint32_t i = 0; i < all->count; i++) {
        all->items[i]->is_wanted |= all->items[i]->group == text->group;
    }
}

void emitted_texts_build(emitted_texts *all, const char *options) {
    emitted_text **waiting = calloc(all->count + 1, sizeof *waiting);
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count && waiting; i++) {
        if (!all->items[i]->is_built && all->items[i]->is_wanted) {
            waiting[count++] = all->items[i];
        }
    }
    if (count > 0) {
        build(all, waiting, count, options);
    }
    for (uint32_t i = 0; i < count; i++) {
        waiting[i]->is_built = true;
    }
    free((void *)waiting);
}
