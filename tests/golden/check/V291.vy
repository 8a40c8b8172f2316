program p workgroup(64) elements(64) {
    inout f : f32[64];
    import "../other.vy";
    import "/etc/other.vy";
    import "lib//other.vy";
    import "lib/other.vy";

    let import = f[0];
    f[0] = import;
}
// expect: 3:12: error[V291] `../other.vy` is not below the folder of the importing file
// expect: 4:12: error[V291] `/etc/other.vy` is not below the folder of the importing file
// expect: 5:12: error[V291] `lib//other.vy` is not below the folder of the importing file
// expect: 6:12: error[V291] there is nobody who could read `lib/other.vy`
