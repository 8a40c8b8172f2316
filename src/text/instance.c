/* Functions that take memory.
 *
 * A parameter that is memory is one more name of the memory that is passed, so a function means
 * what it says once these names are known. It is parsed once for each different list of memory that
 * it is called with: an instance, in which its parameters name the declarations themselves. The
 * first instance has the function's name, others have a number behind it. So programs, and with
 * them every analysis, rewrite and backend, know functions of values only: who writes what, what is
 * the same for all lanes, which accesses race and how long memory is are facts about declared
 * memory, and two parameters that are one memory are no special case. A program with instances
 * prints to a text without parameters that are memory, which parses to the same program.
 *
 * Calls inside of an instance ask for further ones; they are parsed behind it. There are as many as
 * lists that occur, at most VYRE_LIMIT_FUNCTIONS; a function that calls itself with other memory
 * has finitely many and is then refused as a circle. What instances differ in (which declarations)
 * no message of the parser depends on, so errors are told for the first one only.
 *
 * A function that nothing calls has no instance; one for memory that is not there is parsed to find
 * what is wrong in it, and cut off again. Libraries of functions hold instances only.
 *
 * A parameter may hide a name of the top level. A value parameter that does has a fresh name in the
 * program, because the body of an instance may refer to both: the memory of that name was passed.
 */
#include "base/hash.h"
#include "ir/builder.h"
#include "text/parser.h"

static uint32_t memory_arguments(const vyre_parser *p, const vyre_item *item) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < item->arg_count; i++) {
        count += p->args.data[item->first_arg + i].memory;
    }
    return count;
}

uint32_t vyre_parser_reserve_passed(vyre_parser *p, uint32_t item) {
    uint32_t first = p->passed.count, count = memory_arguments(p, &p->items.data[item]);
    for (uint32_t i = 0; i < count; i++) {
        p->out_of_memory |= !vyre_vec_push(&p->source.allocator, &p->passed, VYRE_NONE);
    }
    return first;
}

static bool can_write(const vyre_parser *p, const vyre_symbol *s) {
    return s->sub != VYRE_IN && !s->readonly &&
           (s->item == VYRE_NONE || p->items.data[s->item].access != VYRE_ACCESS_READ);
}

static bool can_read(const vyre_parser *p, const vyre_symbol *s) {
    return s->item == VYRE_NONE || p->items.data[s->item].access != VYRE_ACCESS_WRITE;
}

bool vyre_parser_pass(vyre_parser *p, uint32_t item, uint32_t index, vyre_decl *out) {
    const vyre_argument *arg = &p->args.data[p->items.data[item].first_arg + index];
    uint32_t token = p->at;
    uint32_t symbol = vyre_parser_memory(p, token, "V238", "unknown buffer");
    if (symbol == VYRE_NONE) {
        return false;
    }
    const vyre_symbol *s = &p->symbols.data[symbol];
    const char *name = vyre_parser_name(p, arg->token);
    const char *type = vyre_type_name((vyre_type)arg->type);
    p->at++;
    if (s->type != arg->type || s->single != arg->single || (!s->single && s->rank != arg->rank)) {
        vyre_parser_error(p, "V281", token, token, "pass memory of the type that is declared",
                          "the argument `%s` is %s%s, `%s` is %s%s", name, type,
                          vyre_parser_brackets(arg->single, arg->rank), vyre_parser_name(p, token),
                          vyre_type_name((vyre_type)s->type),
                          vyre_parser_brackets(s->single, s->rank));
        return false;
    }
    if (arg->writes ? !can_write(p, s) || !can_read(p, s) : !can_read(p, s)) {
        vyre_parser_error(p, "V281", token, token,
                          arg->writes ? "pass memory that may be read and written, or declare the "
                                        "argument `in`"
                                      : "pass memory that may be read",
                          "the argument `%s` is %s, which `%s` can't be", name,
                          arg->writes ? "inout" : "in", vyre_parser_name(p, token));
        return false;
    }
    *out = s->handle;
    return true;
}

/* Whether the name means something at the top level, seen from wherever the parser is. */
static bool hides(const vyre_parser *p, uint32_t token) {
    uint32_t symbol = vyre_parser_symbol(p, token);
    while (symbol != VYRE_NONE && symbol >= p->top_symbols) {
        symbol = p->symbols.data[symbol].previous;
    }
    return symbol != VYRE_NONE;
}

