/* SPDX-License-Identifier: Apache-2.0 */
/* One call of an operator in one crossing from Python: what a launch reads and writes. */

/* Device or pinned memory. A use records the submission of a timeline up to which the memory is
 * needed, and the last one that wrote bytes from `first` to before `end`. */
struct binding_use {
    uint64_t timeline;
    uint64_t submission;
    uint64_t first;
    uint64_t end;
    uint64_t written;
    uint64_t first_written;
    uint64_t end_written;
};
struct binding_block {
    void *address;
    int open;
    int shared; /* uses are noted elsewhere too */
    struct binding_use uses[4];
};

/* Bytes of a block, from the first to before the end. */
struct binding_span {
    struct binding_block *block;
    uint64_t first;
    uint64_t end;
};

/* Layout of an array in memory; aclCreateTensor takes at most 25 axes. Without a storage shape
 * of its own, an array's storage is what it needs of its block, as one axis. */
struct binding_layout {
    uint64_t span;
    int data_type;
    int format;
    uint32_t rank;
    uint32_t storage_rank;
    int64_t dims[25];
    int64_t strides[25];
    int64_t storage[25];
};

/* An array over a block: the arguments of aclCreateTensor. offset counts bytes, the rest
 * elements. */
struct binding_tensor {
    struct binding_block *block;
    const struct binding_layout *layout;
    uint64_t offset;
    int64_t element_offset;
    int64_t extent;
};

/* A submission from when it is counted until it is queued; the number is 0 before and after. */
struct binding_submission {
    uint64_t number;
    struct binding_submission *previous;
    struct binding_submission *next;
};

/* A stream and its workspace. Submissions are counted from 1; those that are not queued yet form a
 * list, in the order of their numbers; those up to `passed` are over. */
struct binding_timeline {
    uint64_t id;
    void *context;
    void *stream;
    void *workspace;
    uint64_t capacity;
    uint64_t submitted;
    uint64_t passed;
    struct binding_submission *earliest;
    struct binding_submission *latest;
};

/* An argument as phase 1 takes it. A float parameter is given as `real` too. */
union binding_value {
    uint64_t bits;
    double real;
    void *pointer;
};

/* An operator. `kinds` has a letter for each parameter of phase 1 but the last two:
 *   t tensor that is only read     w tensor that is written, be it read too or not
 *   T, W the same for tensor lists
 *   I, F, B array of int64_t, float, bool       a, A scalar, list of scalars
 *   s string        d double        f float     any other letter: an integer
 * `invoke` calls phase 1; NULL does it by the machine's calling convention. */
struct binding_operator {
    void *phase1;
    void *phase2;
    const char *phase1_name;
    const char *phase2_name;
    const char *kinds;
    int (*invoke)(const struct binding_operator *, const union binding_value *, uint64_t *, void **);
};

/* An executor that is kept, with everything it needs. Filled by binding_launch, emptied by
 * binding_plan_close. `listed`: some of the tensors are in lists, and none can be exchanged. One
 * thread at a time runs or closes it; to others it is `busy`. With `once` set by who makes it, the
 * executor is run at once, and what is kept is what was made for it: an operator that finds out
 * while it runs how large its result is, writes that into the result's descriptor. */
struct binding_plan {
    void *executor;
    int busy;
    int once;
    void *phase2;
    const char *routine;
    uint64_t workspace_size;
    int repeatable;
    int listed;
    uint32_t made_count;
    uint32_t tensor_count;
    void **made;
    char *kinds;
    void **descriptors;
    const struct binding_tensor **tensors;
    char *written;
};

/* Why the calling thread's latest launch failed: CANN's status, the thread's last runtime error,
 * the function and CANN's text; or how large a workspace has to be. */
struct binding_failure {
    int status;
    int cause;
    const char *routine;
    uint64_t workspace_size;
    char text[4096];
};

/* Status of a launch beside 0 and CANN's. UNTIDY: launched, but destroying a descriptor or
 * restoring the thread's context failed. TORN: CANN refused to exchange the arrays of a plan
 * half-way, and to undo that. */
