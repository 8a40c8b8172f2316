/* Affinity mask and quota of control groups, version 1 and 2.
 *
 * /proc/self/cgroup tells the group of this process in each hierarchy ("4:cpu,cpuacct:/a/b",
 * version 2 "0::/a/b"), /proc/self/mountinfo where the hierarchies are mounted and from which group
 * on. Each group on the way up to the mount may have a quota, and the least of them holds. In a
 * container the path may be that of the host and lead nowhere; then the mount itself is what there
 * is to ask.
 *
 * Files are read into memory of fixed size; a line that is longer is passed over. Costs some twenty
 * calls of the system, so ask once for a device. The quota of an hour later is not noticed. */
#include "kit/cores.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 4096, PATH = 4096 };

typedef struct line_reader {
    int fd;
    size_t begin, end;
    char bytes[LINE];
} line_reader;

/* The next line without its end, in the reader's memory; NULL: there are no more. */
static char *next_line(line_reader *r) {
    for (bool skip = false;;) {
        char *newline = memchr(r->bytes + r->begin, '\n', r->end - r->begin);
        if (newline) {
            char *line = r->bytes + r->begin;
            *newline = '\0';
            r->begin = (size_t)(newline - r->bytes) + 1;
            if (!skip) {
                return line;
            }
            skip = false;
            continue;
        }
        memmove(r->bytes, r->bytes + r->begin, r->end - r->begin);
        r->end -= r->begin;
        r->begin = 0;
        if (r->end == sizeof r->bytes) {
            skip = true;
            r->end = 0;
        }
        ssize_t got = read(r->fd, r->bytes + r->end, sizeof r->bytes - r->end);
        if (got <= 0) {
            return NULL; /* these files end in a newline */
        }
        r->end += (size_t)got;
    }
}

static bool open_lines(line_reader *r, const char *root, const char *path) {
    char full[PATH];
    r->begin = r->end = 0;
    int length = snprintf(full, sizeof full, "%s%s", root, path);
    r->fd = length < (int)sizeof full ? open(full, O_RDONLY | O_CLOEXEC) : -1;
    return r->fd >= 0;
}

/* Whether the comma-separated list has the word. */
static bool list_has(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

typedef struct hierarchy {
    bool is_v2;
    bool has_group;
    bool has_mount;
    char group[PATH]; /* "/a/b" */
    char base[PATH];  /* the group that is mounted */
    char mount[PATH];
} hierarchy;

static void find_group(const char *root, hierarchy *h) {
    line_reader reader;
    if (!open_lines(&reader, root, "/proc/self/cgroup")) {
        return;
    }
    for (char *line; (line = next_line(&reader)) != NULL;) {
        char *list = strchr(line, ':');
        char *group = list ? strchr(list + 1, ':') : NULL;
        if (!group) {
            continue;
        }
        *group++ = '\0';
        list++;
        if (h->is_v2 ? *list == '\0' : list_has(list, "cpu")) {
            h->has_group = snprintf(h->group, sizeof h->group, "%s", group) < (int)sizeof h->group;
        }
    }
    close(reader.fd);
}

/* "36 35 98:0 /base /mount rw,noatime shared:1 - cgroup2 source rw,cpu" */
static void read_mount(char *line, hierarchy *h) {
    char *rest = strstr(line, " - ");
    if (!rest) {
        return;
    }
    *rest = '\0';
    char *fields[6] = {0}, *keep = NULL;
    uint32_t count = 0;
    for (char *f = strtok_r(line, " ", &keep); f && count < 6; f = strtok_r(NULL, " ", &keep)) {
        fields[count++] = f;
    }
    char *type = strtok_r(rest + 3, " ", &keep);
    strtok_r(NULL, " ", &keep);
    char *options = strtok_r(NULL, " ", &keep);
    if (count < 6 || !type ||
        (h->is_v2 ? strcmp(type, "cgroup2") != 0
                  : strcmp(type, "cgroup") != 0 || !options || !list_has(options, "cpu"))) {
        return;
    }
    snprintf(h->base, sizeof h->base, "%s", fields[3]);
    snprintf(h->mount, sizeof h->mount, "%s", fields[4]);
    h->has_mount = true;
}

static void find_mount(const char *root, hierarchy *h) {
    line_reader reader;
    if (!open_lines(&reader, root, "/proc/self/mountinfo")) {
        return;
    }
    for (char *line; !h->has_mount && (line = next_line(&reader)) != NULL;) {
        read_mount(line, h);
    }
    close(reader.fd);
}

/* The first line of a file in a folder, in the reader's memory; NULL: there is none. */
static char *first_line(line_reader *reader, const char *root, const char *folder,
                        const char *name) {
    char path[PATH];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
        !open_lines(reader, root, path)) {
        return NULL;
    }
    char *line = next_line(reader);
    close(reader->fd);
    return line;
}