void vyre_parser_build_fn(vyre_parser *p, vyre_item *item, const char *name) {
    const char *names[VYRE_LIMIT_ARGUMENTS];
    vyre_type types[VYRE_LIMIT_ARGUMENTS];
    for (uint32_t i = 0; i < item->arg_count; i++) {
        const vyre_argument *arg = &p->args.data[item->first_arg + i];
        names[i] = hides(p, arg->token) ? vyre_parser_fresh_name(p, arg->token, 2)
                                        : vyre_parser_name(p, arg->token);
        types[i] = (vyre_type)arg->type;
        if (!names[i]) {
            return;
        }
    }
    vyre_parser_at(p, item->begin, item->rest - 1);
    item->fn =
        vyre_build_fn(p->builder, name, names, types, item->arg_count, (vyre_type)item->result);
}

static uint32_t *bucket_of(vyre_parser *p, uint32_t item, uint32_t first_passed) {
    const uint32_t count = memory_arguments(p, &p->items.data[item]);
    const uint64_t hash =
        vyre_hash_more(item, p->passed.data + first_passed, count * sizeof *p->passed.data);
    return &p->instances[hash % (sizeof p->instances / sizeof *p->instances)];
}

static bool is_instance(const vyre_parser *p, uint32_t at, uint32_t item, uint32_t first_passed) {
    const vyre_item *found = &p->items.data[at];
    const uint32_t count = memory_arguments(p, &p->items.data[item]);
    bool same = found->generic_item == item;
    for (uint32_t i = 0; i < count && same; i++) {
        same = p->passed.data[found->first_passed + i] == p->passed.data[first_passed + i];
    }
    return same;
}

/* An item that has the generic one's values as arguments. */
static uint32_t add_instance(vyre_parser *p, uint32_t item, uint32_t first_passed) {
    const vyre_item generic = p->items.data[item];
    vyre_item made = generic;
    made.generic = false;
    made.generic_item = item;
    uint32_t *bucket = bucket_of(p, item, first_passed);
    made.previous = *bucket;
    made.first_passed = first_passed;
    made.first_arg = p->args.count;
    made.arg_count = 0;
    for (uint32_t i = 0; i < generic.arg_count; i++) {
        const vyre_argument arg = p->args.data[generic.first_arg + i];
        if (!arg.memory) {
            p->out_of_memory |= !vyre_vec_push(&p->source.allocator, &p->args, arg);
            made.arg_count++;
        }
    }
    const uint32_t token = p->symbols.data[generic.symbol].token;
    const char *name = vyre_parser_fn_name(p, token, generic.instances + 1);
    if (p->out_of_memory) {
        return VYRE_NONE;
    }
    vyre_parser_build_fn(p, &made, name);
    made.begin = VYRE_NONE; /* the entry body steps over the generic one */
    if (p->out_of_memory || vyre_builder_status(p->builder) != VYRE_OK) {
        return VYRE_NONE; /* perhaps there are too many */
    }
    if (!vyre_vec_push(&p->source.allocator, &p->items, made)) {
        p->out_of_memory = true;
        return VYRE_NONE;
    }
    p->items.data[item].instances++;
    *bucket = p->items.count;
    return p->items.count - 1;
}

uint32_t vyre_parser_instance(vyre_parser *p, uint32_t item, uint32_t first_passed) {
    for (uint32_t i = *bucket_of(p, item, first_passed); i != 0;
         i = p->items.data[i - 1].previous) {
        if (is_instance(p, i - 1, item, first_passed)) {
            return i - 1;
        }
    }
    return vyre_builder_status(p->builder) == VYRE_OK ? add_instance(p, item, first_passed)
                                                      : VYRE_NONE;
}

/* The parameter is one more name of the declaration. */
static void declare_memory(vyre_parser *p, const vyre_argument *arg, vyre_decl decl,
                           vyre_role role) {
    uint32_t symbol = vyre_parser_declare_argument(p, arg->token, VYRE_SYMBOL_DECL, (uint8_t)role,
                                                   arg->type, decl);
    if (symbol != VYRE_NONE) {
        p->symbols.data[symbol].item = VYRE_NONE;
        p->symbols.data[symbol].single = arg->single;
        p->symbols.data[symbol].rank = arg->rank;
        p->symbols.data[symbol].readonly = !arg->writes;
    }
}

