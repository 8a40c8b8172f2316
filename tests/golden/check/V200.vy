program p workgroup(64) elements(64) {
    inout u : u32[64]; // 
    u[0] = 1;
}
// expect: 2:27: error[V200] control character 0x01 in the text
