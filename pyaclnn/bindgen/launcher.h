/* SPDX-License-Identifier: Apache-2.0 */
/* One call of an operator in one crossing from Python: what a launcher reads and writes. */

/* Device or pinned memory. A use says up to which submission of a timeline the memory is needed. */
struct binding_use {
    uint64_t timeline;
    uint64_t submission;
};
struct binding_block {
    void *address;
    uint64_t nbytes;
    int open;
    int shared; /* uses are noted elsewhere too */
    struct binding_use uses[4];
};

/* An array over a block: what aclCreateTensor is told. offset and span count bytes. */
struct binding_tensor {
    struct binding_block *block;
    uint64_t offset;
    uint64_t span;
    int64_t element_offset;
    int64_t storage;
    int data_type;
    uint32_t rank;
    int64_t dims[8];
    int64_t strides[8];
};

/* The values of an aclIntArray, aclFloatArray or aclBoolArray. */
struct binding_array {
    uint64_t count;
    const void *values;
};

/* A stream and its workspace. Submissions are counted from 1; `floor` is the count up to which all
 * are queued while calls on other threads are `in_progress`. */
struct binding_timeline {
    uint64_t id;
    void *context;
    void *stream;
    void *workspace;
    uint64_t capacity;
    uint64_t submitted;
    uint64_t floor;
    uint32_t in_progress;
};

/* An executor that is kept, with everything it needs. */
struct binding_plan {
    void *executor;
    int (*phase2)(void *, uint64_t, void *, void *);
    const char *routine;
    uint64_t workspace_size;
    int repeatable;
    uint32_t made_count;
    uint32_t tensor_count;
    void *made[48];
    unsigned char kinds[48];
    void *descriptors[48];
    const struct binding_tensor *tensors[48];
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

/* What a launcher answers beside 0 and CANN's status. UNTIDY: all went well but for destroying a
 * descriptor, or for putting the thread's context back. */
#define BINDING_GROW    -1
#define BINDING_CLOSED  -2
#define BINDING_OVERLAP -3
#define BINDING_BUSY    -4
#define BINDING_DIFFERS -5
#define BINDING_UNTIDY  -6

struct binding_failure *binding_failure(void);
void binding_block_close(struct binding_block *block);
void binding_block_take(struct binding_block *block, struct binding_use *uses);
int binding_block_is_of(const struct binding_block *block, const struct binding_timeline *timeline);
void binding_timeline_open(struct binding_timeline *timeline);
uint64_t binding_timeline_mark(struct binding_timeline *timeline);
int binding_timeline_reserve(struct binding_timeline *timeline, struct binding_block **blocks, size_t count);
void binding_timeline_settle(struct binding_timeline *timeline);
int binding_plan_run(struct binding_plan *plan, struct binding_timeline *timeline);
int binding_plan_bind(struct binding_plan *plan, uint32_t index, const struct binding_tensor *tensor);
int binding_plan_close(struct binding_plan *plan);