static void declare_arguments(vyre_parser *p, const vyre_item *item) {
    const vyre_item *written =
        item->generic_item == VYRE_NONE ? item : &p->items.data[item->generic_item];
    uint32_t values = 0, memory = 0;
    for (uint32_t i = 0; i < written->arg_count; i++) {
        const vyre_argument arg = p->args.data[written->first_arg + i];
        if (arg.memory) {
            declare_memory(p, &arg, p->passed.data[item->first_passed + memory++],
                           arg.writes ? VYRE_INOUT : VYRE_IN);
        } else {
            vyre_parser_declare_argument(p, arg.token, VYRE_SYMBOL_VAR, VYRE_VAR_ARGUMENT, arg.type,
                                         vyre_build_fn_argument(p->builder, item->fn, values++));
        }
    }
}

static void parse_function(vyre_parser *p, uint32_t at) {
    const vyre_item item = p->items.data[at];
    const uint32_t symbols = p->symbols.count, errors = p->source.errors;
    p->in_function = true;
    p->result = item.result;
    vyre_build_fn_begin(p->builder, item.fn);
    declare_arguments(p, &item);
    vyre_parser_begin_returns(p, &item);
    vyre_parser_body(p, item.body, false);
    vyre_parser_end_returns(p, &item);
    vyre_build_fn_end(p->builder);
    vyre_parser_leave(p, symbols);
    p->in_function = false;
    p->result = VYRE_VOID;
    if (item.generic_item != VYRE_NONE && p->source.errors != errors) {
        p->items.data[item.generic_item].broken = true; /* other instances would say the same */
    }
}

static bool is_broken(const vyre_parser *p, const vyre_item *item) {
    return item->broken ||
           (item->generic_item != VYRE_NONE && p->items.data[item->generic_item].broken);
}

uint32_t vyre_parser_functions(vyre_parser *p, uint32_t at) {
    for (; at < p->items.count && !p->out_of_memory; at++) {
        const vyre_item *item = &p->items.data[at];
        if (item->function && !item->generic && !item->imported && !is_broken(p, item)) {
            parse_function(p, at);
        }
    }
    return at;
}

/* Instances from the item on vanish, with all that was built since the mark. */
static void cut(vyre_parser *p, uint32_t items, vyre_builder_mark mark) {
    for (size_t i = 0; i < sizeof p->instances / sizeof *p->instances; i++) {
        while (p->instances[i] > items) {
            const vyre_item *last = &p->items.data[p->instances[i] - 1];
            p->items.data[last->generic_item].instances--;
            p->instances[i] = last->previous;
        }
    }
    p->items.count = items;
    vyre_builder_cut(p->builder, mark);
}

static void try_function(vyre_parser *p, uint32_t at) {
    const vyre_item item = p->items.data[at];
    const vyre_builder_mark mark = vyre_builder_mark_of(p->builder);
    const uint32_t items = p->items.count, first = vyre_parser_reserve_passed(p, at);
    uint32_t next = first;
    if (mark.decls + memory_arguments(p, &item) > VYRE_LIMIT_DECLS || p->out_of_memory) {
        return;
    }
    for (uint32_t i = 0; i < item.arg_count; i++) {
        const vyre_argument *arg = &p->args.data[item.first_arg + i];
        if (arg->memory) {
            const vyre_expr one = vyre_build_size(p->builder, 1), dimensions[] = {one, one, one};
            const vyre_decl made =
                vyre_build_memory(p->builder, VYRE_SCRATCH, vyre_parser_name(p, arg->token),
                                  (vyre_type)arg->type, VYRE_NONE);
            if (arg->rank > 1) {
                vyre_build_decl_dimensions(p->builder, made, dimensions, arg->rank);
            }
            p->passed.data[next++] = made;
        }
    }
    if (vyre_parser_instance(p, at, first) != VYRE_NONE) {
        vyre_parser_functions(p, items);
    }
    if (!p->out_of_memory) {
        cut(p, items, mark);
    }
}

void vyre_parser_uncalled(vyre_parser *p) {
    const uint32_t items = p->items.count;
    for (uint32_t i = 0; i < items && !p->out_of_memory; i++) {
        const vyre_item *item = &p->items.data[i];
        if (item->generic && !item->broken && item->instances == 0 &&
            vyre_builder_status(p->builder) == VYRE_OK) {
            try_function(p, i);
        }
    }
}
