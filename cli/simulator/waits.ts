/** The run has ended. */
export class Over extends Error {}

export type Waits = ReturnType<typeof createWaits>

/** Creates sleeps that one call ends, without 10,000 listeners on an abort signal. */
export const createWaits = () => {
  const ends = new Set<() => void>()
  let isOver = false
  return {
    isOver: (): boolean => isOver,
    /** @throws Over if the run ends before */
    sleep: (milliseconds: number): Promise<void> =>
      new Promise((resolve, reject) => {
        if (isOver) return reject(new Over())
        const timer = setTimeout(
          () => {
            ends.delete(end)
            resolve()
          },
          Math.max(0, milliseconds),
        )
        const end = (): void => {
          clearTimeout(timer)
          reject(new Over())
        }
        ends.add(end)
      }),
    end: (): void => {
      isOver = true
      for (const end of ends) end()
      ends.clear()
    },
  }
}
