program ring workgroup(8) {
    inout ring : u32[]; out r : u32[64]; in rounds : u32[];
    workgroup mine : u32[8];
    private kept : u32[5];
    fn turn(at : u32, value : u32) -> u32 {
        ring[at + (global_id.x + 1) % global_size.x] = value;
        grid_sync;
        return ring[at + global_id.x];
    }
    let token = global_id.x;
    let trip = 0;
    mine[local_id.x] = token * 3;
    while (trip < min(rounds[0], 5)) {
        kept[trip] = token;
        if (trip % 2 == 0) { token = turn(0, token + 100); } else { { region "odd" { token = turn(len(ring) / 2, token + 1); } } }
        for (k in 0 .. 2) { grid_sync; token = token + k; }
        trip = trip + 1;
    }
    r[global_id.x] = token + mine[local_id.x] + kept[4];
}
