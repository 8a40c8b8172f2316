/* Cutting and stealing: every item once, in order, whoever takes it. */
#include <pthread.h>

#include "harness/test.h"
#include "kit/share.h"

TEST(even_parts_cover_all_and_differ_by_a_grain) {
    uint64_t seed = 1;
    for (int round = 0; round < 2000; round++) {
        uint64_t n = test_random(&seed) >> test_random_below(&seed, 64);
        uint64_t grain = 1 + (test_random(&seed) >> (30 + test_random_below(&seed, 34)));
        uint32_t parts = 1 + (uint32_t)test_random_below(&seed, 70);
        uint64_t at = 0, least = UINT64_MAX, most = 0;
        for (uint32_t part = 0; part < parts; part++) {
            vyre_range r = vyre_share_even(n, grain, part, parts);
            CHECK_EQ(r.begin, at);
            REQUIRE(r.end >= r.begin);
            CHECK(r.end == n || r.end % grain == 0);
            uint64_t grains = (r.end - r.begin) / grain + ((r.end - r.begin) % grain != 0);
            least = grains < least ? grains : least;
            most = grains > most ? grains : most;
            at = r.end;
        }
        CHECK_EQ(at, n);
        CHECK(most - least <= 1);
    }
}

TEST(weighted_parts_cover_all_and_weigh_the_same) {
    uint64_t seed = 2;
    uint64_t sums[300];
    for (int round = 0; round < 500; round++) {
        uint64_t n = test_random_below(&seed, 299), heaviest = 0;
        sums[0] = test_random_below(&seed, 1000); /* need not begin with 0 */
        for (uint64_t i = 0; i < n; i++) {
            uint64_t weight = test_random_below(&seed, 3) ? test_random_below(&seed, 20) : 0;
            heaviest = weight > heaviest ? weight : heaviest;
            sums[i + 1] = sums[i] + weight;
        }
        uint32_t parts = 1 + (uint32_t)test_random_below(&seed, 9);
        uint64_t at = 0;
        for (uint32_t part = 0; part < parts; part++) {
            vyre_range r = vyre_share_weighted(sums, n, part, parts);
            CHECK_EQ(r.begin, at);
            REQUIRE(r.end >= r.begin && r.end <= n);
            uint64_t weight = sums[r.end] - sums[r.begin];
            CHECK(weight <= (sums[n] - sums[0]) / parts + 1 + heaviest);
            at = r.end;
        }
        CHECK_EQ(at, n);
    }
}

enum { WORKERS = TEST_THREADS, MOST = 5000 };

typedef struct stealing {
    vyre_share_slot slots[WORKERS];
    vyre_share shares[WORKERS];
    _Atomic uint32_t taken[MOST];
    uint32_t count;
    uint64_t rounds;
    pthread_barrier_t barrier;
} stealing;
typedef struct stealing_thread {
    stealing *all;
    uint32_t me;
} stealing_thread;

static void setup(stealing *s, uint32_t count) {
    memset(s, 0, sizeof *s);
    s->count = count;
    for (uint32_t i = 0; i < count; i++) {
        vyre_share_init(&s->shares[i], s->slots, i, count);
    }
}

static void mark(stealing *s, vyre_range r) {
    for (uint64_t i = r.begin; i < r.end; i++) {
        atomic_fetch_add_explicit(&s->taken[i], 1, memory_order_relaxed);
    }
}

/* Each of the first n items was taken that many times, no other ever. */
static void check_taken(const stealing *s, uint64_t n, uint32_t times) {
    for (uint64_t i = 0; i < MOST; i++) {
        if (s->taken[i] != (i < n ? times : 0)) {
            test_fail(__FILE__, __LINE__, "item %" PRIu64 " of %" PRIu64 " was taken %u times", i,
                      n, s->taken[i]);
            test_stop();
        }
    }
}

