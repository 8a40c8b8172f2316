program p workgroup(64) elements(64) {
    in    x     : u32[64];
    out   total : u32;
    out   most  : u32[2];
    inout lots  : u32[4];

    let v = x[global_id.x];
    atomic_add(total, v);
    let _old = atomic_max(most[1], v, relaxed);
    lots[atomic_add(lots[0], 1) & 3] = 1; // the old value is needed
    atomic_add(lots[v & 3], v);           // elements differ
    if (v > 3) {
        atomic_add(lots[1], v); // some lanes only
    }
    let sum = group_add(v);
    if (local_id.x == 0) {
        atomic_add(total, sum);
    }
}
// expect: 8:5: warning[W102] every lane of the group changes this element of `total`, one after the other
// expect: 9:16: warning[W102] every lane of the group changes this element of `most`, one after the other
