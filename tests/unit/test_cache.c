/* The cache on disk: what was put comes back under exactly its key; whatever is done to the files,
 * an entry is whole or not there; the total stays bounded; processes and threads at once do no
 * harm. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "harness/test.h"
#include "kit/cache.h"

/* Each test works in a new folder and has its cache in "c". */
static vyre_cache *open_cache(uint64_t most_bytes) {
    vyre_cache *cache = NULL;
    vyre_diag diag = {0};
    vyre_cache_options options = {.most_bytes = most_bytes};
    REQUIRE_OK(vyre_cache_open("c", &options, NULL, &cache, &diag), &diag);
    return cache;
}

static vyre_cache *fresh_cache(uint64_t most_bytes) {
    char folder[] = "cache.XXXXXX";
    REQUIRE(mkdtemp(folder) != NULL && chdir(folder) == 0);
    return open_cache(most_bytes);
}

static void put(vyre_cache *cache, const char *key, const char *text) {
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_cache_put(cache, key, strlen(key), text, strlen(text), &diag), &diag);
}

static bool has(vyre_cache *cache, const char *key, const char *text) {
    vyre_cached got;
    if (!vyre_cache_get(cache, key, strlen(key), &got)) {
        return false;
    }
    bool same = got.size == strlen(text) && memcmp(got.bytes, text, got.size) == 0;
    vyre_cache_release(cache, &got);
    if (!same) {
        test_fail(__FILE__, __LINE__, "the entry of \"%s\" is not \"%s\"", key, text);
    }
    return same;
}

static void path_of(const char *key, char out[64]) {
    snprintf(out, 64, "c/%016" PRIx64 ".vyre", vyre_hash_bytes(key, strlen(key)));
}

TEST(what_was_put_comes_back_also_after_reopening) {
    vyre_cache *cache = fresh_cache(0);
    CHECK(!has(cache, "a", ""));
    put(cache, "a", "first");
    put(cache, "b", "");
    put(cache, "", "empty key");
    CHECK(has(cache, "a", "first"));
    CHECK(has(cache, "b", ""));
    CHECK(has(cache, "", "empty key"));
    put(cache, "a", "second");
    CHECK(has(cache, "a", "second"));
    vyre_cache_stats stats = vyre_cache_snapshot(cache);
    CHECK_EQ(stats.hits, 4);
    CHECK_EQ(stats.misses, 1);
    CHECK_EQ(stats.unfit, 0);
    CHECK_EQ(stats.stored, 4);
    CHECK_EQ(stats.entries, 3);
    CHECK(stats.bytes > 15 && stats.bytes < 500);
    CHECK_EQ(stats.most_bytes, UINT64_C(256) << 20);
    vyre_cache_close(cache);
    cache = open_cache(0);
    CHECK(has(cache, "a", "second"));
    vyre_cache_close(cache);
    vyre_cache_close(NULL);
}

TEST(files_and_folders_are_for_the_owner_only) {
    umask(0);
    char folder[] = "cache.XXXXXX";
    REQUIRE(mkdtemp(folder) != NULL && chdir(folder) == 0);
    vyre_cache *cache = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_cache_open("x/y/c", NULL, NULL, &cache, &diag), &diag);
    put(cache, "key", "text");
    vyre_cache_close(cache);
    struct stat s;
    char path[80];
    snprintf(path, sizeof path, "x/y/c/%016" PRIx64 ".vyre", vyre_hash_bytes("key", 3));
    REQUIRE(stat(path, &s) == 0);
    CHECK_EQ(s.st_mode & 07777, 0600);
    for (const char *const *p = (const char *const[]){"x", "x/y", "x/y/c", NULL}; *p; p++) {
        REQUIRE(stat(*p, &s) == 0);
        CHECK_EQ(s.st_mode & 07777, 0700);
    }
}

static void check_refused(const char *folder, const char *part) {
    vyre_cache *cache = NULL;
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_cache_open(folder, NULL, NULL, &cache, &diag), VYRE_IO, &diag);
    CHECK_HAS(diag.message, part);
    CHECK(cache == NULL);
}

