/** Returns a value that the code around it guarantees. Throws if it is missing; `what` names it in the log. */
export const mustExist = <T>(value: T, what: string): NonNullable<T> => {
  if (value === undefined || value === null) throw new Error(`${what} is missing`)
  return value
}
