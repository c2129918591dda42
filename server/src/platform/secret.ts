import { inspect } from 'node:util'

/**
 * A value that cannot be logged, serialised or shown by accident: every way of turning it into text gives `[secret]`,
 * JSON refuses aloud, because a silent `"[secret]"` in an answer would hide a defect.
 */
export class Secret<T = string> {
  readonly #value: T
  constructor(value: T) {
    this.#value = value
  }
  /** The value itself; the name is meant to be searched for in review. */
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
