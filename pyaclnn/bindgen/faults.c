/* SPDX-License-Identifier: Apache-2.0 */
/* Where a process was when a signal ended it, or when it was asked: written into a file that was
 * opened before, with calls only that a signal handler may make. The file has a line for the routine
 * that a launch had called, lines for the places on the stack, and the process's map of memory. */
#include <fcntl.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
enum { FATAL = sizeof fatal_signals / sizeof *fatal_signals, MAX_PLACES = 64 };

static struct sigaction before_fatal[FATAL];
static int faults_file = -1;

/* The routine that a launch is in. */
static _Thread_local const char *volatile routine_now;

static void note_text(const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(faults_file, text, length);
        if (written <= 0) {
            return;
        }
        text += written;
        length -= (size_t)written;
    }
}

static void note_place(uintptr_t address)
{
    char text[sizeof "at " + 2 * sizeof address];
    char *end = text + sizeof text;
    *--end = '\n';
    do {
        *--end = "0123456789abcdef"[address & 15];
        address >>= 4;
    } while (address != 0);
    end -= 3;
    memcpy(end, "at ", 3);
    note_text(end, (size_t)(text + sizeof text - end));
}

static uintptr_t place_in(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

static void note_map(void)
{
    static char piece[4096];
    const int map = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    ssize_t got;
    /* If the file did not open, read and close fail. */
    while ((got = read(map, piece, sizeof piece)) > 0) {
        note_text(piece, (size_t)got);
    }
    close(map);
}

static void note_everything(const ucontext_t *context)
{
    const char *routine = routine_now;
    if (routine != NULL) {
        note_text("in ", 3);
        note_text(routine, strlen(routine));
        note_text("\n", 1);
    }
    note_place(place_in(context));
#ifdef __GLIBC__
    void *places[MAX_PLACES];
    const int count = backtrace(places, MAX_PLACES);
    for (int i = 0; i < count; i++) {
        note_place((uintptr_t)places[i]);
    }
#endif
    note_map();
    note_text("end\n", 4);
}

static void on_question(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    const int kept = errno;
    note_everything(context);
    errno = kept;
}

/* The previous handler of the signal runs next, and ends the process. */
static void on_fatal(int number, siginfo_t *info, void *context)
{
    (void)info;
    for (int i = 0; i < FATAL; i++) {
        if (fatal_signals[i] == number) {
            sigaction(number, &before_fatal[i], NULL);
        }
    }
    note_everything(context);
    raise(number);
}

static void handle_fatal(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK, .sa_sigaction = on_fatal};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < FATAL; i++) {
        sigaction(fatal_signals[i], &action, &before_fatal[i]);
    }
}

/* Has the process write where it is into `file` when a signal ends it, and when `question` comes. */
int binding_note_faults(int file, int question)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART,
                               .sa_sigaction = on_question};
    sigemptyset(&action.sa_mask);
    if (sigaction(question, &action, NULL) != 0) {
        return errno;
    }
#ifdef __GLIBC__
    void *place;
    backtrace(&place, 1); /* loads what it needs, which a handler could not */
#endif
    faults_file = file;
    handle_fatal();
    /* Python takes back its own handlers, and ours with them, before the libraries' end. */
    Py_AtExit(handle_fatal);
    return 0;
}
