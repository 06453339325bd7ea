# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = Any


def adam_step(
    state: tuple[Array, Array, Array, Array],
    gradient: Array,
    powers: tuple[float, float],
    rates: tuple[float, float, float, float, float],
    maximize: bool = False,
) -> tuple[Array, ...]:
    """A step of AdamW on variables, two moments and the largest second one, or None for it.

    Powers are those of the decays at this step; rates are the learning rate, the two decays, the
    decay of the weights, and epsilon.
    """
    variable, first, second, largest = state
    rate, beta1, beta2, decay, epsilon = rates
    gradient = -gradient if maximize else gradient
    first = beta1 * first + (1 - beta1) * gradient
    second = beta2 * second + (1 - beta2) * gradient * gradient
    largest = None if largest is None else np.maximum(largest, second)
    spread = np.sqrt((second if largest is None else largest) / (1 - powers[1])) + epsilon
    variable = variable * (1 - rate * decay) - rate * first / (1 - powers[0]) / spread
    return variable, first, second, largest


def adamw_steps(
    state: Sequence[Sequence[Array]],
    gradients: Sequence[Array],
    steps: Sequence[Array],
    rates: tuple[float, float, float, float, float],
    flags: tuple[bool, bool],
    scaled: tuple[Array, Array],
) -> tuple[list[Array] | None, ...]:
    """Steps of AdamW on lists of tensors: `adam_step` of each.

    Flags are those of `adam_step`: amsgrad, maximize. Gradients are divided by a scale, if there
    is one; nothing changes if a number that is found infinite is 1.
    """
    amsgrad, maximize = flags
    scale, infinite = scaled
    most: Sequence[Array] = state[3] if amsgrad else [None] * len(gradients)
    if infinite is not None and infinite.reshape(-1)[0] == 1:
        made = [*zip(*state[:3], most, strict=True)]
    else:
        made = [
            adam_step(
                (variable, first, second, largest),
                gradient if scale is None else gradient / scale.reshape(()),
                (rates[1] ** step.reshape(()), rates[2] ** step.reshape(())),
                rates,
                maximize,
            )
            for variable, first, second, largest, gradient, step in zip(
                *state[:3], most, gradients, steps, strict=True
            )
        ]
    found = [list(each) for each in zip(*made, strict=True)]
    return found[0], found[1], found[2], found[3] if amsgrad else None


def sgd_steps(
    state: Sequence[Sequence[Array] | None],
    scale: Array,
    rates: tuple[float, float, float, float],
    flags: tuple[bool, bool, bool],
) -> tuple[list[Array] | None, ...]:
    """Steps of stochastic gradient descent on variables, gradients and buffers of the momentum.

    Rates are the decay of the weights, the momentum, the learning rate and the dampening; flags
    are those of Nesterov, of maximizing, and of the first step. Unscaled gradients are written.
    """
    decay, momentum, rate, dampening = rates
    nesterov, maximize, is_first = flags
    variables, gradients, buffers = state
    made: list[tuple[Array, ...]] = []
    for place, (variable, raw) in enumerate(zip(variables or [], gradients or [], strict=True)):
        unscaled = raw if scale is None else raw / scale.reshape(())
        step = (-unscaled if maximize else unscaled) + decay * variable
        buffer = None
        if momentum and buffers:
            old = buffers[place]
            buffer = step if is_first else momentum * old + (1 - dampening) * step
            step = step + momentum * buffer if nesterov else buffer
        made.append((variable - rate * step, unscaled, buffer))
    found = [list(each) for each in zip(*made, strict=True)]
    return found[0], found[1], found[2] if momentum and buffers else None


def averaged_adam(
    state: tuple[Array, Array, Array, Array],
    gradient: Array,
    step: Array,
    rates: tuple[float, float, float, float, float, float],
    flags: tuple[int, bool],
) -> tuple[Array, ...]:
    """A step of Adam on variables, two moments and an exponential average of the variables.

    Rates are the learning rate, the decays of the average and the moments, epsilon and the decay
    of the weights. Flags are whether (1) the weights decay apart from the gradient, and whether
    the bias of the moments is corrected.
    """
    variable, first, second, average = state
    rate, average_decay, beta1, beta2, epsilon, decay = rates
    apart, corrected = flags
    gradient = gradient if apart == 1 else gradient + decay * variable
    first = beta1 * first + (1 - beta1) * gradient
    second = beta2 * second + (1 - beta2) * gradient * gradient
    powers = [1 - beta ** step.reshape(()) if corrected else 1 for beta in (beta1, beta2)]
    update = first / powers[0] / (np.sqrt(second / powers[1]) + epsilon)
    variable = variable - rate * (update + (decay * variable if apart == 1 else 0))
    return variable, first, second, average_decay * average + (1 - average_decay) * variable
