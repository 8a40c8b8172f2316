/* Races. Two accesses of one element by different lanes, at least one a write and not both atomic,
 * race unless a barrier orders them: a grid barrier, or, for lanes of one group, a workgroup
 * barrier.
 *
 * So an element that lanes share and may write has a shadow with two records, one for each reason
 * why nothing orders two accesses. That of the grid holds what has been done since the last grid
 * barrier and tells groups apart: another group did it. That of a group holds what has been done
 * since the last barrier of any kind and tells lanes apart: another lane of the group did it. A
 * record keeps, for each kind of access, the first two visits by different ones. Two are
 * enough to tell exactly whether some *other* one came: of two different ones at least one is
 * another. So every access is judged against all earlier ones in constant time. An interval is a
 * number; a record of an older one counts as empty, so barriers cost nothing. Intervals of groups
 * are numbered throughout, so that a number means one group.
 *
 * There is one record of a group, of the group that came last; when groups take turns at an
 * element, what it held is lost, and with it perhaps a race within the group. But then some access
 * of that race conflicts with the other group's, whatever that was, and does as much harm: the
 * record of the grid finds an element's race all the same.
 *
 * An element's race is found harmless at first (stores of one value) and may turn harmful later in
 * the interval; it then moves from one report to another. It counts once between two grid barriers,
 * in workgroup memory once between two barriers. Reports are kept per pair of statements, as many
 * as the caller has room for; the totals count all.
 *
 * Cost: 168 bytes per element. `in` buffers have no shadow: nobody writes them. */
#include "backend/ref/machine.h"

#define NOBODY     UINT32_MAX
#define NOT_STORED UINT32_MAX /* no room for the report */

typedef struct visit {
    uint32_t lane;
    vyre_stmt stmt;
} visit;

typedef struct record {
    visit visits[VYRE_REF_TOUCHES][2];
    uint64_t value;    /* of the first store */
    uint32_t interval; /* 0: never touched */
    bool stored;
    bool mixed; /* stores of different values */
} record;

struct vyre_ref_shadow {
    record grid, group;
    uint32_t report; /* index in args.races, or NOT_STORED; when raced */
    bool raced;      /* in the interval of `grid` */
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
        vyre_race *r = &races[i];
        if (r->decl == race->decl && r->first == race->first && r->second == race->second &&
            r->first_writes == race->first_writes && r->second_writes == race->second_writes &&
            r->harmless == race->harmless) {
            r->one_group &= race->one_group;
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
            if (s->harmless == race->harmless && s->report != NOT_STORED) {
                m->args->races[s->report].one_group &= race->one_group;
            }
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

/* Some visit of another one than this lane, or its group of so many lanes; or NULL. */
static const visit *other(const visit visits[2], uint32_t lane, uint32_t lanes) {
    for (uint32_t i = 0; i < 2; i++) {
        if (visits[i].lane != NOBODY && visits[i].lane / lanes != lane / lanes) {
            return &visits[i];
        }
    }
    return NULL;
}

static bool writes(vyre_ref_touch touch) {
    return touch == VYRE_REF_WRITE || touch == VYRE_REF_ATOMIC;
}

static bool is_atomic(vyre_ref_touch touch) {
    return touch == VYRE_REF_ATOMIC || touch == VYRE_REF_ATOMIC_READ;
}

/* Judges what a lane does now against what others did before in one way. */
static void judge(vyre_ref_machine *m, shadow *s, const record *r, uint32_t lanes, vyre_race race,
                  vyre_ref_touch touch, vyre_ref_touch before) {
    const visit *earlier = other(r->visits[before], (uint32_t)race.second_lane, lanes);
    if (!earlier) {
        return;
    }
    race.first = earlier->stmt;
    race.first_lane = earlier->lane;
    race.one_group = earlier->lane / m->group_lanes == race.second_lane / m->group_lanes;
    race.first_writes = writes(before);
    race.second_writes = writes(touch);
    race.harmless = touch == VYRE_REF_WRITE && before == VYRE_REF_WRITE && !r->mixed;
    found(m, s, &race);
}

static void remember(visit visits[2], visit now, uint32_t lanes) {
    if (visits[0].lane == NOBODY) {
        visits[0] = now;
    } else if (visits[0].lane / lanes != now.lane / lanes && visits[1].lane == NOBODY) {
        visits[1] = now;
    }
}

/* Brings a record to the interval; whether it was of another. */
static bool renew(record *r, uint32_t interval) {
    if (r->interval == interval) {
        return false;
    }
    *r = (record){.interval = interval};
    for (uint32_t i = 0; i < VYRE_REF_TOUCHES; i++) {
        r->visits[i][0].lane = r->visits[i][1].lane = NOBODY;
    }
    return true;
}
/* Enters an access into a record that tells groups of so many lanes apart, and judges it. */
static void visit_record(vyre_ref_machine *m, shadow *s, record *r, uint32_t lanes, vyre_race race,
                         vyre_ref_touch touch, uint64_t value) {
    if (touch == VYRE_REF_WRITE) {
        r->mixed |= r->stored && r->value != value;
        r->value = r->stored ? r->value : value;
        r->stored = true;
    }
    static const vyre_ref_touch order[] = {VYRE_REF_READ, VYRE_REF_ATOMIC_READ, VYRE_REF_ATOMIC,
                                           VYRE_REF_WRITE};
    for (uint32_t i = 0; i < VYRE_REF_TOUCHES; i++) {
        const bool both_atomic = is_atomic(touch) && is_atomic(order[i]);
        if ((writes(touch) || writes(order[i])) && !both_atomic) {
            judge(m, s, r, lanes, race, touch, order[i]);
        }
    }
    remember(r->visits[touch], (visit){(uint32_t)race.second_lane, race.second}, lanes);
}

void vyre_ref_races_touch(vyre_ref_machine *m, const vyre_ref_lane *lane, vyre_decl decl,
                          uint32_t index, vyre_ref_touch touch, uint64_t value) {
    const vyre_ref_array *array = &m->arrays[decl];
    shadow *s = &array->shadow[vyre_ref_owner(m, array, lane) * array->count + index];
    const uint32_t interval = m->groups[lane->group].interval;
    const vyre_race race = {.decl = decl,
                            .element = index,
                            .second = lane->pc,
                            .second_lane = vyre_ref_number(m, lane)};
    s->raced &= !renew(&s->grid, array->role == VYRE_WORKGROUP ? interval : m->interval);
    (void)renew(&s->group, interval);
    visit_record(m, s, &s->group, 1, race, touch, value);
    visit_record(m, s, &s->grid, m->group_lanes, race, touch, value);
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
