program votes workgroup(40) {
    out r : u32[64]; out f : f32[64]; param p : f32 = 1.5;
    let me = local_id.x;
    if (me % 5 == 0) { exit; }
    let b = subgroup_ballot(me % 2 == 1);
    let s = subgroup_shuffle(me + 1000, subgroup_local_id + 1);
    let t = subgroup_add(f32(me) * p);
    let m = subgroup_min(i64(me) - 7l);
    r[me] = b + s + u32(m);
    f[me] = t + subgroup_mul(p);
}
