/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the compiled binding beside those of the headers: the loader, crash reports, and
 * memory exported to other libraries. */
struct binding_function {
    const char *name;
    const char *header;
    const char *since;
    const char *library;
    const char *parameters;
};
extern struct binding_function binding_functions[];
extern const size_t binding_function_count;
void *binding_open(const char *path);
size_t binding_loaded(char *text, size_t capacity);
const char *binding_error(void);
void binding_trace(void);
int binding_resolve(const char *symbol, void *library);
int binding_has_symbol(void *library, const char *symbol);
void *binding_symbol(void *library, const char *symbol);
int binding_note_faults(int file, int question);
void *binding_lend(uintptr_t owner, uint64_t address, const int32_t *device, uint8_t code, uint8_t bits, int32_t axes, const int64_t *numbers);
void *binding_lent_end(void);
void binding_tell_callers(void *begin, void *end, const char *own);