#define BINDING_GROW    -1
#define BINDING_CLOSED  -2
#define BINDING_OVERLAP -3
#define BINDING_BUSY    -4
#define BINDING_DIFFERS -5
#define BINDING_UNTIDY  -6
#define BINDING_MEMORY  -7
#define BINDING_TORN    -8

struct binding_failure *binding_failure(void);
int binding_give_back(void **slot, int (*function)(void *));
int binding_hold(int *held, int wanted, int (*function)(int32_t), int32_t number);
void binding_block_close(struct binding_block *block);
void binding_block_take(struct binding_block *block, struct binding_use *uses);
int binding_block_is_of(struct binding_block *block, const struct binding_timeline *timeline);
void binding_timeline_open(struct binding_timeline *timeline);
uint64_t binding_timeline_mark(struct binding_timeline *timeline, uint64_t *open, size_t *count);
void binding_timeline_pass(struct binding_timeline *timeline, uint64_t mark);
uint64_t binding_timeline_replace(struct binding_timeline *timeline, void *workspace, uint64_t capacity);
int binding_submission_begin(struct binding_timeline *timeline, const struct binding_span *spans, size_t count, int writes, struct binding_submission *submission);
void binding_submission_end(struct binding_timeline *timeline, struct binding_submission *submission);
int binding_reaches(const char *kinds);
int binding_by_convention(const struct binding_operator *op, const union binding_value *values, uint64_t *size, void **executor);
int binding_launch(const struct binding_operator *op, struct binding_timeline *timeline, struct binding_plan *plan, int judged, const char *message);
int binding_plan_run(struct binding_plan *plan, struct binding_timeline *timeline);
int binding_plan_run_with(struct binding_plan *plan, struct binding_timeline *timeline, uint64_t index, const struct binding_tensor *tensor);
int binding_plan_run_on(struct binding_plan *plan, struct binding_timeline *timeline, uint32_t count, const char *message);
int binding_plan_close(struct binding_plan *plan);
int binding_view_shape(const struct binding_plan *plan, uint32_t descriptor, int64_t *dims, uint64_t *rank);

/* Functions of PyTorch: one in Python that creates handles of the tensors in a list, and those in C,
 * as PyTorch's headers declare them. `dense` has a bit for each format whose elements are addressed
 * by strides, from -1 on. */
struct binding_torch {
    uintptr_t handles_of;
    uint64_t dense;
    int32_t (*get_dim)(void *tensor, int64_t *rank);
    int32_t (*get_sizes)(void *tensor, int64_t **dims);
    int32_t (*get_strides)(void *tensor, int64_t **strides);
    int32_t (*get_dtype)(void *tensor, int32_t *dtype);
    int32_t (*get_device_type)(void *tensor, int32_t *type);
    int32_t (*get_device_index)(void *tensor, int32_t *index);
    int32_t (*get_data_ptr)(void *tensor, void **address);
    int32_t (*delete_tensor_object)(void *tensor);
    int32_t (*call_dispatcher)(const char *name, const char *overload, uint64_t *stack);
};

/* Layout of a tensor of PyTorch, in PyTorch's numbers; CANN takes at most 25 axes. */
struct binding_torch_layout {
    int32_t dtype;
    int32_t device_type;
    int32_t device;
    int64_t rank;
    int64_t dims[25];
    int64_t strides[25];
};

/* Where a launcher reads an address: `offset` bytes behind the start of a tensor of a list. */
struct binding_torch_place {
    uint32_t tensor;
    uint64_t offset;
    void **address;
};

/* A call that was made of tensors of these layouts, to be made again. */
struct binding_torch_call {
    const struct binding_operator *op;
    const char *message;
    uint32_t given_count;
    uint32_t place_count;
    struct binding_torch_layout *given;
    struct binding_torch_place *places;
};

void binding_torch_use(const struct binding_torch *functions);
int binding_torch_read(uintptr_t tensors, struct binding_torch_layout *layouts, uint32_t count);
int binding_torch_launch(const struct binding_torch_call *known, uintptr_t tensors, struct binding_timeline *timeline);
