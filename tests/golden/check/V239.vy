program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    fn many(a0 : u32, a1 : u32, a2 : u32, a3 : u32, a4 : u32, a5 : u32, a6 : u32, a7 : u32, a8 : u32, a9 : u32, a10 : u32, a11 : u32, a12 : u32, a13 : u32, a14 : u32, a15 : u32, a16 : u32, a17 : u32, a18 : u32, a19 : u32, a20 : u32, a21 : u32, a22 : u32, a23 : u32, a24 : u32, a25 : u32, a26 : u32, a27 : u32, a28 : u32, a29 : u32, a30 : u32, a31 : u32, a32 : u32, a33 : u32, a34 : u32, a35 : u32, a36 : u32, a37 : u32, a38 : u32, a39 : u32, a40 : u32, a41 : u32, a42 : u32, a43 : u32, a44 : u32, a45 : u32, a46 : u32, a47 : u32, a48 : u32, a49 : u32, a50 : u32, a51 : u32, a52 : u32, a53 : u32, a54 : u32, a55 : u32, a56 : u32, a57 : u32, a58 : u32, a59 : u32, a60 : u32, a61 : u32, a62 : u32, a63 : u32, a64 : u32) {
        u[0] = a0;
    }
}
// expect: 5:707: error[V239] a function has at most 64 arguments
