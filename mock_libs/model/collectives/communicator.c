/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators: a rank of a group, and its socket to the rendezvous process. */
#include "communicator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error_message.h"
#include "handles.h"
#include "lock.h"
#include "packet.h"
#include "stream.h"
#include "violation.h"

static struct communicator *communicators;

struct communicator *mock_communicators(void)
{
    return communicators;
}

struct communicator *mock_communicator_named(const char *name, int device)
{
    struct communicator *each = communicators;
    while (each != NULL && (each->device != device || strcmp(each->name, name) != 0)) {
        each = each->next;
    }
    return each;
}

static void look(void *communicator)
{
    mock_communicator_poll(communicator);
}

static void leave(struct communicator *communicator)
{
    if (communicator->socket >= 0) {
        mock_poll_source_remove(&communicator->watch);
        close(communicator->socket);
        communicator->socket = -1;
    }
}

static void fail(struct communicator *communicator, HcclResult result, const char *text)
{
    if (communicator->asynchronous == HCCL_SUCCESS) {
        communicator->asynchronous = result;
        snprintf(communicator->text, sizeof communicator->text, "%s", text);
    }
}

/* The process where ranks meet is gone: nothing that is queued can end any other way. */
static void mark_lost(struct communicator *communicator)
{
    leave(communicator);
    fail(communicator, HCCL_E_REMOTE, "the process in which the ranks meet has ended");
    if (!communicator->answered) {
        communicator->answered = true;
        communicator->refusal = communicator->asynchronous;
    }
    mock_signal_progress();
}

static void free_communicator(struct communicator *communicator)
{
    free(communicator->sends);
    free(communicator->receives);
    free(communicator);
}

struct communicator *mock_communicator_new(const struct mock_address *address, int socket,
                                           int device, uint32_t rank, uint32_t ranks)
{
    struct communicator *communicator = calloc(1, sizeof *communicator);
    if (communicator == NULL) {
        return NULL;
    }
    communicator->sends = calloc(ranks, sizeof *communicator->sends);
    communicator->receives = calloc(ranks, sizeof *communicator->receives);
    if (communicator->sends != NULL && communicator->receives != NULL) {
        communicator->handle = mock_handle_new(MOCK_COMMUNICATOR, communicator);
    }
    if (communicator->handle == NULL) {
        free_communicator(communicator);
        return NULL;
    }
    communicator->address = *address;
    communicator->socket = socket;
    communicator->device = device;
    communicator->rank = rank;
    communicator->ranks = ranks;
    snprintf(communicator->name, sizeof communicator->name, "%s", address->name);
    communicator->watch =
        (struct mock_poll_source){.descriptor = socket, .look = look, .owner = communicator};
    mock_poll_source_add(&communicator->watch);
    communicator->next = communicators;
    communicators = communicator;
    return communicator;
}

void mock_communicator_delete(struct communicator *communicator)
{
    const uint32_t goodbye = MOCK_LEAVE;
    mock_communicator_send(communicator, &goodbye, sizeof goodbye, -1);
    leave(communicator);
    for (struct submission *each = communicator->queued; each != NULL; each = each->next) {
        each->communicator = NULL;
    }
    struct communicator **link = &communicators;
    while (*link != communicator) {
        link = &(*link)->next;
    }
    *link = communicator->next;
    mock_handle_close(communicator->handle, MOCK_COMMUNICATOR);
    free_communicator(communicator);
    mock_rendezvous_collect();
    mock_signal_progress();
}

void mock_communicator_send(struct communicator *communicator, const void *packet, size_t length,
                            int descriptor)
{
    union {
        struct cmsghdr header; /* for its alignment */
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part = {(void *)(uintptr_t)packet, length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof descriptor);
        memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    ssize_t sent = -1;
    do {
        sent = communicator->socket < 0 ? 0 : sendmsg(communicator->socket, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) {
        mark_lost(communicator);
    }
}

/* ---- what comes back ------------------------------------------------------------------------ */

static void take_done(struct communicator *communicator, const struct mock_answer_packet *answer)
{
    struct submission *each = communicator->queued;
    while (each != NULL && each->number != answer->number) {
        each = each->next;
    }
    if (each != NULL) { /* or its stream was destroyed meanwhile */
        each->over = true;
        each->result = (HcclResult)answer->result;
        snprintf(each->text, sizeof each->text, "%s", answer->text);
    }
    if (answer->result != HCCL_SUCCESS) {
        fail(communicator, (HcclResult)answer->result, answer->text);
    }
}

static void handle_awaited(struct communicator *communicator, bool awaited)
{
    communicator->awaited = awaited;
    for (const struct submission *each = communicator->queued; awaited && each != NULL;
         each = each->next) {
        mock_stream_set_awaited(each->stream, each->position);
    }
}

static void take(struct communicator *communicator, struct mock_answer_packet *answer)
{
    answer->text[sizeof answer->text - 1] = '\0';
    switch (answer->kind) {
    case MOCK_WELCOME:
        communicator->answered = true;
        communicator->distributed = answer->flag != 0;
        communicator->refusal = (HcclResult)answer->result;
        snprintf(communicator->text, sizeof communicator->text, "%s", answer->text);
        return;
    case MOCK_DONE:
        take_done(communicator, answer);
        return;
    case MOCK_AWAITED:
        handle_awaited(communicator, answer->flag != 0);
        return;
    default: /* MOCK_BROKEN */
        fail(communicator, (HcclResult)answer->result, answer->text);
    }
}

void mock_communicator_poll(struct communicator *communicator)
{
    struct mock_answer_packet answer;
    while (communicator->socket >= 0) {
        const ssize_t result = recv(communicator->socket, &answer, sizeof answer, MSG_DONTWAIT);
        if (result == (ssize_t)sizeof answer) {
            take(communicator, &answer);
            mock_signal_progress();
        } else if (result >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
            mark_lost(communicator);
        } else if (errno != EINTR) {
            return;
        }
    }
}

void mock_communicators_forked(void)
{
    for (struct communicator *each = communicators; each != NULL; each = each->next) {
        leave(each);
        fail(each, HCCL_E_UNAVAIL, "it belongs to the process that this one was forked from");
    }
}

void mock_communicators_leave(void)
{
    const uint32_t goodbye = MOCK_LEAVE;
    for (struct communicator *each = communicators; each != NULL; each = each->next) {
        mock_communicator_send(each, &goodbye, sizeof goodbye, -1);
        leave(each);
    }
}

struct communicator *mock_communicator_find(HcclComm handle)
{
    struct communicator *communicator = mock_handle_get(handle, MOCK_COMMUNICATOR);
    if (communicator == NULL) {
        mock_violate_handle(handle, MOCK_COMMUNICATOR, false);
        mock_fail((aclError)HCCL_E_PTR, handle == NULL
                                            ? "the communicator is NULL"
                                            : "%p is no live communicator: it was destroyed, or "
                                              "never was one",
                  handle);
    }
    return communicator;
}
