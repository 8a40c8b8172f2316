/* Races. Each element of a memory that lanes share and may write has a shadow: for reads, stores
 * and atomics of the current interval, the first two different lanes that did it. Two are enough to
 * tell exactly whether some *other* lane did: of two different lanes at least one is another one.
 * So every access is judged against all earlier ones of its interval in constant time, and nothing
 * is missed or made up. An interval is a number; a shadow of an older one counts as empty, so
 * barriers cost nothing.
 *
 * An element's race is found harmless at first (stores of one value) and may turn harmful later in
 * the interval; it then moves from one report to another. Reports are kept per pair of statements,
 * as many as the caller has room for; the totals count all.
 *
 * Cost: 72 bytes per element. `in` buffers have no shadow: nobody writes them. */
#include "backend/ref/machine.h"
#include "base/mutant.h"

#define NOBODY     UINT32_MAX
#define NOT_STORED UINT32_MAX /* no room for the report */

typedef struct visit {
    uint32_t lane;
    vyre_stmt stmt;
} visit;

struct vyre_ref_shadow {
    uint32_t interval; /* 0: never touched */
    uint32_t report;   /* index in args.races, or NOT_STORED; when raced */
    visit visits[VYRE_REF_TOUCHES][2];
    uint64_t value; /* of the first store */
    bool stored;
    bool mixed; /* stores of different values */
    bool raced;
    bool harmless;
};
typedef struct vyre_ref_shadow shadow;

vyre_status vyre_ref_races_init(vyre_ref_machine *m) {
    uint64_t lanes;
    if (!m->args->find_races) {
        return VYRE_OK;
    }
    if (__builtin_mul_overflow(m->group_count, m->group_lanes, &lanes) || lanes >= NOBODY) {
        return vyre_fail(m->diag, VYRE_LIMIT, "use a smaller grid",
                         "looking for races is limited to %u lanes", NOBODY - 1);
    }
    for (uint32_t i = 0; i < m->program->decl_count; i++) {
        vyre_ref_array *array = &m->arrays[i];
        if (array->role == VYRE_INOUT || array->role == VYRE_OUT || array->role == VYRE_SCRATCH ||
            array->role == VYRE_WORKGROUP) {
            size_t count = (size_t)array->count * array->owners;
            array->shadow = vyre_alloc_zeroed(&m->allocator, count, sizeof(shadow));
            if (!array->shadow) {
                return vyre_fail(m->diag, VYRE_OUT_OF_MEMORY,
                                 "use a smaller problem to look for races",
                                 "out of memory for finding races in %s: %zu elements of %zu bytes",
                                 m->program->decls[i].name, count, sizeof(shadow));
            }
        }
    }
    return VYRE_OK;
}

void vyre_ref_races_finish(vyre_ref_machine *m) {
    for (uint32_t i = 0; m->arrays && i < m->program->decl_count; i++) {
        vyre_ref_array *array = &m->arrays[i];
        vyre_free(&m->allocator, array->shadow, (size_t)array->count * array->owners,
                  sizeof(shadow));
    }
}

/* The report of such a race, made if there is room. */
static uint32_t report_of(vyre_ref_machine *m, const vyre_race *race) {
    vyre_race *races = m->args->races;
    uint32_t i = 0;
    if (!races) {
        return NOT_STORED;
    }
    for (; i < m->result.races_stored; i++) {
        const vyre_race *r = &races[i];
        if (r->decl == race->decl && r->first == race->first && r->second == race->second &&
            r->first_writes == race->first_writes && r->second_writes == race->second_writes &&
            r->harmless == race->harmless) {
            return i;
        }
    }
    if (i == m->args->race_capacity) {
        return NOT_STORED;
    }
    races[m->result.races_stored++] = *race;
    return i;
}

static void found(vyre_ref_machine *m, shadow *s, const vyre_race *race) {
    if (s->raced) {
        if (!s->harmless || race->harmless) {
            return; /* reported already, and nothing worse */
        }
        m->result.race_count--;
        m->result.harmless_race_count--;
        if (s->report != NOT_STORED) {
            m->args->races[s->report].count--;
        }
    }
    s->raced = true;
    s->harmless = race->harmless;
    s->report = report_of(m, race);
    m->result.race_count++;
    m->result.harmless_race_count += race->harmless;
    if (s->report != NOT_STORED) {
        m->args->races[s->report].count++;
    }
}

/* Some lane other than this one that touched the element so, or NULL. */
static const visit *other(const visit visits[2], uint32_t lane) {
    for (uint32_t i = 0; i < 2; i++) {
        if (visits[i].lane != NOBODY && visits[i].lane != lane) {
            return &visits[i];
        }
    }
    return NULL;
}

/* Judges what a lane does now against what others did before in one way. */
static void judge(vyre_ref_machine *m, shadow *s, vyre_race race, vyre_ref_touch touch,
                  vyre_ref_touch before) {
    const visit *earlier = other(s->visits[before], (uint32_t)race.second_lane);
    if (!earlier) {
        return;
    }
    race.first = earlier->stmt;
    race.first_lane = earlier->lane;
    race.first_writes = before != VYRE_REF_READ;
    race.second_writes = touch != VYRE_REF_READ;
    race.harmless = touch == VYRE_REF_WRITE && before == VYRE_REF_WRITE && !s->mixed;
    found(m, s, &race);
}

static void remember(visit visits[2], visit now) {
    if (visits[0].lane == NOBODY) {
        visits[0] = now;
    } else if (VYRE_MUTANT(ref_race_one_visit, visits[0].lane != now.lane, false) &&
               visits[1].lane == NOBODY) {
        visits[1] = now;
    }
}

void vyre_ref_races_touch(vyre_ref_machine *m, const vyre_ref_lane *lane, vyre_decl decl,
                          uint32_t index, vyre_ref_touch touch, uint64_t value) {
    const vyre_ref_array *array = &m->arrays[decl];
    shadow *s = &array->shadow[vyre_ref_owner(m, array, lane) * array->count + index];
    uint32_t interval =
        array->role == VYRE_WORKGROUP ? m->groups[lane->group].interval : m->interval;
    if (s->interval != interval) {
        *s = (shadow){.interval = interval};
        for (uint32_t i = 0; i < VYRE_REF_TOUCHES; i++) {
            s->visits[i][0].lane = s->visits[i][1].lane = NOBODY;
        }
    }
    if (touch == VYRE_REF_WRITE) {
        s->mixed |= VYRE_MUTANT(ref_race_same_value, s->stored && s->value != value, false);
        s->value = s->stored ? s->value : value;
        s->stored = true;
    }
    visit now = {.lane = (uint32_t)vyre_ref_number(m, lane), .stmt = lane->pc};
    vyre_race race = {.decl = decl, .element = index, .second = now.stmt, .second_lane = now.lane};
    if (touch != VYRE_REF_READ) {
        judge(m, s, race, touch, VYRE_REF_READ);
    }
    if (touch != VYRE_REF_ATOMIC) {
        judge(m, s, race, touch, VYRE_REF_ATOMIC);
    }
    judge(m, s, race, touch, VYRE_REF_WRITE);
    remember(s->visits[touch], now);
}

void vyre_ref_races_report(vyre_ref_machine *m) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->result.races_stored; i++) {
        if (m->args->races[i].count) {
            m->args->races[kept++] = m->args->races[i];
        }
    }
    m->result.races_stored = kept;
}
