// Bitonic sort over the grid: two loops as in C around a barrier.
program p workgroup(16) grid(4) {
    inout a : u32[64];

    let i = global_id.x;
    for (let k = 2; k <= 64; k *= 2) {
        for (let j = k / 2; j > 0; j /= 2) {
            let other = i ^ j;
            if (other > i) {
                let x = a[i];
                let y = a[other];
                if (((i & k) == 0) == (x > y)) {
                    a[i] = y;
                    a[other] = x;
                }
            }
            grid_sync;
        }
    }
}
