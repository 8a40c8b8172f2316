/* A main for fuzz targets without libFuzzer: runs each file of the given corpora (files or flat
 * folders) in a process of its own and counts those that crash or take too long. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SECONDS = 60 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned passed, failed;

static _Noreturn void run_input(const char *path) {
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &info) != 0) {
        perror(path);
        _exit(1);
    }
    /* An exact heap block, so that a read past the end is seen by the address sanitizer. */
    size_t size = (size_t)info.st_size;
    uint8_t *data = malloc(size ? size : 1);
    if (!data || fread(data, 1, size, file) != size) {
        perror(path);
        _exit(1);
    }
    fclose(file);
    alarm(MOST_SECONDS);
    int result = LLVMFuzzerTestOneInput(data, size);
    free(data);
    exit(result == 0 ? 0 : 1);
}

static void run_file(const char *path) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        run_input(path);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        passed++;
    } else {
        failed++;
        printf("FAILED %s%s%s\n", path, WIFSIGNALED(status) ? ": " : "",
               WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "");
    }
}

static void run_folder(const char *path, DIR *folder) {
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        char file[4096];
        int length = snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' && length > 0 && (size_t)length < sizeof file) {
            run_file(file);
        }
    }
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder) {
            run_folder(argv[i], folder);
            closedir(folder);
        } else {
            run_file(argv[i]);
        }
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed ? 1 : 0;
}
