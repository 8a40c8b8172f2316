// Regions that hold barriers are reopened in each segment, as far as they are around all of it.
program regions workgroup(4) elements(8) {
    inout x : u32[8];
    inout y : u32[8];

    let i = global_id.x;
    let other = 7 - i;
    x[i] = y[other];
    region "solve" {
        let sum = x[i];
        grid_sync; // in front of it: the program itself, and "solve"
        region "gather" {
            sum = sum + x[other];
            grid_sync;
            x[i] = sum;
            if (sum == 3) {
                exit;
            }
            grid_sync; // behind it: "gather", and the decision in "solve"
            sum = sum * x[other];
        }
        for (k in 0 .. 3) {
            region "trip" {
                region "swap" {
                    let seen = x[(i + k) % 8];
                    grid_sync;
                    x[i] = seen + sum;
                    grid_sync;
                }
                y[i] = x[other] + k; // in "trip"
                grid_sync;
            }
            if (y[0] == 100) {
                break;
            }
        }
        x[i] = y[other];
    }
    region "check" {
        region "check" { // regions may share a name
            grid_sync;
            region "plain" { // holds no barrier: stays as it is
                y[i] = x[other] + 1;
            }
        }
        grid_sync;
        while (x[0] < 9) { // the decision is in "check"
            region "wait" {
                grid_sync;
                if (i == 0) {
                    x[0] = 9;
                }
                grid_sync;
            }
        }
    }
    y[other] = x[i];
}
