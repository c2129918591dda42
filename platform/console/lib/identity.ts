/** Asks the signed-in person to confirm their identity. Concurrent calls share one dialog. */
export const createIdentity = () => {
  let question: { answer: Promise<boolean>; settle: (confirmed: boolean) => void } | null = null
  const watchers = new Set<() => void>()
  const tell = () => {
    for (const watcher of watchers) watcher()
  }
  return {
    /** True if the person confirmed, false if they cancelled. */
    ask: (): Promise<boolean> => {
      if (question === null) {
        const { promise, resolve } = Promise.withResolvers<boolean>()
        question = { answer: promise, settle: resolve }
        tell()
      }
      return question.answer
    },
    isAsked: (): boolean => question !== null,
    /** Answers all waiting calls and closes the dialog. */
    settle: (confirmed: boolean): void => {
      question?.settle(confirmed)
      question = null
      tell()
    },
    watch: (watcher: () => void): (() => void) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
  }
}

export type Identity = ReturnType<typeof createIdentity>

/** Channel on which the tab of the identity provider reports the result of a confirmation. */
export const identityChannel = 'portcullis-identity'

/** Message from that tab: the code of a problem, or null when the identity is confirmed. */
export interface IdentityNews {
  problem: string | null
}