TEST(folders_that_are_not_ours_alone_are_refused) {
    vyre_cache_close(fresh_cache(0));
    REQUIRE(symlink("c", "link") == 0);
    check_refused("link", "link");
    FILE *file = fopen("file", "w");
    REQUIRE(file != NULL);
    fclose(file);
    check_refused("file", "file");
    check_refused("file/below", "can't be used");
    REQUIRE(chmod("c", 0750) == 0);
    check_refused("c", "others may");
    REQUIRE(chmod("c", 0702) == 0);
    check_refused("c", "others may");
    REQUIRE(chmod("c", 0700) == 0);
    vyre_cache_close(open_cache(0));
    if (geteuid() == 0) {
        REQUIRE(chown("c", 12345, (gid_t)-1) == 0);
        check_refused("c", "somebody else");
    }
    static char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    check_refused(longest, "too long");
    vyre_cache *cache = NULL;
    vyre_cache_options options = {.must_exist = true};
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_cache_open("nowhere", &options, NULL, &cache, &diag), VYRE_NOT_FOUND, &diag);
    CHECK(access("nowhere", F_OK) != 0);
}

static size_t read_file(const char *path, unsigned char *out, size_t room) {
    FILE *file = fopen(path, "rb");
    REQUIRE(file != NULL);
    size_t size = fread(out, 1, room, file);
    fclose(file);
    return size;
}

static void write_file(const char *path, const unsigned char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    REQUIRE(fwrite(bytes, 1, size, file) == size);
    fclose(file);
    chmod(path, 0600);
}

/* The entry is a miss, and the file is gone. */
static void check_unfit(vyre_cache *cache, const char *path) {
    uint64_t before = vyre_cache_snapshot(cache).unfit;
    CHECK(!has(cache, "key", "the contents"));
    CHECK_EQ(vyre_cache_snapshot(cache).unfit, before + 1);
    struct stat s;
    CHECK(lstat(path, &s) != 0);
}

TEST(any_changed_byte_and_any_length_is_a_miss) {
    vyre_cache *cache = fresh_cache(0);
    unsigned char good[256], bad[257];
    char path[64];
    path_of("key", path);
    put(cache, "key", "the contents");
    size_t size = read_file(path, good, sizeof good);
    CHECK_EQ(size, 40 + 3 + 12);
    for (size_t i = 0; i < size; i++) {
        for (int bit = 0; bit < 8; bit += 7) {
            memcpy(bad, good, size);
            bad[i] ^= (unsigned char)(1 << bit);
            write_file(path, bad, size);
            check_unfit(cache, path);
        }
    }
    memcpy(bad, good, size);
    bad[size] = 0;
    for (size_t length = 0; length <= size + 1; length++) {
        write_file(path, bad, length);
        if (length != size) {
            check_unfit(cache, path);
        } else {
            CHECK(has(cache, "key", "the contents"));
        }
    }
    vyre_cache_close(cache);
}

/* The header with another field, and the sum made right again, as another version would write it.
 */
TEST(another_format_is_a_miss_even_with_the_right_sum) {
    vyre_cache *cache = fresh_cache(0);
    unsigned char entry[256];
    char path[64];
    path_of("key", path);
    put(cache, "key", "the contents");
    size_t size = read_file(path, entry, sizeof entry);
    entry[8]++;
    uint64_t sum = vyre_hash_bytes(entry, 32);
    sum = vyre_hash_more(sum, entry + 40, 3);
    sum = vyre_hash_more(sum, entry + 43, 12);
    memcpy(entry + 32, &sum, 8);
    write_file(path, entry, size);
    check_unfit(cache, path);
    vyre_cache_close(cache);
}

TEST(the_whole_key_is_compared) {
    vyre_cache *cache = fresh_cache(0);
    char mine[64], other[64];
    path_of("key", mine);
    path_of("other", other);
    put(cache, "other", "of another");
    REQUIRE(rename(other, mine) == 0); /* as if both had the same hash */
    CHECK(!has(cache, "key", "of another"));
    CHECK_EQ(vyre_cache_snapshot(cache).unfit, 0);
    CHECK_EQ(vyre_cache_snapshot(cache).entries, 1);
    put(cache, "key", "mine");
    CHECK(has(cache, "key", "mine"));
    vyre_cache_close(cache);
}

TEST(links_pipes_folders_and_foreign_files_are_misses) {
    vyre_cache *cache = fresh_cache(0);
    char path[64];
    path_of("key", path);
    put(cache, "key", "the contents");
    REQUIRE(rename(path, "elsewhere") == 0);
    REQUIRE(symlink("../elsewhere", path) == 0);
    check_unfit(cache, path);
    CHECK(access("elsewhere", F_OK) == 0);
    REQUIRE(mkfifo(path, 0600) == 0);
    check_unfit(cache, path);
    unsigned char entry[256];
    size_t size = read_file("elsewhere", entry, sizeof entry);
    write_file(path, entry, size);
    REQUIRE(chmod(path, 0620) == 0);
    check_unfit(cache, path);
    if (geteuid() == 0) {
        write_file(path, entry, size);
        REQUIRE(chown(path, 12345, (gid_t)-1) == 0);
        check_unfit(cache, path);
    }
    write_file(path, entry, size);
    CHECK(has(cache, "key", "the contents"));
    unlink(path);
    REQUIRE(mkdir(path, 0700) == 0); /* stays, and nothing can be put there */
    CHECK(!has(cache, "key", ""));
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_cache_put(cache, "key", 3, "x", 1, &diag), VYRE_IO, &diag);
    CHECK(diag.native != 0);
    vyre_cache_close(cache);
}

