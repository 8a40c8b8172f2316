// Forces among particles in boxes: a workgroup for each box, which brings the particles of the boxes around
// into its memory one box after the other.
program lava workgroup(64) grid(side, side, side) {
    param     side   : u32 = 2; // boxes along each axis, 64 particles in each
    in        place  : f32[side * side * side * 64 * 3]; // in its box: all x, all y, all z
    in        charge : f32[side * side * side * 64];
    out       force  : f32[side * side * side * 64 * 4]; // of each box: all x, y, z and potentials
    workgroup px     : f32[64];
    workgroup py     : f32[64];
    workgroup pz     : f32[64];
    workgroup pq     : f32[64];

    let lane = local_id.x;
    let box = (group_id.z * side + group_id.y) * side + group_id.x;
    let x = place[box * 192 + lane];
    let y = place[box * 192 + 64 + lane];
    let z = place[box * 192 + 128 + lane];
    let fx = 0.0;
    let fy = 0.0;
    let fz = 0.0;
    let potential = 0.0;
    for (k in 0 .. 27) {
        let bx = group_id.x + k % 3 - 1; // below 0 it is no box either
        let by = group_id.y + k / 3 % 3 - 1;
        let bz = group_id.z + k / 9 - 1;
        if (bx < side && by < side && bz < side) {
            let other = (bz * side + by) * side + bx;
            px[lane] = place[other * 192 + lane] + f32(k % 3) - 1.0;
            py[lane] = place[other * 192 + 64 + lane] + f32(k / 3 % 3) - 1.0;
            pz[lane] = place[other * 192 + 128 + lane] + f32(k / 9) - 1.0;
            pq[lane] = charge[other * 64 + lane];
            barrier;
            for (j in 0 .. 64) {
                let dx = x - px[j];
                let dy = y - py[j];
                let dz = z - pz[j];
                let u = exp(-0.5 * (dx * dx + dy * dy + dz * dz)) * pq[j];
                potential = potential + u;
                fx = fx + u * dx;
                fy = fy + u * dy;
                fz = fz + u * dz;
            }
            barrier;
        }
    }
    force[box * 256 + lane] = fx;
    force[box * 256 + 64 + lane] = fy;
    force[box * 256 + 128 + lane] = fz;
    force[box * 256 + 192 + lane] = potential;
}