/* Reads the first line of a file in a group as up to two numbers; "max" and failures are -1. */
static void read_numbers(const char *root, const char *group, const char *name, long long out[2]) {
    line_reader reader;
    out[0] = out[1] = -1;
    char *line = first_line(&reader, root, group, name);
    for (int i = 0; line && i < 2; i++) {
        char *end;
        long long number = strtoll(line, &end, 10);
        out[i] = end != line ? number : -1;
        line = strchr(line, ' ');
    }
}

/* Cores' worth of time that the group has, rounded up; 0: no limit. */
static uint32_t quota_of(const char *root, const char *group, bool is_v2) {
    long long both[2], period[2];
    if (is_v2) {
        read_numbers(root, group, "cpu.max", both);
    } else {
        read_numbers(root, group, "cpu.cfs_quota_us", both);
        read_numbers(root, group, "cpu.cfs_period_us", period);
        both[1] = period[0];
    }
    if (both[0] <= 0 || both[1] <= 0) {
        return 0;
    }
    long long cores = (both[0] - 1) / both[1] + 1;
    return cores < UINT32_MAX ? (uint32_t)cores : UINT32_MAX;
}

static uint32_t smaller_limit(uint32_t a, uint32_t b) {
    return !a || (b && b < a) ? b : a;
}

static uint32_t hierarchy_quota(const char *root, hierarchy *h) {
    find_group(root, h);
    find_mount(root, h);
    if (!h->has_mount) {
        return 0;
    }
    const char *below = h->has_group ? h->group : "";
    size_t base = strcmp(h->base, "/") == 0 ? 0 : strlen(h->base);
    below = strncmp(below, h->base, base) == 0 ? below + base : "";
    char path[2 * PATH];
    size_t mount = strlen(h->mount);
    snprintf(path, sizeof path, "%s%s", h->mount, below);
    uint32_t least = 0;
    for (;;) {
        least = smaller_limit(least, quota_of(root, path, h->is_v2));
        char *slash = strrchr(path + mount, '/');
        if (!slash) {
            return least;
        }
        *slash = '\0';
    }
}

static uint32_t allowed_cores(void) {
    unsigned long mask[1024] = {0}; /* 65,536 cores */
    if (sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) != 0) {
        return 1;
    }
    uint32_t count = (uint32_t)CPU_COUNT_S(sizeof mask, (cpu_set_t *)mask);
    return count ? count : 1;
}

vyre_cores vyre_cores_now(const char *root) {
    vyre_cores cores = {.allowed = allowed_cores()};
    for (int version = 1; version <= 2; version++) {
        hierarchy h = {.is_v2 = version == 2};
        cores.quota = smaller_limit(cores.quota, hierarchy_quota(root ? root : "", &h));
    }
    cores.available = smaller_limit(cores.allowed, cores.quota);
    return cores;
}

/* "512K", "32M". */
static uint64_t read_size(const char *text) {
    char *unit;
    unsigned long long size = strtoull(text, &unit, 10);
    unsigned shift = *unit == 'K' ? 10 : *unit == 'M' ? 20 : *unit == 'G' ? 30 : 0;
    return size <= UINT64_MAX >> shift ? (uint64_t)size << shift : 0;
}

void vyre_cores_caches(const char *root, uint64_t out_bytes[3]) {
    enum { MOST_CACHES = 10 };
    int core = sched_getcpu();
    root = root ? root : "";
    memset(out_bytes, 0, 3 * sizeof *out_bytes);
    for (int i = 0; i < MOST_CACHES; i++) {
        char folder[80];
        long long level[2];
        line_reader reader;
        snprintf(folder, sizeof folder, "/sys/devices/system/cpu/cpu%d/cache/index%d",
                 core < 0 ? 0 : core, i);
        read_numbers(root, folder, "level", level);
        const char *type = first_line(&reader, root, folder, "type");
        if (level[0] < 1 || level[0] > 3 || !type || strcmp(type, "Instruction") == 0) {
            continue;
        }
        const char *size = first_line(&reader, root, folder, "size");
        out_bytes[level[0] - 1] = size ? read_size(size) : 0;
    }
}
