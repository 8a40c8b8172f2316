/* Has a symbol whose place the linker is to choose (-fcommon). */
int common_symbol;
int common_next(void) {
    return ++common_symbol;
}
