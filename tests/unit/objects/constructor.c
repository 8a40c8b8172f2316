/* Wants to run something when it is loaded. */
static volatile int state;
__attribute__((constructor)) static void prepare(void) {
    state = 1;
}
int constructor_state(void) {
    return state;
}
