/* Has thread-local data. */
static __thread int mine;
int thread_local_next(void) {
    return ++mine;
}
