/* Needs something that is not there. */
double absent_function(double x);
double missing_call(double x) {
    return absent_function(x) + 1.0;
}
