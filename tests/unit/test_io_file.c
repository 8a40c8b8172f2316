/* Whole-file reading and staged writing: what appears, what does not, what is left behind. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/test.h"
#include "io/file.h"

/* A fresh directory, made the working directory. */
static void enter_directory(void) {
    char name[] = "/tmp/vyre-test-XXXXXX";
    REQUIRE(mkdtemp(name) != NULL);
    REQUIRE(chdir(name) == 0);
}

static void leave_directory(void) {
    char name[4096];
    REQUIRE(getcwd(name, sizeof name) != NULL);
    DIR *dir = opendir(".");
    struct dirent *entry;
    REQUIRE(dir != NULL);
    while ((entry = readdir(dir))) {
        unlink(entry->d_name);
    }
    closedir(dir);
    REQUIRE(chdir("/") == 0);
    rmdir(name);
}

static int count_files(void) {
    DIR *dir = opendir(".");
    REQUIRE(dir != NULL);
    int count = 0;
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(dir);
    return count;
}

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    fputs(text, file);
    fclose(file);
}

static void check_contents(const char *path, const char *want) {
    vyre_bytes bytes = {0};
    vyre_diag diag;
    REQUIRE_OK(vyre_file_read(path, 0, NULL, &bytes, &diag), &diag);
    CHECK_STR((const char *)bytes.data, want);
    CHECK_EQ(bytes.size, strlen(want));
    vyre_bytes_finish(&bytes);
}

TEST(read_gives_all_bytes_and_a_nul) {
    enter_directory();
    put("a", "hello");
    check_contents("a", "hello");
    put("empty", "");
    check_contents("empty", "");
    check_contents("/proc/self/comm", "test_io_file\n"); /* its size is told as 0 */
    leave_directory();
}

TEST(read_refuses_what_is_not_a_small_enough_file) {
    enter_directory();
    vyre_bytes bytes = {0};
    vyre_diag diag;
    CHECK_STATUS(vyre_file_read("none", 0, NULL, &bytes, &diag), VYRE_IO, &diag);
    CHECK_STR(diag.file, "none");
    CHECK_HAS(diag.message, "No such file");
    CHECK_HAS(diag.fix, "spelling");
    CHECK_EQ(diag.native, 2);
    CHECK_STATUS(vyre_file_read(".", 0, NULL, &bytes, &diag), VYRE_IO, &diag);
    CHECK_HAS(diag.message, "directory");
    CHECK_STATUS(vyre_file_read("/dev/zero", 0, NULL, &bytes, &diag), VYRE_IO, &diag);
    REQUIRE(mkfifo("fifo", 0600) == 0);
    CHECK_STATUS(vyre_file_read("fifo", 0, NULL, &bytes, &diag), VYRE_IO, &diag);
    CHECK_HAS(diag.fix, "\"-\"");
    put("a", "hello");
    CHECK_STATUS(vyre_file_read("a", 4, NULL, &bytes, &diag), VYRE_LIMIT, &diag);
    REQUIRE_OK(vyre_file_read("a", 5, NULL, &bytes, &diag), &diag);
    vyre_bytes_finish(&bytes);
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    REQUIRE(truncate("a", INT64_C(1) << 40) == 0); /* sparse: promises much */
    CHECK_STATUS(vyre_file_read("a", 0, &a, &bytes, &diag), VYRE_LIMIT, &diag);
    CHECK_EQ(heap.peak_bytes, 0);
    leave_directory();
}

/* Makes `size` bytes of 'x' the standard input, through a pipe fed by a child. */
static void feed_stdin(size_t size) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    if (fork() == 0) {
        close(ends[0]);
        char some[1000];
        memset(some, 'x', sizeof some);
        while (size > 0) {
            ssize_t put_now = write(ends[1], some, size < sizeof some ? size : sizeof some);
            if (put_now <= 0) {
                _exit(0);
            }
            size -= (size_t)put_now;
        }
        _exit(0);
    }
    close(ends[1]);
    dup2(ends[0], 0);
    close(ends[0]);
}