/* Sets the time of the last use. */
static void set_age(const char *key, int seconds) {
    char path[64];
    path_of(key, path);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= seconds;
    struct timespec times[2] = {now, now};
    REQUIRE(utimensat(AT_FDCWD, path, times, 0) == 0);
}

TEST(the_oldest_go_when_there_is_too_much) {
    vyre_cache *cache = fresh_cache(10000);
    static char text[1001];
    memset(text, 'x', 1000);
    char key[8];
    for (int i = 0; i < 9; i++) {
        snprintf(key, sizeof key, "%d", i);
        put(cache, key, text);
        set_age(key, 1000 - i);
    }
    CHECK_EQ(vyre_cache_snapshot(cache).entries, 9);
    CHECK(has(cache, "0", text)); /* the oldest becomes the newest */
    put(cache, "9", text);
    vyre_cache_stats stats = vyre_cache_snapshot(cache);
    CHECK(stats.bytes <= 10000 - 10000 / 8);
    CHECK(stats.entries >= 7);
    CHECK(has(cache, "0", text));
    CHECK(has(cache, "8", text));
    CHECK(has(cache, "9", text));
    CHECK(!has(cache, "1", text));
    for (int i = 0; i < 200; i++) {
        snprintf(key, sizeof key, "n%d", i);
        put(cache, key, text);
        CHECK(vyre_cache_snapshot(cache).bytes <= 10000);
    }
    vyre_diag diag = {0};
    static char large[5000];
    CHECK_STATUS(vyre_cache_put(cache, "large", 5, large, sizeof large, &diag), VYRE_LIMIT, &diag);
    vyre_cache_close(cache);
}

TEST(what_others_put_counts_too) {
    vyre_cache *mine = fresh_cache(10000);
    vyre_cache *theirs = open_cache(UINT64_C(1) << 30);
    static char text[501];
    memset(text, 'x', 500);
    char key[8];
    put(mine, "0", text);
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "t%d", i);
        put(theirs, key, text);
    }
    for (int i = 0; i < 40; i++) { /* now and then it looks */
        put(mine, "0", "x");
    }
    CHECK(vyre_cache_snapshot(mine).bytes <= 10000);
    vyre_cache_close(mine);
    vyre_cache_close(theirs);
}

TEST(clear_removes_entries_and_nothing_else) {
    vyre_cache *cache = fresh_cache(0);
    put(cache, "a", "1");
    put(cache, "b", "22");
    const char *others[] = {"c/notes.txt", "c/0123456789abcdef", "c/0123456789abcdef.vyre.bak",
                            "c/0123456789ABCDEF.vyre"};
    for (int i = 0; i < 4; i++) {
        write_file(others[i], (const unsigned char *)"x", 1);
    }
    write_file("c/.tmp-1-2-3", (const unsigned char *)"x", 1);
    write_file("c/0000000000000000.vyre", (const unsigned char *)"", 0);
    CHECK_EQ(vyre_cache_snapshot(cache).entries, 3);
    CHECK(access("c/.tmp-1-2-3", F_OK) == 0); /* somebody may be writing it */
    uint64_t entries = 0, bytes = 0;
    vyre_cache_clear(cache, &entries, &bytes);
    CHECK_EQ(entries, 3);
    CHECK_EQ(bytes, 2 * 41 + 3);
    for (int i = 0; i < 4; i++) {
        CHECK(access(others[i], F_OK) == 0);
    }
    CHECK(access("c/.tmp-1-2-3", F_OK) != 0);
    CHECK_EQ(vyre_cache_snapshot(cache).entries, 0);
    CHECK(!has(cache, "a", "1"));
    put(cache, "a", "1");
    CHECK(has(cache, "a", "1"));
    vyre_cache_close(cache);
}