TEST(one_thread_may_take_the_parts_of_all) {
    static stealing s;
    for (uint32_t count = 1; count <= WORKERS; count++) {
        setup(&s, count);
        for (uint32_t round = 1; round < 600; round++) { /* rounds wrap around at 256 */
            /* Only one worker works; the others come late and find nothing. */
            uint32_t me = round % count;
            for (uint32_t i = 0; i < count; i++) {
                vyre_share *share = &s.shares[(me + i) % count];
                vyre_share_begin(share, 77, 1 + round % 5, 1 + round % 6);
                for (vyre_range r; vyre_share_next(share, &r);) {
                    CHECK_EQ(i, 0);
                    mark(&s, r);
                }
            }
            check_taken(&s, 77, round);
        }
    }
}

TEST(workers_taking_turns_at_random_take_each_item_once) {
    static stealing s;
    uint64_t seed = 3;
    for (int round = 0; round < 300; round++) {
        setup(&s, 1 + (uint32_t)test_random_below(&seed, WORKERS));
        uint64_t n = test_random_below(&seed, 400);
        uint64_t chunk = 1 + test_random_below(&seed, 9);
        const uint32_t fraction = UINT32_C(1) << test_random_below(&seed, 10);
        bool begun[WORKERS] = {0}, ended[WORKERS] = {0};
        for (uint32_t left = s.count; left;) {
            uint32_t me = (uint32_t)test_random_below(&seed, s.count);
            vyre_range r;
            if (ended[me]) {
                continue;
            }
            if (!begun[me]) {
                vyre_share_begin(&s.shares[me], n, chunk, fraction);
                begun[me] = true;
            } else if (vyre_share_next(&s.shares[me], &r)) {
                CHECK(r.end > r.begin && (fraction < 400 || r.end - r.begin <= chunk));
                mark(&s, r);
            } else {
                ended[me] = true;
                left--;
            }
        }
        check_taken(&s, n, 1);
    }
}

TEST(a_worker_takes_much_first_and_little_last) {
    static const uint64_t ends[] = {48, 72, 84, 90, 93, 96, 98};
    static stealing s;
    setup(&s, 1);
    vyre_range r = {0};
    vyre_share_begin(&s.shares[0], 98, 3, 2);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const uint64_t begin = r.end;
        REQUIRE(vyre_share_next(&s.shares[0], &r));
        CHECK_EQ(r.begin, begin);
        CHECK_EQ(r.end, ends[i]);
    }
    CHECK(!vyre_share_next(&s.shares[0], &r));
}

TEST(too_many_chunks_become_larger_ones) {
    static stealing s;
    setup(&s, 2);
    const uint64_t n = UINT64_MAX - 5;
    vyre_range r;
    vyre_share_begin(&s.shares[0], n, 1, 1000);
    REQUIRE(vyre_share_next(&s.shares[0], &r));
    CHECK_EQ(r.begin, 0);
    CHECK(r.end >= UINT64_C(1) << 36);
    CHECK(s.shares[0].chunks < UINT64_C(1) << 28);
    CHECK_EQ((n - 1) / s.shares[0].chunk, s.shares[0].chunks - 1);
}

static void clear_taken(stealing *s) {
    for (uint64_t i = 0; i < MOST; i++) {
        s->taken[i] = 0;
    }
}

static void *steal(void *user) {
    stealing_thread *me = user;
    stealing *s = me->all;
    for (uint64_t round = 1; round <= s->rounds; round++) {
        vyre_share *share = &s->shares[me->me];
        uint64_t n = (round * 97) % MOST;
        vyre_share_begin(share, n, 1 + round % 7, 1 + (uint32_t)(round % 5));
        for (vyre_range r; vyre_share_next(share, &r);) {
            mark(s, r);
        }
        pthread_barrier_wait(&s->barrier);
        if (me->me == 0) {
            check_taken(s, n, 1);
            clear_taken(s);
        }
        pthread_barrier_wait(&s->barrier);
    }
    return NULL;
}

TEST(threads_take_each_item_once) {
    static stealing s;
    setup(&s, WORKERS);
    s.rounds = test_scaled(600);
    pthread_barrier_init(&s.barrier, NULL, WORKERS);
    stealing_thread users[WORKERS];
    for (uint32_t i = 0; i < WORKERS; i++) {
        users[i] = (stealing_thread){.all = &s, .me = i};
    }
    test_in_threads(steal, users, sizeof *users);
    pthread_barrier_destroy(&s.barrier);
}
