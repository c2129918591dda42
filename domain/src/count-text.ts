/** Returns a number with its noun in the singular or plural. `many` is the plural, if it has more than an added s. */
export const countText = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`
