program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    fn f0() {
        u[0] = 1;
    }
    fn f1() {
        f0(); f0(); f0(); f0(); f0(); f0(); f0(); f0();
    }
    fn f2() {
        f1(); f1(); f1(); f1(); f1(); f1(); f1(); f1();
    }
    fn f3() {
        f2(); f2(); f2(); f2(); f2(); f2(); f2(); f2();
    }
    fn f4() {
        f3(); f3(); f3(); f3(); f3(); f3(); f3(); f3();
    }
    fn f5() {
        f4(); f4(); f4(); f4(); f4(); f4(); f4(); f4();
    }
    fn f6() {
        f5(); f5(); f5(); f5(); f5(); f5(); f5(); f5();
    }
    fn f7() {
        f6(); f6(); f6(); f6(); f6(); f6(); f6(); f6();
    }
    fn f8() {
        f7(); f7(); f7(); f7(); f7(); f7(); f7(); f7();
    }
    f8();
}
// expect: 1:1: error[V259] with all calls expanded the program has more than 1048576 statements