TEST(what_a_crash_left_goes_after_an_hour) {
    vyre_cache *cache = fresh_cache(0);
    write_file("c/.tmp-old", (const unsigned char *)"x", 1);
    write_file("c/.tmp-new", (const unsigned char *)"x", 1);
    struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    REQUIRE(utimensat(AT_FDCWD, "c/.tmp-old", times, 0) == 0);
    vyre_cache_snapshot(cache);
    CHECK(access("c/.tmp-old", F_OK) != 0);
    CHECK(access("c/.tmp-new", F_OK) == 0);
    vyre_cache_close(cache);
}

TEST(a_folder_that_went_away_is_an_error_of_put_only) {
    vyre_cache *cache = fresh_cache(0);
    REQUIRE(rmdir("c") == 0);
    CHECK(!has(cache, "a", ""));
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_cache_put(cache, "a", 1, "x", 1, &diag), VYRE_IO, &diag);
    vyre_cache_close(cache);
}

/* Puts and gets keys from a small set; an entry's text follows from its key and is long or short.
 */
static bool use_at_random(vyre_cache *cache, uint64_t seed, uint64_t rounds) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    bool right = true;
    for (uint64_t i = 0; i < rounds; i++) {
        char key[2] = {letters[test_random_below(&seed, 26)], 0}, text[300];
        size_t length = 1 + (size_t)(key[0] - 'a') * 11;
        memset(text, key[0], length);
        vyre_cached got;
        uint64_t what = test_random_below(&seed, 10);
        if (what < 4) {
            /* May fail where another one clears. */
            (void)vyre_cache_put(cache, key, 1, text, length, NULL);
        } else if (what == 4 && i % 50 == 0) {
            uint64_t entries, bytes;
            vyre_cache_clear(cache, &entries, &bytes);
        } else if (vyre_cache_get(cache, key, 1, &got)) {
            right = right && got.size == length && memcmp(got.bytes, text, length) == 0;
            vyre_cache_release(cache, &got);
        }
    }
    return right;
}

TEST(processes_use_one_folder_at_once) {
    vyre_cache *cache = fresh_cache(2000);
    pid_t children[4];
    uint64_t rounds = test_scaled(1000);
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        REQUIRE(children[i] >= 0);
        if (children[i] == 0) {
            vyre_cache *own = open_cache(2000);
            bool right = use_at_random(own, (uint64_t)i, rounds);
            right = right && vyre_cache_snapshot(own).unfit == 0;
            vyre_cache_close(own);
            _exit(right ? 0 : 1);
        }
    }
    for (int i = 0; i < 4; i++) {
        int status = 1;
        REQUIRE(waitpid(children[i], &status, 0) == children[i]);
        CHECK_EQ(status, 0);
    }
    vyre_cache_close(cache);
}

typedef struct cache_user {
    vyre_cache *cache;
    uint64_t seed;
    bool right;
} cache_user;

static void *use_in_thread(void *user) {
    cache_user *u = user;
    u->right = use_at_random(u->cache, u->seed, test_scaled(1000));
    return NULL;
}

TEST(threads_use_one_cache_at_once) {
    vyre_cache *cache = fresh_cache(2000);
    cache_user users[TEST_THREADS];
    for (uint32_t i = 0; i < TEST_THREADS; i++) {
        users[i] = (cache_user){.cache = cache, .seed = i + 1};
    }
    test_in_threads(use_in_thread, users, sizeof *users);
    for (uint32_t i = 0; i < TEST_THREADS; i++) {
        CHECK(users[i].right);
    }
    CHECK_EQ(vyre_cache_snapshot(cache).unfit, 0);
    vyre_cache_close(cache);
}

TEST(without_memory_nothing_is_lost) {
    vyre_cache_close(fresh_cache(0));
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_cache *cache = NULL;
    heap.fail_at = 1;
    CHECK_STATUS(vyre_cache_open("c", NULL, &a, &cache, NULL), VYRE_OUT_OF_MEMORY, NULL);
    heap.fail_at = 0;
    REQUIRE_OK(vyre_cache_open("c", NULL, &a, &cache, NULL), NULL);
    put(cache, "key", "text");
    heap.fail_at = heap.calls + 1;
    heap.fail_after = true;
    CHECK(!has(cache, "key", "text"));
    put(cache, "other", "text"); /* a put needs none */
    vyre_cache_stats stats = vyre_cache_snapshot(cache);
    CHECK_EQ(stats.unfit, 0);
    heap.fail_at = 0;
    CHECK(has(cache, "key", "text"));
    vyre_cache_close(cache);
    CHECK_EQ(heap.live_blocks, 0);
}
