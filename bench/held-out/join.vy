// A join of two tables: keys of the first go into a hash table with open addresses, each to the first free
// slot from its hash on; those of the second are looked up there. Keys of the first are unique and not 0.
program join workgroup(256) elements(16384) {
    param   slots : u32 = 256; // a power of two
    in      key   : u32[];
    in      value : u32[len(key)];
    in      wants : u32[];
    out     found : u32[len(wants)]; // values; 0: there is no such key
    out     count : u32[1];
    scratch taken : u32[slots];
    scratch held  : u32[slots];

    fn hash(k : u32) -> u32 {
        let h = (k ^ (k >> 16)) * 0x85ebca6b;
        h = (h ^ (h >> 13)) * 0xc2b2ae35;
        return h ^ (h >> 16);
    }

    for (i in global_id.x .. len(key) step global_size.x) {
        let slot = hash(key[i]) & (slots - 1);
        while (atomic_cas(taken[slot], 0, key[i], relaxed) != 0) {
            slot = (slot + 1) & (slots - 1);
        }
        held[slot] = value[i];
    }
    grid_sync;
    let mine = 0;
    for (i in global_id.x .. len(wants) step global_size.x) {
        let want = wants[i];
        let slot = hash(want) & (slots - 1);
        while (taken[slot] != want && taken[slot] != 0) {
            slot = (slot + 1) & (slots - 1);
        }
        if (taken[slot] == want) {
            found[i] = held[slot];
            mine = mine + 1;
        }
    }
    let sum = subgroup_add(mine);
    if (subgroup_local_id == 0) {
        atomic_add(count[0], sum, relaxed);
    }
}
