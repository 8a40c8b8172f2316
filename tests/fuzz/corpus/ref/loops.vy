program loops workgroup(2) {
    in n : u32[]; out r : u32[64];
    let sum = 0;
    for (i in 0 .. n[0] step 2) {
        if (i == 4) { continue; }
        for (j in i .. 10) { if (j > 7) { break; } sum = sum + select(j & 1, i, j); }
    }
    let more = n[1];
    while (more != 0) { grid_sync; more = more / 2; if (more == 3) { break; } }
    r[global_id.x + global_size.x * global_id.y] = sum;
}
