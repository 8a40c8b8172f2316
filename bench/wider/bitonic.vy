// Bitonic sort of a power of two, a grid barrier after each step of the network.
program bitonic workgroup(256) elements(len(x) / 2) {
    inout x : u32[];

    let n = len(x);
    let size = 2;
    while (size <= n) {
        let apart = size / 2;
        while (apart > 0) {
            if (global_id.x < n / 2) {
                let low = (global_id.x / apart) * apart * 2 + global_id.x % apart;
                let a = x[low];
                let b = x[low + apart];
                if ((a > b) == ((low & size) == 0)) {
                    x[low] = b;
                    x[low + apart] = a;
                }
            }
            grid_sync;
            apart = apart / 2;
        }
        size = size * 2;
    }
}
