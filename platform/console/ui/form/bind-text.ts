import type { ChangeEvent } from 'react'

/** Keys of a draft with string values. */
type TextKey<D> = { [K in keyof D]-?: D[K] extends string ? K : never }[keyof D]

const asTyped = (text: string) => text

/** Binds text inputs to a draft: returns value, error and change handler of a field by its name. */
export const bindText =
  <D, N extends TextKey<D>>(draft: D, change: (part: Partial<D>) => void, errorOf: (name: N) => string | undefined) =>
  (name: N, parse: (text: string) => string = asTyped) => ({
    value: draft[name] as string,
    error: errorOf(name),
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      change({ [name]: parse(event.currentTarget.value) } as Partial<D>),
  })
