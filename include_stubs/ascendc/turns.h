/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns of the cores of a launch: one runs at a time, in order, until it ends or waits for others.
 * So a run is the same every time, and a wait that nothing ends is found.
 */
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace AscendC::emulation {

class Turns {
 public:
    /* Adds a core; it runs when it is its turn, on a thread of its own. */
    void Add(std::function<void()> run)
    {
        const size_t number = tasks_.size();
        Task &task = tasks_.emplace_back();
        task.thread = std::thread([this, number, run = std::move(run)] {
            Await(number);
            try {
                if (!failure_) {
                    run();
                }
            } catch (const Abandoned &) {
            } catch (...) {
                failure_ = std::current_exception();
            }
            tasks_[number].done = true;
            PassOn(number);
        });
    }

    /* Runs all cores, also those that are added meanwhile, to their end. */
    void Run()
    {
        PassOn(kNobody);
        Await(kNobody);
        for (Task &task : tasks_) {
            task.thread.join();
        }
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

    /* Lets others run until a condition holds; returns false if it never can. */
    bool WaitUntil(std::function<bool()> ready)
    {
        const size_t number = turn_;
        tasks_[number].ready = std::move(ready);
        PassOn(number);
        Await(number);
        if (failure_) {
            throw Abandoned();
        }
        const bool held = !tasks_[number].ready || tasks_[number].ready();
        tasks_[number].ready = nullptr;
        return held;
    }

 private:
    struct Abandoned {};
    struct Task {
        std::thread thread;
        std::function<bool()> ready;
        bool done = false;
    };
    static constexpr size_t kNobody = ~size_t{0};

    void Await(size_t number)
    {
        std::unique_lock<std::mutex> guard(lock_);
        passed_.wait(guard, [&] { return turn_ == number; });
    }

    /* The next one that can run; if all wait, the next one that waits, which reports it. */
    void PassOn(size_t from)
    {
        size_t next = kNobody;
        for (size_t step = 1; step <= tasks_.size(); step++) {
            const size_t number = (from + step) % tasks_.size();
            const Task &task = tasks_[number];
            if (!task.done && (failure_ || !task.ready || task.ready())) {
                next = number;
                break;
            }
            if (!task.done && next == kNobody) {
                next = number;
            }
        }
        const std::lock_guard<std::mutex> guard(lock_);
        turn_ = next;
        passed_.notify_all();
    }

    std::mutex lock_;
    std::condition_variable passed_;
    std::deque<Task> tasks_;
    size_t turn_ = ~size_t{0} - 1;
    std::exception_ptr failure_;
};

}  // namespace AscendC::emulation
