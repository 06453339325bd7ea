/* SPDX-License-Identifier: Apache-2.0 */
// Lines from one process to another that it forked.
#pragma once

#include <string>
#include <unistd.h>

#include "condition.h"

struct Pipe {
    int ends[2] = {};

    Pipe()
    {
        OK(pipe(ends));
    }
    void put(const std::string &line) const
    {
        dprintf(ends[1], "%s\n", line.c_str());
    }
    std::string line() const
    {
        std::string text;
        char letter = 0;
        while (read(ends[0], &letter, 1) == 1 && letter != '\n') {
            text += letter;
        }
        return text;
    }
};