TEST(read_takes_standard_input_up_to_the_limit) {
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_bytes bytes = {0};
    vyre_diag diag;
    feed_stdin(300000);
    REQUIRE_OK(vyre_file_read("-", 0, &a, &bytes, &diag), &diag);
    CHECK_EQ(bytes.size, 300000);
    CHECK_EQ(bytes.data[299999], 'x');
    CHECK_EQ(bytes.data[300000], 0);
    vyre_bytes_finish(&bytes);
    feed_stdin(300000);
    REQUIRE_OK(vyre_file_read("-", 300000, &a, &bytes, &diag), &diag);
    vyre_bytes_finish(&bytes);
    feed_stdin(10000000);
    heap.peak_bytes = 0;
    CHECK_STATUS(vyre_file_read("-", 200000, &a, &bytes, &diag), VYRE_LIMIT, &diag);
    CHECK_STR(diag.file, "<stdin>");
    CHECK(heap.peak_bytes <= 400000);
    CHECK_EQ(heap.live_blocks, 0);
}

TEST(stage_writes_all_or_nothing) {
    enter_directory();
    vyre_stage stage;
    vyre_diag diag;
    put("b", "old");
    chmod("b", 0640);
    vyre_stage_init(&stage, NULL);
    REQUIRE_OK(vyre_stage_open(&stage, "a", &diag), &diag);
    REQUIRE_OK(vyre_stage_write(&stage, "one", 3, &diag), &diag);
    REQUIRE_OK(vyre_stage_write(&stage, " two", 4, &diag), &diag);
    REQUIRE_OK(vyre_stage_open(&stage, "./b", &diag), &diag);
    REQUIRE_OK(vyre_stage_write(&stage, "new", 3, &diag), &diag);
    CHECK(access("a", F_OK) != 0);
    check_contents("b", "old");
    CHECK_EQ(count_files(), 3);
    REQUIRE_OK(vyre_stage_commit(&stage, &diag), &diag);
    vyre_stage_finish(&stage);
    check_contents("a", "one two");
    check_contents("b", "new");
    struct stat info;
    REQUIRE(stat("b", &info) == 0);
    CHECK_EQ(info.st_mode & 0777, 0640);
    CHECK_EQ(count_files(), 2);

    vyre_stage_init(&stage, NULL);
    REQUIRE_OK(vyre_stage_open(&stage, "a", &diag), &diag);
    REQUIRE_OK(vyre_stage_write(&stage, "three", 5, &diag), &diag);
    CHECK_STATUS(vyre_stage_open(&stage, "no/such/dir", &diag), VYRE_IO, &diag);
    CHECK_STATUS(vyre_stage_open(&stage, ".", &diag), VYRE_IO, &diag);
    CHECK_STATUS(vyre_stage_open(&stage, "./a", &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_HAS(diag.message, "same file");
    vyre_stage_finish(&stage);
    check_contents("a", "one two");
    CHECK_EQ(count_files(), 2);
    leave_directory();
}

TEST(stage_refuses_one_new_file_twice) {
    enter_directory();
    vyre_stage stage;
    vyre_diag diag;
    vyre_stage_init(&stage, NULL);
    REQUIRE_OK(vyre_stage_open(&stage, "new", &diag), &diag);
    CHECK_STATUS(vyre_stage_open(&stage, "./new", &diag), VYRE_INVALID_ARGUMENT, &diag);
    vyre_stage_finish(&stage);
    CHECK_EQ(count_files(), 0);
    leave_directory();
}

TEST(stage_follows_links_and_leaves_devices_alone) {
    enter_directory();
    vyre_stage stage;
    vyre_diag diag;
    put("target", "old");
    REQUIRE(symlink("target", "link") == 0);
    vyre_stage_init(&stage, NULL);
    REQUIRE_OK(vyre_stage_open(&stage, "link", &diag), &diag);
    REQUIRE_OK(vyre_stage_write(&stage, "new", 3, &diag), &diag);
    REQUIRE_OK(vyre_stage_open(&stage, "/dev/null", &diag), &diag);
    REQUIRE_OK(vyre_stage_write(&stage, "new", 3, &diag), &diag);
    REQUIRE_OK(vyre_stage_open(&stage, "/dev/null", &diag), &diag);
    REQUIRE_OK(vyre_stage_commit(&stage, &diag), &diag);
    struct stat info;
    REQUIRE(lstat("link", &info) == 0);
    CHECK(S_ISLNK(info.st_mode));
    check_contents("target", "new");
    REQUIRE(stat("/dev/null", &info) == 0);
    CHECK(S_ISCHR(info.st_mode));
    leave_directory();
}

TEST(stage_renames_nothing_when_standard_output_fails) {
    enter_directory();
    vyre_stage stage;
    vyre_diag diag;
    vyre_stage_init(&stage, NULL);
    REQUIRE_OK(vyre_stage_open(&stage, "a", &diag), &diag);
    REQUIRE_OK(vyre_stage_open(&stage, "-", &diag), &diag);
    REQUIRE_OK(vyre_stage_write(&stage, "data", 4, &diag), &diag);
    int full = open("/dev/full", O_WRONLY), saved = dup(1);
    dup2(full, 1);
    vyre_status status = vyre_stage_commit(&stage, &diag);
    dup2(saved, 1);
    CHECK_STATUS(status, VYRE_IO, &diag);
    CHECK_STR(diag.file, "<stdout>");
    vyre_stage_finish(&stage);
    CHECK_EQ(count_files(), 0);
    leave_directory();
}

TEST(stage_writes_standard_output_at_commit) {
    enter_directory();
    vyre_stage stage;
    vyre_diag diag;
    int ends[2], saved = dup(1);
    REQUIRE(pipe(ends) == 0);
    vyre_stage_init(&stage, NULL);
    REQUIRE_OK(vyre_stage_open(&stage, "-", &diag), &diag);
    REQUIRE_OK(vyre_stage_write(&stage, "da", 2, &diag), &diag);
    REQUIRE_OK(vyre_stage_write(&stage, "ta", 2, &diag), &diag);
    dup2(ends[1], 1);
    vyre_status status = vyre_stage_commit(&stage, &diag);
    dup2(saved, 1);
    close(ends[1]);
    REQUIRE_OK(status, &diag);
    char got[8] = {0};
    CHECK_EQ(read(ends[0], got, 7), 4);
    CHECK_STR(got, "data");
    leave_directory();
}

static vyre_status stage_two(const vyre_allocator *a, void *user) {
    (void)user;
    unlink("a");
    vyre_stage stage;
    vyre_stage_init(&stage, a);
    vyre_status status = vyre_stage_open(&stage, "a", NULL);
    if (status == VYRE_OK) {
        status = vyre_stage_write(&stage, "x", 1, NULL);
    }
    if (status == VYRE_OK) {
        status = vyre_stage_open(&stage, "/dev/null", NULL);
    }
    if (status == VYRE_OK) {
        status = vyre_stage_write(&stage, "x", 1, NULL);
    }
    if (status == VYRE_OK) {
        status = vyre_stage_commit(&stage, NULL);
    }
    vyre_stage_finish(&stage);
    CHECK_EQ(count_files(), status == VYRE_OK);
    return status;
}

static vyre_status read_one(const vyre_allocator *a, void *user) {
    vyre_bytes bytes = {0};
    vyre_status status = vyre_file_read(user, 0, a, &bytes, NULL);
    if (status == VYRE_OK) {
        vyre_bytes_finish(&bytes);
    }
    return status;
}

TEST(files_survive_every_failed_allocation) {
    enter_directory();
    CHECK(test_every_allocation(stage_two, NULL, 100) >= 4);
    char path[] = "a";
    put(path, "x");
    CHECK(test_every_allocation(read_one, path, 100) >= 1);
    leave_directory();
}
