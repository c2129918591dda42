const steps = [1, 2, 5]
/** Number of steps that an axis has at most. */
const mostSteps = 4

/** Returns the labels of an axis for whole numbers: from 0 in round steps to the first that is not less than `most`. */
export const ticksOf = (most: number): number[] => {
  let step = 1
  for (let index = 0; step * mostSteps < most; index++)
    step = steps[index % steps.length]! * 10 ** Math.floor(index / steps.length)
  const count = Math.max(1, Math.ceil(most / step))
  return Array.from({ length: count + 1 }, (_, index) => index * step)
}
