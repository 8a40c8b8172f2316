/* How many cores there are: by affinity and by control groups of both versions, read from folders
 * that look like /proc and /sys. */
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/test.h"
#include "kit/cores.h"

/* Writes a file below the fresh folder that each test runs in, with the folders above it. */
static void put(const char *path, const char *text) {
    char full[512];
    snprintf(full, sizeof full, "root%s", path);
    for (char *slash = strchr(full, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0777);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    REQUIRE(file != NULL);
    fputs(text, file);
    fclose(file);
}

static void fresh_root(void) {
    char folder[] = "cores.XXXXXX";
    REQUIRE(mkdtemp(folder) != NULL && chdir(folder) == 0);
}

#define V2_MOUNT "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_MOUNT                                                                                   \
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"                                   \
    "32 31 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"                            \
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"

TEST(without_any_files_the_affinity_mask_counts) {
    fresh_root();
    cpu_set_t set;
    REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
    vyre_cores cores = vyre_cores_now("nowhere");
    CHECK_EQ(cores.allowed, CPU_COUNT(&set));
    CHECK_EQ(cores.quota, 0);
    CHECK_EQ(cores.available, cores.allowed);
    CHECK(vyre_cores_now(NULL).available >= 1);
}

TEST(version_2_takes_the_least_quota_on_the_way_up) {
    fresh_root();
    put("/proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda rw\n" V2_MOUNT);
    put("/proc/self/cgroup", "0::/user/app/worker\n");
    put("/sys/fs/cgroup/user/app/worker/cpu.max", "max 100000\n");
    CHECK_EQ(vyre_cores_now("root").quota, 0);
    put("/sys/fs/cgroup/user/app/cpu.max", "250000 100000\n");
    CHECK_EQ(vyre_cores_now("root").quota, 3);
    put("/sys/fs/cgroup/user/cpu.max", "800000 100000\n");
    CHECK_EQ(vyre_cores_now("root").quota, 3);
    put("/sys/fs/cgroup/user/app/worker/cpu.max", "1000 100000\n");
    vyre_cores cores = vyre_cores_now("root");
    CHECK_EQ(cores.quota, 1);
    CHECK_EQ(cores.available, 1);
}

TEST(version_1_divides_quota_by_period) {
    fresh_root();
    put("/proc/self/mountinfo", V1_MOUNT);
    put("/proc/self/cgroup", "5:cpuset:/other\n4:cpu,cpuacct:/box\n0::/\n");
    put("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
    CHECK_EQ(vyre_cores_now("root").quota, 0);
    put("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "50000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "10000\n");
    CHECK_EQ(vyre_cores_now("root").quota, 5);
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "20000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "10000\n");
    CHECK_EQ(vyre_cores_now("root").quota, 2);
}

TEST(a_container_sees_its_group_at_the_mount) {
    fresh_root();
    put("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    put("/proc/self/cgroup", "0::/docker/1234\n"); /* the path of the host leads nowhere */
    CHECK_EQ(vyre_cores_now("root").quota, 2);
    put("/proc/self/mountinfo", "29 23 0:26 /docker/1234 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/proc/self/cgroup", "0::/docker/1234/inner\n"); /* the mount begins below */
    put("/sys/fs/cgroup/inner/cpu.max", "90000 100000\n");
    CHECK_EQ(vyre_cores_now("root").quota, 1);
}

TEST(strange_files_set_no_limit) {
    fresh_root();
    static char longest[20000];
    memset(longest, 'x', sizeof longest - 1);
    memcpy(longest + sizeof longest - 200, "\n" V2_MOUNT, strlen(V2_MOUNT) + 2);
    put("/proc/self/mountinfo", longest);
    put("/proc/self/cgroup", "no colon\n:\n0::/../..\n");
    CHECK_EQ(vyre_cores_now("root").quota, 0);
    put("/sys/fs/cgroup/cpu.max", "300000 100000\n"); /* the lines behind the long one count */
    CHECK_EQ(vyre_cores_now("root").quota, 3);
    const char *texts[] = {"",           "\n",      "max",
                           "abc def\n",  "5\n",     "0 100000\n",
                           "100000 0\n", "-5 -7\n", "99999999999999999999999 1\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put("/sys/fs/cgroup/cpu.max", texts[i]);
        uint32_t quota = vyre_cores_now("root").quota;
        CHECK(quota == 0 || quota == UINT32_MAX);
    }
    put("/proc/self/mountinfo", "1 2 3 - cgroup2\n - - -\n1 2 3 4 5 6 - cgroup\n");
    CHECK_EQ(vyre_cores_now("root").quota, 0);
}

TEST(caches_are_read_by_level) {
    fresh_root();
    uint64_t bytes[3] = {1, 1, 1};
    vyre_cores_caches("root", bytes);
    CHECK(bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 0);
    const char *const caches[][3] = {{"1", "Data", "48K"},
                                     {"1", "Instruction", "32K"},
                                     {"2", "Unified", "1280K"},
                                     {"3", "Unified", "32M"},
                                     {"4", "Unified", "1G"}};
    const char *const names[] = {"level", "type", "size"};
    cpu_set_t here; /* stay on one core */
    int core = sched_getcpu();
    REQUIRE(core >= 0 && core < CPU_SETSIZE);
    CPU_ZERO(&here);
    CPU_SET((size_t)core, &here);
    REQUIRE(sched_setaffinity(0, sizeof here, &here) == 0);
    {
        for (int i = 0; i < 5; i++) {
            for (int n = 0; n < 3; n++) {
                char path[100], text[20];
                snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", core,
                         i, names[n]);
                snprintf(text, sizeof text, "%s\n", caches[i][n]);
                put(path, text);
            }
        }
    }
    vyre_cores_caches("root", bytes);
    CHECK_EQ(bytes[0], 48 << 10);
    CHECK_EQ(bytes[1], 1280 << 10);
    CHECK_EQ(bytes[2], 32 << 20);
}
