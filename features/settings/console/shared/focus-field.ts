import type { ConfigTested } from '#features/contract.ts'

/** Scrolls to the first field with one of these names, and focuses it. Keyboard users continue at the wrong field. */
export const focusField = (root: ParentNode | null, isFaulty: (name: string) => boolean): void => {
  const fields = [...(root?.querySelectorAll<HTMLElement>('[name]') ?? [])]
  const first = fields.find((field) => isFaulty(field.getAttribute('name') ?? ''))
  first?.scrollIntoView({ block: 'center' })
  first?.focus({ preventScroll: true })
}

/** Returns the messages of failed steps of a connection test, by the field to correct. */
export const faultsOfTest = (tested: ConfigTested | null | undefined): Record<string, string> =>
  Object.fromEntries(
    (tested?.steps ?? [])
      .filter(({ ok }) => !ok)
      .toReversed()
      .flatMap(({ field, message }) => (field === undefined ? [] : [[field, message]])),
  )
