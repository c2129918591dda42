import { inspect } from 'node:util'

/**
 * A value that cannot be logged, serialised or shown by accident: conversions to text return `[secret]`. JSON throws,
 * because a silent `"[secret]"` in a response would hide a defect.
 */
export class Secret<T = string> {
  readonly #value: T
  constructor(value: T) {
    this.#value = value
  }
  /** Returns the value; reviews search for this name. */
  reveal(): T {
    return this.#value
  }
  toString(): string {
    return '[secret]'
  }
  toJSON(): never {
    throw new TypeError('A secret cannot be serialised')
  }
  [inspect.custom](): string {
    return '[secret]'
  }
}
